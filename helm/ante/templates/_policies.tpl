{{/* Parts of the NetworkPolicies. */}}

{{/* A label selector; without labels it matches all objects. */}}
{{- define "ante.matching" -}}
{{- if . -}}
matchLabels:
  {{- toYaml . | nindent 2 }}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/* Pods of this training by component. root, components */}}
{{- define "ante.policy.pods" -}}
matchLabels:
  {{- include "ante.selector" .root | nindent 2 }}
matchExpressions:
  - key: app.kubernetes.io/component
    operator: In
    values: {{ toJson .components }}
{{- end -}}

{{/* Pods of KubeRay, with the labels of its chart or of OpenShift AI. */}}
{{- define "ante.policy.operator" -}}
{{- with .Values.networkPolicies.operatorPodLabels -}}
matchLabels:
  {{- toYaml . | nindent 2 }}
{{- else -}}
matchExpressions:
  - key: app.kubernetes.io/name
    operator: In
    values: [kuberay-operator, kuberay]
{{- end -}}
{{- end -}}

{{/* Namespaces of tenants, as a JSON list. */}}
{{- define "ante.policy.tenantNamespaces" -}}
{{- $namespaces := list -}}
{{- range .Values.tenants }}{{ $namespaces = append $namespaces .namespace }}{{ end -}}
{{- $namespaces | uniq | toJson -}}
{{- end -}}

{{/* Ante's pods in the namespaces of tenants. */}}
{{- define "ante.policy.tenants" -}}
{{- with fromJsonArray (include "ante.policy.tenantNamespaces" .) -}}
- namespaceSelector:
    matchExpressions:
      - key: kubernetes.io/metadata.name
        operator: In
        values: {{ toJson . }}
  podSelector:
    matchLabels:
      app.kubernetes.io/name: ante
{{- end }}
{{- end -}}

{{/* Egress to a service of the platform. root, component, port */}}
{{- define "ante.policy.platform" -}}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: {{ .root.Values.platform.namespace }}
      podSelector:
        matchLabels:
          app.kubernetes.io/name: ante
          app.kubernetes.io/instance: {{ .root.Values.platform.name }}
          app.kubernetes.io/component: {{ .component }}
  ports:
    - {port: {{ .port }}, protocol: TCP}
{{- end -}}

{{/* Egress to CIDRs and to pods of any namespace at one port. cidrs, port */}}
{{- define "ante.policy.outside" -}}
- to:
    - namespaceSelector: {}
    {{- range .cidrs }}
    - ipBlock:
        cidr: {{ . }}
    {{- end }}
  ports:
    - {port: {{ .port }}, protocol: TCP}
{{- end -}}

{{- define "ante.policy.toS3" -}}
{{- if and .Values.objectStore.enabled (not .Values.s3.endpoint) -}}
- to:
    - podSelector:
        {{- include "ante.policy.pods" (dict "root" . "components" (list "objectstore")) | nindent 8 }}
  ports:
    - {port: 9000, protocol: TCP}
{{- else if and .Values.platform.namespace (not .Values.s3.endpoint) -}}
{{- include "ante.policy.platform" (dict "root" . "component" "objectstore" "port" 9000) -}}
{{- else -}}
{{- $url := .Values.s3.endpoint | default "https://s3.amazonaws.com" -}}
{{- include "ante.policy.outside" (dict "cidrs" .Values.networkPolicies.s3Cidrs "port" (include "ante.port" $url)) -}}
{{- end -}}
{{- end -}}

{{- define "ante.policy.toLlm" -}}
{{- if and .Values.llmServer.enabled (not .Values.llm.endpoint) -}}
- to:
    - podSelector:
        {{- include "ante.policy.pods" (dict "root" . "components" (list "llm")) | nindent 8 }}
  ports:
    - {port: 8000, protocol: TCP}
{{- else if and .Values.llm.enabled .Values.platform.namespace (not .Values.llm.endpoint) -}}
{{- include "ante.policy.platform" (dict "root" . "component" "llm" "port" 8000) -}}
{{- else if .Values.llm.enabled -}}
{{- include "ante.policy.outside" (dict "cidrs" .Values.networkPolicies.llmCidrs "port" (include "ante.port" .Values.llm.endpoint)) -}}
{{- end -}}
{{- end -}}

{{- define "ante.policy.toDecisions" -}}
{{- if .Values.decisionService.enabled -}}
- to:
    - podSelector:
        {{- include "ante.policy.pods" (dict "root" . "components" (list "decisions")) | nindent 8 }}
  ports:
    - {port: 50051, protocol: TCP}
{{- else if .Values.platform.namespace -}}
{{- include "ante.policy.platform" (dict "root" . "component" "decisions" "port" 50051) -}}
{{- end -}}
{{- end -}}

{{- define "ante.policy.toEvents" -}}
{{- with .Values.events.url -}}
{{- include "ante.policy.outside" (dict "cidrs" (list "0.0.0.0/0") "port" (include "ante.port" .)) -}}
{{- end -}}
{{- end -}}

{{- define "ante.policy.toApiServer" -}}
- to:
    {{- range .Values.networkPolicies.apiServerCidrs }}
    - ipBlock:
        cidr: {{ . }}
    {{- end }}
  ports:
    {{- range .Values.networkPolicies.apiServerPorts }}
    - {port: {{ int . }}, protocol: TCP}
    {{- end }}
{{- end -}}
