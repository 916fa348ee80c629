// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/resource"
)

func init() {
	modes["quantities"] = quantitiesMode
}

// quantitiesMode reads a JSON list of quantities and answers the list of how Go writes them; null for what is none.
func quantitiesMode(request []byte) ([]byte, error) {
	var given []json.RawMessage
	if err := json.Unmarshal(request, &given); err != nil {
		return nil, err
	}
	written := make([]any, len(given))
	for i, text := range given {
		var quantity resource.Quantity
		if json.Unmarshal(text, &quantity) == nil {
			written[i] = quantity
		}
	}
	return json.Marshal(written)
}
