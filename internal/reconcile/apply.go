// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// FieldOwner owns every field that the operator applies, except the counts in status.
const FieldOwner client.FieldOwner = "hookonce-operator"

// StatsFieldOwner owns the counts in status, so that the two are written independently of each other.
const StatsFieldOwner client.FieldOwner = "hookonce-operator-stats"

// collectedDelay is how long to wait for the garbage collector to remove what a deleted owner left.
const collectedDelay = 5 * time.Second

// Applier writes desired objects by server-side apply, and only when that would change something.
type Applier struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads from the API server: a cache that selects by label does not show an object that lacks the label.
	Live client.Reader
}

// Change is what an apply came to.
type Change struct {
	// Object is its kind and name.
	Object string
	// Created says that there was no such object.
	Created bool
	// Fields are the paths that were not as desired, for logs; none if nothing was written.
	Fields []string
	// Live is the object as it is now: what the API server answered to a write, else what was read. The cache may be behind
	// it for a while, and whoever judged an object that this pass has changed by the cache would judge the one before.
	Live client.Object
}

// Written says whether anything was sent.
func (c Change) Written() bool { return c.Created || len(c.Fields) > 0 }

// Apply brings the desired object about, with owner as its controller.
//
// Nothing is sent while every field that the operator owns has the desired value and no other field is desired. A field
// that somebody else has changed is no longer the operator's, and is taken back. An object that exists and is not
// controlled by owner is left alone: the error is a Fault with reason ResourceConflict. One that the API server finds invalid
// is a Fault with reason InvalidSpec.
func (a Applier) Apply(ctx context.Context, owner client.Object, desired runtime.ApplyConfiguration) (Change, error) {
	intent, err := a.intent(owner, desired)
	if err != nil {
		return Change{}, err
	}
	name := intent.GetKind() + " " + intent.GetName()
	live, err := a.empty(intent)
	if err != nil {
		return Change{}, err
	}
	exists, err := a.read(ctx, client.ObjectKeyFromObject(intent), live)
	if err != nil {
		return Change{}, fmt.Errorf("read %s: %w", name, err)
	}
	change := Change{Object: name, Created: !exists}
	if exists {
		if err := controlled(a.Client.Scheme(), owner, live, name); err != nil {
			return Change{}, err
		}
		if change.Fields, err = drift(intent.Object, live, ""); err != nil {
			return Change{}, fmt.Errorf("compare %s: %w", name, err)
		}
		if !change.Written() {
			change.Live = live
			return change, nil
		}
	}
	// Apply writes the answer into what it is given.
	err = a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(intent), FieldOwner, client.ForceOwnership)
	if apierrors.IsInvalid(err) {
		// The API server says the same of the same object at every try: somebody has to change what it is made from.
		return Change{}, Terminal(v1alpha1.ReasonInvalidSpec,
			"%s cannot be made of this spec, correct the spec. The API server says: %s", name, err)
	}
	if err != nil {
		return Change{}, fmt.Errorf("apply %s: %w", name, err)
	}
	if change.Live, err = a.empty(intent); err != nil {
		return Change{}, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(intent.Object, change.Live); err != nil {
		return Change{}, fmt.Errorf("decode %s: %w", name, err)
	}
	return change, nil
}

// ApplyStatus applies the status in desired under the given field owner. live is the object as the cache has it. Nothing is
// sent while the status fields that fieldOwner owns are as desired.
//
// The object must still have the resource version of live, or the error is a conflict: what was found of one object is not
// said of another that has its name now (a UID would not tell: writes of a status ignore it), and nothing is said by a cache
// that is behind. The result is the version that the object has then, for another write.
func (a Applier) ApplyStatus(
	ctx context.Context, desired runtime.ApplyConfiguration, live client.Object, fieldOwner client.FieldOwner,
) (string, error) {
	version := live.GetResourceVersion()
	intent, err := toUnstructured(desired)
	if err != nil {
		return version, err
	}
	fields, err := driftOf(intent.Object, live, string(fieldOwner), "status")
	if err != nil {
		return version, fmt.Errorf("compare status: %w", err)
	}
	if len(fields) == 0 {
		return version, nil
	}
	intent.SetResourceVersion(version)
	err = a.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(intent), fieldOwner, client.ForceOwnership)
	if err != nil {
		return version, fmt.Errorf("apply status: %w", err)
	}
	return intent.GetResourceVersion(), nil
}

// intent is the desired object with owner as its controller.
func (a Applier) intent(owner client.Object, desired runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	intent, err := toUnstructured(desired)
	if err != nil {
		return nil, err
	}
	gvk, err := apiutil.GVKForObject(owner, a.Client.Scheme())
	if err != nil {
		return nil, fmt.Errorf("kind of the owner: %w", err)
	}
	intent.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, gvk)})
	return intent, nil
}

// empty returns an object of the desired kind to read into: its own type, so that the cache for that type is used.
func (a Applier) empty(intent *unstructured.Unstructured) (client.Object, error) {
	object, err := a.Client.Scheme().New(intent.GroupVersionKind())
	if err != nil {
		return nil, fmt.Errorf("type of the desired object: %w", err)
	}
	live, ok := object.(client.Object)
	if !ok {
		return nil, fmt.Errorf("type of the desired object: %T has no metadata", object)
	}
	return live, nil
}

// read gets an object from the cache, or from the API server if the cache does not show it.
func (a Applier) read(ctx context.Context, key client.ObjectKey, live client.Object) (bool, error) {
	err := a.Client.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		err = a.Live.Get(ctx, key, live)
	}
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Controlled returns nil if owner is the controller of object, and a Fault otherwise: one to wait for if the object still
// belongs to a deleted owner of the same name, else one that asks somebody to move the object away.
func Controlled(scheme *runtime.Scheme, owner, object client.Object) error {
	gvk, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return fmt.Errorf("kind of %s: %w", object.GetName(), err)
	}
	return controlled(scheme, owner, object, gvk.Kind+" "+object.GetName())
}

func controlled(scheme *runtime.Scheme, owner, object client.Object, name string) error {
	if metav1.IsControlledBy(object, owner) {
		return nil
	}
	gvk, err := apiutil.GVKForObject(owner, scheme)
	if err != nil {
		return fmt.Errorf("kind of the owner: %w", err)
	}
	controller := metav1.GetControllerOf(object)
	if controller != nil && controller.Kind == gvk.Kind && controller.Name == owner.GetName() {
		return Waiting(v1alpha1.ReasonProgressing, collectedDelay,
			"%s belongs to a deleted %s of the same name: waiting for its removal", name, gvk.Kind)
	}
	return Terminal(v1alpha1.ReasonResourceConflict,
		"%s exists and does not belong to this %s: delete or rename it, or give the %s another name", name, gvk.Kind, gvk.Kind)
}

// toUnstructured returns the fields that an apply configuration sets.
func toUnstructured(desired runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	encoded, err := json.Marshal(desired)
	if err != nil {
		return nil, fmt.Errorf("encode the desired object: %w", err)
	}
	object := map[string]any{}
	if err := json.Unmarshal(encoded, &object); err != nil {
		return nil, fmt.Errorf("decode the desired object: %w", err)
	}
	return &unstructured.Unstructured{Object: object}, nil
}
