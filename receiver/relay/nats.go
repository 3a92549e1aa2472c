// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/receiver"
)

// NATS says how deliveries are published to a stream of NATS JetStream:
// https://docs.nats.io/nats-concepts/jetstream
type NATS struct {
	// Subject that deliveries are published to. receiverconfig.EventTypePlaceholder in it stands for the event type.
	Subject string
	// Credentials are what a user is known by: the text of a .creds file, the seed of an nkey, user:password, or a token.
	// None, and nobody logs in.
	Credentials []byte
}

// pings tell a server that is gone from one that is idle: within half a minute.
const (
	pingInterval = 10 * time.Second
	maxPings     = 2
)

// Codes of JetStream's errors: https://github.com/nats-io/nats-server/blob/main/server/errors.json
const codeMessageTooLarge jetstream.ErrorCode = 10054

// refusal is what a server said to an attempt, in our own words.
type refusal struct {
	reason string
	// blames says that the same delivery would be refused at any time.
	blames bool
}

func (r *refusal) Error() string { return r.reason }

// publisher carries deliveries to JetStream, over one connection for all slots of a lane.
type publisher struct {
	dialer *net.Dialer
	// origin is the endpoint whose deliveries they are, and name what the server knows the client by.
	origin, name string
	now          func() time.Time
	// turn is held by whoever looks after the connection: a slot that waits for it longer than its attempt may take gives up.
	turn chan struct{}
	link *link
}

// link is one connection. It is never mended: the next attempt makes another.
type link struct {
	url         string
	credentials []byte
	conn        *nats.Conn
	stream      jetstream.JetStream
	// forbidden says that the server has refused what was published on it: it says so beside the request, which just gets no
	// answer.
	forbidden atomic.Bool
}

func newPublisher(dialer *net.Dialer, origin, name string, now func() time.Time) *publisher {
	return &publisher{dialer: dialer, origin: origin, name: name, now: now, turn: make(chan struct{}, 1)}
}

// carry publishes once, and waits until the stream has stored the message. The stream drops another message of the same
// Nats-Msg-Id within its duplicate window, whatever the subject, so the endpoint and the destination are in it with the key,
// which need not be another one for another destination.
func (p *publisher) carry(ctx context.Context, to Destination, d receiver.Delivery) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, to.timeout())
	defer cancel()
	l, err := p.connected(ctx, to)
	if err != nil {
		return Answer{}, err
	}
	message := &nats.Msg{
		Subject: subject(to.NATS.Subject, d.EventType),
		Header:  nats.Header(headers(to, d, p.now())),
		Data:    d.Body,
	}
	_, err = l.stream.PublishMsg(ctx, message, jetstream.WithMsgID(p.origin+"/"+to.Name+"/"+d.IdempotencyKey), jetstream.WithRetryAttempts(0))
	if err != nil {
		return Answer{}, l.explain(err)
	}
	return Answer{}, nil
}

// close ends the connection once nobody connects.
func (p *publisher) close() {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.drop()
}

func (p *publisher) drop() {
	if p.link != nil {
		p.link.conn.Close()
		p.link = nil
	}
}

// connected returns a connection to the destination as it is now.
func (p *publisher) connected(ctx context.Context, to Destination) (*link, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("connect to destination %s: %w", to.Name, err)
	}
	if l := p.link; l != nil && !l.conn.IsClosed() && l.url == to.URL && bytes.Equal(l.credentials, to.NATS.Credentials) {
		return l, nil
	}
	p.drop()
	l, err := p.connect(ctx, to)
	if err != nil {
		return nil, err
	}
	p.link = l
	return l, nil
}

func (p *publisher) connect(ctx context.Context, to Destination) (*link, error) {
	login, err := login(to.NATS.Credentials)
	if err != nil {
		return nil, err
	}
	l := &link{url: to.URL, credentials: to.NATS.Credentials}
	dial := &dialing{ctx: ctx, dialer: p.dialer}
	defer dial.done()
	l.conn, err = nats.Connect(to.URL, login, nats.Name(p.name), nats.SetCustomDialer(dial), nats.SkipHostLookup(), nats.Timeout(to.timeout()),
		nats.NoReconnect(), nats.IgnoreDiscoveredServers(), nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(maxPings),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				l.forbidden.Store(true)
			}
		}))
	switch {
	case ctx.Err() != nil:
		l.conn.Close()
		return nil, fmt.Errorf("connect to destination %s: %w", to.Name, ctx.Err())
	case err != nil && dial.err != nil:
		return nil, fmt.Errorf("connect to destination %s: %w", to.Name, dial.err)
	case err != nil:
		return nil, l.explain(err)
	}
	if l.stream, err = jetstream.New(l.conn); err != nil {
		l.conn.Close()
		return nil, fmt.Errorf("connect to destination %s: %w", to.Name, err)
	}
	return l, nil
}

