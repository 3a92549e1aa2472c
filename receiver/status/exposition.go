// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"bytes"
	"io"
	"strings"

	"github.com/VictoriaMetrics/metrics"
)

// contentType is that of the text format that Write writes.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// Write writes all time series, and those of the process and of Go, in Prometheus's text format. Writes to w may fail:
// who scrapes may have gone away.
func (m *Metrics) Write(w io.Writer) {
	var text bytes.Buffer
	m.set.WritePrometheus(&text)
	writeGauges(&text, m.status(), m.now())
	metrics.WriteGoMetrics(&text)
	metrics.WriteProcMetrics(&text)
	metrics.WriteFDMetrics(&text)
	_, _ = w.Write(explain(text.Bytes()))
}

// explain says in the comments for people what each family is. The library leaves them empty; those of families that are
// not ours are left out, as the format allows.
func explain(text []byte) []byte {
	explained := make([]byte, 0, len(text)+4<<10)
	for line := range bytes.Lines(text) {
		family, comment := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("# HELP "))
		if !comment {
			explained = append(explained, line...)
			continue
		}
		if words := help[string(family)]; words != "" {
			explained = append(explained, "# HELP "...)
			explained = append(explained, family...)
			explained = append(explained, ' ')
			explained = append(explained, words...)
			explained = append(explained, '\n')
		}
	}
	return explained
}

// escaper does what the text format asks for in the values of labels.
var escaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// series is the name of a time series: its family, and pairs of a label and its value.
func series(family string, labels ...string) string {
	var name strings.Builder
	name.Grow(len(family) + 32*len(labels))
	name.WriteString(family)
	separator := byte('{')
	for i := 0; i+1 < len(labels); i += 2 {
		name.WriteByte(separator)
		name.WriteString(labels[i])
		name.WriteString(`="`)
		name.WriteString(escaper.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")))
		name.WriteByte('"')
		separator = ','
	}
	name.WriteByte('}')
	return name.String()
}
