// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/hookonce/hookonce/internal/controlplane"
)

const endpointManifest = `apiVersion: webhooks.hookonce.dev/v1alpha1
kind: WebhookEndpoint
metadata: {name: payments}
spec:
  verification:
    scheme: Paymos
    secretRef: {name: signing, key: secret}
    tolerance: 5m
    overlap: 24h
  database:
    secretRef: {name: database, key: uri}
    schema: hookonce
  effects:
  - {name: book, eventTypes: [invoice.paid], function: shop.on_invoice_paid, key: Event}
  destinations:
  - {name: sink, url: "http://sink.shop.svc/hooks", eventTypes: ["invoice.*"], timeout: 10s, retry: {delays: [1m]}}
  retention: {claims: 720h, payloads: 168h, schedule: "17 3 * * *"}
  exposure: {path: /in}
`

const rotationManifest = `apiVersion: webhooks.hookonce.dev/v1alpha1
kind: SecretRotation
metadata: {name: q4}
spec:
  endpointRef: {name: payments}
  secretRef: {name: signing-q4, key: secret}
  overlap: 24h
  revocation: Immediate
`

const replayManifest = `apiVersion: webhooks.hookonce.dev/v1alpha1
kind: DeliveryReplay
metadata: {name: outage}
spec:
  endpointRef: {name: payments}
  selector: {state: Failed, destination: sink, receivedAfter: "2026-12-01T00:00:00Z", receivedBefore: "2026-12-02T00:00:00Z", eventIDs: [evt_1]}
  approval: Automatic
  ratePerSecond: 10
`

// refusal is a mistake in a manifest, and what the API server says of it: what to do.
type refusal struct {
	name, manifest, replace, with string
	// update makes the valid manifest first and changes it then.
	update bool
	want   string
}

