// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/rotation"
)

const (
	// pollTimeout bounds one request to a receiver.
	pollTimeout = 2 * time.Second
	// pollConcurrency bounds how many receivers of one endpoint are asked at once.
	pollConcurrency = 8
	// pollBodyLimit bounds the answer, in bytes.
	pollBodyLimit = 1 << 20
)

// Receiver is one receiver pod and what it says of itself.
type Receiver struct {
	// Pod is the pod's name.
	Pod string
	// Ready says whether the pod gets deliveries.
	Ready bool
	// Status is what the receiver said; the zero value if Err is not nil.
	Status receiverstatus.Status
	// Err says why it said nothing.
	Err error
}

// Receivers are the receiver pods of one endpoint, sorted by name.
type Receivers []Receiver

// Ready returns those that get deliveries, whether they answered or not.
func (r Receivers) Ready() Receivers {
	return slices.DeleteFunc(slices.Clone(r), func(one Receiver) bool { return !one.Ready })
}

// Answered returns those that said what they know, ready or not.
func (r Receivers) Answered() Receivers {
	return slices.DeleteFunc(slices.Clone(r), func(one Receiver) bool { return one.Err != nil })
}

// Count returns how many there are, as Kubernetes counts pods.
func (r Receivers) Count() int32 {
	return int32(min(len(r), math.MaxInt32))
}

// Observed returns what the receivers say of secrets, as rotations are planned by it.
func (r Receivers) Observed() []rotation.Receiver {
	var out []rotation.Receiver
	for _, one := range r {
		seen := rotation.Receiver{
			Ready: one.Ready, Answered: one.Err == nil, Revision: one.Status.Keyring.Revision,
			LastUsed: make(map[string]time.Time, len(one.Status.Secrets)),
		}
		for _, secret := range one.Status.Secrets {
			seen.LastUsed[secret.Fingerprint] = secret.LastUsed
		}
		out = append(out, seen)
	}
	return out
}

// Updated returns how many ready receivers have loaded the keyring as it is, or a newer one.
func (r Receivers) Updated(ring *keyring.Keyring) int32 {
	var n int32
	for _, one := range r.Observed() {
		if one.Ready && one.Loaded(ring, ring.Revision) {
			n++
		}
	}
	return n
}

// Poller asks receivers for their status.
type Poller struct {
	reader client.Reader
	http   *http.Client
}

// NewPoller returns a Poller that finds pods through reader.
func NewPoller(reader client.Reader) *Poller {
	transport := &http.Transport{
		// A proxy of the operator's environment has no business between it and a pod.
		Proxy:               nil,
		DialContext:         (&net.Dialer{Timeout: pollTimeout}).DialContext,
		MaxIdleConnsPerHost: 1,
		IdleConnTimeout:     time.Minute,
	}
	return &Poller{reader: reader, http: &http.Client{
		Transport: transport,
		Timeout:   pollTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}}
}

// Poll returns the receiver pods with the given labels, sorted by name, and what each that runs says of itself when it is
// asked for its status. Pods that are going away, or whose receiver has not started, are not asked. The error is about
// listing the pods; what a pod did not say is in its Receiver.
func (p *Poller) Poll(ctx context.Context, namespace string, labels map[string]string) ([]corev1.Pod, Receivers, error) {
	var list corev1.PodList
	if err := p.reader.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels(labels)); err != nil {
		return nil, nil, fmt.Errorf("list receiver pods: %w", err)
	}
	pods := list.Items
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	found := make([]*corev1.Pod, 0, len(pods))
	for i := range pods {
		if pod := &pods[i]; running(pod) {
			found = append(found, pod)
		}
	}

	out := make(Receivers, len(found))
	slots := make(chan struct{}, pollConcurrency)
	var group sync.WaitGroup
	for i, pod := range found {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			out[i] = p.ask(ctx, pod)
		})
	}
	group.Wait()
	return pods, out, nil
}

// running says whether the pod's receiver may answer.
func running(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.PodIP == "" {
		return false
	}
	if ready(pod) {
		return true
	}
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		return status.State.Running != nil
	})
}

// ready says whether the pod gets deliveries.
func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}

// ask reads the status of one receiver.
func (p *Poller) ask(ctx context.Context, pod *corev1.Pod) Receiver {
	receiver := Receiver{Pod: pod.Name, Ready: ready(pod)}
	port, err := privatePort(pod)
	if err != nil {
		receiver.Err = err
		return receiver
	}
	address := "http://" + net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(port))) + receiverstatus.Path
	receiver.Status, receiver.Err = p.get(ctx, address)
	return receiver
}

// errNoPrivatePort says that a pod is not a receiver's.
var errNoPrivatePort = errors.New("no container port named " + receiverstatus.PrivatePort)

// privatePort returns the port on which a pod's receiver tells its status.
func privatePort(pod *corev1.Pod) (int32, error) {
	for i := range pod.Spec.Containers {
		for _, port := range pod.Spec.Containers[i].Ports {
			if port.Name == receiverstatus.PrivatePort {
				return port.ContainerPort, nil
			}
		}
	}
	return 0, errNoPrivatePort
}

// get reads one status document.
func (p *Poller) get(ctx context.Context, address string) (status receiverstatus.Status, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return status, fmt.Errorf("read receiver status: %w", err)
	}
	response, err := p.http.Do(request)
	if err != nil {
		return status, fmt.Errorf("read receiver status: %w", err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return status, fmt.Errorf("read receiver status: HTTP status %d", response.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, pollBodyLimit)).Decode(&status); err != nil {
		return receiverstatus.Status{}, fmt.Errorf("decode receiver status: %w", err)
	}
	return status, nil
}
