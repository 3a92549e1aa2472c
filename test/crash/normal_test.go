// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package crash

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
)

var errNoKeyring = errors.New("there is no keyring document")

// ringOf reads the keyring in a Secret.
func ringOf(object *unstructured.Unstructured) (*keyring.Keyring, error) {
	document, err := documentOf(object)
	if err != nil {
		return nil, err
	}
	return keyring.Parse(document)
}

func documentOf(object *unstructured.Unstructured) ([]byte, error) {
	text, found, err := unstructured.NestedString(object.Object, "data", keyring.FileName)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errNoKeyring
	}
	return base64.StdEncoding.DecodeString(text)
}

// picture is a namespace as it can be compared with another one: each object, with what is new in each run replaced by
// what it means.
type picture map[key]map[string]any

var (
	uid    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	offset = regexp.MustCompile(`\{T\+-?\d+\}`)
)

// byTheWall are fields whose times are those of the machine, and fields that the API server makes up.
var byTheWall = map[string]bool{
	"uid": true, "resourceVersion": true, "creationTimestamp": true, "lastTransitionTime": true,
	"clusterIP": true, "clusterIPs": true, "salt": true,
}

// sets are lists whose order means nothing, with what their elements are known by.
var sets = map[string][]string{"conditions": {"type"}, "managedFields": {"manager", "operation", "subresource"}}

// pictured is one object as it is compared: content, or what an event tells and how often.
type pictured struct {
	// version, and how much was known of names when it was made.
	version string
	known   int

	content map[string]any
	told    string
	times   int
}

// outcome is what the step has come to so far.
func (s *shop) outcome() (outcome, error) {
	out := outcome{
		picture: picture{}, created: map[key]int{}, deleted: map[key]int{}, told: map[string]int{},
		writes: s.injector.written(), fired: s.injector.hasFired(),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	words := s.words()
	for k, object := range s.objects {
		seen := s.pictured[k]
		if known := len(s.salts) + len(s.names); seen.version != object.GetResourceVersion() || seen.known != known {
			var err error
			if seen, err = words.picture(k, object); err != nil {
				return out, err
			}
			seen.version, seen.known = object.GetResourceVersion(), known
			s.pictured[k] = seen
		}
		if k.resource == events {
			out.told[seen.told] += seen.times
			continue
		}
		out.picture[words.key(k)] = seen.content
	}
	out.turned = maps.Clone(s.turned)
	for k, n := range s.created {
		out.created[words.key(k)] = n
	}
	for k, n := range s.deleted {
		out.deleted[words.key(k)] = n
	}
	return out, nil
}

// picture makes the picture of one object.
func (w words) picture(k key, object *unstructured.Unstructured) (pictured, error) {
	if k.resource == events {
		what, n, err := told(object)
		return pictured{told: w.replace(what), times: n}, err
	}
	content := object.Object
	if k == keyringKey {
		var err error
		if content, err = opened(object); err != nil {
			return pictured{}, err
		}
	}
	value, _ := w.value("", content).(map[string]any)
	return pictured{content: value}, nil
}

// told is what an event is about, and how often that was.
func told(object *unstructured.Unstructured) (string, int, error) {
	event := &eventsv1.Event{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, event); err != nil {
		return "", 0, err
	}
	n := 1
	if event.Series != nil {
		n = int(event.Series.Count)
	}
	return about(event), n, nil
}

// about is what an event regards, and its reason.
func about(event *eventsv1.Event) string {
	return event.Regarding.Kind + "/" + event.Regarding.Name + " " + event.Reason
}

// known is a name by which runs can be compared.
func (s *shop) known(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.words().replace(name)
}

// state is status and reason of the condition Ready, such as True/OverlapActive; empty if the object is not there, or its status
// is about another spec.
func (p picture) state(resource, name string) string {
	object := p[key{resource, name}]
	generation, _, _ := unstructured.NestedInt64(object, "metadata", "generation")
	observed, _, _ := unstructured.NestedInt64(object, "status", "observedGeneration")
	ready, found, _ := unstructured.NestedMap(object, "status", "conditions", v1alpha1.ConditionReady)
	if !found || observed != generation {
		return ""
	}
	return fmt.Sprintf("%v/%v", ready["status"], ready["reason"])
}

// opened is the keyring's Secret with the document in place of its encoding.
func opened(object *unstructured.Unstructured) (map[string]any, error) {
	document, err := documentOf(object)
	if err != nil {
		return nil, err
	}
	var parsed map[string]any
	if err := json.Unmarshal(document, &parsed); err != nil {
		return nil, err
	}
	content := object.DeepCopy().Object
	content["data"] = map[string]any{keyring.FileName: parsed}
	return content, nil
}

// words replaces what is new in each run.
type words struct {
	names    map[string]string
	replacer *strings.Replacer
}

// words is how the shop's objects are to be read. The caller holds the lock.
func (s *shop) words() words {
	pairs := []string{s.namespace, "{namespace}"}
	for _, salt := range s.salts {
		ring := &keyring.Keyring{Salt: salt}
		for _, secret := range slices.Sorted(maps.Keys(texts)) {
			fingerprint := ring.Fingerprint([]byte(texts[secret]))
			// In full, as people see it, and as it is in the name of a rotation.
			for _, digits := range []int{len(fingerprint), 12, 8} {
				pairs = append(pairs, fingerprint[:digits], secret)
			}
		}
	}
	return words{s.names, strings.NewReplacer(pairs...)}
}

func (w words) key(k key) key { return key{k.resource, w.replace(k.name)} }

func (w words) replace(text string) string {
	text = w.replacer.Replace(text)
	text = uid.ReplaceAllStringFunc(text, func(uid string) string {
		if name := w.names[uid]; name != "" {
			return "{" + w.replacer.Replace(name) + "}"
		}
		return uid
	})
	return moment.ReplaceAllStringFunc(text, func(text string) string {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return text
		}
		return fmt.Sprintf("{T+%d}", int64(at.Sub(epoch)/time.Second))
	})
}

