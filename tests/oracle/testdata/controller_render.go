// SPDX-License-Identifier: Apache-2.0

// tests/oracle/test-render puts this file into a copy of mpi-operator's package controller, whose functions that
// render are not exported.

package controller

import (
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
)

func init() {
	klog.SetLogger(logr.Discard())
}

// OracleOptions is what the objects depend on besides the job.
type OracleOptions struct {
	ClusterDomain   string           `json:"clusterDomain"`
	GangScheduler   string           `json:"gangScheduler"`
	PriorityClasses map[string]int32 `json:"priorityClasses"`
	Running         *string          `json:"running"` // one character a worker, '1' where it runs; absent: all
}

func oracleController(options OracleOptions) *MPIJobController {
	classes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for name, value := range options.PriorityClasses {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		if err := classes.Add(class); err != nil {
			panic(err)
		}
	}
	lister := schedulinglisters.NewPriorityClassLister(classes)
	c := &MPIJobController{clusterDomain: options.ClusterDomain, recorder: &record.FakeRecorder{}}
	switch options.GangScheduler {
	case "":
	case "volcano":
		c.PodGroupCtrl = &VolcanoCtrl{PriorityClassLister: lister, schedulerName: options.GangScheduler}
	default:
		c.PodGroupCtrl = &SchedulerPluginsCtrl{PriorityClassLister: lister, schedulerName: options.GangScheduler}
	}
	return c
}

// OracleObjects makes all objects of a job but the PodGroup.
func OracleObjects(job *kubeflow.MPIJob, options OracleOptions) ([]metav1.Object, error) {
	var objects []metav1.Object
	err := OracleEachObject(job, options, true, func(object any) error {
		objects = append(objects, object.(metav1.Object))
		return nil
	})
	return objects, err
}

// OracleEachObject makes the same objects, one after the other; the Secret only with a key.
func OracleEachObject(job *kubeflow.MPIJob, options OracleOptions, key bool, see func(object any) error) error {
	c := oracleController(options)
	count := workerReplicas(job)
	var running []*corev1.Pod
	for i := 0; i < int(count); i++ {
		if options.Running == nil || (i < len(*options.Running) && (*options.Running)[i] == '1') {
			meta := metav1.ObjectMeta{Name: workerName(job, i), Namespace: job.Namespace}
			running = append(running, &corev1.Pod{ObjectMeta: meta})
		}
	}
	configMap := newConfigMap(job, count, options.ClusterDomain)
	updateDiscoverHostsInConfigMap(configMap, job, running, options.ClusterDomain)
	objects := []any{newJobService(job), configMap}
	if key {
		secret, err := newSSHAuthSecret(job)
		if err != nil {
			return err
		}
		objects = append(objects, secret)
	}
	for _, object := range objects {
		if err := see(object); err != nil {
			return err
		}
	}
	for i := 0; i < int(count); i++ {
		if err := see(c.newWorker(job, i)); err != nil {
			return err
		}
	}
	return see(c.newLauncherJob(job))
}

// OraclePodGroup makes the PodGroup; nil without a gang scheduler.
func OraclePodGroup(job *kubeflow.MPIJob, options OracleOptions) metav1.Object {
	c := oracleController(options)
	if c.PodGroupCtrl == nil {
		return nil
	}
	return c.PodGroupCtrl.newPodGroup(job)
}
