// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// write is what one request changes: two requests that are equal here are tries, or occurrences, of the same.
type write struct {
	// verb is create, update, apply or delete.
	verb string
	// resource is as in URLs, with the subresource, such as secretrotations/status.
	resource string
	// name of the object; of an event, what it regards and its reason.
	name string
	// owner is the field manager of an apply, which tells the two writers of a status apart.
	owner string
}

func (w write) String() string {
	text := w.verb + " " + w.resource + " " + w.name
	if strings.HasSuffix(w.owner, "-stats") {
		text += " (counts)"
	}
	return text
}

// verbs are the names of what changes something.
var verbs = map[string]string{
	http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "apply", http.MethodDelete: "delete",
}

// decoder reads the body of a create, whether it is JSON or protobuf.
func decoder(kinds *runtime.Scheme) runtime.Decoder {
	return serializer.NewCodecFactory(kinds).UniversalDeserializer()
}

// identify says what a request changes; false if it changes nothing.
func identify(request *http.Request, decode runtime.Decoder) (write, bool, error) {
	verb := verbs[request.Method]
	if verb == "" {
		return write{}, false, nil
	}
	// /api/v1/namespaces/NAMESPACE/RESOURCE[/NAME[/SUBRESOURCE]], or the same below /apis/GROUP/VERSION.
	_, path, found := strings.Cut(request.URL.Path, "/namespaces/")
	parts := strings.Split(path, "/")
	if !found || len(parts) < 2 {
		return write{}, false, fmt.Errorf("%s %s is no write of an object in a namespace", request.Method, request.URL.Path)
	}
	out := write{verb: verb, resource: parts[1], owner: request.URL.Query().Get("fieldManager")}
	if len(parts) > 2 {
		out.name = parts[2]
	}
	if len(parts) > 3 {
		out.resource += "/" + parts[3]
	}
	if verb != "create" {
		return out, true, nil
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return write{}, false, fmt.Errorf("read the body of %s: %w", request.URL.Path, err)
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	object, _, err := decode.Decode(body, nil, nil)
	if err != nil {
		return write{}, false, fmt.Errorf("decode the body of %s: %w", request.URL.Path, err)
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return write{}, false, fmt.Errorf("read the metadata of %s: %w", request.URL.Path, err)
	}
	if out.name = accessor.GetName(); out.resource == events {
		event, ok := object.(*eventsv1.Event)
		if !ok {
			return write{}, false, fmt.Errorf("%s has a %T", request.URL.Path, object)
		}
		out.name = about(event)
	}
	return out, true, nil
}

// mode is what goes wrong with one write.
type mode int

// The modes. With the first two the operator is gone, and another one starts a while later; with the others it goes on.
const (
	crashBefore mode = iota
	crashAfter
	conflict
	internalError
	timeout
	lostAnswer
)

var modes = []mode{crashBefore, crashAfter, conflict, internalError, timeout, lostAnswer}

func (m mode) String() string {
	return [...]string{"crash before", "crash after", "409", "500", "timeout", "answer lost"}[m]
}

// crashes says whether the operator is gone after it.
func (m mode) crashes() bool { return m == crashBefore || m == crashAfter }

// applies says whether the API server gets the request.
func (m mode) applies() bool { return m == crashAfter || m == lostAnswer }

// point is one fault: what goes wrong with which occurrence of which write, counted from 1.
type point struct {
	mode       mode
	write      write
	occurrence int
}

func (p point) String() string {
	return fmt.Sprintf("%s %s #%d", p.mode, p.write, p.occurrence)
}

// injector knows which writes the operators of one life have made since the step began, and lets one of them go wrong.
type injector struct {
	// onFault is called once for each fault, before anybody can tell that it has happened.
	onFault func()

	mu    sync.Mutex
	log   []write
	count map[write]int
	armed *point
	// taken says that a write has met the fault, fired that all of it has happened.
	taken, fired bool
}

// begin forgets what was written, and arms a fault; nil for none.
func (i *injector) begin(fault *point) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.log, i.count, i.armed, i.taken, i.fired = nil, map[write]int{}, fault, false, false
}

