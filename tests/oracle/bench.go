//go:build render

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func init() {
	modes["bench"] = benchMode
}

// The controller's half of bench/core/run; the other half, bench/core/core.c, says what the kinds of work are.
type benchRequest struct {
	What string  `json:"what"`
	File string  `json:"file"`
	Ms   float64 `json:"ms"`
}

type benchAnswer struct {
	Jobs        int     `json:"jobs"`
	Ms          float64 `json:"ms"`
	Allocations float64 `json:"allocations"`
	Allocated   float64 `json:"allocated"`
	Peak        int64   `json:"peak"`
	Files       int64   `json:"files"` // what of it are pages of programs and libraries
	Written     float64 `json:"written"`
}

func benchMode(request []byte) ([]byte, error) {
	var r benchRequest
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(r.File)
	if err != nil {
		return nil, err
	}
	written := 0
	once, err := benchWork(r.What, text, &written)
	if err != nil {
		return nil, err
	}
	if err := once(); err != nil {
		return nil, err
	}
	written = 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	answer := benchAnswer{}
	for begun := cpuMs(); answer.Ms < r.Ms; answer.Jobs++ {
		if err := once(); err != nil {
			return nil, err
		}
		answer.Ms = cpuMs() - begun
	}
	runtime.ReadMemStats(&after)
	answer.Allocations = float64(after.Mallocs-before.Mallocs) / float64(answer.Jobs)
	answer.Allocated = float64(after.TotalAlloc-before.TotalAlloc) / float64(answer.Jobs)
	answer.Written = float64(written) / float64(answer.Jobs)
	if answer.Peak, err = memory("VmHWM:"); err != nil {
		return nil, err
	}
	if answer.Files, err = memory("RssFile:"); err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// memory reads a line of /proc/self/status. Not Maxrss: that of a program begins with what its parent had.
func memory(name string) (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), name)
	var kib int64
	_, err = fmt.Sscan(after, &kib)
	return kib * 1024, err
}

func usage() syscall.Rusage {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage
}

func cpuMs() float64 {
	u := usage()
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

func benchWork(what string, text []byte, written *int) (func() error, error) {
	job, err := readJob(text)
	if err != nil {
		return nil, err
	}
	switch what {
	case "parse":
		return func() error {
			_, err := readJob(text)
			return err
		}, nil
	case "first", "keyless", "held":
		return func() error { return first(job, what, written) }, nil
	case "unchanged":
		return unchanged(job)
	}
	return nil, fmt.Errorf("unknown work %q", what)
}

// first does with functions of the controller itself what its first sync of a job does: it does less, as it neither
// asks its caches nor writes a status. Its sync holds all pods until its end: "held" does, too.
func first(given *kubeflow.MPIJob, what string, written *int) error {
	job := given.DeepCopy()
	kubeflow.SetDefaults_MPIJob(job)
	if found := validation.ValidateMPIJob(job); len(found) > 0 {
		return found.ToAggregate()
	}
	none := ""
	var pods []*corev1.Pod
	err := controller.OracleEachObject(job, controller.OracleOptions{Running: &none}, what != "keyless", func(object any) error {
		if pod, is := object.(*corev1.Pod); is && what == "held" {
			pods = append(pods, pod)
		}
		text, err := json.Marshal(object)
		*written += len(text)
		return err
	})
	runtime.KeepAlive(pods)
	return err
}

// unchanged answers a sync with nothing to do: all of the job exists, and its workers run.
func unchanged(job *kubeflow.MPIJob) (func() error, error) {
	life := controller.NewOracleLifecycle(controller.OracleOptions{}, time.Unix(1790000000, 0).UTC(), 0, false)
	job.UID = types.UID("u")
	life.Add(job)
	for i := 0; i < 4; i++ {
		if err := life.Sync(job.Namespace, job.Name); err != nil {
			return nil, err
		}
		for _, object := range life.Objects() {
			if pod, is := object.(*corev1.Pod); is {
				pod.Status.Phase = corev1.PodRunning
			}
		}
	}
	return func() error { return life.Sync(job.Namespace, job.Name) }, nil
}
