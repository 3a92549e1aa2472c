// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package deliveryreplay

import (
	"fmt"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// decision is what a replay's state is and what to do for it.
type decision struct {
	// state is the reason of Ready.
	state, message string
	// job says that one is to run: to count only, or to send.
	job, send bool
	// finished says that nothing will change any more.
	finished bool
	// unknown says that no receiver knows of a replay that was known: what was said of it stays.
	unknown bool
}

// decide looks at what was asked for and what the ledger says of it; nil is nothing.
func decide(spec *v1alpha1.DeliveryReplaySpec, status *v1alpha1.DeliveryReplayStatus, progress *receiverstatus.Replay) decision {
	approved := spec.Approval != v1alpha1.ApprovalManual
	switch {
	case progress == nil && status.Matched != nil:
		return decision{unknown: true, job: approved, send: approved}
	case progress == nil:
		return decision{
			state: v1alpha1.ReasonReplayCounting, message: "The deliveries that match are being counted", job: true, send: approved,
		}
	case progress.Matched == 0:
		return decision{state: v1alpha1.ReasonReplayCompleted, message: "No delivery matches the selector", finished: true}
	case !progress.Ended && !approved:
		return decision{
			state:   v1alpha1.ReasonReplayAwaitingApproval,
			message: fmt.Sprintf("%d deliveries match: set spec.approval to Automatic to send them", progress.Matched),
		}
	case !progress.Ended:
		return decision{
			state: v1alpha1.ReasonReplaySending, message: fmt.Sprintf("%d deliveries match and are being sent", progress.Matched),
			job: true, send: true,
		}
	}
	return ended(spec, progress)
}

// ended is the decision once nothing more is sent.
func ended(spec *v1alpha1.DeliveryReplaySpec, progress *receiverstatus.Replay) decision {
	finished := progress.Succeeded+progress.Failed >= progress.Sent
	switch {
	case progress.Stopped:
		return decision{
			state: v1alpha1.ReasonReplayTooManyFailures, finished: finished,
			message: fmt.Sprintf("Stopped: %d deliveries failed again. Mend the destination, then create another DeliveryReplay for the rest",
				spec.StopAfterFailures),
		}
	case !finished:
		return decision{
			state:   v1alpha1.ReasonReplayDelivering,
			message: fmt.Sprintf("All %d deliveries are back in the outbox; attempts go on until each is delivered or has failed", progress.Sent),
		}
	case progress.Failed > 0:
		return decision{
			state: v1alpha1.ReasonReplayCompleted, finished: true,
			message: fmt.Sprintf("%d deliveries were delivered, %d failed again: see the endpoint's status.deliveries.lastFailure",
				progress.Succeeded, progress.Failed),
		}
	}
	return decision{
		state: v1alpha1.ReasonReplayCompleted, finished: true, message: fmt.Sprintf("All %d deliveries were delivered", progress.Succeeded),
	}
}
