// SPDX-License-Identifier: Apache-2.0

// Reads jobs, prints everything that is wrong with them, and names the objects that each becomes.
//
//	go build -o jobs . && ./jobs job.yaml
package main

// #cgo pkg-config: mpijob
// #include <mpijob/mpijob.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// A code is what a call returned when it did not succeed; what, where and why stands in the findings.
type code C.int

func (c code) Error() string { return C.GoString(C.mpijob_error_text(C.int(c))) }

func check(c C.int) error {
	if c < 0 {
		return code(c)
	}
	return nil
}

// show prints the objects of one job. All memory of the library is freed where it was made.
func show(name string, diag *C.mpijob_diag) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, source := C.CBytes(data), C.CString(name)
	defer C.free(text)
	defer C.free(unsafe.Pointer(source))
	options := C.struct_mpijob_parse_options{source: source}
	options.size = C.size_t(unsafe.Sizeof(options))
	var job *C.mpijob
	if err := check(C.mpijob_parse((*C.char)(text), C.size_t(len(data)), &options, &job, diag)); err != nil {
		return err
	}
	defer C.mpijob_free(job)
	if err := check(C.mpijob_default(job, nil, diag)); err != nil {
		return err
	}
	if err := check(C.mpijob_validate(job, nil, diag)); err != nil {
		return err
	}
	var objects *C.mpijob_objects
	if err := check(C.mpijob_render(job, nil, &objects, diag)); err != nil {
		return err
	}
	defer C.mpijob_objects_free(objects)
	var head C.struct_mpijob_object_head
	head.size = C.size_t(unsafe.Sizeof(head))
	for i := C.size_t(0); i < C.mpijob_objects_count(objects); i++ {
		if err := check(C.mpijob_objects_head(objects, i, &head)); err != nil {
			return err
		}
		fmt.Println(C.GoString(head.kind), C.GoString(head.name))
	}
	return nil
}

// line gives a finding as the command prints it.
func line(finding *C.struct_mpijob_finding) (string, error) {
	text := C.mpijob_text_new()
	if text == nil {
		return "", code(C.MPIJOB_ERR_NOMEM)
	}
	defer C.mpijob_text_free(text)
	err := check(C.mpijob_finding_write(finding, C.mpijob_write_fn(C.mpijob_text_write), unsafe.Pointer(text)))
	return C.GoString(C.mpijob_text_data(text)), err
}

func showAll(names []string) error {
	var errs []error
	for _, name := range names {
		diag := C.mpijob_diag_new()
		if err := show(name, diag); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		for i := C.size_t(0); C.mpijob_diag_at(diag, i) != nil; i++ {
			text, err := line(C.mpijob_diag_at(diag, i))
			if err != nil {
				errs = append(errs, err)
			}
			fmt.Fprintln(os.Stderr, text)
		}
		C.mpijob_diag_free(diag)
	}
	return errors.Join(errs...)
}

func main() {
	if err := showAll(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
