{{- define "gvList" -}}
<!-- Written by `make generate` from the comments in api/. Do not edit. -->

# API reference

Every field's text gives its unit, its default, its range, and what a change does. Lengths of time are written as Go writes
them: `90s`, `24h`, `1h30m`. References are to objects in the same namespace.
{{ range . }}
{{ template "gvDetails" . }}
{{- end }}
{{- end -}}
