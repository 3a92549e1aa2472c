// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/hookonce/hookonce/bench/measure"
)

//go:embed performance.md.tmpl
var page string

// row is a figure in a table.
type row struct {
	Name, Value, Range, Goal, Verdict, Meaning string
	Rounds                                     int
}

// group is a table of figures.
type group struct {
	Title string
	Rows  []row
}

// content is what the document's template sees.
type content struct {
	Facts
	// Goals with their figures, and the names of those that are missed and of those that have fewer rounds than were asked for.
	Goals         []row
	Missed, Short []string
	Groups        []group
	// Measured is false where no run is recorded.
	Measured bool
}

// Document is the text for people.
func (r *Report) Document() ([]byte, error) {
	tmpl, err := template.New("performance").Funcs(template.FuncMap{"code": code, "thousands": thousands}).Parse(page)
	if err != nil {
		return nil, fmt.Errorf("read the document's template: %w", err)
	}
	c := content{Facts: r.Facts, Missed: r.Missed(), Short: r.Short(r.Facts.Rounds), Measured: len(r.Lines) > 0}
	for _, l := range r.Lines {
		if l.Operator != "" {
			c.Goals = append(c.Goals, l.row())
		}
	}
	for _, t := range titles {
		g := group{Title: t.title}
		for _, l := range r.Lines {
			if l.Operator == "" && strings.HasPrefix(l.Name, t.prefix+".") {
				g.Rows = append(g.Rows, l.row())
			}
		}
		if len(g.Rows) > 0 {
			c.Groups = append(c.Groups, g)
		}
	}
	var text bytes.Buffer
	if err := tmpl.Execute(&text, c); err != nil {
		return nil, fmt.Errorf("make the document: %w", err)
	}
	return text.Bytes(), nil
}

func (l Line) row() row {
	s := measure.Summarize(l.Values)
	entry := row{Name: l.Name, Value: Number(s.Median), Meaning: meaning(l.Name), Rounds: s.Rounds}
	if s.Rounds > 1 {
		entry.Range = Number(s.Least) + " to " + Number(s.Most)
	}
	if l.Operator == "" {
		return entry
	}
	entry.Goal = map[string]string{">=": "≥ ", "<=": "≤ "}[l.Operator] + Number(l.Goal)
	switch {
	case s.Rounds == 0:
		entry.Verdict = "not measured"
	case l.Met():
		entry.Verdict = "ok"
	default:
		entry.Verdict = "**missed**"
	}
	return entry
}

// code lists names as they are printed.
func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// thousands puts commas into a number.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// record is the file with what the document is made of: beside it, with another ending.
func record(document string) string {
	return strings.TrimSuffix(document, filepath.Ext(document)) + ".json"
}

// Write writes the document, and beside it the record that it is made of, if there is anything in it. A reader finds the old
// files or the new ones, and never the half of one.
func (r *Report) Write(document string) error {
	text, err := r.Document()
	if err != nil {
		return err
	}
	if len(r.Lines) == 0 {
		return replace(document, text)
	}
	lines, err := r.encode()
	if err != nil {
		return err
	}
	return errors.Join(replace(record(document), lines), replace(document, text))
}

// encode is one line of JSON for each figure, so that two runs are compared easily.
func (r *Report) encode() ([]byte, error) {
	facts, err := json.MarshalIndent(r.Facts, "  ", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the record: %w", err)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "{\n  \"facts\": %s,\n  \"lines\": [", facts)
	for i, l := range r.Lines {
		line, err := json.Marshal(l)
		if err != nil {
			return nil, fmt.Errorf("write the record: %w", err)
		}
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "\n    %s", line)
	}
	text.WriteString("\n  ]\n}\n")
	return text.Bytes(), nil
}

func replace(file string, text []byte) error {
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// Read reads the record of a document. Where there is none, nothing has been measured.
func Read(document string) (*Report, error) {
	text, err := os.ReadFile(record(document))
	if errors.Is(err, fs.ErrNotExist) {
		return New(Facts{}), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the record: %w", err)
	}
	r := &Report{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(r); err != nil {
		return nil, fmt.Errorf("read %s: %w", record(document), err)
	}
	return r, nil
}

// Check fails unless the document is, to the byte, what its record and the text of this version make.
func Check(document string) error {
	r, err := Read(document)
	if err != nil {
		return err
	}
	want, err := r.Document()
	if err != nil {
		return err
	}
	got, err := os.ReadFile(document)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s is not what %s and the text in bench/report make; write it again with: go run -C bench ./document",
			document, record(document))
	}
	return nil
}
