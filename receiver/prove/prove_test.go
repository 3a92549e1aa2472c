// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package prove_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/receiver/prove"
)

func options(url string, b *books) prove.Options {
	var n atomic.Int64
	return prove.Options{
		NewEvent: func() (prove.Event, error) {
			id := fmt.Sprintf("evt_%d", n.Add(1))
			return prove.Event{ID: id, Sign: func(ctx context.Context, _ time.Time) (*http.Request, error) {
				return http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(id))
			}}, nil
		},
		Client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 10}},
		Ledger: prove.Ledger{Live: true, Count: func(_ context.Context, events []prove.Event) (map[string]int, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return prove.Tally(b.orders).Count(events), nil
		}},
		Copies: 10, Rounds: 3, Attempts: 20, RetryDelay: 5 * time.Millisecond, Settle: 100 * time.Millisecond, Now: time.Now,
	}
}

func TestVerdicts(t *testing.T) {
	const (
		fire, again, collide, replay, ledger = prove.StepFire, prove.StepAgain, prove.StepCollide, prove.StepReplay, prove.StepLedger
	)
	for name, test := range map[string]struct {
		endpoint endpoint
		// restart forgets what is in memory before the replay.
		restart bool
		fails   []string
		says    string
	}{
		"Right":                  {right, false, nil, "recorded once each"},
		"CopiesAskedToComeAgain": {busy(), false, nil, "answered with 200, 503"},
		"NoDeduplication":        {trusting, false, []string{again, collide, replay, ledger}, "recorded 2 times"},
		"CheckThenAct":           {checkThenAct, false, []string{collide, ledger}, "are there more than once"},
		"LockWithoutAMemory":     {locking(), false, []string{again, collide, replay, ledger}, "recorded 10 times"},
		"AnswerNotReplayed":      {shrugging, false, []string{again, collide, replay}, "answered in 2 ways"},
		"MemoryLostInARestart":   {right, true, []string{replay, ledger}, "recorded 2 times"},
		"DuplicatesAreErrors":    {complaining, false, []string{again, collide, replay}, "answered with 409"},
		"AnswerBeforeCommit":     {hasty, false, []string{fire}, "before it was recorded"},
		"Lost":                   {losing(), false, []string{again, collide, replay, ledger}, "are not there"},
		"Refused":                {closed, false, []string{fire}, "the signature was refused"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBooks()
			server := httptest.NewServer(test.endpoint.handler(b))
			defer server.Close()
			defer b.late.Wait()
			o := options(server.URL, b)
			if test.restart {
				o.BeforeReplay = b.forget
			}
			report, err := prove.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			var fails []string
			said := ""
			for _, step := range report.Steps {
				if step.Verdict == prove.Fails {
					fails = append(fails, step.Name)
				}
				said += step.Detail + "\n"
			}
			if diff := cmp.Diff(test.fails, fails); diff != "" {
				t.Errorf("failing steps, -want +got:\n%s%+v", diff, report)
			}
			if !strings.Contains(said, test.says) {
				t.Errorf("said\n%swithout %q", said, test.says)
			}
			if report.Holds != (len(test.fails) == 0) {
				t.Errorf("holds is %t", report.Holds)
			}
		})
	}
}

func TestNothingMoreIsSentToWhoRefuses(t *testing.T) {
	b := newBooks()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	o := options(server.URL, b)
	o.Attempts = 2
	report, err := prove.Run(t.Context(), o)
	if err != nil || requests.Load() != 2 || report.Holds || report.Steps[4].Verdict != prove.NotRun {
		t.Errorf("%d requests, %+v, %v", requests.Load(), report, err)
	}
}

func TestAnyAnswer(t *testing.T) {
	b := newBooks()
	server := httptest.NewServer(endpoint(shrugging).handler(b))
	defer server.Close()
	o := options(server.URL, b)
	o.AnyAnswer = true
	if report, err := prove.Run(t.Context(), o); err != nil || !report.Holds {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestALedgerThatCannotBeReadIsAnError(t *testing.T) {
	b := newBooks()
	server := httptest.NewServer(endpoint(right).handler(b))
	defer server.Close()
	away := errors.New("away")
	o := options(server.URL, b)
	o.Ledger.Live = false
	o.Ledger.Count = func(context.Context, []prove.Event) (map[string]int, error) { return nil, away }
	if _, err := prove.Run(t.Context(), o); !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
}

// TestCopiesMeet: all copies of an event are in the endpoint at once.
func TestCopiesMeet(t *testing.T) {
	b := newBooks()
	var inside atomic.Int64
	var mu sync.Mutex
	var most int64
	server := httptest.NewServer(endpoint(func(b *books, w http.ResponseWriter, id string) {
		n := inside.Add(1)
		defer inside.Add(-1)
		mu.Lock()
		most = max(most, n)
		mu.Unlock()
		pause()
		right(b, w, id)
	}).handler(b))
	defer server.Close()
	if _, err := prove.Run(t.Context(), options(server.URL, b)); err != nil {
		t.Fatal(err)
	}
	if most < 8 {
		t.Errorf("at most %d of 10 copies were there at once", most)
	}
}

// counting is a transport that counts how many requests of an event are there when the body of one of them can be read.
type counting struct {
	mu     sync.Mutex
	began  map[string]int
	fewest map[string]int
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	id := r.Header.Get("X-Event")
	c.mu.Lock()
	c.began[id]++
	c.mu.Unlock()
	if _, err := io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if fewest, found := c.fewest[id]; !found || c.began[id] < fewest {
		c.fewest[id] = c.began[id]
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// TestBodiesAreHeldBackUntilAllCopiesAreThere: so that the first is open when the others come, however fast the endpoint is.
func TestBodiesAreHeldBackUntilAllCopiesAreThere(t *testing.T) {
	b := newBooks()
	c := &counting{began: map[string]int{}, fewest: map[string]int{}}
	o := options("http://127.0.0.1/", b)
	o.Client = &http.Client{Transport: c}
	made := o.NewEvent
	o.NewEvent = func() (prove.Event, error) {
		event, err := made()
		sign := event.Sign
		event.Sign = func(ctx context.Context, now time.Time) (*http.Request, error) {
			request, err := sign(ctx, now)
			if err == nil {
				request.Header.Set("X-Event", event.ID)
			}
			return request, err
		}
		return event, err
	}
	report, err := prove.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range report.Steps[2].Events {
		if n := c.fewest[event.EventID]; n != o.Copies {
			t.Errorf("a body of %s could be read when %d of %d copies were there", event.EventID, n, o.Copies)
		}
	}
}

func TestTally(t *testing.T) {
	for text, want := range map[string]prove.Tally{
		"":                               {},
		"a\nb\n\na\r\n":                  {"a": 2, "b": 1},
		"a|2\nb 1\nc\t3\nd,0\n\"e\",\"1": {"a": 2, "b": 1, "c": 3, "d": 0, "e": 1},
	} {
		got, err := prove.ReadTally(strings.NewReader(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"a b", "a -1", "a 1 2"} {
		if _, err := prove.ReadTally(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	counts := prove.Tally{"evt_1": 2, "inv_2": 1}.Count([]prove.Event{{ID: "evt_1"}, {ID: "evt_2", ResourceID: "inv_2"}, {ID: "evt_3"}})
	if diff := cmp.Diff(map[string]int{"evt_1": 2, "evt_2": 1, "evt_3": 0}, counts); diff != "" {
		t.Error(diff)
	}
}
