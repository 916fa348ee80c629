// SPDX-License-Identifier: Apache-2.0

// tests/oracle/build-controller puts this file into a copy of mpi-operator's package controller: its sync, over stores
// that are at once what its listers see and what its clients change.

package controller

import (
	"fmt"
	"time"

	dto "github.com/prometheus/client_model/go"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	schedv1alpha1 "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	schedfake "sigs.k8s.io/scheduler-plugins/pkg/generated/clientset/versioned/fake"
	schedlisters "sigs.k8s.io/scheduler-plugins/pkg/generated/listers/scheduling/v1alpha1"
	volcanov1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	volcanofake "volcano.sh/apis/pkg/client/clientset/versioned/fake"
	volcanolisters "volcano.sh/apis/pkg/client/listers/scheduling/v1beta1"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	listers "github.com/kubeflow/mpi-operator/pkg/client/listers/kubeflow/v2beta1"
)

// OracleLifecycle is a controller with all that it knows, at one time.
type OracleLifecycle struct {
	Events     [][3]string // type, reason, message
	controller *MPIJobController
	stores     map[string]cache.Indexer
	now        time.Time
	tick       int
	graceful   bool
}

// What metav1.Now gives is never as early as the time of a life.
var oracleBegin = time.Now().Add(-time.Hour)

// NewOracleLifecycle makes a controller that knows nothing. The tick is part of the uids of what it makes; with graceful,
// a pod that is deleted stays with a deletionTimestamp.
func NewOracleLifecycle(options OracleOptions, now time.Time, tick int, graceful bool) *OracleLifecycle {
	life := &OracleLifecycle{stores: map[string]cache.Indexer{}, now: now, tick: tick, graceful: graceful}
	for _, resource := range []string{"mpijobs", "pods", "services", "configmaps", "secrets", "jobs", "podgroups", "priorityclasses"} {
		life.stores[resource] = cache.NewIndexer(cache.MetaNamespaceKeyFunc,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	for name, value := range options.PriorityClasses {
		life.Add(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value})
	}
	kube := &kubefake.Clientset{}
	kube.AddReactor("*", "*", life.react)
	c := &MPIJobController{
		kubeClient:          kube,
		clusterDomain:       options.ClusterDomain,
		recorder:            oracleRecorder{life},
		clock:               clocktesting.NewFakeClock(now),
		configMapLister:     corelisters.NewConfigMapLister(life.stores["configmaps"]),
		secretLister:        corelisters.NewSecretLister(life.stores["secrets"]),
		serviceLister:       corelisters.NewServiceLister(life.stores["services"]),
		jobLister:           batchlisters.NewJobLister(life.stores["jobs"]),
		podLister:           corelisters.NewPodLister(life.stores["pods"]),
		priorityClassLister: schedulinglisters.NewPriorityClassLister(life.stores["priorityclasses"]),
		mpiJobLister:        listers.NewMPIJobLister(life.stores["mpijobs"]),
		updateStatusHandler: life.updateStatus,
	}
	switch options.GangScheduler {
	case "":
	case "volcano":
		client := &volcanofake.Clientset{}
		client.AddReactor("*", "*", life.react)
		c.PodGroupCtrl = &VolcanoCtrl{Client: client, PodGroupInformer: oracleVolcano{life.stores["podgroups"]},
			PriorityClassLister: c.priorityClassLister, schedulerName: options.GangScheduler}
	default:
		client := &schedfake.Clientset{}
		client.AddReactor("*", "*", life.react)
		c.PodGroupCtrl = &SchedulerPluginsCtrl{Client: client, PodGroupInformer: oracleSched{life.stores["podgroups"]},
			PriorityClassLister: c.priorityClassLister, schedulerName: options.GangScheduler}
	}
	life.controller = c
	return life
}

// Sync does what the controller does with a job once. A panic is an error.
func (life *OracleLifecycle) Sync(namespace, name string) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	return life.controller.syncHandler(namespace + "/" + name)
}

// OracleCounters are the numbers of jobs that were created, successful and failed, of the whole process.
func OracleCounters() [3]float64 {
	var values [3]float64
	for i, counter := range []interface{ Write(*dto.Metric) error }{mpiJobsCreatedCount, mpiJobsSuccessCount, mpiJobsFailureCount} {
		var metric dto.Metric
		if err := counter.Write(&metric); err != nil {
			panic(err)
		}
		values[i] = metric.GetCounter().GetValue()
	}
	return values
}

// Add lets the controller know an object. As in an informer's store, it does not say what kind it is.
func (life *OracleLifecycle) Add(object metav1.Object) {
	life.put(oracleResource(object), object)
}

// Objects lists what the controller knows.
func (life *OracleLifecycle) Objects() []metav1.Object {
	var all []metav1.Object
	for resource, store := range life.stores {
		for _, object := range store.List() {
			if resource != "priorityclasses" {
				all = append(all, object.(metav1.Object))
			}
		}
	}
	return all
}

