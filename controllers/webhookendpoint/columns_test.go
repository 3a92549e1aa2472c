// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// columns are what kubectl get -o wide shows of one object, by the columns' names.
func (b *bench) columns(resource, name string) map[string]string {
	b.t.Helper()
	httpClient, err := rest.HTTPClientFor(restConfig)
	if err != nil {
		b.t.Fatal(err)
	}
	url := fmt.Sprintf("%s/apis/%s/namespaces/%s/%s/%s", strings.TrimSuffix(restConfig.Host, "/"), v1alpha1.GroupVersion, b.namespace, resource, name)
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := httpClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var table metav1.Table
	if err := json.NewDecoder(response.Body).Decode(&table); err != nil {
		b.t.Fatal(err)
	}
	if len(table.Rows) != 1 {
		b.t.Fatalf("%s: %d rows, want one", url, len(table.Rows))
	}
	shown := map[string]string{}
	for i, column := range table.ColumnDefinitions {
		if cell := table.Rows[0].Cells[i]; cell != nil {
			shown[column.Name] = fmt.Sprint(cell)
		}
	}
	return shown
}

// TestLastOldUseColumn reads kubectl's columns as the API server makes them.
func TestLastOldUseColumn(t *testing.T) {
	b := newBench(t)
	rotation := &v1alpha1.SecretRotation{
		ObjectMeta: metav1.ObjectMeta{Name: "payments-q4"},
		Spec: v1alpha1.SecretRotationSpec{
			EndpointRef: v1alpha1.EndpointReference{Name: "payments"},
			SecretRef:   v1alpha1.SecretKeyReference{Name: "signing-q4", Key: "secret"},
		},
	}
	b.create(rotation)
	used := metav1.NewTime(time.Now().Add(-3 * time.Hour))
	rotation.Status.LastOldUseTime = &used
	if err := b.admin.Status().Update(t.Context(), rotation); err != nil {
		t.Fatal(err)
	}
	columns := b.columns("secretrotations", "payments-q4")
	if got := columns["LAST-OLD-USE"]; !strings.HasPrefix(got, "3h") && !strings.HasPrefix(got, "179m") {
		t.Errorf("LAST-OLD-USE is %q of %v, want 3h", got, columns)
	}
}
