// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package deliveryreplay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
)

func TestDecide(t *testing.T) {
	twelve := int64(12)
	manual := v1alpha1.DeliveryReplaySpec{Approval: v1alpha1.ApprovalManual}
	automatic := v1alpha1.DeliveryReplaySpec{Approval: v1alpha1.ApprovalAutomatic}
	tests := map[string]struct {
		spec     v1alpha1.DeliveryReplaySpec
		status   v1alpha1.DeliveryReplayStatus
		progress *receiverstatus.Replay
		want     decision
	}{
		"new":                    {want: decision{state: "Counting", job: true, send: true}},
		"new, by hand":           {spec: manual, want: decision{state: "Counting", job: true}},
		"new, automatic":         {spec: automatic, want: decision{state: "Counting", job: true, send: true}},
		"nothing matches":        {progress: &receiverstatus.Replay{}, want: decision{state: "Completed", finished: true}},
		"nothing to approve":     {spec: manual, progress: &receiverstatus.Replay{}, want: decision{state: "Completed", finished: true}},
		"counted":                {progress: &receiverstatus.Replay{Matched: 12}, want: decision{state: "Sending", job: true, send: true}},
		"counted, by hand":       {spec: manual, progress: &receiverstatus.Replay{Matched: 12}, want: decision{state: "AwaitingApproval"}},
		"counted, then approved": {spec: automatic, progress: &receiverstatus.Replay{Matched: 12}, want: decision{state: "Sending", job: true, send: true}},
		"half sent":              {progress: &receiverstatus.Replay{Matched: 12, Sent: 6, Succeeded: 6}, want: decision{state: "Sending", job: true, send: true}},
		"all sent":               {progress: &receiverstatus.Replay{Matched: 12, Sent: 11, Skipped: 1, Succeeded: 9, Failed: 1, Ended: true}, want: decision{state: "Delivering"}},
		"all delivered":          {progress: &receiverstatus.Replay{Matched: 12, Sent: 11, Skipped: 1, Succeeded: 11, Ended: true}, want: decision{state: "Completed", finished: true}},
		"some failed":            {progress: &receiverstatus.Replay{Matched: 12, Sent: 12, Succeeded: 11, Failed: 1, Ended: true}, want: decision{state: "Completed", finished: true}},
		"stopped":                {progress: &receiverstatus.Replay{Matched: 12, Sent: 6, Failed: 5, Ended: true, Stopped: true}, want: decision{state: "TooManyFailures"}},
		"stopped, all failed":    {progress: &receiverstatus.Replay{Matched: 12, Sent: 6, Failed: 6, Ended: true, Stopped: true}, want: decision{state: "TooManyFailures", finished: true}},
		"no receiver answers":    {status: v1alpha1.DeliveryReplayStatus{Matched: &twelve}, want: decision{unknown: true, job: true, send: true}},
		"no receiver answers who awaits approval": {
			spec: manual, status: v1alpha1.DeliveryReplayStatus{Matched: &twelve}, want: decision{unknown: true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := decide(&tt.spec, &tt.status, tt.progress)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(decision{}), cmpopts.IgnoreFields(decision{}, "message")); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
			if (got.message == "") != got.unknown {
				t.Errorf("message %q", got.message)
			}
		})
	}
}
