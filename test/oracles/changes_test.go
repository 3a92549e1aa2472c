// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package oracles

import (
	"crypto/sha1" //nolint:gosec // some libraries accept it
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// change is something that happens to a delivery; make returns false where it means nothing.
type change struct {
	name string
	make func(r *rand.Rand, d *delivery) bool
}

// contents change what is signed, or what signs it: the signature holds for what was changed.
var contents = slices.Concat(times, identities, bodies, secrets)

var times = []change{
	{"timestamp written in another way", func(r *rand.Rand, d *delivery) bool {
		seconds := d.now.Unix() + skew(r)
		plain := strconv.FormatInt(seconds, 10)
		d.time = pick(r, "+"+plain, "0"+plain, "00"+plain, "-"+plain, plain+".0", plain+".5", plain+"e0", "0x"+strconv.FormatInt(seconds, 16),
			" "+plain, plain+" ", plain+"\t", plain+"s", plain[:4]+"_"+plain[4:], "\u0669"+plain, d.now.Format("2006-01-02T15:04:05Z07:00"))
		// Some libraries sign the number that they read, others the text.
		d.timeSigned = pick(r, plain, "")
		return true
	}},
	{"timestamp in another unit", func(r *rand.Rand, d *delivery) bool {
		d.time = pick(r, strconv.FormatInt(d.now.UnixMilli(), 10), strconv.FormatInt(d.now.UnixMicro(), 10), strconv.FormatInt(d.now.UnixNano(), 10))
		return true
	}},
	{"timestamp of nonsense", func(r *rand.Rand, d *delivery) bool {
		d.time = pick(r, "", "0", "-1", "1", "NaN", "now", "9223372036854775807", "9223372036854775808", "-9223372036854775808", strings.Repeat("9", 40))
		return true
	}},
}

var identities = []change{
	{"event id of another grammar", func(r *rand.Rand, d *delivery) bool {
		d.eventID = pick(r, "", " ", "a.b", d.eventID+".1", "."+d.eventID, " "+d.eventID, d.eventID+" ", "evt 1", "\t", "é", "evt_\u00ff", "{timestamp}", "{body}",
			strings.Repeat("x", 255), strings.Repeat("x", 256), "evt\u007f", "evt,1", "evt=1", "evt;1")
		return true
	}},
	{"event type of another grammar", func(r *rand.Rand, d *delivery) bool {
		d.kind = pick(r, "", " ", "é", "ping", "\u00ff", strings.Repeat("x", 300))
		return true
	}},
}

var bodies = []change{
	{"body that is no JSON", func(r *rand.Rand, d *delivery) bool {
		d.body = []byte(pick(r, "", " ", "{", "null", "[]", "text", string(d.body)+"}", string(d.body)+string(d.body), "\ufeff"+string(d.body), "\x00", "payload=%7B%7D", "a=1&b=2"))
		return true
	}},
	{"body of random bytes", func(r *rand.Rand, d *delivery) bool {
		d.body = randomBytes(r, r.IntN(100))
		return true
	}},
	{"body written in another way", func(r *rand.Rand, d *delivery) bool {
		d.body = []byte(pick(r, " "+string(d.body)+"\r\n", strings.ReplaceAll(string(d.body), ":", ": "), strings.ReplaceAll(string(d.body), ",", ",\n  "),
			strings.Replace(string(d.body), "{", `{"note":"\ud83d\u0000 é ☃ <&>",`, 1), strings.Replace(string(d.body), "{", "{\"note\":\"\xff\",", 1)))
		return true
	}},
	{"member of the body that is there twice", func(_ *rand.Rand, d *delivery) bool {
		d.body = []byte(strings.TrimSuffix(string(d.body), "}") + "," + strings.TrimPrefix(string(d.body), "{"))
		return true
	}},
	{"body without some member", func(r *rand.Rand, d *delivery) bool {
		name := pick(r, "id", "event_id", "type", "event_type", "data", "challenge")
		d.body = []byte(strings.ReplaceAll(string(d.body), `"`+name+`"`, `"other"`))
		return true
	}},
	{"body with another kind of member", func(r *rand.Rand, d *delivery) bool {
		name := pick(r, "id", "event_id", "type", "event_type", "data")
		value := pick(r, "null", "12", "1.5", "true", `""`, "{}", "[1]", `"a b"`, `"\u0000"`, `"`+strings.Repeat("y", 300)+`"`)
		at := strings.Index(string(d.body), `"`+name+`":`)
		if r.IntN(2) == 0 {
			at = strings.LastIndex(string(d.body), `"`+name+`":`)
		}
		if at < 0 {
			return false
		}
		at += len(name) + 3
		d.body = slices.Insert(slices.Clone(d.body), at, []byte(value+`,"x":`)...)
		return true
	}},
	{"form instead of JSON", func(r *rand.Rand, d *delivery) bool {
		d.contentType = pick(r, "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=utf-8")
		encoded := strings.NewReplacer("%", "%25", "&", "%26", "+", "%2B", `"`, "%22", "{", "%7B", "}", "%7D", " ", "+").Replace(string(d.body))
		d.body = []byte(pick(r, "payload="+encoded, "payload="+encoded, "a=1&payload="+encoded, "payload=", "a=1", "payload=%zz", "payload=%7B"))
		return true
	}},
	{"a URL that is signed with its port", func(r *rand.Rand, d *delivery) bool {
		d.urlSigned = strings.Replace(publicURL, ".com/", ".com:"+pick(r, "443", "80", "8443")+"/", 1)
		return d.formSigned
	}},
	{"another content type", func(r *rand.Rand, d *delivery) bool {
		d.contentType = pick(r, "", "text/plain", "application/json; charset=utf-8", "APPLICATION/JSON", "application/cloudevents+json", "application/json;", "/")
		return true
	}},
}

var secrets = []change{
	{"no secret", func(_ *rand.Rand, d *delivery) bool {
		d.secrets, d.key = []string{""}, nil
		return true
	}},
	{"short or long secret", func(r *rand.Rand, d *delivery) bool {
		length := pick(r, 1, 3, 4, 8, 15, 16, 23, 24, 64, 65, 1024, 1025)
		if d.base64 && !d.sha1 {
			d.useSecret("whsec_"+base64.StdEncoding.EncodeToString(randomBytes(r, length)), d.keyOf)
		} else {
			d.useSecret(text(r, length), d.keyOf)
		}
		return true
	}},
	{"line break or blank around the secret", func(r *rand.Rand, d *delivery) bool {
		secret := d.secret()
		changed := pick(r, secret+"\n", secret+"\r\n", secret+"\n\n", " "+secret, secret+" ", secret+"\t", "\ufeff"+secret, secret+"\u200b", secret[:len(secret)/2]+"\n"+secret[len(secret)/2:])
		if r.IntN(2) == 0 {
			d.useSecret(changed, func(string) []byte { return d.keyOf(secret) })
		} else {
			d.useSecret(changed, func(text string) []byte { return []byte(text) })
		}
		return true
	}},
	{"another prefix of the secret", func(r *rand.Rand, d *delivery) bool {
		secret := d.secret()
		bare := strings.TrimPrefix(secret, "whsec_")
		d.useSecret(pick(r, bare, "whsec_"+secret, "v1,"+secret, "WHSEC_"+bare, "whpk_"+bare, "whsec_", "whsec_****", base64.StdEncoding.EncodeToString([]byte(secret))),
			func(string) []byte { return d.keyOf(secret) })
		return true
	}},
	{"secret that is its own key", func(_ *rand.Rand, d *delivery) bool {
		d.useSecret(d.secret(), func(text string) []byte { return []byte(text) })
		return true
	}},
	{"secret without a prefix that is its own key", func(_ *rand.Rand, d *delivery) bool {
		d.useSecret(strings.TrimPrefix(d.secret(), "whsec_"), func(text string) []byte { return []byte(text) })
		return true
	}},
	{"base64 of the secret in another writing", func(r *rand.Rand, d *delivery) bool {
		if !d.base64 || d.sha1 {
			return false
		}
		key := append(randomBytes(r, 31), 0xfb)
		plain := base64.StdEncoding.EncodeToString(key)
		d.useSecret("whsec_"+pick(r, strings.TrimRight(plain, "="), base64.URLEncoding.EncodeToString(key), loose(plain), plain+"=", plain[:8]+" "+plain[8:]),
			func(string) []byte { return key })
		return true
	}},
	{"another secret", func(r *rand.Rand, d *delivery) bool {
		d.key = d.keyOf(d.newSecret(r))
		return true
	}},
}

// secret is the one that signs.
func (d *delivery) secret() string { return d.secrets[len(d.secrets)-1] }

func (d *delivery) useSecret(text string, keyOf func(string) []byte) {
	d.secrets[len(d.secrets)-1] = text
	d.key = keyOf(text)
}

// loose sets a bit that decoders which are not strict ignore.
func loose(padded string) string {
	last := strings.TrimRight(padded, "=")
	if len(last) == len(padded) {
		return padded
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	at := strings.IndexByte(alphabet, last[len(last)-1])
	return last[:len(last)-1] + string(alphabet[at|1]) + padded[len(last):]
}

// signatures change the elements of the signature's header.
var signatures = []change{
	{"another writing of the signature", func(r *rand.Rand, d *delivery) bool {
		signature := d.lastSignature()
		mac := d.mac(sha512.New512_256)
		if good, err := decodeAny(signature); err == nil {
			mac = good
		}
		d.setSignature(pick(r, d.prefix+strings.ToUpper(signature), d.prefix+hex.EncodeToString(mac), d.prefix+base64.StdEncoding.EncodeToString(mac),
			d.prefix+base64.RawStdEncoding.EncodeToString(mac), d.prefix+base64.URLEncoding.EncodeToString(mac), d.prefix+loose(base64.StdEncoding.EncodeToString(mac)),
			d.prefix+string(mac), d.prefix+"0x"+signature, d.prefix+`"`+signature+`"`, d.prefix+" "+signature, d.prefix+signature+" ", d.prefix+signature+"=",
			d.prefix+signature+",x", d.prefix+signature+"=x", d.prefix+signature[:len(signature)/2], d.prefix+signature+"00", d.prefix))
		return true
	}},
	{"another prefix of the signature", func(r *rand.Rand, d *delivery) bool {
		signature := d.lastSignature()
		d.setSignature(pick(r, "", "v0=", "v1=", "v2=", "v1,", "v1a,", "V1,", "V1=", "sha256=", "SHA256=", "sha256:", "h1=", " "+d.prefix, d.prefix+d.prefix) + signature)
		return true
	}},
	{"another hash", func(r *rand.Rand, d *delivery) bool {
		if r.IntN(2) == 0 {
			d.setSignature(pick(r, "sha1=", d.prefix) + d.encoded(d.mac(sha1.New)))
		} else {
			d.setSignature(pick(r, "sha512=", d.prefix) + d.encoded(d.mac(sha512.New)))
		}
		return true
	}},
	{"several signatures", func(r *rand.Rand, d *delivery) bool {
		wrong := d.prefix + d.encoded(randomBytes(r, pick(r, 20, 32, 32, 32, 64)))
		for range pick(r, 1, 1, 2, 3, 98, 99, 100) {
			d.elements = slices.Insert(d.elements, r.IntN(len(d.elements)+1), pick(r, wrong, wrong, d.elements[len(d.elements)-1]))
		}
		return true
	}},
	{"an element that is no signature", func(r *rand.Rand, d *delivery) bool {
		element := pick(r, "v0=abc", "v2,abc", "v1a,abc", "x", "x=y=z", "=", ",", "v1=nohex", d.prefix, d.prefix+"!", "", " ")
		d.elements = slices.Insert(d.elements, r.IntN(len(d.elements)+1), element)
		return true
	}},
	{"elements in another order", func(r *rand.Rand, d *delivery) bool {
		r.Shuffle(len(d.elements), func(i, j int) { d.elements[i], d.elements[j] = d.elements[j], d.elements[i] })
		return len(d.elements) > 1
	}},
	{"a second timestamp", func(r *rand.Rand, d *delivery) bool {
		element := d.timePrefix + pick(r, d.time, "1", strconv.FormatInt(d.now.Unix(), 10), "x")
		d.elements = slices.Insert(d.elements, r.IntN(len(d.elements)+1), element)
		return d.timePrefix != ""
	}},
	{"no timestamp among the elements", func(_ *rand.Rand, d *delivery) bool {
		d.elements = slices.DeleteFunc(d.elements, func(e string) bool { return d.timePrefix != "" && strings.HasPrefix(e, d.timePrefix) })
		return d.timePrefix != ""
	}},
	{"blanks around an element", func(r *rand.Rand, d *delivery) bool {
		at := r.IntN(len(d.elements))
		d.elements[at] = pick(r, " "+d.elements[at], d.elements[at]+" ", "\t"+d.elements[at], d.elements[at]+"\t")
		return true
	}},
	{"another separator", func(r *rand.Rand, d *delivery) bool {
		d.elements = append(d.elements, d.prefix+d.encoded(randomBytes(r, 32)))
		d.joint = pick(r, ", ", " ", "  ", ";", "; ", "\t", ",")
		return true
	}},
}

func (d *delivery) lastSignature() string {
	return strings.TrimPrefix(d.elements[len(d.elements)-1], d.prefix)
}

func (d *delivery) setSignature(element string) { d.elements[len(d.elements)-1] = element }

func decodeAny(signature string) ([]byte, error) {
	if mac, err := hex.DecodeString(signature); err == nil {
		return mac, nil
	}
	return base64.StdEncoding.DecodeString(signature)
}

// headers change a delivery that is already written.
var headers = []change{
	{"a header that is missing", func(r *rand.Rand, d *delivery) bool {
		d.header.Del(d.anyHeader(r))
		return true
	}},
	{"a header that is blank", func(r *rand.Rand, d *delivery) bool {
		d.header.Set(d.anyHeader(r), pick(r, "", " ", "\t"))
		return true
	}},
	{"a header that is there twice", func(r *rand.Rand, d *delivery) bool {
		name := d.anyHeader(r)
		first := d.header.Get(name)
		d.header[http.CanonicalHeaderKey(name)] = pick(r, []string{first, first}, []string{first, "x"}, []string{"x", first}, []string{"", first})
		return true
	}},
	{"a header that was changed after it was signed", func(r *rand.Rand, d *delivery) bool {
		name := d.anyHeader(r)
		value := []byte(d.header.Get(name))
		if len(value) == 0 {
			return false
		}
		value[r.IntN(len(value))] ^= 1 << r.IntN(7)
		d.header.Set(name, string(value))
		return true
	}},
	{"a body that was changed after it was signed", func(r *rand.Rand, d *delivery) bool {
		d.body = pick(r, append(slices.Clone(d.body), '\n'), append([]byte(" "), d.body...), []byte(strings.ReplaceAll(string(d.body), ":", ": ")), nil)
		return true
	}},
	{"a field that was added to the form", func(r *rand.Rand, d *delivery) bool {
		d.body = []byte(string(d.body) + pick(r, "&To=other", "&MessageStatus=other", "&New=x"))
		return d.formSigned
	}},
	{"the headers of a relative", func(r *rand.Rand, d *delivery) bool {
		if d.grammar.signature != "Webhook-Signature" {
			return false
		}
		own, other := "Webhook-", "Svix-"
		for _, suffix := range []string{"Id", "Timestamp", "Signature"} {
			if r.IntN(8) > 0 {
				d.header[other+suffix] = d.header[own+suffix]
			}
			if r.IntN(4) == 0 {
				d.header.Set(other+suffix, "x")
			}
		}
		if r.IntN(2) == 0 {
			for _, suffix := range []string{"Id", "Timestamp", "Signature"} {
				d.header.Del(own + suffix)
			}
		}
		return true
	}},
	{"the header of a former version", func(_ *rand.Rand, d *delivery) bool {
		const current, former = "X-Hub-Signature-256", "X-Hub-Signature"
		if d.header.Get(current) == "" {
			return false
		}
		d.header[former] = []string{"sha1=" + d.encoded(d.mac(sha1.New))}
		d.header.Del(current)
		return true
	}},
	{"a name of a header that is not canonical", func(r *rand.Rand, d *delivery) bool {
		name := http.CanonicalHeaderKey(d.anyHeader(r))
		d.header[strings.ToLower(name)] = d.header[name]
		delete(d.header, name)
		return true
	}},
}

func (d *delivery) anyHeader(r *rand.Rand) string {
	names := []string{d.grammar.signature}
	for _, name := range []string{d.timestamp, d.id, d.eventType, "Content-Type"} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names[r.IntN(len(names))]
}
