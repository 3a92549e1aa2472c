// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package hostile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/verify"
)

// mostP99 is the bound of a good sender's 99th percentile, whatever others do.
const mostP99 = 250 * time.Millisecond

// forged is a signature that could be one.
const forged = "X-Webhook-Signature: t=%d,v1=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n"

var sequence atomic.Int64

// good is one request that is signed.
func good(size int) (id, request string) {
	id = fmt.Sprintf("evt_%d", sequence.Add(1))
	body := fmt.Sprintf(`{"event_id":%q,"event_type":"invoice.paid","pad":"`, id)
	body += strings.Repeat("x", max(0, size-len(body)-2)) + `"}`
	preset, _ := scheme.Preset(scheme.Paymos)
	header, err := verify.Sign(preset, [][]byte{[]byte(secret)}, verify.Draft{Body: []byte(body)}, time.Now())
	if err != nil {
		return id, ""
	}
	return id, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Webhook-Signature: %s\r\n\r\n%s",
		path, len(body), header.Get("X-Webhook-Signature"), body)
}

// link is a connection of a sender.
type link struct {
	net.Conn

	reader *bufio.Reader
	// said is the last answer that was not a success.
	said string
}

// connect comes from one of several addresses of loopback, since one of them has not enough ports.
func connect(ctx context.Context, address string, number int) (*link, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+number%8))}, Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &link{Conn: conn, reader: bufio.NewReaderSize(conn, 512)}, nil
}

func (l *link) ask(request string) (int, error) {
	if err := l.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(l, request); err != nil {
		return 0, err
	}
	return l.status()
}

func (l *link) status() (int, error) {
	answer, err := http.ReadResponse(l.reader, nil)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		l.said = string(text)
	}
	return answer.StatusCode, errors.Join(err, answer.Body.Close())
}

// figures are what a sender saw.
type figures struct {
	mu    sync.Mutex
	took  []time.Duration
	codes map[int]int
	last  error
	said  map[string]int
}

func (f *figures) add(took time.Duration, code int, said string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.codes == nil {
		f.codes, f.said = map[int]int{}, map[string]int{}
	}
	f.took = append(f.took, took)
	if f.codes[code]++; err != nil {
		f.last = err
	}
	if code != http.StatusOK {
		f.said[said]++
	}
}

func (f *figures) percentile(p float64) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.took))
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*p))]
}

// goodSender sends an event every 10 ms, every other one on a new connection, until ctx is done.
func goodSender(ctx context.Context, x *target) *figures {
	f := &figures{}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	var senders sync.WaitGroup
	defer senders.Wait()
	kept := make(chan *link, 1)
	for n := 0; ; n++ {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return f
		}
		senders.Go(func() {
			var l *link
			if n%2 == 0 {
				select {
				case l = <-kept:
				default:
				}
			}
			_, request := good(1024)
			started := time.Now()
			var err error
			if l == nil {
				if l, err = connect(context.Background(), x.public, n); err != nil {
					f.add(time.Since(started), 0, "", err)
					return
				}
			}
			code, err := l.ask(request)
			f.add(time.Since(started), code, l.said, err)
			select {
			case kept <- l:
				if err != nil {
					_ = (<-kept).Close()
				}
			default:
				_ = l.Close()
			}
		})
	}
}

// withGood runs what hostile senders do, and checks what a good one has of it beside what it has alone.
func withGood(t *testing.T, x *target, hostile func(ctx context.Context)) {
	t.Helper()
	alone, stop := context.WithTimeout(t.Context(), 3*time.Second)
	unloaded := goodSender(alone, x)
	stop()
	ctx, stop := context.WithCancel(t.Context())
	result := make(chan *figures, 1)
	go func() { result <- goodSender(ctx, x) }()
	hostile(t.Context())
	stop()
	loaded := <-result
	t.Logf("good sender alone: p50 %v, p99 %v, %v", unloaded.percentile(.5), unloaded.percentile(.99), unloaded.codes)
	t.Logf("good sender meanwhile: p50 %v, p99 %v, %v %v, last error %v",
		loaded.percentile(.5), loaded.percentile(.99), loaded.codes, loaded.said, loaded.last)
	// Where other work on the machine keeps even a sender that is alone waiting, it says nothing of the receiver.
	if p99, limit := loaded.percentile(.99), max(mostP99, 4*unloaded.percentile(.99)); p99 > limit {
		t.Errorf("p99 %v, want at most %v", p99, limit)
	}
	if refused := len(loaded.took) - loaded.codes[http.StatusOK]; refused*100 > len(loaded.took) {
		t.Errorf("%d of %d good requests were not accepted", refused, len(loaded.took))
	}
}
