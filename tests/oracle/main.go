// SPDX-License-Identifier: Apache-2.0

// The oracle: what mpi-operator v0.8.2 itself does with a job. Its answers are what tests/oracle/test-* compare
// this project's with.
//
// The modes: json (YAML to JSON), decode, default, validate, check (default, then validate), and those of other files.
//
//	mpijob-oracle MODE < requests > answers
//
// A request is a line with a number of bytes, and so many bytes of YAML or JSON. An answer is a line
// "ok BYTES" or "error BYTES", and so many bytes.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// A mode answers one request. Further modes add themselves in an init function of their own file.
var modes = map[string]func(request []byte) ([]byte, error){
	"json":     yaml.YAMLToJSON,
	"decode":   decodeMode,
	"default":  defaultMode,
	"validate": validateMode,
	"check":    checkMode,
}

// readJob reads a job as the operator's informer does: case of keys matters, unknown ones are dropped.
func readJob(text []byte) (*kubeflow.MPIJob, error) {
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	job := &kubeflow.MPIJob{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(asJSON, job); err != nil {
		return nil, err
	}
	return job, nil
}

func decodeMode(request []byte) ([]byte, error) {
	job, err := readJob(request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(job)
}

func defaultMode(request []byte) ([]byte, error) {
	job, err := readJob(request)
	if err != nil {
		return nil, err
	}
	kubeflow.SetDefaults_MPIJob(job)
	return json.Marshal(job)
}

// validateMode answers one JSON array [field, reason, text] for each finding, one on each line.
func validateMode(request []byte) ([]byte, error) {
	job, err := readJob(request)
	if err != nil {
		return nil, err
	}
	return findings(job)
}

func checkMode(request []byte) ([]byte, error) {
	job, err := readJob(request)
	if err != nil {
		return nil, err
	}
	kubeflow.SetDefaults_MPIJob(job)
	return findings(job)
}

func findings(job *kubeflow.MPIJob) ([]byte, error) {
	var answer bytes.Buffer
	encoder := json.NewEncoder(&answer)
	encoder.SetEscapeHTML(false)
	for _, found := range validation.ValidateMPIJob(job) {
		reason := strings.TrimPrefix(string(found.Type), "FieldValue")
		if err := encoder.Encode([]string{found.Field, reason, found.ErrorBody()}); err != nil {
			return nil, err
		}
	}
	return answer.Bytes(), nil
}

func serve(mode func([]byte) ([]byte, error), in *bufio.Reader, out *bufio.Writer) error {
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
		word := "ok"
		answer, err := mode(request)
		if err != nil {
			word, answer = "error", []byte(err.Error())
		}
		fmt.Fprintf(out, "%s %d\n", word, len(answer))
		out.Write(answer)
	}
}

func main() {
	var mode func([]byte) ([]byte, error)
	if len(os.Args) == 2 {
		mode = modes[os.Args[1]]
	}
	if mode == nil {
		fmt.Fprintln(os.Stderr, "usage: mpijob-oracle MODE < requests > answers")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	if err := serve(mode, bufio.NewReader(os.Stdin), out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := out.Flush(); err != nil {
		os.Exit(1)
	}
}
