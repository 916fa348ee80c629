//go:build render

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"reflect"
	"sort"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	"golang.org/x/crypto/ssh"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	schedv1alpha1 "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	volcanov1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

func init() {
	modes["render"] = renderMode
}

type renderRequest struct {
	Options controller.OracleOptions `json:"options"`
	Job     json.RawMessage          `json:"job"`
	Ours    []json.RawMessage        `json:"ours"`
}

// One place where the objects differ: [object, path, theirs, ours]; nil where one side has nothing.
type difference [4]any

// renderMode compares our objects with those of the controller and answers the JSON list of differences.
func renderMode(request []byte) ([]byte, error) {
	var r renderRequest
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	job, err := readJob(r.Job)
	if err != nil {
		return nil, err
	}
	kubeflow.SetDefaults_MPIJob(job)
	theirs, err := controller.OracleObjects(job, r.Options)
	if err != nil {
		return nil, err
	}
	ours, found, err := readOurs(r.Ours)
	if err != nil {
		return nil, err
	}
	for _, object := range theirs {
		name := nameOf(object)
		found = append(found, compare(name, generic(object), ours[name])...)
		delete(ours, name)
	}
	found = append(found, comparePodGroup(job, r.Options, ours)...)
	for name := range ours {
		found = append(found, difference{name, "", nil, "present"})
	}
	sort.Slice(found, func(i, j int) bool { return fmt.Sprint(found[i]) < fmt.Sprint(found[j]) })
	return json.Marshal(found)
}

// comparePodGroup allows for the one thing in which the controller is not the same each time: with equal priorities
// the order in which it adds up the two roles, and so the format of the sum, is that of a Go map.
func comparePodGroup(job *kubeflow.MPIJob, options controller.OracleOptions, ours map[string]any) []difference {
	var least []difference
	for try := 0; try < 24; try++ {
		theirs := controller.OraclePodGroup(job.DeepCopy(), options)
		if theirs == nil {
			return nil
		}
		name := nameOf(theirs)
		found := compare(name, generic(reread(theirs)), ours[name])
		if try == 0 || len(found) < len(least) {
			least = found
		}
		if len(least) == 0 {
			break
		}
	}
	delete(ours, "PodGroup/"+job.Name)
	return least
}

// reread writes and reads an object, as it goes to the server: a sum above 2^63-1 is written in full and read as that.
func reread(object metav1.Object) metav1.Object {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	again := empty(kindOf(object))
	if err := json.Unmarshal(text, again); err != nil {
		panic(err)
	}
	return again
}

func kindOf(object metav1.Object) (string, string) {
	switch object.(type) {
	case *corev1.Service:
		return "v1", "Service"
	case *corev1.ConfigMap:
		return "v1", "ConfigMap"
	case *corev1.Secret:
		return "v1", "Secret"
	case *corev1.Pod:
		return "v1", "Pod"
	case *batchv1.Job:
		return "batch/v1", "Job"
	case *volcanov1beta1.PodGroup:
		return "scheduling.volcano.sh/v1beta1", "PodGroup"
	case *schedv1alpha1.PodGroup:
		return "scheduling.x-k8s.io/v1alpha1", "PodGroup"
	}
	panic("unknown kind")
}

func nameOf(object metav1.Object) string {
	_, kind := kindOf(object)
	return kind + "/" + object.GetName()
}

func empty(apiVersion, kind string) metav1.Object {
	switch apiVersion + " " + kind {
	case "v1 Service":
		return &corev1.Service{}
	case "v1 ConfigMap":
		return &corev1.ConfigMap{}
	case "v1 Secret":
		return &corev1.Secret{}
	case "v1 Pod":
		return &corev1.Pod{}
	case "batch/v1 Job":
		return &batchv1.Job{}
	case "scheduling.volcano.sh/v1beta1 PodGroup":
		return &volcanov1beta1.PodGroup{}
	case "scheduling.x-k8s.io/v1alpha1 PodGroup":
		return &schedv1alpha1.PodGroup{}
	}
	return nil
}

