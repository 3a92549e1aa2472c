// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/doctor"
)

// edit makes a fault of the receiver's secret.
func edit(change func(string) string) func(*fixture) {
	return func(f *fixture) { f.secret(change) }
}

func body(change func(string) string) func(*fixture) {
	return func(f *fixture) { f.received(change) }
}

func header(change func(string) string) func(*fixture) {
	return func(f *fixture) { f.header(change) }
}

func around(before, after string) func(string) string {
	return func(text string) string { return before + text + after }
}

func signs(algorithm scheme.Algorithm) func(*fixture) {
	return func(f *fixture) { f.scheme.Signature.Algorithm, f.scheme.Name = algorithm, scheme.HMAC }
}

func signsText(text string) func(*fixture) {
	return func(f *fixture) {
		f.scheme.StringToSign, f.scheme.Name = text, scheme.HMAC
		f.scheme.EventIDSigned = f.scheme.CoversID()
		if !f.scheme.Signs(scheme.PlaceholderTimestamp) {
			f.scheme.Timestamp = nil
		}
	}
}

func sentURL(address string) func(*fixture) {
	return func(f *fixture) { f.url = address }
}

func rewrite(indent string) func(string) string {
	return func(text string) string {
		var out bytes.Buffer
		if err := json.Indent(&out, []byte(text), "", indent); err != nil {
			return err.Error()
		}
		return out.String()
	}
}

