{{- define "gvDetails" -}}
{{- $gv := . -}}
## {{ $gv.GroupVersionString }}

{{ $gv.Doc | trim }}
{{ range $gv.SortedTypes }}{{ if .GVK }}{{ template "type" . }}{{ end }}{{ end -}}
{{ range $gv.SortedTypes }}{{ if not .GVK }}{{ template "type" . }}{{ end }}{{ end -}}
{{- end -}}
