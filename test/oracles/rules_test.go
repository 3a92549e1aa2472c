// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package oracles

import (
	"encoding/json"
	"mime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookonce/hookonce/receiver"
)

// rule explains one way in which we differ from a library. It looks at what was sent, not at how it was made.
type rule struct {
	name, why string
	// accept says who accepts: we do, and the library does not, or the other way round.
	accept  bool
	applies func(d *delivery, ours, theirs verdict) bool
}

const (
	weAccept   = true
	theyAccept = false
)

// because makes the predicate of rules about what only we reject: the cause, and what must be true of the delivery then.
func because(cause string, holds func(d *delivery) bool) func(*delivery, verdict, verdict) bool {
	return func(d *delivery, ours, _ verdict) bool { return ours.reason == cause && holds(d) }
}

// Rules that several libraries share.
var (
	strictTimestamp = rule{
		"a timestamp that is no plain decimal number", "a sign or a leading zero: two texts that mean one time are two strings to sign", theyAccept,
		because(receiver.CauseBadTimestamp, func(d *delivery) bool {
			n, err := strconv.ParseInt(d.timestampSent(), 10, 64)
			return err == nil && strconv.FormatInt(n, 10) != d.timestampSent()
		}),
	}
	repeatedHeader = rule{
		"a header that is there twice", "the library takes the first; proxies and others take the last, so none can be trusted", theyAccept,
		because(receiver.CauseDuplicateHeader, func(d *delivery) bool {
			for _, values := range d.header {
				if len(values) > 1 {
					return true
				}
			}
			return false
		}),
	}
	emptyElement = rule{
		"an empty element, or more than 100", "the header breaks its grammar, or asks for more work than any provider does", theyAccept,
		because(receiver.CauseMalformedHeader, func(d *delivery) bool {
			return slices.Contains(d.elementsSent(), "") || len(d.elementsSent()) > 100
		}),
	}
	idGrammar = rule{
		"an event id that is no visible ASCII, is too long, or contains what is signed after it",
		"it could be shifted into the timestamp, or not be stored and shown", theyAccept,
		because(receiver.CauseBadEventID, func(d *delivery) bool {
			id, isText := d.idSent()
			return !isText || !plainID.MatchString(id) || strings.Contains(id, ".") && d.timestamp != "" && d.id != ""
		}),
	}
	missingID = rule{
		"a delivery without an event id", "the library verifies and reads nothing; without an id nothing can be claimed", theyAccept,
		because(receiver.CauseMissingEventID, func(d *delivery) bool {
			id, isText := d.idSent()
			return isText && id == ""
		}),
	}
	unreadableBody = rule{
		"a body that is no JSON, or has a member twice", "the library verifies and reads nothing; readers disagree about which of the two counts", theyAccept,
		because(receiver.CauseMalformedBody, func(d *delivery) bool {
			return !json.Valid(d.payload()) || repeatsMember(d.payload()) || !utf8.Valid(d.payload())
		}),
	}
	badResource = rule{
		"a resource id that is neither a text nor a natural number", "taken for absent, its effects would be booked twice", theyAccept,
		because(receiver.CauseBadResourceID, func(d *delivery) bool { return d.changed(bodies) }),
	}
	refusedSecret = rule{
		"a secret that looks damaged", "an empty, cut, masked or mistyped secret is refused with its remedy instead of being signed with", theyAccept,
		func(d *delivery, ours, _ verdict) bool {
			return strings.HasPrefix(ours.reason, "Secret") && d.changed(secrets)
		},
	}
	trimmedSecret = rule{
		"a line break at the end of the secret", "one line break, which editors and echo put there, is no part of the secret", weAccept,
		func(d *delivery, _, _ verdict) bool { return slices.ContainsFunc(d.secrets, endsWithBreak) },
	}
	trimmedSecretSigns = rule{
		"a signature made with the line break as a part of the key", "the other side of the same: no provider's secret has one", theyAccept,
		because(receiver.CauseBadSignature, func(d *delivery) bool { return slices.ContainsFunc(d.secrets, endsWithBreak) }),
	}
	wholeSeconds = rule{
		"a timestamp less than a second too old", "times are compared in whole seconds, in which they are written", weAccept,
		func(d *delivery, _, _ verdict) bool {
			seconds, err := strconv.ParseInt(d.timestampSent(), 10, 64)
			past := d.now.Sub(time.Unix(seconds, 0))
			return err == nil && past > tolerance && past < tolerance+time.Second
		},
	}
	blanksAround = rule{
		"blanks around the signature's header", "servers remove them before we see them; a prefix matches exactly or not at all", theyAccept,
		func(d *delivery, ours, _ verdict) bool {
			sent := d.signatureSent()
			return strings.TrimSpace(sent) != sent && slices.Contains([]string{receiver.CauseMissingTimestamp, receiver.CauseBadSignature}, ours.reason)
		},
	}
)

