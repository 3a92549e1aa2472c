{{- define "type_members" -}}
{{- range .Members -}}
{{- $field := . -}}
{{- $limits := list (ternary "required" "optional" (has "Required: {}" .Validation)) -}}
{{- range .Validation -}}
{{- if not (or (eq . "Required: {}") (eq . "Optional: {}") (hasPrefix "items:XValidation:" .)) -}}
{{- if regexMatch "^Enum: " . -}}
{{- $values := regexReplaceAll "^Enum: \\[(.*)\\]$" . "${1}" -}}
{{- $listed := splitList " " $values -}}
{{- if hasSuffix " " $values -}}
{{- $listed = append (without $listed "") " " -}}
{{- end -}}
{{- $quoted := list -}}
{{- range $listed -}}{{- $quoted = append $quoted (printf "`%s`" .) -}}{{- end -}}
{{- $limits = append $limits (printf "one of %s" (join ", " $quoted)) -}}
{{- else if regexMatch "^M[a-z]+imum: .*e[+]" . -}}
{{- $bound := splitList ": " . -}}
{{- $limits = append $limits (printf "%s: %.0f" (first $bound) (float64 (last $bound))) -}}
{{- else -}}
{{- $limits = append $limits . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq .Name "metadata" -}}
{{- $limits = list "optional" -}}
{{- end -}}
- **`{{ .Name }}`** {{ ternary "is the standard object metadata." (trimPrefix (printf "%s " .Name) .Doc) (eq .Name "metadata") | replace "\n" " " | trim }}<br>
  {{ markdownRenderType .Type }}, {{ join "; " $limits }}
{{ end -}}
{{- end -}}