// written is what has been written since the step began, in order.
func (i *injector) written() []write {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]write(nil), i.log...)
}

// hasFired says whether the fault has happened.
func (i *injector) hasFired() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fired
}

// take returns the fault that this write meets; it meets no other.
func (i *injector) take(w write) (mode, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.armed == nil || i.taken || i.armed.write != w || i.armed.occurrence != i.count[w]+1 {
		return 0, false
	}
	i.taken = true
	return i.armed.mode, true
}

// rearm takes back a fault: the API server refused the write, so that it was none.
func (i *injector) rearm() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.taken = false
}

// fire says that the fault has happened.
func (i *injector) fire() {
	i.onFault()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fired = true
}

func (i *injector) applied(w write) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.log = append(i.log, w)
	i.count[w]++
}

var (
	errGone = errors.New("the operator is gone")
	// errLate is what a client gets that has waited too long for an answer.
	errLate = &lateError{}
)

type lateError struct{}

func (*lateError) Error() string   { return "no answer in time" }
func (*lateError) Timeout() bool   { return true }
func (*lateError) Temporary() bool { return true }

// transport is between one operator and the API server.
type transport struct {
	next     http.RoundTripper
	injector *injector
	decode   runtime.Decoder
	// known turns the name of an object into one by which runs can be compared.
	known func(string) string
	// crashed is closed when the operator must end.
	crashed chan struct{}
	dead    atomic.Bool
	// frozen holds what watches tell, while an answer is lost: the operator tries again with the cache of before.
	frozen freezer
	// broken is told of requests that nobody expected.
	broken func(error)
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.dead.Load() {
		return nil, errGone
	}
	w, writes, err := identify(request, t.decode)
	if err != nil {
		t.broken(err)
		return nil, err
	}
	if !writes {
		response, err := t.next.RoundTrip(request)
		if err == nil && request.URL.Query().Get("watch") != "" {
			response.Body = &heldBody{ReadCloser: response.Body, until: &t.frozen, gone: request.Context().Done()}
		}
		return response, err
	}
	w.name = t.known(w.name)
	fault, faulty := t.injector.take(w)
	if !faulty {
		response, err := t.next.RoundTrip(request)
		if err == nil && response.StatusCode < http.StatusMultipleChoices {
			t.injector.applied(w)
		}
		return response, err
	}
	if !fault.applies() {
		return t.fail(request, fault)
	}
	if fault == lostAnswer {
		t.frozen.freeze()
	}
	response, err := t.next.RoundTrip(request)
	if err != nil || response.StatusCode >= http.StatusMultipleChoices {
		t.frozen.thaw()
		t.injector.rearm()
		return response, err
	}
	if err := response.Body.Close(); err != nil {
		t.broken(err)
	}
	t.injector.applied(w)
	return t.fail(request, fault)
}

// fail is what the operator gets to know.
func (t *transport) fail(request *http.Request, fault mode) (*http.Response, error) {
	if fault.crashes() {
		t.dead.Store(true)
		close(t.crashed)
	}
	t.injector.fire()
	switch fault {
	case crashBefore, crashAfter:
		return nil, errGone
	case conflict:
		return answer(request, http.StatusConflict, "Conflict"), nil
	case internalError:
		return answer(request, http.StatusInternalServerError, "InternalError"), nil
	case timeout, lostAnswer:
	}
	return nil, errLate
}

// answer is an answer of the API server's that has gone wrong.
func answer(request *http.Request, code int, reason string) *http.Response {
	body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"injected by the test"}`, reason, code)
	return &http.Response{
		Status: strconv.Itoa(code) + " " + http.StatusText(code), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{"Content-Type": {"application/json"}},
		Body:    io.NopCloser(strings.NewReader(body)),
		Request: request, ContentLength: int64(len(body)),
	}
}
