// SPDX-License-Identifier: Apache-2.0

// Facts about a pod template, for lib/schema/blob.inc: what the CRD of mpi-operator v0.8.2 says of each field, and
// what Kubernetes 1.36.3 does. Names, types, formats, enumerations, what is required, kinds of lists, and keys; no
// descriptions. Run by tools/make-schema:
//
//	mpijob-schema CRD.yaml > blob.inc
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	openapi "k8s.io/kubernetes/pkg/generated/openapi"
	"sigs.k8s.io/yaml"
)

const root = "PodTemplateSpec"

type field struct {
	name, shape, kind, of     string
	choices                   []string
	keys, fill, patch         string
	crd, kube, pointer        bool
	crdRequired, kubeRequired bool
	atomic, emptyFill         bool
	listType, patchStrategy   string
}

type structure struct {
	name   string
	fields map[string]*field
	found  bool // in the CRD
}

type maker struct {
	defs  map[string]common.OpenAPIDefinition
	types map[string]*structure
	order []string
	seen  map[string]bool // fields of the CRD
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func short(ref string) string {
	return ref[strings.LastIndex(ref, ".")+1:]
}

// Scalars which OpenAPI knows as types of their own.
var scalars = map[string]string{"Quantity": "QUANTITY", "IntOrString": "INT_OR_STRING", "Time": "TIME", "MicroTime": "TIME", "FieldsV1": "ANY"}

func kindOf(schema *spec.Schema) (kind, of string) {
	if len(schema.AllOf) == 1 {
		schema = &schema.AllOf[0]
	}
	if ref := schema.Ref.String(); ref != "" {
		if kind, is := scalars[short(ref)]; is {
			return kind, ""
		}
		return "OBJECT", ref
	}
	switch strings.Join(schema.Type, ",") + " " + schema.Format {
	case "string ":
		return "STRING", ""
	case "boolean ":
		return "BOOL", ""
	case "integer int32":
		return "INT32", ""
	case "integer int64":
		return "INT64", ""
	}
	fail("unknown type %v %v", schema.Type, schema.Format)
	return "", ""
}

func words(values []any) []string {
	var list []string
	for _, value := range values {
		list = append(list, fmt.Sprint(value))
	}
	return list
}

func text(extensions spec.Extensions, name string) string {
	value, _ := extensions[name].(string)
	return value
}

// kube reads a type of Kubernetes and everything reachable from it.
func (m *maker) kube(ref string, typ reflect.Type) {
	name := short(ref)
	if m.types[name] != nil {
		return
	}
	m.types[name] = &structure{name: name, fields: map[string]*field{}}
	m.order = append(m.order, name)
	schema := m.defs[ref].Schema
	members := membersOf(typ)
	var keys []string
	for key := range schema.Properties {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		property := schema.Properties[key]
		f := &field{name: key, kube: true, shape: "ONE", patch: text(property.Extensions, "x-kubernetes-patch-merge-key")}
		value := &property
		if len(property.Type) == 1 && property.Type[0] == "array" {
			f.shape, value = "LIST", property.Items.Schema
			f.listType = text(property.Extensions, "x-kubernetes-list-type")
		} else if property.AdditionalProperties != nil {
			f.shape, value = "MAP", property.AdditionalProperties.Schema
		}
		var of string
		f.kind, of = kindOf(value)
		f.of, f.choices = short(of), words(value.Enum)
		member, has := members[key]
		if !has {
			fail("%s.%s is no member in Go", name, key)
		}
		f.pointer = member.Kind() == reflect.Pointer
		for member.Kind() == reflect.Pointer || (f.shape != "ONE" && (member.Kind() == reflect.Slice || member.Kind() == reflect.Map)) {
			member = member.Elem()
		}
		m.types[name].fields[key] = f
		if f.kind == "OBJECT" {
			m.kube(of, member)
		}
	}
	for _, key := range schema.Required {
		m.types[name].fields[key].kubeRequired = true
	}
}

func membersOf(typ reflect.Type) map[string]reflect.Type {
	members := map[string]reflect.Type{}
	for i := 0; i < typ.NumField(); i++ {
		member := typ.Field(i)
		key, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		if key == "" && (member.Anonymous || strings.Contains(options, "inline")) {
			for key, inner := range membersOf(member.Type) {
				members[key] = inner
			}
			continue
		}
		members[key] = member.Type
	}
	return members
}

func crdKind(schema map[string]any) string {
	if schema["x-kubernetes-int-or-string"] == true {
		if schema["pattern"] != nil {
			return "QUANTITY"
		}
		return "INT_OR_STRING"
	}
	switch fmt.Sprint(schema["type"], " ", schema["format"]) {
	case "string <nil>":
		return "STRING"
	case "string date-time":
		return "TIME"
	case "boolean <nil>":
		return "BOOL"
	case "integer int32", "integer <nil>":
		return "INT32"
	case "integer int64":
		return "INT64"
	}
	if schema["type"] != "object" {
		fail("the CRD has an unknown type %v", schema)
	}
	return "OBJECT"
}

func list(value any) []string {
	values, _ := value.([]any)
	return words(values)
}

// The types of the CRD have no names: where Kubernetes lacks the field, it is that of the field.
func (m *maker) crd(name string, schema map[string]any) {
	t := m.types[name]
	if t == nil {
		t = &structure{name: name, fields: map[string]*field{}}
		m.types[name] = t
		m.order = append(m.order, name)
	}
	properties, _ := schema["properties"].(map[string]any)
	required := map[string]bool{}
	for _, key := range list(schema["required"]) {
		required[key] = true
	}
	if t.found {
		m.same(t, properties, required)
	}
	t.found = true
	var keys []string
	for key := range properties {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		property := properties[key].(map[string]any)
		f := t.fields[key]
		if f == nil {
			f = &field{name: key}
			t.fields[key] = f
		}
		m.merge(t, f, property)
		f.crdRequired = required[key]
	}
}

// same: a type that the CRD repeats must say the same in all its places.
func (m *maker) same(t *structure, properties map[string]any, required map[string]bool) {
	for key, f := range t.fields {
		if _, has := properties[key]; has != f.crd || required[key] != f.crdRequired {
			fail("%s.%s is not everywhere the same in the CRD", t.name, key)
		}
	}
}

func (m *maker) merge(t *structure, f *field, property map[string]any) {
	where := t.name + "." + f.name
	f.crd = true
	shape, value := "ONE", property
	if property["type"] == "array" {
		shape, value = "LIST", property["items"].(map[string]any)
		// The CRD's kind counts: it is the one that is checked.
		kind, _ := property["x-kubernetes-list-type"].(string)
		f.listType = kind
		f.keys = strings.Join(list(property["x-kubernetes-list-map-keys"]), " ")
	} else if inner, is := property["additionalProperties"].(map[string]any); is {
		shape, value = "MAP", inner
	}
	kind := crdKind(value)
	if f.kube && (shape != f.shape || kind != f.kind) {
		fail("%s is %s %s in the CRD, %s %s in Kubernetes", where, shape, kind, f.shape, f.kind)
	}
	f.shape, f.kind = shape, kind
	if enum := list(value["enum"]); len(enum) > 0 {
		fail("%s has an enumeration in the CRD", where)
	}
	if fill := property["default"]; fill != nil {
		f.fill = fmt.Sprint(fill) // "" is as good as none for whoever reads a template
		f.emptyFill = f.fill == ""
	}
	atomic := value["x-kubernetes-map-type"] == "atomic" || property["x-kubernetes-map-type"] == "atomic"
	if again := m.seen[where]; again && atomic != f.atomic {
		fail("%s is not everywhere as atomic", where)
	}
	f.atomic, m.seen[where] = atomic, true
	if kind == "OBJECT" {
		if f.of == "" {
			f.of = strings.ToUpper(f.name[:1]) + f.name[1:]
		}
		m.crd(f.of, value)
	}
}

// A pool of texts, each stored once.
type pool struct {
	at    map[string]int
	texts []string
	size  int
}

func (p *pool) add(text string) int {
	if text == "" {
		return 0
	}
	if at, has := p.at[text]; has {
		return at
	}
	at := p.size
	p.at[text] = at
	p.texts = append(p.texts, text)
	p.size += len(text) + 1
	return at
}

func flags(f *field) string {
	var set []string
	for _, flag := range []struct {
		name string
		on   bool
	}{{"CRD", f.crd}, {"KUBE", f.kube}, {"CRD_REQUIRED", f.crdRequired}, {"KUBE_REQUIRED", f.kubeRequired}, {"POINTER", f.pointer},
		{"SET_LIST", f.listType == "set"}, {"MAP_LIST", f.listType == "map"},
		{"ATOMIC_LIST", f.listType == "atomic"}, {"ATOMIC", f.atomic}, {"EMPTY_FILL", f.emptyFill}} {
		if flag.on {
			set = append(set, flag.name)
		}
	}
	return strings.Join(set, " | ")
}

func (m *maker) print(out *bufio.Writer) {
	texts := pool{at: map[string]int{}, size: 1}
	first := 0
	fmt.Fprintf(out, "/* SPDX-License-Identifier: Apache-2.0 */\n"+
		"/*\n * Facts about pod templates, made by tools/make-schema; do not edit. From the CRD of kubeflow/mpi-operator v0.8.2\n"+
		" * (manifests/base/kubeflow.org_mpijobs.yaml) and from Kubernetes 1.36.3 (pkg/generated/openapi), both under the\n"+
		" * Apache License 2.0. Read by lib/schema/schema.c alone, and by schema.h for the names of types.\n */\n")
	fmt.Fprintf(out, "#ifdef SCHEMA_TYPE /* name, text, first field, fields */\n")
	for _, name := range m.order {
		t := m.types[name]
		fmt.Fprintf(out, "SCHEMA_TYPE(%s, %d, %d, %d)\n", name, texts.add(name), first, len(t.fields))
		first += len(t.fields)
	}
	fmt.Fprintf(out, "#endif\n#ifdef SCHEMA_FIELD /* text, shape, kind, type, choices, keys, default, patch key, flags */\n")
	for _, name := range m.order {
		t := m.types[name]
		fmt.Fprintf(out, "/* %s */\n", name)
		var keys []string
		for key := range t.fields {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		for _, key := range keys {
			f := t.fields[key]
			of := "NONE"
			if f.of != "" {
				of = f.of
			}
			choices := 0
			if len(f.choices) > 0 {
				choices = texts.add(strings.Join(f.choices, "\x00") + "\x00")
			}
			fmt.Fprintf(out, "SCHEMA_FIELD(%d, %s, %s, %s, %d, %d, %d, %d, %s) /* %s */\n", texts.add(key), f.shape, f.kind, of,
				choices, texts.add(f.keys), texts.add(f.fill), texts.add(f.patch), flags(f), key)
		}
	}
	fmt.Fprintf(out, "#endif\n#ifdef SCHEMA_TEXT\n\"\\0\"\n")
	for _, text := range texts.texts {
		fmt.Fprintf(out, "\"%s\\0\"\n", strings.ReplaceAll(text, "\x00", "\\0\" \""))
	}
	fmt.Fprintf(out, "#endif\n")
	crd, kube := 0, 0
	for _, t := range m.types {
		for _, f := range t.fields {
			if f.crd {
				crd++
			}
			if f.kube {
				kube++
			}
		}
	}
	fmt.Fprintf(os.Stderr, "%d types, %d fields: %d of the CRD, %d of Kubernetes\n", len(m.order), first, crd, kube)
}

func main() {
	if len(os.Args) != 2 {
		fail("usage: mpijob-schema CRD.yaml > blob.inc")
	}
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail("%v", err)
	}
	var crd map[string]any
	if err := yaml.Unmarshal(file, &crd); err != nil {
		fail("%v", err)
	}
	m := &maker{types: map[string]*structure{}, seen: map[string]bool{}}
	m.defs = openapi.GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef(path) })
	var top string
	for ref := range m.defs {
		if short(ref) == root && strings.Contains(ref, "core") {
			top = ref
		}
	}
	m.kube(top, reflect.TypeOf(corev1.PodTemplateSpec{}))
	version := crd["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	at := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	for _, key := range []string{"spec", "mpiReplicaSpecs"} {
		at = at["properties"].(map[string]any)[key].(map[string]any)
	}
	at = at["additionalProperties"].(map[string]any)["properties"].(map[string]any)["template"].(map[string]any)
	m.crd(root, at)
	out := bufio.NewWriter(os.Stdout)
	m.print(out)
	if err := out.Flush(); err != nil {
		fail("%v", err)
	}
}