var refusals = []refusal{
	{"ReplayState", replayManifest, "state: Failed", "state: Pending", false, `supported values: "Failed", "Delivered"`},
	{"ReplayReason", replayManifest, "state: Failed", "state: Delivered, failureReason: x", false, "failureReason is for state Failed"},
	{"ReplayTimes", replayManifest, "2026-12-02", "2026-12-01", false, "receivedAfter must be before receivedBefore"},
	{"ReplayRate", replayManifest, "ratePerSecond: 10", "ratePerSecond: 1001", false, "less than or equal to 1000"},
	{"ReplayEmptyID", replayManifest, "eventIDs: [evt_1]", `eventIDs: [""]`, false, "eventIDs[0]"},
	{"ReplayApproval", replayManifest, "approval: Automatic", "approval: Never", false, `supported values: "Automatic", "Manual"`},
	{"ReplayApprovalTakenBack", replayManifest, "approval: Automatic", "approval: Manual", true, "approval cannot go back to Manual"},
	{"ReplaySelectorChanged", replayManifest, "destination: sink", "destination: other", true, "selector cannot be changed: create another"},
	{"ReplayEndpointChanged", replayManifest, "name: payments", "name: other", true, "endpointRef cannot be changed: create another DeliveryReplay"},
	{"UnknownScheme", endpointManifest, "scheme: Paymos", "scheme: Paypal", false, `supported values: "Paymos"`},
	{"Tolerance", endpointManifest, "tolerance: 5m", "tolerance: 2h", false, "tolerance must be from 1s to 1h"},
	{"NoDuration", endpointManifest, "tolerance: 5m", "tolerance: 5 minutes", false, "tolerance"},
	{"NegativeDuration", endpointManifest, "tolerance: 5m", "tolerance: -5m", false, "tolerance"},
	{"Overlap", endpointManifest, "overlap: 24h", "overlap: 169h", false, "overlap must be from 0s to 168h"},
	{"MaxOverlap", endpointManifest, "overlap: 24h", "overlap: 24h\n    maxOverlap: 23h", false, "verification.maxOverlap is shorter"},
	{"MaxOverlapLong", endpointManifest, "overlap: 24h", "maxOverlap: 169h", false, "maxOverlap must be at most 168h"},
	{"OverlapOfLaggards", strings.Replace(endpointManifest, "overlap: 24h", "overlap: 59m", 1), "scheme: Paymos", "scheme: Shopify", false, "verification.overlap must be at least 1h with this scheme"},
	{"SchemaChanged", endpointManifest, "schema: hookonce", "schema: other", true, "Create a new endpoint with the other schema"},
	{"SchemaName", endpointManifest, "schema: hookonce", `schema: "Hook-Once"`, false, "database.schema must be a plain name"},
	{"SchemaOfPostgres", endpointManifest, "schema: hookonce", "schema: pg_hookonce", false, "which is Postgres's own"},
	{"FunctionName", endpointManifest, "shop.on_invoice_paid", "on_invoice_paid()", false, "without parentheses"},
	{"FunctionAlone", endpointManifest, "shop.on_invoice_paid", "on_invoice_paid", false, "such as shop.on_invoice_paid"},
	{"URLPassword", endpointManifest, "http://sink.shop.svc/hooks", "http://user:pass@sink.shop.svc/hooks", false, "no user, password or fragment"},
	{"URLFragment", endpointManifest, "http://sink.shop.svc/hooks", "http://sink.shop.svc/hooks#paid", false, "no user, password or fragment"},
	{"URLNoHost", endpointManifest, "http://sink.shop.svc/hooks", "http://:80/hooks", false, "url must be absolute"},
	{"PathRelative", endpointManifest, "path: /in", "path: in", false, "exposure.path must begin with /"},
	{"PathEmptyPart", endpointManifest, "path: /in", "path: /in//payments", false, "without empty parts"},
	{"PathUp", endpointManifest, "path: /in", "path: /in/../payments", false, "without empty parts"},
	{"PathQuery", endpointManifest, "path: /in", "path: '/in?tenant=1'", false, "exposure.path must begin with /"},
	{"URL", endpointManifest, "http://sink.shop.svc/hooks", "sink.shop.svc/hooks", false, "url must be absolute"},
	{"BlockAlone", endpointManifest, "timeout: 10s", "onExhausted: Block", false, "onExhausted Block needs ordering PerResource"},
	{"OrderOfNothing", strings.Replace(endpointManifest, "timeout: 10s", "ordering: PerResource", 1), "scheme: Paymos", "scheme: GitHub", false, "ordering PerResource needs a resource id"},
	{"FailedKept", endpointManifest, "claims: 720h, ", "failed: 23h, claims: 720h, ", false, "retention.failed must be at least 24h, or absent"},
	{"AttemptsKept", endpointManifest, "claims: 720h, ", "attempts: 59m, claims: 720h, ", false, "retention.attempts must be at least 1h, or absent"},
	{"NATSWithoutURL", endpointManifest, `"http://sink.shop.svc/hooks"`, `"http://sink.shop.svc/hooks", nats: {subject: shop.payments}`, false, "url must begin with nats:// or tls:// where nats is set"},
	{"NATSURLAlone", endpointManifest, "http://sink.shop.svc/hooks", "nats://nats.shop.svc:4222", false, "url must begin with nats:// or tls:// where nats is set"},
	{"NATSPath", endpointManifest, `"http://sink.shop.svc/hooks"`, `"nats://nats.shop.svc/payments", nats: {subject: shop.payments}`, false, "url must be absolute"},
	{"NATSPassword", endpointManifest, `"http://sink.shop.svc/hooks"`, `"nats://user:canary@nats.shop.svc", nats: {subject: shop.payments}`, false, "url must be absolute"},
	{"NATSWildcard", endpointManifest, `"http://sink.shop.svc/hooks"`, `"nats://nats.shop.svc", nats: {subject: shop.>}`, false, "nats.subject must be tokens"},
	{"NATSTwoTypes", endpointManifest, `"http://sink.shop.svc/hooks"`, `"nats://nats.shop.svc", nats: {subject: "{eventType}.{eventType}"}`, false, "nats.subject must be tokens"},
	{"NATSTypeFirst", endpointManifest, `"http://sink.shop.svc/hooks"`, `"nats://nats.shop.svc", nats: {subject: "{eventType}.shop"}`, false, "nats.subject must be tokens"},
	{"NATSInbox", endpointManifest, `"http://sink.shop.svc/hooks"`, `"nats://nats.shop.svc", nats: {subject: _INBOX.x}`, false, "nats.subject must be tokens"},
	{"FileURL", endpointManifest, "http://sink.shop.svc/hooks", "file:///etc/passwd", false, "url must be absolute"},
	{"Timeout", endpointManifest, "timeout: 10s", "timeout: 10ms", false, "timeout must be from 100ms to 60s"},
	{"Concurrency", endpointManifest, "timeout: 10s", "concurrency: 65", false, "should be less than or equal to 64"},
	{"ClientErrors", endpointManifest, "delays: [1m]", "clientErrors: Drop", false, `supported values: "Retry", "Fail"`},
	{"SigningKey", endpointManifest, "timeout: 10s", "signingSecretRef: {name: sink}", false, "signingSecretRef.key"},
	{"Delay", endpointManifest, "delays: [1m]", "delays: [200h]", false, "a delay must be at most 168h"},
	{"NoEventTypes", endpointManifest, `["invoice.*"]`, "[]", false, "eventTypes"},
	{"PatternInside", endpointManifest, `"invoice.*"`, `"*.paid"`, false, "a star stands alone or after the last dot"},
	{"ShortClaims", strings.Replace(endpointManifest, "claims: 720h", "claims: 800h", 1), "scheme: Paymos", "scheme: Adyen", false, "retention.claims must be at least 890h with this scheme: its provider may send an event again for 720h"},
	{"ShortClaimsAlone", endpointManifest, "claims: 720h, payloads: 168h", "claims: 100h", false, "retention.claims must be at least 187h"},
	{"ShortPayloads", endpointManifest, "payloads: 168h", "payloads: 30m", false, "retention.payloads must be at least 1h"},
	{"LongPayloads", endpointManifest, "payloads: 168h", "payloads: 721h", false, "must not be longer than retention.claims"},
	{"LongPayloadsAlone", endpointManifest, "claims: 720h, payloads: 168h", "payloads: 721h", false, "which counts as 720h here"},
	{"PublicQuery", endpointManifest, "exposure: {", "exposure: {url: 'https://hooks.example.com/a?b=c', ", false, "exposure.url must begin with"},
	{"PublicFragment", endpointManifest, "exposure: {", "exposure: {url: 'https://hooks.example.com/a#b', ", false, "exposure.url must begin with"},
	{"PublicUser", endpointManifest, "exposure: {", "exposure: {url: 'https://u:p@hooks.example.com/a', ", false, "exposure.url must begin with"},
	{"PublicFile", endpointManifest, "exposure: {", "exposure: {url: 'file:///etc/passwd', ", false, "exposure.url must begin with"},
	{"PublicNoHost", endpointManifest, "exposure: {", "exposure: {url: 'https://:443/a', ", false, "exposure.url must begin with"},
	{"PublicHost", endpointManifest, "exposure: {", "exposure: {host: 'https://hooks.example.com', ", false, "exposure.host must be a DNS name"},
	{"PublicHostPort", endpointManifest, "exposure: {", "exposure: {host: 'hooks.example.com:443', ", false, "go into exposure.url"},
	{"Schedule", endpointManifest, "17 3 * * *", "17 3 * * * *", false, "five cron fields"},
	{"ScheduleMinute", endpointManifest, "17 3 * * *", "99 * * * *", false, "minute 0-59"},
	{"ScheduleHour", endpointManifest, "17 3 * * *", "17 24 * * *", false, "hour 0-23"},
	{"ScheduleDay", endpointManifest, "17 3 * * *", "17 3 0 * *", false, "day of month 1-31"},
	{"ScheduleMonth", endpointManifest, "17 3 * * *", "17 3 * 13 *", false, "month 1-12"},
	{"ScheduleWeekday", endpointManifest, "17 3 * * *", "17 3 * * 7", false, "day of week 0-6"},
	{"ScheduleStep", endpointManifest, "17 3 * * *", "*/0 3 * * *", false, "a step such as */6"},
	{"ScheduleWord", endpointManifest, "17 3 * * *", "once every day at noon", false, "five cron fields"},
	{"NoSecretRef", endpointManifest, "    secretRef: {name: signing, key: secret}\n", "", false, "secretRef"},
	{"SecretKey", endpointManifest, "key: secret", `key: "a/b"`, false, "secretRef.key"},
	{"EndpointRefChanged", rotationManifest, "name: payments", "name: other", true, "endpointRef cannot be changed"},
	{"SecretRefChanged", rotationManifest, "name: signing-q4", "name: other", true, "secretRef cannot be changed"},
	{"RotationOverlap", rotationManifest, "overlap: 24h", "overlap: 200h", false, "overlap must be from 0s to 168h"},
	{"RotationMaxOverlap", rotationManifest, "overlap: 24h", "overlap: 24h\n  maxOverlap: 1h", false, "maxOverlap is shorter than overlap"},
	{"RotationMaxOverlapLong", rotationManifest, "overlap: 24h", "overlap: 24h\n  maxOverlap: 200h", false, "maxOverlap must be at most 168h"},
	{"Unrevoked", rotationManifest, "Immediate", "AfterOverlap", true, "a revoked secret stays revoked"},
}

