// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/downward"
	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/objects"
)

var testSources = Sources{
	Facts: downward.Facts{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "pod", Namespace: "shop", Labels: map[string]string{"b": `two "2"`, "a": "1"},
	}}},
	Object: func(key objects.Key) (objects.Content, bool) {
		if key == (objects.Key{Kind: objects.Secret, Namespace: "shop", Name: "db"}) {
			return objects.Content{Data: map[string][]byte{"uri": []byte("postgres://"), "other": []byte("x")}}, true
		}
		if key == (objects.Key{Kind: objects.ConfigMap, Namespace: "shop", Name: "config"}) {
			return objects.Content{Data: map[string][]byte{"receiver.json": []byte("{}")}}, true
		}
		return objects.Content{}, false
	},
	Token: func(_ context.Context, audience string, seconds int64) (string, error) {
		if seconds == 3607 {
			return "token for " + audience, nil
		}
		return "default token", nil
	},
}

func named(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }

func TestFiles(t *testing.T) {
	tests := []struct {
		name    string
		source  corev1.VolumeSource
		want    map[string]File
		wantErr string
	}{
		{
			name:   "all keys of a Secret",
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "db"}},
			want:   map[string]File{"uri": {[]byte("postgres://"), 0o644}, "other": {[]byte("x"), 0o644}},
		},
		{
			name: "items and modes",
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: "db", DefaultMode: new(int32(0o440)),
				Items: []corev1.KeyToPath{{Key: "uri", Path: "a/b"}, {Key: "other", Path: "c", Mode: new(int32(0o400))}},
			}},
			want: map[string]File{"a/b": {[]byte("postgres://"), 0o440}, "c": {[]byte("x"), 0o400}},
		},
		{
			name: "an absent key",
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: "db", Items: []corev1.KeyToPath{{Key: "none", Path: "a"}},
			}},
			wantErr: `Secret shop/db has no key "none"`,
		},
		{
			name: "an absent optional key",
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: "db", Optional: new(true), Items: []corev1.KeyToPath{{Key: "none", Path: "a"}},
			}},
			want: map[string]File{},
		},
		{
			name:    "an absent ConfigMap",
			source:  corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("none")}},
			wantErr: "ConfigMap shop/none does not exist",
		},
		{
			name:   "an absent optional ConfigMap",
			source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("none"), Optional: new(true)}},
			want:   map[string]File{},
		},
		{
			name: "downward API",
			source: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}},
			}}},
			want: map[string]File{"labels": {[]byte("a=\"1\"\nb=\"two \\\"2\\\"\""), 0o644}},
		},
		{
			name: "projected",
			source: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				DefaultMode: new(int32(0o444)),
				Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "me", ExpirationSeconds: new(int64(3607))}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: named("config")}},
					{Secret: &corev1.SecretProjection{LocalObjectReference: named("db"), Items: []corev1.KeyToPath{{Key: "uri", Path: "uri"}}}},
				},
			}},
			want: map[string]File{
				"token": {[]byte("token for me"), 0o444}, "receiver.json": {[]byte("{}"), 0o444}, "uri": {[]byte("postgres://"), 0o444},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Files(t.Context(), &corev1.Volume{Name: "v", VolumeSource: test.source}, testSources)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error is %v, want %q in it", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}