func endsWithBreak(secret string) bool { return strings.HasSuffix(secret, "\n") }

var (
	standardRules = []rule{
		strictTimestamp, repeatedHeader, emptyElement, idGrammar, unreadableBody, badResource, refusedSecret, wholeSeconds, secondComma,
	}

	svixRules = append(slices.Clone(standardRules), rule{
		"headers of both families, svix- and webhook-", "with a svix-signature the others are svix- too: families are taken whole", theyAccept,
		func(d *delivery, _, _ verdict) bool {
			return len(d.header["Svix-Signature"]) > 0 && len(d.header["Webhook-Signature"]) > 0
		},
	})

	openaiRules = []rule{
		strictTimestamp, repeatedHeader, emptyElement, idGrammar, unreadableBody, badResource, refusedSecret,
		{
			"a signature without its version", "the library takes any element for a signature; a version that we do not know is none", theyAccept,
			func(d *delivery, ours, _ verdict) bool {
				return slices.Contains([]string{receiver.CauseMissingSignature, receiver.CauseBadSignature}, ours.reason) &&
					slices.ContainsFunc(strings.Fields(d.signatureSent()), func(e string) bool { return !strings.HasPrefix(e, "v1,") })
			},
		},
		{
			"signatures with another blank between them", "the library separates by any blank; the specification says by a space", theyAccept,
			func(d *delivery, ours, _ verdict) bool {
				return slices.Contains([]string{receiver.CauseMissingSignature, receiver.CauseBadSignature}, ours.reason) &&
					strings.Contains(d.signatureSent(), "\t")
			},
		},
		{
			"a timestamp before all time", "the library's difference to now overflows, and is not too old then", theyAccept,
			because(receiver.CauseBadTimestamp, func(d *delivery) bool { return d.timestampSent() == "-9223372036854775808" }),
		},
		unprefixedSecret(theyAccept), unprefixedSecret(weAccept),
		{
			"a prefixed secret with a line break behind it", "one line break, which editors and echo put there, is no part of the secret", weAccept,
			func(d *delivery, _, _ verdict) bool { return slices.ContainsFunc(d.secrets, endsWithBreak) },
		},
	}

	secondComma = rule{
		"a signature with something behind a second comma", "the library ignores it; an element is a signature as a whole or not at all", theyAccept,
		because(receiver.CauseBadSignature, func(d *delivery) bool {
			return slices.ContainsFunc(d.elementsSent(), func(element string) bool { return strings.Count(element, ",") > 1 })
		}),
	}
)

func unprefixedSecret(accept bool) rule {
	return rule{
		"a secret without whsec_", "the library takes its text for the key; it is base64 with or without the prefix, as in the specification", accept,
		func(d *delivery, _, _ verdict) bool {
			return slices.ContainsFunc(d.secrets, func(secret string) bool { return !strings.HasPrefix(secret, "whsec_") })
		},
	}
}

