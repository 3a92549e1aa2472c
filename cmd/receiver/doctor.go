// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/receiver/doctor"
	"github.com/hookonce/hookonce/receiver/verify"
)

const doctorExample = `  receiver doctor --endpoint endpoint.yaml --secret-file ./secret < request.http

  # was it signed with the secret before the last rotation?
  receiver doctor --endpoint endpoint.yaml --secret-file ./current --expired-secret-file ./former < request.http`

// errNotVerified ends doctor with the exit code of a rejection; what there is to say is printed already.
var errNotVerified = errors.New("the delivery does not verify")

func newDoctor(std streams) *cobra.Command {
	f := &captureFlags{}
	output := "text"
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say why a captured delivery is rejected, and which single change would make it verify",
		Long: "Read a raw HTTP/1.1 request from standard input, and say in plain words why the endpoint's receivers reject it and\n" +
			"which single change would make it verify. No secret is printed, nor anything that is made from one. Exits with 0 if the\n" +
			"delivery verifies, 1 if it does not, and 2 if nothing could be judged.",
		Example: doctorExample,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if output != "text" && output != "json" {
				return usagef("--output %q is neither text nor json", output)
			}
			c, err := f.read(std.in)
			if err != nil {
				return err
			}
			return c.diagnose(std.out, output == "json")
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", output, "text or json")
	return cmd
}

// examine diagnoses deliveries; what is no POST is not signed, and is a handshake that is known or nothing.
func (c *capture) examine() (doctor.Diagnosis, error) {
	if c.request.Method == http.MethodPost {
		d := doctor.Diagnose(doctor.Case{
			Scheme: c.endpoint.Scheme, Secrets: c.secrets, Request: c.request, Host: c.host, Now: c.now, Tolerance: c.endpoint.Tolerance,
		}, verify.Verify)
		if c.refused != nil {
			d = c.refused.before(d)
		}
		return d, nil
	}
	v, err := c.judge()
	d := doctor.Diagnosis{
		Verifies: v.Accepted, Reason: v.Reason, Findings: []doctor.Finding{}, Notes: []string{}, Tried: []string{},
		Explanation: fmt.Sprintf("it is a %s, which is not signed: only a handshake of the scheme is answered", c.request.Method),
	}
	methods := append([]string{http.MethodPost}, verify.Methods(c.endpoint.Scheme)...)
	d.Notes = append(d.Notes, "requests of these methods are answered: "+strings.Join(methods, ", "))
	return d, err
}

func (c *capture) diagnose(out io.Writer, asJSON bool) error {
	diagnosis, err := c.examine()
	if err != nil {
		return err
	}
	diagnosis.Notes = append(diagnosis.Notes, c.warnings...)
	if asJSON {
		if err := printJSON(out, diagnosis); err != nil {
			return err
		}
	} else if _, err := io.WriteString(out, inWords(diagnosis)); err != nil {
		return fmt.Errorf("print the diagnosis: %w", err)
	}
	if !diagnosis.Verifies {
		return errNotVerified
	}
	return nil
}

// before puts the refusal before what is to be said of the signature. What was tried in vain is left out: what is refused comes
// first.
func (r *refusal) before(d doctor.Diagnosis) doctor.Diagnosis {
	note := "besides, " + d.Explanation
	if !d.Verifies {
		note = fmt.Sprintf("besides, as it is, %s: %s", d.Reason, d.Explanation)
	}
	d.Notes = append([]string{note}, d.Notes...)
	d.Verifies, d.Reason, d.Explanation, d.Tried = false, r.cause, r.explanation, []string{}
	return d
}

func isRefusal(reason string) bool {
	return reason == causeEncoding || reason == causeTooLarge || reason == causeIncomplete
}

// inWords writes a diagnosis for people.
func inWords(d doctor.Diagnosis) string {
	var out strings.Builder
	if d.Verifies {
		fmt.Fprintf(&out, "It verifies: %s.\n", d.Explanation)
	} else {
		fmt.Fprintf(&out, "Rejected, %s: %s.\n", d.Reason, d.Explanation)
	}
	switch {
	case len(d.Findings) > 0 && isRefusal(d.Reason):
		out.WriteString("\nThis alone would make its signature hold:\n")
	case len(d.Findings) > 0:
		out.WriteString("\nThis alone would make it verify:\n")
	}
	for _, finding := range d.Findings {
		about := ""
		if finding.Secret != nil {
			about = fmt.Sprintf(" (secret %d)", *finding.Secret)
		}
		fmt.Fprintf(&out, "  %s%s: %s.\n", finding.Name, about, finding.Message)
	}
	if len(d.Tried) > 0 {
		out.WriteString("\nNo single change that we know of makes it verify. " +
			"Most likely it was signed with another secret, or over other bytes.\nTried:\n")
		for _, tried := range d.Tried {
			fmt.Fprintf(&out, "  - %s\n", tried)
		}
	}
	if len(d.Notes) > 0 {
		out.WriteString("\nNotes:\n")
	}
	for _, note := range d.Notes {
		fmt.Fprintf(&out, "  - %s\n", note)
	}
	return out.String()
}