// reordered decodes and encodes, as a framework does before it hands the body on.
func reordered(text string) string {
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err.Error()
	}
	out, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func escaped(text string) string {
	quoted := strconv.QuoteToASCII(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func zipped(text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return out.String()
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

var faults = []fault{
	{"line breaks", scheme.Paymos, rawText, nil, edit(around("", "\n\n")), "SecretLineBreak"},
	{"line break inside", scheme.StandardWebhooks, whsecText, nil, edit(func(s string) string { return s[:20] + "\r\n" + s[20:] }), "SecretLineBreak"},
	{"carriage return", scheme.Paymos, rawText, nil, edit(around("", "\r")), "SecretLineBreak"},
	{"byte order mark", scheme.Paymos, rawText, nil, edit(around("\ufeff", "")), "SecretByteOrderMark"},
	{"zero width", scheme.GitHub, rawText, nil, edit(around("", "\u200b")), "SecretByteOrderMark"},
	{"UTF-16", scheme.GitHub, rawText, nil, edit(func(s string) string { return "\xff\xfe" + strings.Join(strings.Split(s, ""), "\x00") + "\x00" }), "SecretByteOrderMark"},
	{"blank before", scheme.Paymos, rawText, nil, edit(around(" ", "")), "SecretBlank"},
	{"tab after", scheme.StandardWebhooks, whsecText, nil, edit(around("", "\t")), "SecretBlank"},
	{"quotes", scheme.Paymos, rawText, nil, edit(around(`"`, `"`)), "SecretQuotes"},
	{"environment file", scheme.Paymos, rawText, nil, edit(around("WEBHOOK_SECRET=", "")), "SecretName"},
	{"v1, before the secret", scheme.StandardWebhooks, whsecText, nil, edit(around("v1,", "")), "SecretSignaturePrefix"},
	{"v1, before a raw secret", scheme.Paymos, rawText, nil, edit(around("v1,", "")), "SecretSignaturePrefix"},
	{"encoded twice", scheme.Paymos, rawText, nil, edit(encoded), "SecretEncodedTwice"},
	{"whsec_ encoded twice", scheme.StandardWebhooks, whsecText, nil, edit(encoded), "SecretEncodedTwice"},
	{"encoded twice with its line break", scheme.Paymos, rawText, nil, edit(func(s string) string { return encoded(s + "\n") }), "SecretEncodedTwice"},
	{"no padding", scheme.StandardWebhooks, svixOfText, nil, edit(func(s string) string { return strings.TrimRight(s, "=") }), "SecretBase64Writing"},
	{"prefix twice", scheme.StandardWebhooks, whsecText, nil, edit(around("whsec_", "")), "SecretPrefix"},
	{"prefix twice in a raw secret", scheme.Stripe, "whsec_" + rawText, nil, edit(around("whsec_", "")), "SecretPrefix"},
	{"prefix in capitals", scheme.StandardWebhooks, whsecText, nil, edit(func(s string) string { return strings.Replace(s, "whsec_", "WHSEC_", 1) }), "SecretPrefix"},
	{"expired", scheme.Paymos, rawText, nil, func(f *fixture) {
		f.c.Secrets = []doctor.Secret{{Text: []byte("the-current-signing-secret")}, {Text: f.c.Secrets[0].Text, Expired: true}}
	}, "ExpiredSecret"},

	{"key is the text", scheme.StandardWebhooks, whsecText, func(f *fixture) { f.key = []byte(whsecText) }, nil, "KeyIsText"},
	{"key is the text after whsec_", scheme.StandardWebhooks, whsecText, func(f *fixture) { f.key = []byte(whsecText[6:]) }, nil, "KeyIsTextWithoutPrefix"},
	{"key is the text after a raw whsec_", scheme.Stripe, "whsec_" + rawText, func(f *fixture) { f.key = []byte(rawText) }, nil, "KeyIsTextWithoutPrefix"},
	{"key is decoded base64", scheme.Paymos, whsecText, func(f *fixture) { f.key, _ = base64.StdEncoding.DecodeString(whsecText[6:]) }, nil, "KeyIsBase64"},
	{"key is decoded hexadecimal", scheme.GitHub, hexText, func(f *fixture) { f.key, _ = hex.DecodeString(hexText) }, nil, "KeyIsHex"},
	{"key has a line break", scheme.Paymos, rawText, func(f *fixture) { f.key = []byte(rawText + "\n") }, nil, "SenderLineBreak"},
	{"key has CRLF", scheme.GitHub, rawText, func(f *fixture) { f.key = []byte(rawText + "\r\n") }, nil, "SenderLineBreak"},
	{"key is empty", scheme.GitHub, rawText, func(f *fixture) { f.key = []byte{0} }, nil, "SenderSecretEmpty"},

	{"SHA-1", scheme.GitHub, rawText, signs(scheme.SHA1), nil, "Algorithm"},
	{"SHA-512", scheme.Paymos, rawText, signs(scheme.SHA512), nil, "Algorithm"},
	{"SHA-1 by name", scheme.GitHub, rawText, func(f *fixture) { signs(scheme.SHA1)(f); f.scheme.Signature.Prefix = "sha1=" }, nil, "Algorithm"},
	{"SHA-1 in its own header", scheme.GitHub, rawText, func(f *fixture) {
		signs(scheme.SHA1)(f)
		f.scheme.Signature.Header, f.scheme.Signature.Prefix = "X-Hub-Signature", "sha1="
	}, nil, "SignatureLegacy"},
	{"base64 for hexadecimal", scheme.Paymos, rawText, func(f *fixture) { f.scheme.Signature.Encoding = scheme.Base64 }, nil, "SignatureEncoding"},
	{"hexadecimal for base64", scheme.StandardWebhooks, whsecText, func(f *fixture) { f.scheme.Signature.Encoding = scheme.Hex }, nil, "SignatureEncoding"},
	{"no prefix", scheme.GitHub, rawText, func(f *fixture) { f.scheme.Signature.Prefix = "" }, nil, "SignaturePrefix"},
	{"another prefix", scheme.GitHub, rawText, nil, header(func(s string) string { return strings.Replace(s, "sha256=", "SHA256=", 1) }), "SignaturePrefix"},
	{"quoted signature", scheme.GitHub, rawText, nil, header(func(s string) string { return strings.Replace(s, "=", `="`, 1) + `"` }), "SignatureWriting"},
	{"signature without padding", scheme.StandardWebhooks, whsecText, nil, header(func(s string) string { return strings.TrimRight(s, "=") }), "SignatureWriting"},
	{"body first", scheme.Paymos, rawText, signsText("{body}{timestamp}"), nil, "StringToSign"},
	{"timestamp not signed", scheme.Slack, rawText, func(f *fixture) {
		signsText("{body}")(f)
	}, func(f *fixture) {
		f.c.Request.Header.Set("X-Slack-Request-Timestamp", strconv.FormatInt(f.c.Now.Unix(), 10))
	}, "StringToSign"},
	{"colon for a dot", scheme.Paymos, rawText, signsText("{timestamp}:{body}"), nil, "StringToSign"},
	{"the id is not signed", scheme.StandardWebhooks, whsecText, signsText("{timestamp}.{body}"), nil, "StringToSign"},
	{"the timestamp before the id", scheme.StandardWebhooks, whsecText, signsText("{timestamp}.{id}.{body}"), nil, "StringToSign"},
	{"milliseconds", scheme.Paymos, rawText, func(f *fixture) { f.scheme.Timestamp.Unit = scheme.Milliseconds }, nil, "TimestampUnit"},
	{"seconds", scheme.HubSpot, rawText, func(f *fixture) { f.scheme.Timestamp.Unit = scheme.Seconds }, nil, "TimestampUnit"},
	{"old", scheme.Paymos, rawText, func(f *fixture) { f.at = now.Add(-301 * time.Second) }, nil, "TimestampSkew"},
	{"clock ahead", scheme.StandardWebhooks, whsecText, func(f *fixture) { f.at = now.Add(time.Hour) }, nil, "TimestampSkew"},

	{"another provider", scheme.Stripe, "whsec_" + rawText, nil, func(f *fixture) { f.c.Scheme, _ = scheme.Preset(scheme.Paymos) }, "OtherScheme"},
	{"headers renamed", scheme.StandardWebhooks, whsecText, nil, func(f *fixture) {
		for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
			f.c.Request.Header["Http_"+strings.ReplaceAll(name, "-", "_")] = f.c.Request.Header[name]
			f.c.Request.Header.Del(name)
		}
	}, "HeaderName"},
	{"header twice", scheme.GitHub, rawText, nil, func(f *fixture) {
		f.c.Request.Header.Add("X-Hub-Signature-256", f.c.Request.Header.Get("X-Hub-Signature-256"))
	}, "HeaderTwice"},
	{"blanks in the list", scheme.Paymos, rawText, nil, header(func(s string) string { return strings.ReplaceAll(s, ",", ", ") }), "HeaderList"},
	{"empty element", scheme.Paymos, rawText, nil, header(around("", ",")), "HeaderList"},

	{"line break added", scheme.Paymos, rawText, nil, body(around("", "\n")), "BodyTrailingNewline"},
	{"line break lost", scheme.GitHub, rawText, func(f *fixture) { f.body += "\n" }, body(strings.TrimSpace), "BodyTrailingNewline"},
	{"CRLF", scheme.GitHub, rawText, func(f *fixture) { f.body = rewrite("  ")(f.body) }, body(func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }), "BodyLineEnds"},
	{"body with a mark", scheme.Paymos, rawText, nil, body(around("\ufeff", "")), "BodyByteOrderMark"},
	{"body with blanks", scheme.Paymos, rawText, nil, body(around("  ", "  ")), "BodyBlanks"},
	{"body in base64", scheme.Paymos, rawText, nil, body(encoded), "BodyBase64"},
	{"body as a string", scheme.Paymos, rawText, nil, body(func(s string) string { return strconv.Quote(s) }), "BodyQuoted"},
	{"body compressed", scheme.Paymos, rawText, nil, body(zipped), "BodyCompressed"},
	{"form taken apart", scheme.GitHub, rawText, func(f *fixture) { f.body = "payload=" + url.QueryEscape(f.body) }, body(func(string) string { return eventBody }), "BodyForm"},
	{"indented", scheme.Paymos, rawText, nil, body(rewrite("  ")), "BodyReserialized"},
	{"indented by tabs with a line break", scheme.Paymos, rawText, nil, body(func(s string) string { return rewrite("\t")(s) + "\n" }), "BodyReserialized"},
	{"made compact", scheme.GitHub, rawText, func(f *fixture) { f.body = rewrite("    ")(f.body) }, body(func(string) string { return eventBody }), "BodyReserialized"},
	{"unescaped", scheme.GitHub, rawText, func(f *fixture) { f.body = escaped(f.body) }, body(func(string) string { return eventBody }), "BodyReserialized"},
	{"escaped", scheme.GitHub, rawText, nil, body(escaped), "BodyReserialized"},
	{"escaped for HTML", scheme.GitHub, rawText, func(f *fixture) { f.body = reordered(f.body) }, body(func(string) string { return eventBody }), "BodyReserialized"},
	{"slashes escaped", scheme.GitHub, rawText, func(f *fixture) { f.body = strings.ReplaceAll(f.body, "/", `\/`) }, body(func(string) string { return eventBody }), "BodyReserialized"},
	{"body not signed", scheme.Paymos, rawText, func(f *fixture) { f.body = "" }, body(func(string) string { return eventBody }), "BodyEmpty"},

	{"http for https", scheme.Square, rawText, sentURL("http://hooks.example.com/webhooks/payments"), nil, "URLScheme"},
	{"slash at the end", scheme.Square, rawText, sentURL(publicURL + "/"), nil, "URLTrailingSlash"},
	{"port", scheme.Square, rawText, sentURL("https://hooks.example.com:443/webhooks/payments"), nil, "URLPort"},
	{"query", scheme.Square, rawText, nil, func(f *fixture) { f.c.Request.URL += "?a=1" }, "URLQuery"},
	{"query lost", scheme.Square, rawText, sentURL(publicURL + "?a=1"), func(f *fixture) {
		f.c.Request.Header.Set("X-Original-Uri", "/webhooks/payments?a=1")
	}, "URLQuery"},
	{"host", scheme.Square, rawText, sentURL("https://other.example.com/webhooks/payments"), func(f *fixture) { f.c.Host = "other.example.com" }, "URLHost"},
}