// dialing dials for one connection, and keeps what it failed with: the client library says only that there is no server. The
// library knows no contexts either, so what is dialed is closed if the context ends before done.
type dialing struct {
	//nolint:containedctx // the library's interface has no room for it
	ctx    context.Context
	dialer *net.Dialer
	err    error
	stop   func() bool
}

// Dial is nats.CustomDialer.
func (d *dialing) Dial(network, address string) (net.Conn, error) {
	conn, err := d.dialer.DialContext(d.ctx, network, address)
	if d.err = err; err == nil {
		d.stop = context.AfterFunc(d.ctx, func() { _ = conn.Close() })
	}
	return conn, err
}

// done lets the connection outlive the context.
func (d *dialing) done() {
	if d.stop != nil {
		d.stop()
	}
}

// explain turns what the library says into what people can act on.
func (l *link) explain(err error) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		return &refusal{reason: "no stream takes the subject"}
	case errors.Is(err, nats.ErrMaxPayload):
		return &refusal{reason: "the server takes no message of this size: raise its max_payload", blames: true}
	case errors.As(err, &api) && api.ErrorCode == codeMessageTooLarge:
		return &refusal{reason: "the stream takes no message of this size: raise its max_msg_size", blames: true}
	case errors.As(err, &api):
		return &refusal{reason: fmt.Sprintf("the stream refused the message with JetStream's error %d", api.ErrorCode)}
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrAccountAuthExpired):
		return &refusal{reason: "the server does not accept the credentials"}
	case errors.Is(err, context.DeadlineExceeded) && l.forbidden.Load():
		return &refusal{reason: "the user may not publish to the subject, or not get the answer on _INBOX.>"}
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted):
		return &refusal{reason: "the server offers no TLS, or demands it: tls:// in the URL"}
	}
	return err
}

var errCredentials = &refusal{reason: "the credentials of nats.credentialsSecretRef cannot be used"}

// login returns the option that the credentials ask for.
func login(credentials []byte) (nats.Option, error) {
	text := strings.TrimSpace(string(credentials))
	user, password, both := strings.Cut(text, ":")
	switch {
	case text == "":
		return func(*nats.Options) error { return nil }, nil
	case strings.HasPrefix(text, "-----BEGIN"):
		jwt, err := nkeys.ParseDecoratedJWT([]byte(text))
		if err != nil {
			return nil, errCredentials
		}
		pair, err := nkeys.ParseDecoratedUserNKey([]byte(text))
		if err != nil {
			return nil, errCredentials
		}
		return nats.UserJWT(func() (string, error) { return jwt, nil }, pair.Sign), nil
	case strings.HasPrefix(text, "SU") && !both:
		pair, err := nkeys.FromSeed([]byte(text))
		if err != nil {
			return nil, errCredentials
		}
		public, err := pair.PublicKey()
		if err != nil {
			return nil, errCredentials
		}
		return nats.Nkey(public, pair.Sign), nil
	case both:
		return nats.UserInfo(user, password), nil
	default:
		return nats.Token(text), nil
	}
}

// subject returns a pattern with the event type in it. What a subject cannot have becomes an underscore.
func subject(pattern, eventType string) string {
	tokens := strings.Split(eventType, ".")
	for i, token := range tokens {
		tokens[i] = strings.Map(func(r rune) rune {
			if r <= ' ' || r > '~' || r == '*' || r == '>' || r == '$' {
				return '_'
			}
			return r
		}, token)
		if token == "" {
			tokens[i] = "_"
		}
	}
	return strings.Replace(pattern, receiverconfig.EventTypePlaceholder, strings.Join(tokens, "."), 1)
}
