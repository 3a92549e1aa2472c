// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver/embed"
	"github.com/hookonce/hookonce/test/postgres"
)

// mounted is a receiver behind a server, and its database.
func mounted(t *testing.T, change func(*embed.Options)) (r *embed.Receiver, url, database string) {
	t.Helper()
	database = postgres.New(t)
	if err := embed.Migrate(t.Context(), database, ""); err != nil {
		t.Fatal(err)
	}
	execute(t.Context(), database, "CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY, event text)")
	options := embed.Options{
		Database: database, Endpoint: "shop/payments", Path: "/hook", Preset: "StandardWebhooks",
		Secrets: []embed.Secret{{Text: secret}},
	}
	change(&options)
	r, err := embed.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	server := httptest.NewServer(r.Handler())
	t.Cleanup(server.Close)
	return r, server.URL + "/hook", database
}

func effects(run embed.Func) func(*embed.Options) {
	return func(o *embed.Options) { o.Effects = []embed.Effect{{Name: "book", Run: run}} }
}

const body = `{"type":"invoice.paid","data":{"id":"inv_1"}}`

func TestAnEffectThatFailsLeavesNothingAndIsRunAgain(t *testing.T) {
	failing := true
	_, url, database := mounted(t, effects(func(ctx context.Context, tx pgx.Tx, event embed.Event) (embed.Result, error) {
		result, err := book(ctx, tx, event)
		if failing && err == nil {
			err = errors.New("the mail server is away")
		}
		return result, err
	}))
	if got := deliver(url, "msg_1", body); !strings.HasPrefix(got, "503 ") || strings.Contains(got, "mail") {
		t.Errorf("got %s", got)
	}
	if n := countOrders(t.Context(), database); n != 0 {
		t.Errorf("%d orders were kept", n)
	}
	failing = false
	if got := deliver(url, "msg_1", body); !strings.HasPrefix(got, `200 {"event":"msg_1","effects":{"book":`) {
		t.Errorf("got %s", got)
	}
	if n := countOrders(t.Context(), database); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
}

func TestARefusedEventIsNeverProcessed(t *testing.T) {
	runs := 0
	_, url, database := mounted(t, effects(func(ctx context.Context, tx pgx.Tx, event embed.Event) (embed.Result, error) {
		runs++
		if _, err := book(ctx, tx, event); err != nil {
			return nil, err
		}
		return nil, embed.Refuse(`the "account" is closed`)
	}))
	for range 2 {
		if got := deliver(url, "msg_1", body); got != `200 {"event":"msg_1","refused":"the \"account\" is closed"}` {
			t.Errorf("got %s", got)
		}
	}
	if n := countOrders(t.Context(), database); n != 0 || runs != 1 {
		t.Errorf("%d orders after %d runs", n, runs)
	}
}

