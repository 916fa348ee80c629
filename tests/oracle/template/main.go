// SPDX-License-Identifier: Apache-2.0

// What the servers say of a job and its pod templates: the API server with the CRD of mpi-operator v0.8.2, that
// operator itself, and an API server of Kubernetes 1.36.3 when it is given the worker, the launcher Job, and the pod
// that comes of that.
//
//	mpijob-template-oracle CRD.yaml < requests > answers
//
// A request is a line with a number of bytes, and so many bytes of YAML or JSON. An answer is one line of JSON,
// {"stage": ..., "findings": [[field, reason, text], ...]}: who refused it first, or "accepted".
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	operator "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	crd "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/capabilities"
	registryjob "k8s.io/kubernetes/pkg/registry/batch/job"
	registrypod "k8s.io/kubernetes/pkg/registry/core/pod"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

type answer struct {
	Stage    string      `json:"stage"`
	Findings [][3]string `json:"findings"`
}

func refused(stage string, errs field.ErrorList) *answer {
	a := &answer{Stage: stage}
	for _, err := range errs {
		a.Findings = append(a.Findings, [3]string{err.Field, strings.TrimPrefix(string(err.Type), "FieldValue"), err.ErrorBody()})
	}
	return a
}

func broken(stage string, err error) *answer {
	return &answer{Stage: stage, Findings: [][3]string{{"", "Invalid", err.Error()}}}
}

// The API server as far as the CRD goes.
type definition struct {
	structure *structural.Structural
	validator crd.SchemaValidator
}

func readDefinition(path string) (*definition, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var outside apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &outside); err != nil {
		return nil, err
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&outside)
	var inside apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&outside, &inside, nil); err != nil {
		return nil, err
	}
	given, err := apiextensions.GetSchemaForVersion(&inside, "v2beta1")
	if err != nil {
		return nil, err
	}
	d := &definition{}
	if d.structure, err = structural.NewStructural(given.OpenAPIV3Schema); err != nil {
		return nil, err
	}
	d.validator, _, err = crd.NewSchemaValidator(given.OpenAPIV3Schema)
	return d, err
}

// admit does what the server does with an object that is created: it is changed in place.
func (d *definition) admit(object map[string]any) *answer {
	defaulting.Default(object, d.structure)
	pruning.PruneWithOptions(object, d.structure, true, structural.UnknownFieldPathOptions{})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, d.structure)
	if err, _ := objectmeta.CoerceWithOptions(nil, object, d.structure, true, objectmeta.CoerceOptions{}); err != nil {
		return broken("crd", err)
	}
	u := &unstructured.Unstructured{Object: object}
	if u.GetNamespace() == "" {
		u.SetNamespace("default")
	}
	if u.GetName() == "" && u.GetGenerateName() != "" {
		u.SetName(u.GetGenerateName() + "abcde")
	}
	errs := validation.ValidateObjectMetaAccessor(u, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, crd.ValidateCustomResource(nil, object, d.validator)...)
	errs = append(errs, objectmeta.Validate(nil, object, d.structure, true)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, d.structure, object)...)
	if len(errs) > 0 {
		return refused("crd", errs)
	}
	return nil
}

// create asks an API server's registry, as rest.BeforeCreate does, for an object that is not in Go's internal form.
func create(stage string, strategy rest.RESTCreateStrategy, kind schema.GroupVersionKind, outside, inside runtime.Object) *answer {
	legacyscheme.Scheme.Default(outside)
	if err := legacyscheme.Scheme.Convert(outside, inside, nil); err != nil {
		return broken(stage, err)
	}
	ctx := genericrequest.WithNamespace(context.Background(), outside.(metav1.Object).GetNamespace())
	ctx = genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{APIGroup: kind.Group, APIVersion: kind.Version, Verb: "create"})
	rest.FillObjectMetaSystemFields(inside.(metav1.Object))
	err := rest.BeforeCreate(strategy, ctx, inside)
	if err == nil {
		return nil
	}
	status, is := err.(apierrors.APIStatus)
	if !is || status.Status().Details == nil {
		return broken(stage, err)
	}
	a := &answer{Stage: stage}
	for _, cause := range status.Status().Details.Causes {
		a.Findings = append(a.Findings, [3]string{cause.Field, strings.TrimPrefix(string(cause.Type), "FieldValue"), cause.Message})
	}
	return a
}

