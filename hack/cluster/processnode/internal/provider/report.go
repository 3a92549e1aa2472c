// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

// reportRetry is the time between attempts to tell the API server of a pod's end.
const reportRetry = time.Second

// retire reports the end of a pod, and deletes its API object if that is due, until it works.
func (p *Provider) retire(e *entry) {
	_ = wait.PollUntilContextCancel(p.background, reportRetry, true, func(ctx context.Context) (bool, error) {
		gone, err := p.retireOnce(ctx, e)
		switch {
		case err != nil && ctx.Err() == nil:
			p.log.Warn("the end of a pod is not reported yet", "namespace", e.namespace, "pod", e.name, "error", err)
		case gone:
			p.forget(e)
		}
		return err == nil, nil
	})
}

func (p *Provider) retireOnce(ctx context.Context, e *entry) (gone bool, err error) {
	live, err := p.writeStatus(ctx, e.namespace, e.name, e.UID(), e.Status())
	if err != nil || live == nil {
		return live == nil, err
	}
	p.mu.Lock()
	due := e.deleting || live.DeletionTimestamp != nil
	p.mu.Unlock()
	if !due {
		return false, nil
	}
	return false, p.deleteObject(ctx, e.namespace, e.name, e.UID())
}

// writeStatus brings the status in the API server up to date and returns the object as it is
// then, or nil if there is no such pod. A terminal status is final. Nothing is written if nothing
// has changed.
func (p *Provider) writeStatus(ctx context.Context, namespace, name string, uid types.UID, status corev1.PodStatus) (*corev1.Pod, error) {
	var written *corev1.Pod
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		written = nil
		live, err := p.client.Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && live.UID != uid {
			return nil
		}
		if err != nil {
			return err
		}
		merged := merge(live.Status, status)
		written = live
		if terminal(live.Status.Phase) || equal(live.Status, merged) {
			return nil
		}
		live = live.DeepCopy()
		live.Status = merged
		written, err = p.client.Pods(namespace).UpdateStatus(ctx, live, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			written, err = nil, nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("write the status of pod %s/%s: %w", namespace, name, err)
	}
	return written, nil
}

// deleteObject removes the API object of a pod that has no processes.
func (p *Provider) deleteObject(ctx context.Context, namespace, name string, uid types.UID) error {
	options := metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(uid))
	err := p.client.Pods(namespace).Delete(ctx, name, *options)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete pod %s/%s: %w", namespace, name, err)
	}
	return nil
}

func terminal(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

// merge puts our status over the one in the API server, but keeps the conditions of others, such
// as the scheduler's.
func merge(live, ours corev1.PodStatus) corev1.PodStatus {
	merged := *ours.DeepCopy()
	for _, condition := range live.Conditions {
		known := slices.ContainsFunc(ours.Conditions, func(c corev1.PodCondition) bool { return c.Type == condition.Type })
		if !known {
			merged.Conditions = append(merged.Conditions, condition)
		}
	}
	merged.QOSClass = live.QOSClass
	merged.NominatedNodeName = live.NominatedNodeName
	merged.ResourceClaimStatuses = live.ResourceClaimStatuses
	return merged
}

// equal compares as the API server would show it: times have no fractions of seconds there.
func equal(a, b corev1.PodStatus) bool {
	first, errFirst := json.Marshal(sorted(a))
	second, errSecond := json.Marshal(sorted(b))
	return errFirst == nil && errSecond == nil && bytes.Equal(first, second)
}

func sorted(status corev1.PodStatus) corev1.PodStatus {
	status.Conditions = slices.Clone(status.Conditions)
	slices.SortFunc(status.Conditions, func(a, b corev1.PodCondition) int {
		return bytes.Compare([]byte(a.Type), []byte(b.Type))
	})
	return status
}