// Whatever a function does to the transaction, nothing is acknowledged that is not committed with the claim.
func TestAFunctionThatEndsTheTransactionIsNotAcknowledged(t *testing.T) {
	for name, end := range map[string]func(context.Context, pgx.Tx) error{
		"rolls back": func(ctx context.Context, tx pgx.Tx) error { return tx.Rollback(ctx) },
		"commits in SQL": func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "commit")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, url, _ := mounted(t, effects(func(ctx context.Context, tx pgx.Tx, _ embed.Event) (embed.Result, error) {
				return nil, end(ctx, tx)
			}))
			if got := deliver(url, "msg_1", body); !strings.HasPrefix(got, "503 ") {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestCopiesAtOnceRunTheEffectOnce(t *testing.T) {
	_, url, database := mounted(t, effects(book))
	answers := make([]string, 20)
	var done sync.WaitGroup
	for i := range answers {
		done.Go(func() { answers[i] = deliver(url, "msg_1", body) })
	}
	done.Wait()
	for _, answer := range answers {
		if answer != answers[0] || !strings.HasPrefix(answer, "200 ") {
			t.Errorf("got %s and %s", answers[0], answer)
		}
	}
	if n := countOrders(t.Context(), database); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
}

func TestADestinationGetsTheEvent(t *testing.T) {
	got := make(chan string, 1)
	destination := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- string(text)
	}))
	t.Cleanup(destination.Close)
	_, url, _ := mounted(t, func(o *embed.Options) {
		o.Destinations = []embed.Destination{{Name: "mail", URL: destination.URL}}
		o.DestinationNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	deliver(url, "msg_1", body)
	select {
	case text := <-got:
		if text != body {
			t.Errorf("got %s", text)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing was delivered")
	}
}

func TestSecretsAreReplacedWhileItRuns(t *testing.T) {
	r, url, _ := mounted(t, effects(book))
	if err := r.SetSecrets([]embed.Secret{{Text: otherSecret}, {Text: secret, NotAfter: time.Now().Add(-time.Second)}}); err != nil {
		t.Fatal(err)
	}
	if got := deliver(url, "msg_1", body); !strings.HasPrefix(got, "401 ") {
		t.Errorf("the old secret: %s", got)
	}
	if got := deliverWith(url, "msg_1", body, otherSecret); !strings.HasPrefix(got, "200 ") {
		t.Errorf("the new secret: %s", got)
	}
	if err := r.SetSecrets(nil); !errors.Is(err, embed.ErrOptions) {
		t.Errorf("no secrets: %v", err)
	}
}

func TestOptionsThatCannotBeUsedAreRefused(t *testing.T) {
	good := embed.Options{
		Database: "postgres://db/shop", Endpoint: "shop/payments", Path: "/hook", Preset: "Stripe",
		Secrets: []embed.Secret{{Text: "whsec_0123456789abcdef"}},
	}
	for name, change := range map[string]func(*embed.Options){
		"a path without a slash": func(o *embed.Options) { o.Path = "hook" },
		"no URL that is signed":  func(o *embed.Options) { o.Preset = "Square" },
		"a URL with a query":     func(o *embed.Options) { o.PublicURL = "https://shop.example/hook?a=b" },
		"negative tolerance":     func(o *embed.Options) { o.Tolerance = -time.Second },
		"negative size":          func(o *embed.Options) { o.MaxBodyBytes = -1 },
		"negative retention":     func(o *embed.Options) { o.Kept.Claims = -time.Hour },
		"an empty scheme":        func(o *embed.Options) { o.Scheme = &embed.Scheme{} },
		"types of no event": func(o *embed.Options) {
			o.Effects = []embed.Effect{{Name: "book", Run: book, EventTypes: []string{"*.paid"}}}
		},
		"no database": func(o *embed.Options) { o.Database = "" },
		"no endpoint": func(o *embed.Options) { o.Endpoint = "" },
		"no path":     func(o *embed.Options) { o.Path = "" },
		"no preset":   func(o *embed.Options) { o.Preset = "stripe" },
		"no secret":   func(o *embed.Options) { o.Secrets = nil },
		"a secret that is none": func(o *embed.Options) {
			o.Preset, o.Secrets = "StandardWebhooks", []embed.Secret{{Text: "whsec_%%"}}
		},
		"a public key of everybody": func(o *embed.Options) {
			o.Preset, o.Secrets = "StandardWebhooksEd25519", []embed.Secret{{Text: "whpk_" + strings.Repeat("A", 43) + "="}}
		},
		"two effects of one name": func(o *embed.Options) {
			o.Effects = []embed.Effect{{Name: "book", Run: book}, {Name: "book", Run: book}}
		},
		"an effect that does nothing": func(o *embed.Options) { o.Effects = []embed.Effect{{Name: "book"}} },
		"a destination without URL":   func(o *embed.Options) { o.Destinations = []embed.Destination{{Name: "mail"}} },
	} {
		options := good
		change(&options)
		if r, err := embed.Open(t.Context(), options); !errors.Is(err, embed.ErrOptions) {
			t.Errorf("%s: got %v", name, err)
			if err == nil {
				r.Close()
			}
		}
	}
	r, err := embed.Open(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	r.Close()
}

// What docs/library.md shows is what the example does.
func TestTheDocumentedSnippetsAreThoseOfTheExample(t *testing.T) {
	document, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(document), "```")
	if len(parts) != 5 {
		t.Fatalf("got %d parts, want two snippets", len(parts))
	}
	for _, part := range []string{parts[1], parts[3]} {
		if snippet := strings.TrimPrefix(part, "go\n"); !strings.Contains(string(example), snippet) {
			t.Errorf("not in the example:\n%s", snippet)
		}
	}
}
