// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hookonce/hookonce/test/story"
)

// TestSecondApplyWritesNothing applies the shop again and compares the versions of everything in it, after the operator
// has looked at each endpoint more than once.
func TestSecondApplyWritesNothing(t *testing.T) {
	endpoints := []string{"payments", "payments-eu", "crm"}
	for _, name := range endpoints {
		waitEndpoint(t, name, story.Ready)
	}
	waitCounted(t, endpoints)
	waitReconciles(t, 2*len(endpoints))
	before := versions(t)
	if err := world.ApplyShop(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitReconciles(t, 3*len(endpoints))
	if after := versions(t); after != before {
		t.Errorf("a second apply wrote something:\nbefore\n%s\nafter\n%s", before, after)
	}
}

// versions lists everything in the shop that the operator writes, and the endpoints, with their versions.
func versions(t *testing.T) string {
	t.Helper()
	const kinds = "webhookendpoints,secretrotations,configmaps,deployments,services,poddisruptionbudgets,networkpolicies,cronjobs"
	out, err := world.Kubectl(t.Context(), "get", kinds, "-n", story.Namespace, "-o",
		`jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation} {.metadata.resourceVersion}{"\n"}{end}`)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// waitCounted waits until the counts of earlier tests are in the status; a number that merely grows waits for minutes.
func waitCounted(t *testing.T, endpoints []string) {
	t.Helper()
	err := story.Eventually(t.Context(), 8*time.Minute, 5*time.Second, func(ctx context.Context) error {
		for _, name := range endpoints {
			endpoint, err := world.Endpoint(ctx, name)
			if err != nil {
				return err
			}
			status, err := world.ReceiverStatus(ctx, name)
			if err != nil {
				return err
			}
			shown, ledger := endpoint.Status.Deliveries, status.Deliveries
			if shown == nil || ledger == nil {
				return fmt.Errorf("%s has no counts", name)
			}
			if shown.Received != ledger.Received || shown.Processed != ledger.Processed || shown.Duplicates != ledger.Duplicates ||
				shown.Rejected != ledger.Rejected || shown.Pending != ledger.Pending || shown.Failed != ledger.Failed {
				return fmt.Errorf("%s shows %+v, the ledger has %+v", name, shown, ledger)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// waitReconciles waits until the operator has reconciled endpoints so many times more.
func waitReconciles(t *testing.T, more int) {
	t.Helper()
	begin, err := world.Reconciles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = story.Eventually(t.Context(), 3*time.Minute, time.Second, func(ctx context.Context) error {
		n, err := world.Reconciles(ctx)
		if err == nil && n < begin+more {
			err = errors.New("the operator has not looked again")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
