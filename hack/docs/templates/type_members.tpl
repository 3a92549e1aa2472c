{{- define "type_members" -}}
{{- range .Members -}}
{{- $field := . -}}
{{- $limits := list (ternary "required" "optional" (has "Required: {}" .Validation)) -}}
{{- range .Validation -}}
{{- if not (or (eq . "Required: {}") (eq . "Optional: {}")) -}}
{{- $limits = append $limits (regexReplaceAll "^Enum: \\[(.*)\\]$" . "one of ${1}") -}}
{{- end -}}
{{- end -}}
{{- if eq .Name "metadata" -}}
{{- $limits = list "optional" -}}
{{- end -}}
- **`{{ .Name }}`** {{ ternary "is the standard object metadata." (trimPrefix (printf "%s " .Name) .Doc) (eq .Name "metadata") | replace "\n" " " | trim }}<br>
  {{ markdownRenderType .Type }}, {{ join "; " $limits }}
{{ end -}}
{{- end -}}
