// SPDX-License-Identifier: Apache-2.0

// What the owners of the other versions say of a converted job: training-operator v1.9.3, mpi-operator v0.8.2 and
// Trainer v2.2.0. A job is read strictly (an unknown field is an error), defaulted and checked.
//
//	convert-oracle < requests > answers
//
// Requests and answers look as those of tests/oracle/main.go. The answer to a job is JSON: the job with defaults, and what
// its owner's validation finds.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	mpi "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"
	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	training "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

type answer struct {
	Job      any      `json:"job"`
	Findings []string `json:"findings"`
}

func strict(text []byte, into any) error {
	wrong, err := kjson.UnmarshalStrict(text, into)
	return errors.Join(append(wrong, err)...)
}

func v1(text []byte) (*answer, error) {
	job := &training.MPIJob{}
	if err := strict(text, job); err != nil {
		return nil, err
	}
	training.SetDefaults_MPIJob(job)
	said := &answer{Job: job}
	if err := training.ValidateV1MpiJobSpec(&job.Spec); err != nil {
		said.Findings = append(said.Findings, err.Error())
	}
	return said, nil
}

func v2beta1(text []byte) (*answer, error) {
	job := &mpi.MPIJob{}
	if err := strict(text, job); err != nil {
		return nil, err
	}
	mpi.SetDefaults_MPIJob(job)
	said := &answer{Job: job}
	for _, found := range validation.ValidateMPIJob(job) {
		said.Findings = append(said.Findings, found.Error())
	}
	return said, nil
}

// The few rules that the CRD adds to the types are written here again: there is no Go function for them.
func trainJob(text []byte) (*answer, error) {
	job := &trainer.TrainJob{}
	if err := strict(text, job); err != nil {
		return nil, err
	}
	said := &answer{Job: job}
	refuse := func(wrong bool, what string) {
		if wrong {
			said.Findings = append(said.Findings, what)
		}
	}
	refuse(job.Spec.RuntimeRef.Name == "", "no runtime")
	refuse(job.Spec.ActiveDeadlineSeconds < 0 || strings.Contains(string(text), `"activeDeadlineSeconds":0`), "deadline under 1")
	if steps := job.Spec.Trainer; steps != nil {
		refuse(steps.NumProcPerNode != nil && *steps.NumProcPerNode < 1, "numProcPerNode under 1")
		refuse(steps.NumNodes != nil && *steps.NumNodes < 1, "numNodes under 1")
	}
	if by := job.Spec.ManagedBy; by != nil {
		refuse(*by != "trainer.kubeflow.org/trainjob-controller" && *by != "kueue.x-k8s.io/multikueue", "managedBy "+*by)
	}
	for _, patch := range job.Spec.RuntimePatches {
		refuse(strings.Count(patch.Manager, "/") != 1, "manager without a domain")
		if patch.TrainingRuntimeSpec == nil || patch.TrainingRuntimeSpec.Template == nil || patch.TrainingRuntimeSpec.Template.Spec == nil {
			continue
		}
		for _, part := range patch.TrainingRuntimeSpec.Template.Spec.ReplicatedJobs {
			refuse(part.Name != "launcher" && part.Name != "node", "no such job "+part.Name)
			if part.Template == nil || part.Template.Spec == nil || part.Template.Spec.Template == nil || part.Template.Spec.Template.Spec == nil {
				continue
			}
			for _, container := range part.Template.Spec.Template.Spec.Containers {
				refuse(container.Name != "node" || len(container.Env) > 0, "container "+container.Name)
			}
		}
	}
	return said, nil
}

func judge(text []byte) (*answer, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, err
	}
	switch kind.APIVersion + " " + kind.Kind {
	case training.GroupVersion.String() + " MPIJob":
		return v1(text)
	case mpi.SchemeGroupVersion.String() + " MPIJob":
		return v2beta1(text)
	case trainer.GroupVersion.String() + " " + trainer.TrainJobKind:
		return trainJob(text)
	}
	return nil, fmt.Errorf("no owner of %s %s", kind.APIVersion, kind.Kind)
}

func serve(in *bufio.Reader, out *bufio.Writer) error {
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			return nil
		}
		if err != nil {
			return err
		}
		size, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return err
		}
		request := make([]byte, size)
		if _, err := io.ReadFull(in, request); err != nil {
			return err
		}
		word, text := "ok", []byte(nil)
		said, err := judge(request)
		if err == nil {
			text, err = json.Marshal(said)
		}
		if err != nil {
			word, text = "error", []byte(err.Error())
		}
		fmt.Fprintf(out, "%s %d\n", word, len(text))
		out.Write(text)
	}
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	if err := serve(bufio.NewReader(os.Stdin), out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out.Flush()
}
