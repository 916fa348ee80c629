//go:build render

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func init() {
	modes["lifecycles"] = lifecycleMode
	modes["fields"] = fieldsMode
}

const mostSyncs = 12

// A moment in the lifecycle of a job: all objects that there are, and the answer: those that there are once the controller
// has nothing left to do.
type moment struct {
	Options  controller.OracleOptions `json:"options"`
	NowMs    int64                    `json:"now"`
	Tick     int                      `json:"tick"`
	Graceful bool                     `json:"graceful"`
	World    []json.RawMessage        `json:"world"`
}

type outcome struct {
	World    []any       `json:"world"`
	Events   [][3]string `json:"events"`
	Counters [3]float64  `json:"counters"` // jobs created, successful, failed
	Syncs    int         `json:"syncs"`
	Error    string      `json:"error,omitempty"` // of the last sync
}

func lifecycleMode(request []byte) ([]byte, error) {
	var m moment
	if err := json.Unmarshal(request, &m); err != nil {
		return nil, err
	}
	lifecycle := controller.NewOracleLifecycle(m.Options, time.UnixMilli(m.NowMs).UTC(), m.Tick, m.Graceful)
	var job *kubeflow.MPIJob
	for _, text := range m.World {
		object, err := readObject(text)
		if err != nil {
			return nil, err
		}
		if found, is := object.(*kubeflow.MPIJob); is {
			job = found
		}
		lifecycle.Add(object)
	}
	if job == nil {
		return nil, fmt.Errorf("no MPIJob")
	}
	return settle(lifecycle, job)
}

// settle syncs until nothing changes. An error is tried again, as the controller's queue does, but not for ever.
func settle(lifecycle *controller.OracleLifecycle, job *kubeflow.MPIJob) ([]byte, error) {
	var out outcome
	before := controller.OracleCounters()
	world, err := print(lifecycle)
	errors := 0
	for err == nil && out.Syncs < mostSyncs && errors < 3 {
		out.Error = ""
		if failed := lifecycle.Sync(job.Namespace, job.Name); failed != nil {
			out.Error = failed.Error()
			errors++
		}
		out.Syncs++
		last := world
		world, err = print(lifecycle)
		if out.Error == "" && reflect.DeepEqual(last, world) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	for _, text := range world {
		out.World = append(out.World, json.RawMessage(text))
	}
	out.Events = lifecycle.Events
	after := controller.OracleCounters()
	for i := range after {
		out.Counters[i] = after[i] - before[i]
	}
	return json.Marshal(out)
}

func print(lifecycle *controller.OracleLifecycle) ([]string, error) {
	var texts []string
	for _, object := range lifecycle.Objects() {
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		apiVersion, kind := kubeflow.SchemeGroupVersion.String(), "MPIJob"
		if _, is := object.(*kubeflow.MPIJob); !is {
			apiVersion, kind = kindOf(object)
		}
		texts = append(texts, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,%s`, apiVersion, kind, text[1:]))
	}
	sort.Strings(texts)
	return texts, nil
}

func readObject(text []byte) (metav1.Object, error) {
	var meta metav1.TypeMeta
	if err := json.Unmarshal(text, &meta); err != nil {
		return nil, err
	}
	if meta.Kind == "MPIJob" {
		return readJob(text)
	}
	object := empty(meta.APIVersion, meta.Kind)
	if object == nil {
		return nil, fmt.Errorf("unknown %s %s", meta.APIVersion, meta.Kind)
	}
	return object, json.Unmarshal(text, object)
}

// fieldsMode answers the paths of all fields of an MPIJob's spec, without those of the pod templates.
func fieldsMode([]byte) ([]byte, error) {
	var paths []string
	walkFields(reflect.TypeOf(kubeflow.MPIJobSpec{}), "spec", &paths)
	return json.Marshal(paths)
}

func walkFields(kind reflect.Type, path string, paths *[]string) {
	for kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if kind == reflect.TypeOf(kubeflow.ReplicaSpec{}) || strings.HasPrefix(kind.PkgPath(), "github.com/kubeflow") {
		for i := 0; kind.Kind() == reflect.Struct && i < kind.NumField(); i++ {
			name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			below := path + "." + name
			*paths = append(*paths, below)
			if name == "mpiReplicaSpecs" {
				for _, role := range []string{"Launcher", "Worker"} {
					walkFields(kind.Field(i).Type.Elem(), below+"."+role, paths)
				}
			} else {
				walkFields(kind.Field(i).Type, below, paths)
			}
		}
	}
}
