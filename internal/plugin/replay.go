// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hookonce/hookonce/api/v1alpha1"
	v1alpha1ac "github.com/hookonce/hookonce/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

const replayExample = `  # what failed to fulfilment since eight in the morning, counted first
  kubectl hookonce replay payments -n shop --destination fulfilment --received-after 2026-12-01T08:00:00Z \
    --approval Manual --reason "its database was full" --apply`

// replayFlags are the options of replay.
type replayFlags struct {
	name, state, destination, failureReason string
	after, before                           string
	eventTypes, eventIDs                    []string
	approval, reason                        string
	rate, failures                          int32
	local, apply                            bool
}

// newReplay returns the command that writes a DeliveryReplay.
func newReplay(env Environment, cluster *connection) *cobra.Command {
	f := &replayFlags{}
	cmd := &cobra.Command{
		Use:   "replay ENDPOINT",
		Short: "Write the DeliveryReplay that sends failed deliveries again, or chosen ones that were delivered",
		Long: "Write the DeliveryReplay that sends deliveries again, with the idempotency keys that they had. It goes to the standard " +
			"output; what to do next goes to the standard error. With --apply it is applied on the server instead.",
		Example: replayExample,
		Args:    oneEndpoint,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), env, cluster, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "name of the DeliveryReplay; default: the endpoint's and the time")
	flags.StringVar(&f.state, "state", string(v1alpha1.ReplayFailed), "Failed, or Delivered for such as are to be made again")
	flags.StringVar(&f.destination, "destination", "", "only to this destination")
	flags.StringSliceVar(&f.eventTypes, "event-type", nil, `only of these event types, such as invoice.paid or "invoice.*"; may be repeated`)
	flags.StringArrayVar(&f.eventIDs, "event-id", nil, "only of these events, by the provider's ids; may be repeated")
	flags.StringVar(&f.after, "received-after", "", "only of events received from this moment on: RFC 3339, or how long ago, such as 2h")
	flags.StringVar(&f.before, "received-before", "", "only of events received before this moment: RFC 3339, or how long ago")
	flags.StringVar(&f.failureReason, "failure-reason", "", `only such as failed for this reason, or a part of it, such as "answered 503"`)
	flags.StringVar(&f.approval, "approval", string(v1alpha1.ApprovalAutomatic), "Automatic, or Manual to count first and send nothing yet")
	flags.Int32Var(&f.rate, "rate", 0, "how many to send a second, 1 to 1000; default 10")
	flags.Int32Var(&f.failures, "stop-after-failures", 0, "end the replay after so many have failed at their first attempt; default 10")
	flags.StringVar(&f.reason, "reason", "", "why, for the audit")
	flags.BoolVar(&f.local, "local", false, "ask no cluster: check nothing, and write the manifest all the same")
	flags.BoolVar(&f.apply, "apply", false, "apply the manifest on the server instead of printing it")
	return cmd
}

func (f *replayFlags) run(ctx context.Context, env Environment, connection *connection, endpoint string) error {
	manifest, err := f.manifest(endpoint, connection.named(), env.Now())
	if err != nil {
		return err
	}
	note := func(text string) { fmt.Fprintln(env.Err, text) }
	if f.local {
		note("Not checked: with --local no cluster is asked.")
		return f.print(env, manifest)
	}
	opened, err := connection.open()
	if err != nil {
		return err
	}
	found, err := opened.endpoint(ctx, endpoint)
	if err != nil {
		return err
	}
	named := func(d v1alpha1.Destination) bool { return d.Name == f.destination }
	if f.destination != "" && !slices.ContainsFunc(found.Spec.Destinations, named) {
		note(fmt.Sprintf("WebhookEndpoint %s has no destination %s now: what is sent to it waits until there is one.", endpoint, f.destination))
	}
	manifest.WithNamespace(opened.namespace)
	if !f.apply {
		return f.print(env, manifest)
	}
	if err := opened.apply(ctx, "DeliveryReplay "+*manifest.Name, manifest, false); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(env.Out, "deliveryreplay.%s/%s serverside-applied\n", v1alpha1.GroupVersion.Group, *manifest.Name); err != nil {
		return fmt.Errorf("write the name: %w", err)
	}
	f.next(env, manifest)
	return nil
}

func (f *replayFlags) print(env Environment, manifest *v1alpha1ac.DeliveryReplayApplyConfiguration) error {
	document, err := encode(manifest)
	if err != nil {
		return err
	}
	if _, err := env.Out.Write(document); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	f.next(env, manifest)
	return nil
}

