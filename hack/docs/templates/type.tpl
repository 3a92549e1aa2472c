{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}
### {{ $type.Name }}

{{ $type.Doc | trim }}
{{ if $type.GVK }}
`apiVersion: {{ $type.GVK.Group }}/{{ $type.GVK.Version }}`, `kind: {{ $type.GVK.Kind }}`
{{ end -}}
{{- if $type.References }}
Used by
{{- range $i, $r := $type.SortedReferences }}{{ if $i }},{{ end }} {{ markdownRenderTypeLink $r }}{{ end }}.
{{- if $type.IsAlias }} Written as a {{ markdownRenderTypeLink $type.UnderlyingType }}
{{- range $type.Validation }}; {{ . }}{{ end }}.
{{- end }}
{{ end -}}
{{- if $type.EnumValues }}
{{ range $type.EnumValues -}}
- **`{{ .Name }}`** {{ regexReplaceAll "^[A-Z][A-Za-z]+ " .Doc "" | replace "\n" " " | trim }}
{{ end -}}
{{ end -}}
{{- if $type.Members }}
{{ template "type_members" $type }}
{{- end }}
{{- end -}}
{{- end -}}