var stripeRules = []rule{
	strictTimestamp, repeatedHeader, idGrammar, missingID, unreadableBody, badResource, refusedSecret, trimmedSecret, trimmedSecretSigns, wholeSeconds,
	{
		"a timestamp in the future", "the library looks at the past only: who holds a signature could keep it for later", theyAccept,
		func(_ *delivery, ours, _ verdict) bool {
			return ours.reason == receiver.CauseFutureTimestamp || ours.reason == receiver.CauseTimestampUnit
		},
	},
	{
		"two timestamps", "the library takes the last one", theyAccept,
		because(receiver.CauseMalformedHeader, func(d *delivery) bool { return d.countElements("t=") > 1 }),
	},
	{
		"more than 100 elements", "the header asks for more work than any provider does", theyAccept,
		because(receiver.CauseMalformedHeader, func(d *delivery) bool { return d.countElements("") > 100 }),
	},
	{
		"an element that is not name=value", "it is passed over, like every element that we do not know: a new one must not stop deliveries", weAccept,
		func(d *delivery, _, _ verdict) bool {
			return slices.ContainsFunc(d.elementsSent(), func(element string) bool { return strings.Count(element, "=") != 1 })
		},
	},
}

var githubRules = []rule{
	repeatedHeader, idGrammar, missingID, unreadableBody, refusedSecret, trimmedSecret, trimmedSecretSigns,
	{
		"SHA-1 or SHA-512 in the header of SHA-256", "the sender does not choose the algorithm", theyAccept,
		because(receiver.CauseMissingSignature, func(d *delivery) bool {
			sent := d.signatureSent()
			return strings.HasPrefix(sent, "sha1=") || strings.HasPrefix(sent, "sha512=")
		}),
	},
	{
		"the header of SHA-1 alone", "the same: without a signature that we ask for there is none", theyAccept,
		because(receiver.CauseMissingHeader, func(d *delivery) bool { return d.header.Get("X-Hub-Signature") != "" }),
	},
	{
		"several signatures in the header", "it is read as a list, so that a sender that adds a second one during a rotation works", weAccept,
		func(d *delivery, _, _ verdict) bool { return strings.Contains(d.signatureSent(), ",") },
	},
	{
		"a content type that is neither JSON nor a form", "the signature says who sent it; the body decides whether it can be read", weAccept,
		func(d *delivery, _, _ verdict) bool {
			kind, _, err := mime.ParseMediaType(d.header.Get("Content-Type"))
			return err != nil || kind != "application/json" && kind != "application/x-www-form-urlencoded"
		},
	},
}

var slackRules = []rule{
	strictTimestamp, repeatedHeader, idGrammar, unreadableBody, refusedSecret, trimmedSecret, trimmedSecretSigns, wholeSeconds,
	{
		"a question for the URL without a challenge", "there is nothing to answer it with", theyAccept,
		because(receiver.CauseMalformedBody, func(d *delivery) bool {
			return strings.Contains(string(d.body), `"url_verification"`) && !strings.Contains(string(d.body), `"challenge":"`)
		}),
	},
}

var paddleRules = []rule{
	strictTimestamp, repeatedHeader, idGrammar, missingID, unreadableBody, badResource, refusedSecret, trimmedSecret, trimmedSecretSigns, blanksAround,
	{
		"more than a timestamp and one signature", "the library takes exactly ts=...;h1=...; Paddle announced several h1 during a rotation", weAccept,
		func(d *delivery, _, _ verdict) bool { return len(d.elementsSent()) != 2 },
	},
	{
		"the signature before the timestamp", "the order of elements carries nothing", weAccept,
		func(d *delivery, _, _ verdict) bool {
			return strings.HasPrefix(d.signatureSent(), "h1=")
		},
	},
	{
		"a signature in capital letters", "hexadecimal digits mean the same in either case", weAccept,
		func(d *delivery, _, _ verdict) bool {
			return strings.ContainsAny(strings.ReplaceAll(d.signatureSent(), "ts=", ""), "ABCDEF")
		},
	},
}

var twilioRules = []rule{
	repeatedHeader, unreadableBody, badResource, refusedSecret, trimmedSecret, trimmedSecretSigns,
	{
		"a field that is there twice and is signed so", "the library signs the first value only; Twilio's other libraries sign each", weAccept,
		func(d *delivery, _, _ verdict) bool { return repeatsField(d.body) },
	},
	{
		"a field that was added a second time on the way", "the library overlooks it, whatever its value: so it is not signed", theyAccept,
		because(receiver.CauseBadSignature, func(d *delivery) bool { return repeatsField(d.body) }),
	},
}
