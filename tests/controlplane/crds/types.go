// SPDX-License-Identifier: Apache-2.0

// Package crds names the Go types that CRDs are generated from, where a module holds no CRD to copy.
package crds

import _ "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
