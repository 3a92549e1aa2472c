// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/verify"
)

// sendFlags are what `receiver send` was asked for.
type sendFlags struct {
	url, publicURL                 string
	scheme, configDir              string
	secretFiles, headers           []string
	eventID, eventType, resourceID string
	body, bodyTemplate             string
	repeat, concurrent, expect     int
	timeout                        time.Duration
	output                         string
}

const sendExample = `  # one delivery, twice: the second answer is the first, byte for byte
  receiver send --url http://127.0.0.1:8080/webhooks/payments --scheme Paymos --secret-file ./secret \
    --event-id evt_1 --event-type invoice.paid --resource-id inv_1 --repeat 2

  # signed with the new and the old secret in one header, as during a rotation
  receiver send --url ... --scheme Paymos --secret-file ./new --secret-file ./old`

func newSend(std streams) *cobra.Command {
	f := &sendFlags{}
	cmd := &cobra.Command{
		Use:   "send",
		Short: "Sign and send a delivery as a provider would",
		Long: "Sign and send a delivery as a provider would, and print each answer's status, a digest of its body and how long\n" +
			"it took. Fails if an answer has not the expected status.",
		Example: sendExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sender, err := f.sender(std.in)
			if err != nil {
				return err
			}
			return sender.run(cmd.Context(), std.out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "where to send (required)")
	flags.StringVar(&f.publicURL, "public-url", "", "URL that the provider was given, for schemes that sign it (default: that of --url)")
	flags.StringVar(&f.scheme, "scheme", "", "scheme to sign with: "+strings.Join(scheme.Names(), ", "))
	flags.StringVar(&f.configDir, "config-dir", "", "folder with a receiver's configuration, whose scheme is signed with")
	flags.StringArrayVar(&f.secretFiles, "secret-file", nil, "file with a signing secret; with several, all sign in one header (required)")
	flags.StringVar(&f.eventID, "event-id", "", "event id (default: a new one)")
	flags.StringVar(&f.eventType, "event-type", "", "event type")
	flags.StringVar(&f.resourceID, "resource-id", "", "id of the thing that the event is about")
	flags.StringVar(&f.body, "body", "", "file with the body to send as it is, - for standard input (default: a JSON object with the ids)")
	flags.StringVar(&f.bodyTemplate, "body-template", "",
		"file with the body, in which {event_id}, {event_type} and {resource_id} are replaced")
	flags.StringArrayVar(&f.headers, "header", nil, "name=value of a further header; may be repeated")
	flags.IntVar(&f.repeat, "repeat", 1, "how often to send it")
	flags.IntVar(&f.concurrent, "concurrent", 1, "how many are under way at once")
	flags.IntVar(&f.expect, "expect", 0, "status that every answer must have (default: any 2xx)")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "how long to wait for an answer")
	flags.StringVarP(&f.output, "output", "o", "text", "text or json, one line per answer")
	return cmd
}

// sender checks the flags and reads what they name.
func (f *sendFlags) sender(stdin io.Reader) (*sender, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	described, err := f.schemeToUse()
	if err != nil {
		return nil, err
	}
	s := &sender{
		url: f.url, scheme: described, repeat: f.repeat, concurrent: f.concurrent, expect: f.expect,
		json: f.output == "json", header: http.Header{},
		client: &http.Client{
			Transport:     &http.Transport{Proxy: nil, MaxIdleConnsPerHost: f.concurrent},
			Timeout:       f.timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	for _, header := range f.headers {
		name, value, found := strings.Cut(header, "=")
		if !found || name == "" {
			return nil, usagef("--header %q is not name=value", header)
		}
		s.header.Add(name, value)
	}
	for _, file := range f.secretFiles {
		key, err := readKey(described, file)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, key)
	}
	if f.eventID == "" {
		f.eventID = "evt_" + uuid.NewString()
	}
	s.draft.EventID, s.draft.EventType, s.draft.ResourceID = f.eventID, f.eventType, f.resourceID
	s.draft.ContentType = s.header.Get("Content-Type")
	s.draft.URL = cmp.Or(f.publicURL, f.url)
	s.draft.Body, err = f.readBody(described, stdin)
	return s, err
}

func (f *sendFlags) check() error {
	switch {
	case f.url == "":
		return usagef("--url is required")
	case len(f.secretFiles) == 0:
		return usagef("--secret-file is required")
	case (f.scheme == "") == (f.configDir == ""):
		return usagef("one of --scheme and --config-dir is required")
	case f.body != "" && f.bodyTemplate != "":
		return usagef("--body and --body-template exclude each other")
	case f.repeat < 1 || f.concurrent < 1:
		return usagef("--repeat and --concurrent must be at least 1")
	case f.output != "text" && f.output != "json":
		return usagef("--output %q is neither text nor json", f.output)
	}
	return nil
}

func (f *sendFlags) schemeToUse() (scheme.Scheme, error) {
	if f.scheme == "" {
		config, err := loadConfig(f.configDir)
		if err != nil {
			return scheme.Scheme{}, err
		}
		return config.Scheme, nil
	}
	preset, known := scheme.Preset(f.scheme)
	if !known {
		return scheme.Scheme{}, usagef("scheme %q is unknown; known are %s; one that is described in a configuration is taken from --config-dir",
			f.scheme, strings.Join(scheme.Names(), ", "))
	}
	return preset, nil
}

func readKey(s scheme.Scheme, file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read a signing secret: %w", err)
	}
	key, err := s.SigningKey().Decode(text)
	if err != nil {
		return nil, fmt.Errorf("signing secret in %s: %w", file, err)
	}
	return key, nil
}

func (f *sendFlags) readBody(s scheme.Scheme, stdin io.Reader) ([]byte, error) {
	switch {
	case f.body == "-":
		body, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("read the body: %w", err)
		}
		return body, nil
	case f.body != "":
		body, err := os.ReadFile(f.body)
		if err != nil {
			return nil, fmt.Errorf("read the body: %w", err)
		}
		return body, nil
	case f.bodyTemplate != "":
		template, err := os.ReadFile(f.bodyTemplate)
		if err != nil {
			return nil, fmt.Errorf("read the body's template: %w", err)
		}
		replacer := strings.NewReplacer("{event_id}", f.eventID, "{event_type}", f.eventType, "{resource_id}", f.resourceID)
		return []byte(replacer.Replace(string(template))), nil
	default:
		return verify.Body(s, f.eventID, f.eventType, f.resourceID)
	}
}
