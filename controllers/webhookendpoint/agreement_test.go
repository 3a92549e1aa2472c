// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/render"
)

// TestRulesAgreeWithReceivers describes schemes at random. What the API server takes, receivers can verify with; and what it
// refuses, they could not have. The seed is fixed, so that a disagreement is found again.
func TestRulesAgreeWithReceivers(t *testing.T) {
	const schemes = 1500
	admin := controlplane.Client(t, restConfig)
	namespace := controlplane.Namespace(t, admin, nil)
	random := dice{rand.New(rand.NewPCG(3, 20261130))} //nolint:gosec // what is guessed here harms nobody, and has to be the same again
	taken := 0
	for range schemes {
		endpoint := paymos("random")
		endpoint.Namespace = namespace
		endpoint.Spec.Exposure.Host = "hooks.example.com"
		endpoint.Spec.Verification.Scheme = v1alpha1.SchemeHMAC
		endpoint.Spec.Verification.HMAC = random.scheme()
		sent := endpoint.DeepCopy()
		refusal := admin.Create(t.Context(), endpoint, client.DryRunAll)
		if refusal != nil && !apierrors.IsInvalid(refusal) {
			t.Fatal(refusal)
		}
		if refusal == nil {
			taken++
			sent = endpoint
		}
		if _, err := render.Config(sent); (err == nil) != (refusal == nil) {
			t.Errorf("%s\n  the API server says: %v\n  receivers would say: %v", manifest(t, sent), refusal, err)
		}
	}
	// Most must not be wrong, or nothing is known of those that are right.
	if taken < schemes/4 || taken > schemes*3/4 {
		t.Errorf("%d of %d schemes are valid", taken, schemes)
	}
}

// TestSpecThatRulesCannotRefuse has a member's name with the mark of what was not UTF-8: the API server takes it, and receivers
// would find it in no body.
func TestSpecThatRulesCannotRefuse(t *testing.T) {
	b := newBench(t)
	endpoint := paymos("payments")
	endpoint.Spec.Verification.Scheme = v1alpha1.SchemeHMAC
	endpoint.Spec.Verification.HMAC = &v1alpha1.HMACScheme{
		Signature: v1alpha1.HMACSignature{Header: "X-Signature"}, EventID: v1alpha1.HMACEventID{Path: "data.\ufffd"},
	}
	b.create(database(), signing(), endpoint)
	b.settle("payments")
	endpoint = b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec, "spec.verification.hmac", "eventID.path")
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec)
	absent(t, endpoint, v1alpha1.ConditionReconciling)
}

// manifest is what an endpoint says of its scheme.
func manifest(t *testing.T, endpoint *v1alpha1.WebhookEndpoint) string {
	t.Helper()
	text, err := json.Marshal(endpoint.Spec.Verification.HMAC)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// dice describe schemes: mostly with what fits together, and with a mistake here and there.
type dice struct{ *rand.Rand }

// in says yes once in n times.
func (d dice) in(n int) bool { return d.IntN(n) == 0 }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) scheme() *v1alpha1.HMACScheme {
	out := &v1alpha1.HMACScheme{}
	items := d.in(4)
	d.sign(out, items)
	d.identify(out, items)
	if items != d.in(15) {
		out.Batch = &v1alpha1.HMACBatch{Path: pick[v1alpha1.BodyPath](d, "", "items", "a.b"), Member: pick(d, "", "item")}
	}
	if d.in(8) && (!items || d.in(4)) {
		out.FormField = "payload"
	}
	if d.in(8) && (!items || d.in(4)) {
		out.Forms = pick(d, v1alpha1.FormsRefused, v1alpha1.FormsObject)
	}
	if d.in(8) {
		out.Handshakes = pick(d, []v1alpha1.HandshakeName{"Ping"}, []v1alpha1.HandshakeName{"URLVerification", "EchoChallenge"},
			[]v1alpha1.HandshakeName{"URLValidation"})
	}
	if d.in(6) {
		out.HeaderAliases = []v1alpha1.HeaderAlias{{Header: pick[v1alpha1.HeaderName](d, "X-Signature", "x-signature", "X-Type"), Alias: "Signature"}}
		if d.in(2) {
			out.HeaderAliases = append(out.HeaderAliases, v1alpha1.HeaderAlias{
				Header: pick[v1alpha1.HeaderName](d, "X-Id", "x-type", "X-Time", "X-Part", "X-signature"),
				Alias:  pick[v1alpha1.HeaderName](d, "Other", "signature"),
			})
		}
	}
	return out
}

