// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/receiver"
)

// The message and its signature are those of the specification's reference libraries.
func TestSign(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	d := receiver.Delivery{IdempotencyKey: "msg_p5jXN8AQM9LWM0D4loKWxJek", Body: []byte(`{"test": 2432232314}`)}
	const signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	tests := map[string]struct {
		keys [][]byte
		want http.Header
	}{
		"no key": {nil, http.Header{}},
		"one key": {[][]byte{key}, http.Header{
			"Webhook-Id": {d.IdempotencyKey}, "Webhook-Timestamp": {"1614265330"}, "Webhook-Signature": {signature},
		}},
		"two keys": {[][]byte{key, key}, http.Header{
			"Webhook-Id": {d.IdempotencyKey}, "Webhook-Timestamp": {"1614265330"}, "Webhook-Signature": {signature + " " + signature},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			sign(header, tt.keys, d, time.Unix(1614265330, 999_999_999))
			if diff := cmp.Diff(tt.want, header); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}
