// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/downward"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/objects"
)

const (
	defaultMode       fs.FileMode = 0o644
	defaultExpiration int64       = 3600 // seconds, as the API's own default
)

// Sources is where the content of volumes comes from.
type Sources struct {
	Facts downward.Facts
	// Object is the object as it is projected now, and whether it exists.
	Object func(objects.Key) (objects.Content, bool)
	// Token is a service account token for the audience (empty: the API server's own).
	Token func(ctx context.Context, audience string, seconds int64) (string, error)
}

// Projects reports whether the volume shows content that the node writes, and not an empty folder.
func Projects(v *corev1.Volume) bool {
	return v.Secret != nil || v.ConfigMap != nil || v.DownwardAPI != nil || v.Projected != nil
}

// References lists the objects that a volume shows. The value says whether one may be absent.
func References(v *corev1.Volume, namespace string) map[objects.Key]bool {
	refs := make(map[objects.Key]bool)
	add := func(kind objects.Kind, name string, optional *bool) {
		refs[objects.Key{Kind: kind, Namespace: namespace, Name: name}] = optional != nil && *optional
	}
	switch {
	case v.Secret != nil:
		add(objects.Secret, v.Secret.SecretName, v.Secret.Optional)
	case v.ConfigMap != nil:
		add(objects.ConfigMap, v.ConfigMap.Name, v.ConfigMap.Optional)
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			if source.Secret != nil {
				add(objects.Secret, source.Secret.Name, source.Secret.Optional)
			}
			if source.ConfigMap != nil {
				add(objects.ConfigMap, source.ConfigMap.Name, source.ConfigMap.Optional)
			}
		}
	}
	return refs
}

// Files computes the content of a volume that Projects.
func Files(ctx context.Context, v *corev1.Volume, from Sources) (map[string]File, error) {
	files := make(map[string]File)
	namespace := from.Facts.Pod.Namespace
	var err error
	switch {
	case v.Secret != nil:
		key := objects.Key{Kind: objects.Secret, Namespace: namespace, Name: v.Secret.SecretName}
		err = addObject(files, key, v.Secret.Items, v.Secret.DefaultMode, v.Secret.Optional, from)
	case v.ConfigMap != nil:
		key := objects.Key{Kind: objects.ConfigMap, Namespace: namespace, Name: v.ConfigMap.Name}
		err = addObject(files, key, v.ConfigMap.Items, v.ConfigMap.DefaultMode, v.ConfigMap.Optional, from)
	case v.DownwardAPI != nil:
		err = addDownward(files, v.DownwardAPI.Items, v.DownwardAPI.DefaultMode, from.Facts)
	case v.Projected != nil:
		for i := range v.Projected.Sources {
			if err = addProjection(ctx, files, &v.Projected.Sources[i], v.Projected.DefaultMode, from); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("volume %s: %w", v.Name, err)
	}
	return files, nil
}

func addProjection(ctx context.Context, files map[string]File, source *corev1.VolumeProjection, mode *int32, from Sources) error {
	namespace := from.Facts.Pod.Namespace
	switch {
	case source.Secret != nil:
		key := objects.Key{Kind: objects.Secret, Namespace: namespace, Name: source.Secret.Name}
		return addObject(files, key, source.Secret.Items, mode, source.Secret.Optional, from)
	case source.ConfigMap != nil:
		key := objects.Key{Kind: objects.ConfigMap, Namespace: namespace, Name: source.ConfigMap.Name}
		return addObject(files, key, source.ConfigMap.Items, mode, source.ConfigMap.Optional, from)
	case source.DownwardAPI != nil:
		return addDownward(files, source.DownwardAPI.Items, mode, from.Facts)
	case source.ServiceAccountToken != nil:
		seconds := defaultExpiration
		if source.ServiceAccountToken.ExpirationSeconds != nil {
			seconds = *source.ServiceAccountToken.ExpirationSeconds
		}
		token, err := from.Token(ctx, source.ServiceAccountToken.Audience, seconds)
		if err != nil {
			return err
		}
		files[source.ServiceAccountToken.Path] = File{Data: []byte(token), Mode: fileMode(nil, mode)}
		return nil
	default:
		return errors.New("this kind of projected source is not supported")
	}
}

func addObject(files map[string]File, key objects.Key, items []corev1.KeyToPath, mode *int32, optional *bool, from Sources) error {
	mayLack := optional != nil && *optional
	content, exists := from.Object(key)
	if !exists {
		if mayLack {
			return nil
		}
		return fmt.Errorf("%s does not exist", key)
	}
	if items == nil {
		for name, data := range content.Data {
			files[name] = File{Data: data, Mode: fileMode(nil, mode)}
		}
		return nil
	}
	for _, item := range items {
		data, ok := content.Data[item.Key]
		if !ok && mayLack {
			continue
		}
		if !ok {
			return fmt.Errorf("%s has no key %q", key, item.Key)
		}
		files[item.Path] = File{Data: data, Mode: fileMode(item.Mode, mode)}
	}
	return nil
}

func addDownward(files map[string]File, items []corev1.DownwardAPIVolumeFile, mode *int32, facts downward.Facts) error {
	for _, item := range items {
		var value string
		var err error
		switch {
		case item.FieldRef != nil:
			value, err = facts.Field(item.FieldRef.FieldPath)
		case item.ResourceFieldRef != nil:
			value, err = facts.Resource(item.ResourceFieldRef, "")
		}
		if err != nil {
			return fmt.Errorf("file %s: %w", item.Path, err)
		}
		files[item.Path] = File{Data: []byte(value), Mode: fileMode(item.Mode, mode)}
	}
	return nil
}

func fileMode(own, volume *int32) fs.FileMode {
	switch {
	case own != nil:
		return fs.FileMode(*own).Perm()
	case volume != nil:
		return fs.FileMode(*volume).Perm()
	default:
		return defaultMode
	}
}
