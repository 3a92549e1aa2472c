// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package rotation

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "seed of the plan; 0 for a new one")
	rotations = flag.Int("rotations", 100, "how many rotations there are in all")
	shops     = flag.Int("shops", 3, "how many endpoints rotate at once, each with three receivers and a provider")
	pace      = flag.Int("pace", 200, "requests in a second, of all providers together")
	overlap   = flag.Duration("overlap", 4*time.Second, "how long a former secret is accepted; more than the kubelet takes")
)

// patience is how long one step of a rotation may take.
const patience = 30 * time.Second

// TestRotation has one operator for all that is looked at, as a process has.
func TestRotation(t *testing.T) {
	operate(t)
	t.Run("SecretsAppearNowhere", secretsAppearNowhere)
	t.Run("UnderTraffic", rotateUnderTraffic)
}

// rotateUnderTraffic rotates a hundred times. Nothing that is due is refused, and no secret is accepted longer than a
// minute after its end.
func rotateUnderTraffic(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = dice(uint64(time.Now().UnixNano()), 0).Uint64N(1_000_000) + 1
	}
	t.Logf("seed %d: replay with -run TestRotation/UnderTraffic -args -seed %d", seed, seed)
	runs := make([]*run, *shops)
	for i := range runs {
		runs[i] = newRun(t, fmt.Sprintf("shop-%d", i), seed+uint64(i)*1000, (*rotations+i) / *shops)
	}
	begun := time.Now()
	var all sync.WaitGroup
	for _, r := range runs {
		all.Go(r.play)
	}
	all.Wait()
	var total verdict
	var sent, refused, stale int64
	for _, r := range runs {
		r.close()
		sent, refused, stale = sent+r.provider.sent.Load(), refused+r.provider.refused.Load(), stale+r.provider.stale.Load()
		total.inside += r.total.inside
		total.refusedInside += r.total.refusedInside
		total.after += r.total.after
		total.acceptedAfter += r.total.acceptedAfter
	}
	elapsed := time.Since(begun)
	t.Logf("%d rotations in %s: %d deliveries of providers (%.0f a second, %d with the former secret alone), %d refused",
		*rotations, elapsed.Round(time.Second), sent, float64(sent)/elapsed.Seconds(), stale, refused)
	t.Logf("witnesses with a former secret: %d inside its time, %d of them refused; %d after its end, %d of them accepted",
		total.inside, total.refusedInside, total.after, total.acceptedAfter)
	if refused+int64(total.refusedInside)+int64(total.acceptedAfter) > 0 {
		t.Error("a delivery was refused that was due, or accepted that was not")
	}
	if total.inside == 0 || total.after == 0 || stale == 0 {
		t.Error("the witnesses saw too little to say anything")
	}
}

// run is the rotations of one endpoint, one after the other or one inside the other's overlap.
type run struct {
	*testing.T
	shop     *shop
	provider *provider
	seed     uint64
	steps    []step
	// named is the Secret that the endpoint names, current its live secret.
	named, current string
	// last is when the rotation before was created.
	last time.Time

	// followers are the rotations that have propagated, and are not over.
	followers sync.WaitGroup
	end       func()
	mu        sync.Mutex
	total     verdict
}

func newRun(t *testing.T, name string, seed uint64, steps int) *run {
	t.Helper()
	r := &run{T: t, seed: seed, steps: newPlan(seed, steps), named: "first", current: secretOf(name, seed, -1)}
	r.shop = newShop(t, name, r.current, *overlap, seed)
	r.provider = newProvider(r.shop, r.current, seed)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.provider.run(ctx, time.Second*time.Duration(*shops)/time.Duration(*pace))
	}()
	r.end = func() { cancel(); <-done }
	return r
}

// play makes all rotations; it goes on after one that fails, as the figures say more then.
func (r *run) play() {
	for _, s := range r.steps {
		if err := r.rotate(s); err != nil {
			r.Errorf("%s, %+v: %v", r.shop.name, s, err)
			break
		}
	}
	r.followers.Wait()
}

// close ends the provider, and says what it complained of.
func (r *run) close() {
	r.end()
	close(r.provider.complaints)
	for complaint := range r.provider.complaints {
		r.Errorf("%s: %s", r.shop.name, complaint)
	}
	var list v1alpha1.SecretRotationList
	must(r.T, r.shop.api.List(r.Context(), &list, client.InNamespace(r.shop.namespace)))
	if len(list.Items) != len(r.steps) {
		r.Errorf("%s: %d changes made %d SecretRotations", r.shop.name, len(r.steps), len(list.Items))
	}
}

// change is one rotation under way.
type change struct {
	step
	object      *v1alpha1.SecretRotation
	secret, was string
	witness     *witness
	// everywhere is when the last kubelet showed the new secret, told when that was known to the test, from status.
	everywhere, told time.Time
}

// rotate takes one rotation to the point where the next may begin.
func (r *run) rotate(s step) error {
	c := &change{step: s, secret: secretOf(r.shop.name, r.seed, s.number), was: r.current}
	secretName := r.named
	if s.applied {
		secretName = fmt.Sprintf("secret-%d", s.number)
	}
	if err := r.propagate(c, secretName); err != nil {
		return err
	}
	if s.revoke == atOnce {
		r.provider.goOver(c.secret, s.behavior, time.Time{})
	} else {
		r.provider.goOver(c.secret, s.behavior, c.everywhere.Add(*overlap))
	}
	if s.applied && !s.lineLate {
		if err := r.shop.nameSecret(secretName); err != nil {
			return err
		}
	}
	r.current, r.named = c.secret, secretName
	var failed error
	r.followers.Go(func() {
		if err := r.follow(c); err != nil {
			failed = err
			r.Errorf("%s, %+v: %v", r.shop.name, s, err)
		}
	})
	if s.stacked {
		return nil
	}
	r.followers.Wait()
	if failed == nil && s.lineLate {
		failed = r.shop.nameSecret(secretName)
	}
	return failed
}

// propagate brings the new secret, and waits until every receiver has it.
func (r *run) propagate(c *change, secretName string) error {
	// Times of creation have whole seconds, and two rotations of one second are in the order of their names: a real kubelet
	// is never as fast, the scaled one may be.
	if !pause(r.Context(), time.Until(r.last.Add(time.Second))) {
		return r.Context().Err()
	}
	c.witness = r.provider.witness(r.Context(), c.was, c.number)
	if c.revoke == atOnce {
		// Somebody who cannot wait between propagation and revocation signs with both.
		r.provider.signBoth(c.secret)
	}
	var err error
	if c.applied {
		c.object, err = r.shop.apply(c.step, secretName, c.secret)
	} else {
		c.object, err = r.shop.alter(secretName, c.secret)
	}
	if err != nil {
		return err
	}
	r.last = c.object.CreationTimestamp.Time
	if err := r.shop.await(c.object, v1alpha1.ConditionPropagated); err != nil {
		return err
	}
	c.told = time.Now()
	for i, replica := range r.shop.receivers {
		at := replica.kubelet.showed(c.secret)
		if at.IsZero() {
			return fmt.Errorf("it is Propagated before receiver %d has it", i)
		}
		if at.After(c.everywhere) {
			c.everywhere = at
		}
	}
	return nil
}
