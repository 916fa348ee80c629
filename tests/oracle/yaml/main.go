// SPDX-License-Identifier: Apache-2.0

// Command yaml prints what kubectl would send for YAML documents: the answer that libmpijob's reader is compared with.
//
// It reads documents from standard input, each as its length in decimal, a line end, and its bytes, and prints one
// line for each: `J ` and JSON, or `E ` and the error; `R ` and JSON when text behind the first document is no YAML.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

func convert(document []byte) (line string) {
	defer func() {
		if problem := recover(); problem != nil {
			line = fmt.Sprintf("E panic: %v", problem)
		}
	}()
	json, err := yaml.YAMLToJSON(document)
	if err != nil {
		return "E " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	if !readable(document) {
		return "R " + string(json)
	}
	return "J " + string(json)
}

// readable tells whether all of the text is YAML: kubectl reads the first document of what stands between two lines
// "---" and does not look at the rest.
func readable(document []byte) bool {
	decoder := goyaml.NewDecoder(bytes.NewReader(document))
	for {
		var ignored interface{}
		err := decoder.Decode(&ignored)
		if err == io.EOF {
			return true
		}
		if err != nil {
			return false
		}
	}
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		head, err := in.ReadString('\n')
		if err != nil {
			return
		}
		size, err := strconv.Atoi(strings.TrimSpace(head))
		if err != nil {
			fmt.Fprintln(os.Stderr, "yaml: bad length:", head)
			os.Exit(1)
		}
		document := make([]byte, size)
		if _, err := io.ReadFull(in, document); err != nil {
			fmt.Fprintln(os.Stderr, "yaml:", err)
			os.Exit(1)
		}
		fmt.Fprintln(out, convert(document))
	}
}
