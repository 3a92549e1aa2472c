// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

// TestListenTakesPodAddresses opens what $(POD_IP):8080 becomes in a pod, with a free port instead.
func TestListenTakesPodAddresses(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "::1:0", "[::1]:0", ":0"} {
		listener, err := listen(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}
}
