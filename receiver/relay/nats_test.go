// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/hookonce/hookonce/receiver"
)

// natsServer starts a real server with JetStream.
func natsServer(t *testing.T, adjust func(*server.Options)) *server.Server {
	t.Helper()
	options := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}
	if adjust != nil {
		adjust(options)
	}
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server did not start")
	}
	return s
}

// newStream makes a stream of everything under shop, and returns what is in it.
func newStream(t *testing.T, s *server.Server, login ...nats.Option) func() []jetstream.RawStreamMsg {
	t.Helper()
	conn, err := nats.Connect(s.ClientURL(), login...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "SHOP", Subjects: []string{"shop.>"}, MaxMsgSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	return func() []jetstream.RawStreamMsg {
		t.Helper()
		info, err := stream.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var messages []jetstream.RawStreamMsg
		for i := range info.State.Msgs {
			message, err := stream.GetMsg(t.Context(), i+1)
			if err != nil {
				t.Fatal(err)
			}
			messages = append(messages, *message)
		}
		return messages
	}
}

func testPublisher(t *testing.T) *publisher {
	t.Helper()
	p := newPublisher(newDialer(loopback()), "shop/payments", "hookonce/test", time.Now)
	t.Cleanup(p.close)
	return p
}

func queue(s *server.Server) Destination {
	return Destination{Name: "queue", URL: s.ClientURL(), NATS: &NATS{Subject: "shop.payments"}}
}

// refused makes an attempt that fails, and returns what it means.
func refused(t *testing.T, p *publisher, to Destination, d receiver.Delivery) Verdict {
	t.Helper()
	answer, err := p.carry(t.Context(), to, d)
	if err == nil {
		t.Fatalf("the attempt succeeded: %+v", answer)
	}
	to.ClientErrorsEnd, to.Delays = true, []time.Duration{time.Minute}
	return Classify(to, 1, answer, err, 0)
}

func TestPublishStoresTheBytesOnce(t *testing.T) {
	s := natsServer(t, nil)
	stored := newStream(t, s)
	p := testPublisher(t)
	to := queue(s)
	to.NATS.Subject = "shop.payments.{eventType}"
	d := delivery("queue", 1)
	d.Body, d.ContentType, d.Attempt = []byte("{\"a\":\"\\u0000\xff\"}\r\n"), "application/json", 1
	for range 3 {
		answer, err := p.carry(t.Context(), to, d)
		if verdict := Classify(to, d.Attempt, answer, err, 0); verdict.Outcome != receiver.Delivered {
			t.Fatalf("verdict %+v, error %v", verdict, err)
		}
		d.Attempt++
	}
	messages := stored()
	if len(messages) != 1 {
		t.Fatalf("%d messages after three attempts, want 1", len(messages))
	}
	if got := messages[0]; got.Subject != "shop.payments.invoice.paid" || string(got.Data) != string(d.Body) {
		t.Errorf("message %q on %s", got.Data, got.Subject)
	}
	want := nats.Header{
		"Content-Type": {"application/json"}, "Idempotency-Key": {d.IdempotencyKey}, "Nats-Msg-Id": {"shop/payments/queue/" + d.IdempotencyKey},
		"Hookonce-Event-Id": {d.EventID}, "Hookonce-Event-Type": {"invoice.paid"}, "Hookonce-Attempt": {"1"},
	}
	if diff := cmp.Diff(want, messages[0].Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// A stream knows no subjects when it drops what it has had: one key for two destinations is two messages.
func TestOneKeyForTwoDestinations(t *testing.T) {
	s := natsServer(t, nil)
	stored := newStream(t, s)
	one, two, d := queue(s), queue(s), delivery("queue", 1)
	two.Name, two.NATS = "audit", &NATS{Subject: "shop.audit"}
	for _, to := range []Destination{one, two, one, two} {
		if _, err := testPublisher(t).carry(t.Context(), to, d); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(stored()); n != 2 {
		t.Errorf("%d messages are stored, want 2", n)
	}
}

func TestSubjects(t *testing.T) {
	for eventType, want := range map[string]string{
		"invoice.paid": "shop.invoice.paid.eu", "": "shop._.eu", "a b": "shop.a_b.eu", "a..b.": "shop.a._.b._.eu",
		"*.>": "shop._._.eu", "zahlung.erfüllt": "shop.zahlung.erf_llt.eu", "push": "shop.push.eu",
		"$JS.API.STREAM.PURGE.SHOP": "shop._JS.API.STREAM.PURGE.SHOP.eu",
	} {
		if got := subject("shop.{eventType}.eu", eventType); got != want {
			t.Errorf("subject of %q is %q, want %q", eventType, got, want)
		}
	}
}

func TestPublishSaysWhatIsWrong(t *testing.T) {
	s := natsServer(t, func(o *server.Options) { o.MaxPayload = 8192 })
	newStream(t, s)
	d := delivery("queue", 1)
	elsewhere := queue(s)
	elsewhere.NATS = &NATS{Subject: "nowhere"}
	closed := queue(s)
	closed.URL = "nats://127.0.0.1:1"
	for name, tt := range map[string]struct {
		to      Destination
		body    int
		reason  string
		outcome receiver.Outcome
		works   bool
	}{
		"no stream":        {elsewhere, 10, "no stream takes the subject", receiver.Retry, false},
		"nobody listens":   {closed, 10, "connection refused", receiver.Retry, false},
		"over max_payload": {queue(s), 9000, "raise its max_payload", receiver.Exhausted, true},
		"over max_msg":     {queue(s), 5000, "raise its max_msg_size", receiver.Exhausted, true},
	} {
		d.Body = make([]byte, tt.body)
		p := testPublisher(t)
		verdict := refused(t, p, tt.to, d)
		if verdict.Outcome != tt.outcome || !strings.Contains(verdict.Reason, tt.reason) {
			t.Errorf("%s: %+v, want %s", name, verdict, tt.reason)
		}
		if answer, err := p.carry(t.Context(), tt.to, d); works(answer, err) != tt.works {
			t.Errorf("%s: the destination works: %t, want %t", name, !tt.works, tt.works)
		}
	}
}

func TestPublishGoesNowhereSpecial(t *testing.T) {
	s := natsServer(t, nil)
	p := newPublisher(newDialer(PrivateNetworks()), "shop/payments", "hookonce/test", time.Now)
	verdict := refused(t, p, queue(s), delivery("queue", 1))
	if want := "address 127.0.0.1 is not allowed for a destination: loopback"; verdict.Reason != want {
		t.Errorf("reason %q, want %q", verdict.Reason, want)
	}
	if n := s.NumClients(); n != 0 {
		t.Errorf("%d clients reached the server", n)
	}
}

func TestPublishFindsTheServerAgain(t *testing.T) {
	port, dir := 0, t.TempDir()
	start := func() *server.Server {
		return natsServer(t, func(o *server.Options) {
			o.StoreDir = dir
			if port != 0 {
				o.Port = port
			}
		})
	}
	s := start()
	port = s.Addr().(*net.TCPAddr).Port
	newStream(t, s, nats.NoReconnect())
	p := testPublisher(t)
	to, d := queue(s), delivery("queue", 1)
	if _, err := p.carry(t.Context(), to, d); err != nil {
		t.Fatal(err)
	}
	s.Shutdown()
	s.WaitForShutdown()
	if verdict := refused(t, p, to, d); verdict.Outcome != receiver.Retry {
		t.Errorf("verdict without a server %+v", verdict)
	}
	s = start()
	if _, err := p.carry(t.Context(), to, d); err != nil {
		t.Fatalf("the attempt after the server came back: %v", err)
	}
	if n := s.NumClients(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// A server that accepts connections and says nothing holds no slot for longer than the timeout, however many wait.
func TestPublishGivesUpOnASilentServer(t *testing.T) {
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	p := testPublisher(t)
	to := Destination{Name: "queue", URL: "nats://" + silent.Addr().String(), Timeout: 300 * time.Millisecond, NATS: &NATS{Subject: "shop"}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			answer, err := p.carry(ctx, to, delivery("queue", 1))
			if verdict := Classify(to, 1, answer, err, 0); verdict.Reason != "no complete answer within the timeout" {
				t.Errorf("reason %q: %v", verdict.Reason, err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		t.Error("a hundred attempts at once took as long as if they were made one by one")
	}
}

func TestCredentials(t *testing.T) {
	seed, public := newUser(t)
	s := natsServer(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "hookonce", Password: "test:password"},
			{Username: "reader", Password: "test", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"shop.>"}}}},
		}
		o.Nkeys = []*server.NkeyUser{{Nkey: public}}
	})
	stored := newStream(t, s, nats.UserInfo("hookonce", "test:password"))
	p := testPublisher(t)
	to, sent := queue(s), 0
	for _, tt := range []struct{ name, credentials, reason string }{
		{"none", "", "the server does not accept the credentials"},
		{"wrong", "hookonce:canary", "the server does not accept the credentials"},
		{"user and password", "hookonce:test:password", ""},
		{"may not publish", "reader:test", "the user may not publish to the subject"},
		{"nkey", seed + "\n", ""},
		{"damaged nkey", seed[:20], "the credentials of nats.credentialsSecretRef cannot be used"},
		{"damaged file", "-----BEGIN NATS USER JWT-----\ncanary\n", "the credentials of nats.credentialsSecretRef cannot be used"},
		{"token", "canary", "the server does not accept the credentials"},
	} {
		to.NATS.Credentials, to.Timeout = []byte(tt.credentials), 2*time.Second
		answer, err := p.carry(t.Context(), to, delivery("queue", len(tt.name)))
		verdict := Classify(to, 1, answer, err, 0)
		if err == nil {
			sent++
		}
		if (tt.reason == "") != (err == nil) || !strings.Contains(verdict.Reason, tt.reason) || strings.Contains(verdict.Reason, "canary") {
			t.Errorf("%s: %+v, want %q", tt.name, verdict, tt.reason)
		}
	}
	if got := len(stored()); got != sent || sent != 2 {
		t.Errorf("%d messages are stored and %d were sent, want 2", got, sent)
	}
}

func newUser(t *testing.T) (seed, public string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	text, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	return string(text), public
}

// A .creds file, as nsc writes it, of a user in an account of an operator.
func TestCredentialsFile(t *testing.T) {
	operator, account := newPair(t, nkeys.CreateOperator), newPair(t, nkeys.CreateAccount)
	operatorClaims := jwt.NewOperatorClaims(publicKey(t, operator))
	accountClaims := jwt.NewAccountClaims(publicKey(t, account))
	accountClaims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	seed, public := newUser(t)
	userClaims := jwt.NewUserClaims(public)
	system := jwt.NewAccountClaims(publicKey(t, newPair(t, nkeys.CreateAccount)))
	accounts := &server.MemAccResolver{}
	for _, claims := range []*jwt.AccountClaims{accountClaims, system} {
		if err := accounts.Store(claims.Subject, encode(t, claims, operator)); err != nil {
			t.Fatal(err)
		}
	}
	encode(t, operatorClaims, operator)
	s := natsServer(t, func(o *server.Options) {
		o.TrustedOperators, o.AccountResolver = []*jwt.OperatorClaims{operatorClaims}, accounts
		o.SystemAccount = system.Subject
	})
	file, err := jwt.FormatUserConfig(encode(t, userClaims, account), []byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	user, err := login(file)
	if err != nil {
		t.Fatal(err)
	}
	stored := newStream(t, s, user)
	to := queue(s)
	to.NATS.Credentials = file
	if _, err := testPublisher(t).carry(t.Context(), to, delivery("queue", 1)); err != nil {
		t.Fatal(err)
	}
	if n := len(stored()); n != 1 {
		t.Errorf("%d messages are stored, want 1", n)
	}
}

func newPair(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func publicKey(t *testing.T, pair nkeys.KeyPair) string {
	t.Helper()
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return public
}

func encode(t *testing.T, claims jwt.Claims, by nkeys.KeyPair) string {
	t.Helper()
	text, err := claims.Encode(by)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