func createPod(stage string, pod *corev1.Pod) *answer {
	if pod.Spec.ServiceAccountName == "" && pod.Spec.DeprecatedServiceAccount == "" {
		pod.Spec.ServiceAccountName = "default" // the admission of service accounts comes before validation
	}
	return create(stage, registrypod.Strategy, corev1.SchemeGroupVersion.WithKind("Pod"), pod, &core.Pod{})
}

// sent writes and reads an object, as it goes to the server.
func sent[T any](object *T) *T {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	again := new(T)
	if err := json.Unmarshal(text, again); err != nil {
		panic(err)
	}
	return again
}

func (d *definition) judge(text []byte) *answer {
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		return broken("syntax", err)
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(asJSON, &object); err != nil {
		return broken("syntax", err)
	}
	if object["apiVersion"] != kubeflow.SchemeGroupVersion.String() || object["kind"] != kubeflow.Kind {
		return broken("crd", fmt.Errorf("no MPIJob of the CRD: %v %v", object["apiVersion"], object["kind"]))
	}
	if a := d.admit(object); a != nil {
		return a
	}
	stored, err := json.Marshal(object)
	if err != nil {
		return broken("syntax", err)
	}
	job := &kubeflow.MPIJob{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(stored, job); err != nil {
		return broken("decode", err)
	}
	job.UID = "01234567-89ab-cdef-0123-456789abcdef"
	kubeflow.SetDefaults_MPIJob(job)
	if errs := operator.ValidateMPIJob(job); len(errs) > 0 {
		return refused("operator", errs)
	}
	worker, launcher := controller.OracleTemplates(job)
	launcher = sent(launcher)
	if worker != nil {
		worker = sent(worker)
		if a := createPod("worker", worker); a != nil {
			return a
		}
	}
	pod := &corev1.Pod{ObjectMeta: *launcher.Spec.Template.ObjectMeta.DeepCopy(), Spec: *launcher.Spec.Template.Spec.DeepCopy()}
	pod.Name, pod.Namespace = launcher.Name+"-abcde", launcher.Namespace
	kind := schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	if a := create("launcher", registryjob.Strategy, kind, launcher, &batch.Job{}); a != nil {
		return a
	}
	if a := createPod("launcher-pod", pod); a != nil {
		return a
	}
	return &answer{Stage: "accepted"}
}

func readRequests(in *bufio.Reader) (requests [][]byte, err error) {
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			return requests, nil
		}
		if err != nil {
			return nil, err
		}
		size, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return nil, err
		}
		request := make([]byte, size)
		if _, err := io.ReadFull(in, request); err != nil {
			return nil, err
		}
		requests = append(requests, request)
	}
}

// serve judges all requests, on all cores, and answers in their order.
func (d *definition) serve(in *bufio.Reader, out *bufio.Writer) error {
	requests, err := readRequests(in)
	if err != nil {
		return err
	}
	answers := make([]*answer, len(requests))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range goruntime.NumCPU() {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(requests)); i = next.Add(1) - 1 {
				answers[i] = d.judge(requests[i])
			}
		})
	}
	workers.Wait()
	encoder := json.NewEncoder(out)
	for _, a := range answers {
		if err := encoder.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: mpijob-template-oracle CRD.yaml < requests > answers")
		os.Exit(2)
	}
	capabilities.Setup(true, 0) // --allow-privileged, without which no cluster runs
	d, err := readDefinition(os.Args[1])
	out := bufio.NewWriter(os.Stdout)
	if err == nil {
		err = d.serve(bufio.NewReader(os.Stdin), out)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