// next says what is to be done.
func (f *replayFlags) next(env Environment, manifest *v1alpha1ac.DeliveryReplayApplyConfiguration) {
	target := "dreplay/" + *manifest.Name
	if manifest.Namespace != nil {
		target += " -n " + *manifest.Namespace
	}
	var steps []string
	if !f.apply {
		steps = append(steps, "Apply this manifest.")
	}
	if f.approval == string(v1alpha1.ApprovalManual) {
		steps = append(steps, "Wait until it is known how many match: kubectl wait --for=condition=Counted --timeout=10m "+target,
			"Look at MATCHED (kubectl get "+target+"), and send them: kubectl patch "+target+
				` --type merge -p '{"spec":{"approval":"Automatic"}}'`)
	}
	steps = append(steps, "Wait until each has been delivered or has failed again: kubectl wait --for=condition=Complete --timeout=1h "+target)
	fmt.Fprintln(env.Err, "Next:")
	for i, step := range steps {
		fmt.Fprintf(env.Err, "  %d. %s\n", i+1, step)
	}
}

// manifest is the DeliveryReplay that is asked for, with nothing in it that the API would fill in.
func (f *replayFlags) manifest(
	endpoint, namespace string, now time.Time,
) (*v1alpha1ac.DeliveryReplayApplyConfiguration, error) {
	if err := f.check(endpoint, namespace); err != nil {
		return nil, err
	}
	selector, err := f.selector(now)
	if err != nil {
		return nil, err
	}
	spec := v1alpha1ac.DeliveryReplaySpec().
		WithEndpointRef(v1alpha1ac.EndpointReference().WithName(endpoint)).
		WithSelector(selector)
	if f.approval != string(v1alpha1.ApprovalAutomatic) {
		spec.WithApproval(v1alpha1.Approval(f.approval))
	}
	if f.rate != 0 {
		spec.WithRatePerSecond(f.rate)
	}
	if f.failures != 0 {
		spec.WithStopAfterFailures(f.failures)
	}
	if f.reason != "" {
		spec.WithReason(f.reason)
	}
	name := f.name
	if name == "" {
		stamp := now.UTC().Format("-20060102-150405")
		name = endpoint[:min(len(endpoint), nameLimit-len(stamp))] + stamp
	}
	made := v1alpha1ac.DeliveryReplay(name, namespace).WithSpec(spec)
	if namespace == "" {
		made.Namespace = nil
	}
	return made, nil
}

// check says which flag cannot be written down.
func (f *replayFlags) check(endpoint, namespace string) error {
	asked := request{endpoint: endpoint, namespace: namespace, name: f.name}
	if err := asked.check(); err != nil {
		return err
	}
	states := []string{string(v1alpha1.ReplayFailed), string(v1alpha1.ReplayDelivered)}
	approvals := []string{string(v1alpha1.ApprovalAutomatic), string(v1alpha1.ApprovalManual)}
	switch {
	case f.local && f.apply:
		return usagef("--local and --apply exclude each other: --apply needs the cluster")
	case !slices.Contains(states, f.state):
		return usagef("--state %q: write Failed or Delivered", f.state)
	case !slices.Contains(approvals, f.approval):
		return usagef("--approval %q: write Automatic or Manual", f.approval)
	case f.rate < 0 || f.rate > 1000:
		return usagef("--rate %d: from 1 to 1000 a second", f.rate)
	case f.failures < 0 || f.failures > 1_000_000:
		return usagef("--stop-after-failures %d: from 1 to 1000000", f.failures)
	case f.failureReason != "" && f.state != string(v1alpha1.ReplayFailed):
		return usagef("--failure-reason is for --state Failed: a delivery that was delivered has none")
	case f.destination != "" && len(validation.IsDNS1123Label(f.destination)) > 0:
		return usagef("--destination %q: it is the name of a destination in the endpoint's spec", f.destination)
	}
	return nil
}

// selector reads the flags that choose.
func (f *replayFlags) selector(now time.Time) (*v1alpha1ac.ReplaySelectorApplyConfiguration, error) {
	selector := v1alpha1ac.ReplaySelector().WithState(v1alpha1.ReplayState(f.state)).WithEventIDs(f.eventIDs...)
	if f.destination != "" {
		selector.WithDestination(f.destination)
	}
	if f.failureReason != "" {
		selector.WithFailureReason(f.failureReason)
	}
	for _, eventType := range f.eventTypes {
		selector.WithEventTypes(v1alpha1.EventTypePattern(eventType))
	}
	after, err := moment("received-after", f.after, now)
	if err != nil {
		return nil, err
	}
	before, err := moment("received-before", f.before, now)
	if err != nil {
		return nil, err
	}
	if after != nil {
		selector.WithReceivedAfter(*after)
	}
	if before != nil {
		selector.WithReceivedBefore(*before)
	}
	if after != nil && before != nil && !after.Before(before) {
		return nil, usagef("--received-after must be before --received-before")
	}
	return selector, nil
}

// moment reads a flag with a time, or with how long ago one was; nil for none.
func moment(flag, text string, now time.Time) (*metav1.Time, error) {
	if text == "" {
		return nil, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return &metav1.Time{Time: at.UTC()}, nil
	}
	ago, err := time.ParseDuration(text)
	if err != nil || ago <= 0 {
		return nil, usagef("--%s %q: write a moment such as 2026-12-01T08:00:00Z, or how long ago, such as 2h", flag, text)
	}
	return &metav1.Time{Time: now.Add(-ago).UTC().Truncate(time.Second)}, nil
}
