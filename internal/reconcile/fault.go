// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reconcile is what the controllers share: the classes of faults and what each one means for conditions, events
// and the next pass; server-side apply that sends nothing when nothing would change; and the reading of receivers' status.
package reconcile

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// Class says who or what must act before a fault goes away. It is decided where the fault is found.
type Class int

const (
	// ClassRetry is a fault that may be gone at the next try: the pass is made again, with growing delays.
	ClassRetry Class = iota + 1
	// ClassWaiting is no failure: something else must happen first, and it is looked for again after a while.
	ClassWaiting
	// ClassTerminal stays until somebody acts; the message says who has to do what.
	ClassTerminal
)

// Fault is an error of a pass with its class, and with what people are told about it.
type Fault struct {
	Class Class
	// Reason is a CamelCase word for the reason of conditions and events.
	Reason string
	// Message tells people what is wrong and what to do. It is stable: no counters, times or names of pods.
	Message string
	// After is how long to wait before the next pass; zero means the controller's own interval.
	After time.Duration
	// Err is the cause, if there is one.
	Err error
}

// Error is the message, and the cause.
func (f *Fault) Error() string {
	if f.Err == nil {
		return f.Message
	}
	if f.Message == "" {
		return f.Err.Error()
	}
	return f.Message + ": " + f.Err.Error()
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Terminal returns a fault that stays until somebody acts.
func Terminal(reason, format string, args ...any) *Fault {
	return &Fault{Class: ClassTerminal, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Waiting returns a fault that goes away by itself; it is looked at again after the given time, or after the controller's
// own interval if that is zero.
func Waiting(reason string, after time.Duration, format string, args ...any) *Fault {
	return &Fault{Class: ClassWaiting, Reason: reason, After: after, Message: fmt.Sprintf(format, args...)}
}

// Retry returns a fault that may be gone at the next try.
func Retry(reason string, err error) *Fault {
	return &Fault{Class: ClassRetry, Reason: reason, Err: err}
}

// Classify returns the fault in err's chain; an error without one is a fault to retry (ReasonRetrying), and one of a namespace that is
// being deleted is a fault to wait for. It returns nil for nil.
func Classify(err error) *Fault {
	if err == nil {
		return nil
	}
	if fault, ok := errors.AsType[*Fault](err); ok {
		return fault
	}
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return &Fault{Class: ClassWaiting, Reason: v1alpha1.ReasonTerminating, Message: "The namespace is being deleted"}
	}
	return Retry(v1alpha1.ReasonRetrying, err)
}

// Worse returns the fault that people should hear of first: terminal before waiting before retry, and of one class the
// earlier one. Either may be nil.
func Worse(a, b *Fault) *Fault {
	if a == nil || (b != nil && b.Class > a.Class) {
		return b
	}
	return a
}