func parse(t *testing.T, manifest, namespace string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		t.Fatal(err)
	}
	object.SetNamespace(namespace)
	return object
}

func TestAdmissionSaysWhatToDo(t *testing.T) {
	admin := controlplane.Client(t, restConfig)
	var answers strings.Builder
	for _, test := range slices.Concat(refusals, schemeRefusals) {
		t.Run(test.name, func(t *testing.T) {
			namespace := controlplane.Namespace(t, admin, nil)
			if !strings.Contains(test.manifest, test.replace) {
				t.Fatalf("the manifest has no %q", test.replace)
			}
			valid := parse(t, test.manifest, namespace)
			if err := admin.Create(t.Context(), valid, client.DryRunAll); err != nil {
				t.Fatalf("the manifest without the mistake is refused: %v", err)
			}
			wrong := parse(t, strings.Replace(test.manifest, test.replace, test.with, 1), namespace)
			var err error
			if test.update {
				if err := admin.Create(t.Context(), valid); err != nil {
					t.Fatal(err)
				}
				wrong.SetResourceVersion(valid.GetResourceVersion())
				err = admin.Update(t.Context(), wrong)
			} else {
				err = admin.Create(t.Context(), wrong)
			}
			if !apierrors.IsInvalid(err) {
				t.Fatalf("got %v, want the manifest to be invalid", err)
			}
			if strings.HasPrefix(test.name, "ShortClaims") && strings.Contains(err.Error(), "payloads must not") {
				t.Errorf("the answer speaks of a field that is right: %v", err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the refusal does not say %q: %v", test.want, err)
			}
			answers.WriteString(err.Error() + "\n")
		})
	}
	for _, message := range rules(t) {
		if !strings.Contains(answers.String(), message) {
			t.Errorf("no test makes the API server say %q", message)
		}
	}
}

// neighbor is a manifest that is next to a refusal.
type neighbor struct{ manifest, replace, with string }

// TestAdmissionAccepts sends manifests that are next to a refusal.
func TestAdmissionAccepts(t *testing.T) {
	admin := controlplane.Client(t, restConfig)
	all := map[string]neighbor{
		"LongClaims":       {endpointManifest, "claims: 720h, payloads: 168h", "claims: 2000h, payloads: 2000h"},
		"LongPayloads":     {endpointManifest, "claims: 720h, payloads: 168h", "payloads: 720h"},
		"PublicURL":        {endpointManifest, "exposure: {", "exposure: {url: 'http://[::1]:8080', "},
		"PublicHostAndURL": {endpointManifest, "exposure: {", "exposure: {host: a.example.com, url: 'https://b.example.com:8443/~x/%20/', "},
		"ShortestClaims":   {endpointManifest, "claims: 720h", "claims: 186h3m"},
		"Ordered":          {endpointManifest, "timeout: 10s", "ordering: PerResource, onExhausted: Block"},
		"RetentionAges":    {endpointManifest, "claims: 720h, ", "failed: 24h, attempts: 2000h, claims: 720h, "},
		"DestinationNATS":  {endpointManifest, `"http://sink.shop.svc/hooks"`, `"tls://nats.shop.svc:4222", nats: {subject: "shop.payments.{eventType}", credentialsSecretRef: {name: nats, key: creds}}`},
		"DestinationQuery": {endpointManifest, "http://sink.shop.svc/hooks", "https://sink.shop.svc:8443?to=a@b"},
		"PathDots":         {endpointManifest, "path: /in", "path: /.well-known/a..b/"},
		"ScheduleLists":    {endpointManifest, "17 3 * * *", "0,15-45/5 */6,23 1-31 jan-Mar,12 Mon-FRI"},
		"ScheduleSteps":    {endpointManifest, "17 3 * * *", " 5/20  03 31 2 0 "},
	}
	maps.Copy(all, schemeNeighbors)
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(test.manifest, test.replace) {
				t.Fatalf("the manifest has no %q", test.replace)
			}
			object := parse(t, strings.Replace(test.manifest, test.replace, test.with, 1), controlplane.Namespace(t, admin, nil))
			if err := admin.Create(t.Context(), object, client.DryRunAll); err != nil {
				t.Error(err)
			}
		})
	}
}

// rules are the messages of every CEL rule of the project's kinds.
func rules(t *testing.T) []string {
	t.Helper()
	var messages []string
	add := func(schema *apiextensionsv1.JSONSchemaProps) {
		for _, rule := range schema.XValidations {
			// What an expression says is in the table.
			if rule.MessageExpression == "" {
				messages = append(messages, rule.Message)
			}
		}
	}
	walkSchemas(t, func(_ string, field fieldSchema) {
		add(field.schema)
		if field.schema.Items != nil {
			add(field.schema.Items.Schema)
		}
	})
	if len(messages) < 60 {
		t.Fatalf("only %d rules were found", len(messages))
	}
	return messages
}