// value replaces within everything that JSON can hold.
func (w words) value(field string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			wall := byTheWall[name] || (name == "time" && field == "managedFields")
			if !wall || !isText(member) {
				// Managed fields name members of lists in their keys.
				out[w.replace(name)] = w.value(name, member)
			}
		}
		return out
	case []any:
		if by := sets[field]; by != nil {
			return w.set(field, by, value)
		}
		out := make([]any, len(value))
		for i := range value {
			out[i] = w.value(field, value[i])
		}
		return out
	case string:
		return w.replace(value)
	default:
		return value
	}
}

// set replaces within the elements of a list whose order means nothing.
func (w words) set(field string, by []string, list []any) map[string]any {
	out := make(map[string]any, len(list))
	for _, element := range list {
		value := w.value(field, element)
		member, ok := value.(map[string]any)
		if !ok {
			out[fmt.Sprint(value)] = value
			continue
		}
		var known []string
		for _, field := range by {
			known = append(known, fmt.Sprint(member[field]))
		}
		out[strings.Join(known, "/")] = member
	}
	return out
}

// isText says whether a value is one text, or several.
func isText(value any) bool {
	list, several := value.([]any)
	_, text := value.(string)
	return text || (several && len(list) > 0 && isText(list[0]))
}

// differences are the places at which a picture is not as the one of the run without a fault. A moment may be later by the
// outage: what had not been counted yet when the fault came was counted after it.
func differences(want, got picture) []string {
	var out []string
	for k := range want {
		if got[k] == nil {
			out = append(out, fmt.Sprintf("%s %s is missing", k.resource, k.name))
		}
	}
	for k := range got {
		if want[k] == nil {
			out = append(out, fmt.Sprintf("%s %s is one too many", k.resource, k.name))
			continue
		}
		compare(k.resource+" "+k.name, want[k], got[k], &out)
	}
	slices.Sort(out)
	return out
}

func compare(path string, want, got any, out *[]string) {
	differ := func() { *out = append(*out, fmt.Sprintf("%s: %v, want %v", path, got, want)) }
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		if !ok {
			differ()
			return
		}
		names := maps.Clone(want)
		maps.Copy(names, have)
		for name := range names {
			compare(path+"."+name, want[name], have[name], out)
		}
	case []any:
		have, ok := got.([]any)
		if !ok || len(have) != len(want) {
			differ()
			return
		}
		for i := range want {
			compare(fmt.Sprintf("%s[%d]", path, i), want[i], have[i], out)
		}
	case string:
		if have, ok := got.(string); !ok || !sameText(want, have) {
			differ()
		}
	default:
		if want != got {
			differ()
		}
	}
}

// sameText compares two texts with the moments in them.
func sameText(want, got string) bool {
	if want == got {
		return true
	}
	if offset.ReplaceAllString(want, "") != offset.ReplaceAllString(got, "") {
		return false
	}
	wanted, had := offset.FindAllString(want, -1), offset.FindAllString(got, -1)
	return slices.EqualFunc(wanted, had, func(a, b string) bool {
		late := seconds(b) - seconds(a)
		return late == 0 || late == int64(outage/time.Second)
	})
}

// seconds is the number in an offset.
func seconds(offset string) int64 {
	n, err := strconv.ParseInt(strings.Trim(offset, "{T+}"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}