func (life *OracleLifecycle) put(resource string, object metav1.Object) {
	object.(runtime.Object).GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	if err := life.stores[resource].Add(object); err != nil {
		panic(err)
	}
}

func oracleResource(object any) string {
	switch object.(type) {
	case *kubeflow.MPIJob:
		return "mpijobs"
	case *corev1.Pod:
		return "pods"
	case *corev1.Service:
		return "services"
	case *corev1.ConfigMap:
		return "configmaps"
	case *corev1.Secret:
		return "secrets"
	case *batchv1.Job:
		return "jobs"
	case *schedulingv1.PriorityClass:
		return "priorityclasses"
	case *volcanov1beta1.PodGroup, *schedv1alpha1.PodGroup:
		return "podgroups"
	}
	panic(fmt.Sprintf("no resource: %T", object))
}

// react is what an API server does with a write.
func (life *OracleLifecycle) react(action kubetesting.Action) (bool, runtime.Object, error) {
	resource := action.GetResource().Resource
	store := life.stores[resource]
	switch action := action.(type) {
	case kubetesting.CreateAction: // an update is one, too
		object := action.GetObject().DeepCopyObject()
		accessor, err := meta.Accessor(object)
		if err != nil {
			return true, nil, err
		}
		if action.GetVerb() == "create" {
			key := accessor.GetNamespace() + "/" + accessor.GetName()
			if _, exists, _ := store.GetByKey(key); exists {
				return true, nil, apierrors.NewAlreadyExists(action.GetResource().GroupResource(), accessor.GetName())
			}
			accessor.SetUID(types.UID(fmt.Sprintf("%s-%s-%d", resource, accessor.GetName(), life.tick)))
			accessor.SetCreationTimestamp(metav1.NewTime(life.now))
			if pod, is := object.(*corev1.Pod); is {
				pod.Status.Phase = corev1.PodPending
			}
		}
		life.put(resource, accessor)
		return true, object.DeepCopyObject(), nil
	case kubetesting.DeleteAction:
		key := action.GetNamespace() + "/" + action.GetName()
		object, exists, _ := store.GetByKey(key)
		if !exists {
			return true, nil, apierrors.NewNotFound(action.GetResource().GroupResource(), action.GetName())
		}
		if pod, is := object.(*corev1.Pod); is && life.graceful {
			pod = pod.DeepCopy()
			if pod.DeletionTimestamp == nil {
				now := metav1.NewTime(life.now)
				pod.DeletionTimestamp = &now
			}
			return true, nil, store.Update(pod)
		}
		return true, nil, store.Delete(object)
	}
	return true, nil, fmt.Errorf("%s of %s is not expected", action.GetVerb(), resource)
}

// updateStatus writes the status alone, with the time of the life instead of that of the clock.
func (life *OracleLifecycle) updateStatus(job *kubeflow.MPIJob) error {
	stored, err := life.controller.mpiJobLister.MPIJobs(job.Namespace).Get(job.Name)
	if err != nil {
		return err
	}
	stored = stored.DeepCopy()
	job.Status.DeepCopyInto(&stored.Status)
	life.tell(stored.Status.StartTime)
	life.tell(stored.Status.CompletionTime)
	life.tell(stored.Status.LastReconcileTime)
	for i := range stored.Status.Conditions {
		life.tell(&stored.Status.Conditions[i].LastUpdateTime)
		life.tell(&stored.Status.Conditions[i].LastTransitionTime)
	}
	return life.stores["mpijobs"].Update(stored)
}

func (life *OracleLifecycle) tell(at *metav1.Time) {
	if at != nil && at.After(oracleBegin) {
		*at = metav1.NewTime(life.now)
	}
}

type oracleRecorder struct{ life *OracleLifecycle }

func (r oracleRecorder) Event(_ runtime.Object, kind, reason, message string) {
	r.life.Events = append(r.life.Events, [3]string{kind, reason, message})
}

func (r oracleRecorder) Eventf(object runtime.Object, kind, reason, format string, values ...any) {
	r.Event(object, kind, reason, fmt.Sprintf(format, values...))
}

func (r oracleRecorder) AnnotatedEventf(object runtime.Object, _ map[string]string, kind, reason, format string, values ...any) {
	r.Event(object, kind, reason, fmt.Sprintf(format, values...))
}

type oracleVolcano struct{ store cache.Indexer }

func (o oracleVolcano) Informer() cache.SharedIndexInformer { return nil }
func (o oracleVolcano) Lister() volcanolisters.PodGroupLister {
	return volcanolisters.NewPodGroupLister(o.store)
}

type oracleSched struct{ store cache.Indexer }

func (o oracleSched) Informer() cache.SharedIndexInformer { return nil }
func (o oracleSched) Lister() schedlisters.PodGroupLister {
	return schedlisters.NewPodGroupLister(o.store)
}
