// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/reconcile"
)

// writeRing writes a changed keyring. It fails with a conflict if the Secret is not as it was read.
func writeRing(ctx context.Context, writer client.Writer, was *reconcile.Ring, next *keyring.Keyring) error {
	document, err := next.Encode()
	if err != nil {
		return fmt.Errorf("encode keyring: %w", err)
	}
	secret := was.Secret.DeepCopy()
	secret.Data = map[string][]byte{keyring.FileName: document}
	if err := writer.Update(ctx, secret, reconcile.FieldOwner); err != nil {
		return fmt.Errorf("write keyring: %w", err)
	}
	log.FromContext(ctx).Info("Wrote keyring", "secret", secret.Name, "revision", next.Revision,
		"current", keyring.Short(next.Current.Fingerprint), "previous", len(next.Previous))
	return nil
}

// writeKeyring writes what was decided, before anybody is told.
func (r *Reconciler) writeKeyring(ctx context.Context, p *pass) error {
	if p.decision.Keyring == nil {
		return nil
	}
	return writeRing(ctx, r.client, p.keyring, p.decision.Keyring)
}
