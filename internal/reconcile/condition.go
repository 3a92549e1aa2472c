// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// Conditions are the conditions of one object during a pass.
type Conditions struct {
	// Generation of the spec that the pass is about.
	Generation int64
	// List is what the conditions are now.
	List []metav1.Condition
}

// NewConditions returns a copy of what the object's conditions were, for a pass over the given generation.
func NewConditions(generation int64, before []metav1.Condition) *Conditions {
	list := make([]metav1.Condition, len(before))
	copy(list, before)
	return &Conditions{Generation: generation, List: list}
}

// Set sets a condition. Its transition time changes only with its status. The message must be stable: what changes in
// each pass (counts, times) would be a write in each pass.
func (c *Conditions) Set(kind string, status metav1.ConditionStatus, reason, format string, args ...any) {
	meta.SetStatusCondition(&c.List, metav1.Condition{
		Type:               kind,
		Status:             status,
		Reason:             reason,
		Message:            fmt.Sprintf(format, args...),
		ObservedGeneration: c.Generation,
	})
}

// True sets a condition to True.
func (c *Conditions) True(kind, reason, format string, args ...any) {
	c.Set(kind, metav1.ConditionTrue, reason, format, args...)
}

// False sets a condition to False.
func (c *Conditions) False(kind, reason, format string, args ...any) {
	c.Set(kind, metav1.ConditionFalse, reason, format, args...)
}

// Unknown sets a condition to Unknown.
func (c *Conditions) Unknown(kind, reason, format string, args ...any) {
	c.Set(kind, metav1.ConditionUnknown, reason, format, args...)
}

// Clear removes a condition.
func (c *Conditions) Clear(kind string) { meta.RemoveStatusCondition(&c.List, kind) }

// Find returns a condition, or nil if there is none of that type. The result is only valid until the next change.
func (c *Conditions) Find(kind string) *metav1.Condition {
	return meta.FindStatusCondition(c.List, kind)
}

// Is says whether a condition is there with the given status.
func (c *Conditions) Is(kind string, status metav1.ConditionStatus) bool {
	return meta.IsStatusConditionPresentAndEqual(c.List, kind, status)
}

// Holds says whether a condition is True, and was found to be for the generation that the pass is about.
func (c *Conditions) Holds(kind string) bool {
	found := c.Find(kind)
	return found != nil && found.Status == metav1.ConditionTrue && found.ObservedGeneration == c.Generation
}

// ApplyConfigurations returns the conditions as a part of an apply configuration of a status.
func (c *Conditions) ApplyConfigurations() []*metav1ac.ConditionApplyConfiguration {
	out := make([]*metav1ac.ConditionApplyConfiguration, 0, len(c.List))
	for i := range c.List {
		condition := &c.List[i]
		out = append(out, metav1ac.Condition().
			WithType(condition.Type).
			WithStatus(condition.Status).
			WithObservedGeneration(condition.ObservedGeneration).
			WithLastTransitionTime(condition.LastTransitionTime).
			WithReason(condition.Reason).
			WithMessage(condition.Message))
	}
	return out
}
