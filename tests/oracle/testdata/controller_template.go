// SPDX-License-Identifier: Apache-2.0

// tests/oracle/build-template puts this file into a copy of mpi-operator's package controller, whose functions that
// render are not exported.

package controller

import (
	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
)

func init() {
	klog.SetLogger(logr.Discard())
}

// OracleTemplates renders what comes of the two templates; no worker when the job has none.
func OracleTemplates(job *kubeflow.MPIJob) (*corev1.Pod, *batchv1.Job) {
	c := &MPIJobController{recorder: &record.FakeRecorder{}}
	var worker *corev1.Pod
	if job.Spec.MPIReplicaSpecs[kubeflow.MPIReplicaTypeWorker] != nil {
		worker = c.newWorker(job, 0)
	}
	return worker, c.newLauncherJob(job)
}
