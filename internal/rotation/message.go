// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
)

const (
	messageKeyringLost = "The keyring was removed and made anew during the overlap: the former secret was lost, the new one is accepted"
	messageReverted    = "A later SecretRotation has made the former secret current again"
	messageSpreading   = "The secret is current already: waiting until it is in every ready receiver"
	messageRevoking    = "The former secret is revoked, and the new one accepted by every ready receiver: let the provider sign with the " +
		"new one now; waiting for every ready receiver to load the keyring without the former"
	messageRetiring = "The former secret is refused; waiting for every ready receiver to load the keyring without it"
)

func (p *planner) endpointNotFound() string {
	return fmt.Sprintf("WebhookEndpoint %s does not exist in this namespace: the rotation starts when it does", p.spec.Endpoint)
}

func (p *planner) keyringNotFound() string {
	return fmt.Sprintf("WebhookEndpoint %s has no keyring yet: see its condition SecretsResolved", p.spec.Endpoint)
}

func (p *planner) suspended() string {
	return fmt.Sprintf("WebhookEndpoint %s is suspended: set spec.suspend to false to go on", p.spec.Endpoint)
}

func (p *planner) revokedBefore() string {
	return fmt.Sprintf("Secret %s, key %q holds a secret that was revoked: put a new one there, or delete this SecretRotation",
		p.spec.Source.Name, p.spec.Source.Key)
}

func (p *planner) empty() string {
	return fmt.Sprintf("Secret %s, key %q: nothing is there; put the new secret there", p.spec.Source.Name, p.spec.Source.Key)
}

func (p *planner) doneBefore() string {
	return fmt.Sprintf("A SecretRotation of this name has made this secret current before, and a later one has replaced it: "+
		"to make the secret in Secret %s, key %q current again, create a SecretRotation of another name",
		p.spec.Source.Name, p.spec.Source.Key)
}

func (p *planner) nothingToRotate() string {
	return fmt.Sprintf("Secret %s, key %q holds the secret that is current already", p.spec.Source.Name, p.spec.Source.Key)
}

func (p *planner) overlapTooShort() string {
	why := ""
	if p.spec.MinOverlapReason != "" {
		why = ", " + p.spec.MinOverlapReason
	}
	least := length(p.spec.MinOverlap)
	return fmt.Sprintf("The overlap is %s, and the provider of WebhookEndpoint %s needs %s at least%s: "+
		"set spec.overlap to %s or more, or spec.revocation to Immediate if the former secret has leaked",
		length(p.spec.Overlap), p.spec.Endpoint, least, why, least)
}

func (p *planner) stillInUse(former keyring.Entry) string {
	return fmt.Sprintf("The provider still signs with the former secret %s, which is refused from %s: "+
		"put the new one in place there, or lengthen spec.overlap before",
		keyring.Short(former.Fingerprint), former.NotAfter.UTC().Format(time.RFC3339))
}

func (p *planner) held(former keyring.Entry) string {
	return fmt.Sprintf("The provider still signs with the former secret %s after the overlap: it is accepted until %s, and while "+
		"it is used until %s at most; put the new one in place there",
		keyring.Short(former.Fingerprint), former.NotAfter.UTC().Format(time.RFC3339), p.last(former).Format(time.RFC3339))
}

// length writes a duration as people do: 24h, not 24h0m0s.
func length(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func waitingFor(sibling string) string {
	return fmt.Sprintf("Waiting until the secret of SecretRotation %s, which was created before, is in every receiver", sibling)
}

func followedBy(sibling string) string {
	return fmt.Sprintf("SecretRotation %s comes after this one and names the Secret that the current secret came from: "+
		"to use this secret all the same, create another SecretRotation", sibling)
}

func takenOverBy(sibling string) string {
	return fmt.Sprintf("SecretRotation %s has taken over: it is to the same secret, and revokes the former one", sibling)
}

func overtakenBy(sibling string) string {
	return fmt.Sprintf("SecretRotation %s was created later and has started already: "+
		"to use this secret all the same, create another SecretRotation", sibling)
}

func (p *planner) loading() string {
	if p.out.Ready == 0 {
		return "No receiver is ready: receivers accept the new and the former secret as soon as they start"
	}
	message := fmt.Sprintf("%d of %d ready receivers have the new secret", p.out.Updated, p.out.Ready)
	switch {
	case p.out.OverlapActive && p.spec.Immediate:
		message += "; the former one is accepted until all have, and revoked then: let the provider sign with the new one as soon " +
			"as Propagated is True"
	case p.out.OverlapActive:
		message += "; the former one is still accepted, so let the provider go on signing with it until Propagated is True"
	}
	return message
}

func overlapUntil(end time.Time) string {
	return fmt.Sprintf("Every ready receiver accepts the new secret, and the former one until %s: "+
		"let the provider sign with the new one by then",
		end.UTC().Format(time.RFC3339))
}

func supersededUntil(active bool, end time.Time) string {
	message := ended(Superseded)
	if active {
		message += fmt.Sprintf("; the secret that this one replaced is accepted until %s", end.UTC().Format(time.RFC3339))
	}
	return message
}

func ended(state State) string {
	switch state {
	case Completed:
		return "The former secret is refused by every ready receiver, and gone"
	case Revoked:
		return "The former secret is revoked: every ready receiver refuses it, and it cannot come back; " +
			"what the provider still signs with it is refused"
	default:
		return "A later SecretRotation has made another secret current"
	}
}