// sign describes what is signed, how, and when.
func (d dice) sign(out *v1alpha1.HMACScheme, items bool) {
	out.Signature = v1alpha1.HMACSignature{
		Header: "X-Signature", Separator: pick(d, "", ",", " ", ";"), Prefix: pick(d, "", "v1=", "v1=", "sha256=", "v1="),
		Encoding: pick(d, "", "Hex", "Base64"), Algorithm: pick(d, "", "SHA256", "SHA256", "SHA512", "SHA1", "Ed25519", "Token"),
	}
	if d.in(12) {
		out.Signature.Prefix = pick(d, "v1,", "v1= ", "Bearer ")
	}
	texts := []string{
		"", "{body}", "{timestamp}.{body}", "{timestamp}.{body}", "v0:{timestamp}:{body}", "{url}{body}", "{url}{form}", "{id}.{timestamp}.{body}",
		"{method}{url}{body}{timestamp}", "{body}.{id}", "{id}\n{url}\n{body}", "{body}x{url}", "{method}\n{url}\n{id}\n{body}\n",
	}
	if d.in(4) {
		texts = []string{
			"{id}{body}", "{body}{id}", "{body}\n{timestamp}{id}", "{url}{timestamp}{body}", "{body}{url}", "{body}{form}", "{timestamp}",
			"{timestamp}{timestamp}{body}", "{nothing}{body}", "{item.a}{body}", "{timestamp}.{id}", "}{body}", "{id}{url}{body}", "{url}{id}.{body}",
			"{timestamp}{id}{method}.{body}", "{body}.{timestamp}{url}", "{body}{method}.{url}",
		}
	}
	if items {
		texts = []string{
			"{item.ref}:{item.code}", "{item.ref}", "{item.ref}:{item.free...}:{item.code}", "a{item.ref...}b{item.code}c",
			"{item.amount.value}:{item.code}:{item.ref}:",
		}
		if d.in(4) {
			texts = []string{
				"{item.code}{item.ref}", "{item.free...}{item.code}", "{item.free...}:{item.ref...}", "{item.}", "{item..a}", "{item.ref}:{body}",
				"{timestamp}:{item.ref}", "{item.ref....}", "{item.code}{item.ref...}", "nothing",
			}
		}
		if !d.in(10) {
			out.Signature.Header, out.Signature.Path = "", "extra.signature"
		}
		if d.in(20) {
			out.Signature.Path = ""
		}
	}
	out.StringToSign = pick(d, texts...)
	if out.Signature.Algorithm == "Token" && !d.in(4) {
		out.StringToSign = pick(d, "", "{body}")
	}
	d.time(out)
	if d.in(4) {
		out.Key.Encoding = pick(d, "", "Raw", "Hex", "Base64")
	}
	if d.in(8) {
		out.Key.MinBytes = new(pick[int32](d, 4, 16, 32))
	}
	if d.in(8) {
		out.Key.MaxBytes = new(pick[int32](d, 3, 8, 32, 1024))
	}
}

// time says where the timestamp is, mostly if it is signed.
func (d dice) time(out *v1alpha1.HMACScheme) {
	if strings.Contains(out.StringToSign, "{timestamp}") == d.in(20) {
		return
	}
	out.Timestamp = &v1alpha1.HMACTimestamp{Header: "X-Time", Unit: pick(d, "", "Seconds", "Milliseconds")}
	if d.in(2) {
		out.Timestamp.Header = pick[v1alpha1.HeaderName](d, "", "x-signature", "X-Signature")
		out.Timestamp.Prefix = "t="
		if d.in(8) {
			out.Signature.Separator, out.Signature.Prefix, out.Timestamp.Prefix = ",", "v1=", "t,"
		}
	}
	if d.in(6) {
		out.Timestamp.Prefix = pick[v1alpha1.ElementPrefix](d, "", "v1", "v1=x", "t,", "t;", "sha")
	}
}

// identify says where the event's id, type and resource are.
func (d dice) identify(out *v1alpha1.HMACScheme, items bool) {
	place := func() v1alpha1.HeaderOrPath {
		return pick(d, v1alpha1.HeaderOrPath{Path: "ref"}, v1alpha1.HeaderOrPath{Path: "code"}, v1alpha1.HeaderOrPath{Path: "amount.value"},
			v1alpha1.HeaderOrPath{Path: "other"}, v1alpha1.HeaderOrPath{Header: "X-Part"})
	}
	kind := d.IntN(6)
	if strings.Contains(out.StringToSign, "{id}") && !d.in(6) {
		kind = 0
	}
	switch kind {
	case 0:
		out.EventID.Header = "X-Id"
		if d.in(8) {
			out.EventID.Header = "Host"
		}
	case 1, 2:
		out.EventID.Path = pick[v1alpha1.BodyPath](d, "code", "amount.value", "other")
	case 3:
		out.EventID.Compose = []v1alpha1.HeaderOrPath{place(), place()}
	case 4:
		out.EventID.Made = pick(d, v1alpha1.MadeBodyDigest, v1alpha1.MadePerRequest)
	default:
		out.EventID.Path = "ref"
	}
	if kind != 4 && d.in(8) {
		out.EventID.Otherwise = []v1alpha1.HeaderOrPath{place()}
	}
	if d.in(8) {
		out.EventID.Made = pick(d, v1alpha1.MadeBodyDigest, v1alpha1.MadePerRequest)
	}
	if items && d.in(2) {
		out.EventID = v1alpha1.HMACEventID{Compose: []v1alpha1.HeaderOrPath{{Path: "ref"}, {Path: "code"}}}
	}
	if d.in(8) {
		out.EventIDSigned = new(d.in(2))
	}
	if d.in(2) {
		out.EventType = &v1alpha1.HMACValue{Header: "X-Type"}
		if d.in(4) {
			out.EventType.Otherwise = []v1alpha1.HeaderOrPath{place()}
		}
	}
	if d.in(4) {
		out.ResourceID = &v1alpha1.HMACValue{Path: place().Path, Header: place().Header}
	}
}
