// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"maps"

	"github.com/hookonce/hookonce/receiver"
)

// challenge answers a request that is no delivery. Its body, if it has one, is not read.
func (x *exchange) challenge() {
	x.closeConnection()
	reply, refused := x.askChallenge()
	if refused != nil {
		if refused == wrongMethod {
			x.w.Header()["Allow"] = []string{x.settings.allow}
		}
		x.refuse(refused)
		return
	}
	x.shakeHands(reply)
}

func (x *exchange) askChallenge() (*receiver.Reply, *refusal) {
	if x.handler.options.Challenge == nil {
		return nil, wrongMethod
	}
	request := &receiver.Request{Method: x.r.Method, URL: x.publicURL(), Header: x.r.Header}
	if query := x.r.URL.RawQuery; x.settings.PublicURL == "" && query != "" {
		// The question is in the query, whether the rest of the URL is known or not.
		request.URL = "?" + query
	}
	reply, err := x.handler.options.Challenge(x.settings.Scheme, request)
	switch {
	case err != nil:
		return nil, x.rejected(err)
	case reply == nil:
		return nil, wrongMethod
	}
	return reply, nil
}

// shakeHands answers a handshake, which is no event. Text that a sender chose is in the answer, so it is never taken for
// anything but text unless the scheme says so.
func (x *exchange) shakeHands(reply *receiver.Reply) {
	x.handler.options.Count(receiver.CountHandshakes, "")
	header := x.w.Header()
	header["Content-Type"] = typeText
	maps.Copy(header, reply.Header)
	x.send(reply.Status, header, reply.Body)
}