// readOurs reads our objects into the controller's own types; unknown and repeated fields are differences.
func readOurs(texts []json.RawMessage) (map[string]any, []difference, error) {
	objects := map[string]any{}
	var found []difference
	for _, text := range texts {
		var meta metav1.TypeMeta
		if err := json.Unmarshal(text, &meta); err != nil {
			return nil, nil, err
		}
		object := empty(meta.APIVersion, meta.Kind)
		if object == nil {
			return nil, nil, fmt.Errorf("ours: unknown %s %s", meta.APIVersion, meta.Kind)
		}
		strict, err := kjson.UnmarshalStrict(text, object)
		if err != nil {
			return nil, nil, fmt.Errorf("ours: %s: %w", meta.Kind, err)
		}
		name := nameOf(object)
		if _, twice := objects[name]; twice {
			found = append(found, difference{name, "", nil, "twice"})
		}
		for _, problem := range strict {
			found = append(found, difference{name, "", nil, problem.Error()})
		}
		if secret, is := object.(*corev1.Secret); is {
			found = append(found, checkKeys(name, secret)...)
		}
		objects[name] = generic(object)
	}
	return objects, found, nil
}

// checkKeys tells whether Go writes the same key pair in the same bytes.
func checkKeys(name string, secret *corev1.Secret) []difference {
	block, rest := pem.Decode(secret.Data["ssh-privatekey"])
	if block == nil || len(rest) > 0 {
		return []difference{{name, "data.ssh-privatekey", "PEM", "no PEM"}}
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return []difference{{name, "data.ssh-privatekey", "a key", err.Error()}}
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return []difference{{name, "data.ssh-privatekey", "a key", err.Error()}}
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if !bytes.Equal(private, secret.Data["ssh-privatekey"]) {
		return []difference{{name, "data.ssh-privatekey", "Go's bytes", "others"}}
	}
	public, err := ssh.NewPublicKey(&key.PublicKey)
	if err != nil {
		return []difference{{name, "data.ssh-publickey", "a key", err.Error()}}
	}
	if !bytes.Equal(ssh.MarshalAuthorizedKey(public), secret.Data["ssh-publickey"]) {
		return []difference{{name, "data.ssh-publickey", "Go's bytes", "others"}}
	}
	return nil
}

// generic turns an object into maps and lists, with its kind, without what is random and what is empty.
func generic(object metav1.Object) any {
	if secret, is := object.(*corev1.Secret); is {
		for key := range secret.Data {
			secret.Data[key] = []byte("random")
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	tree := map[string]any{}
	if err := decoder.Decode(&tree); err != nil {
		panic(err)
	}
	tree["apiVersion"], tree["kind"] = kindOf(object)
	return prune(tree)
}

// prune drops creationTimestamp, nulls, and a status and other maps and lists that are empty.
func prune(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, entry := range value {
			if entry = prune(entry); entry == nil || key == "creationTimestamp" {
				delete(value, key)
			} else {
				value[key] = entry
			}
		}
		if len(value) == 0 {
			return nil
		}
	case []any:
		if len(value) == 0 {
			return nil
		}
		for i := range value {
			value[i] = prune(value[i])
		}
	}
	return value
}

func compare(name string, theirs, ours any) []difference {
	var found []difference
	var walk func(path string, a, b any)
	walk = func(path string, a, b any) {
		mapA, isMapA := a.(map[string]any)
		mapB, isMapB := b.(map[string]any)
		listA, isListA := a.([]any)
		listB, isListB := b.([]any)
		switch {
		case isMapA && isMapB:
			for key := range mapA {
				walk(path+"."+key, mapA[key], mapB[key])
			}
			for key := range mapB {
				if _, both := mapA[key]; !both {
					walk(path+"."+key, nil, mapB[key])
				}
			}
		case isListA && isListB:
			for i := 0; i < len(listA) || i < len(listB); i++ {
				var itemA, itemB any
				if i < len(listA) {
					itemA = listA[i]
				}
				if i < len(listB) {
					itemB = listB[i]
				}
				walk(fmt.Sprintf("%s[%d]", path, i), itemA, itemB)
			}
		case !reflect.DeepEqual(a, b):
			found = append(found, difference{name, path, a, b})
		}
	}
	walk("", theirs, ours)
	return found
}
