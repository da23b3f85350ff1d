{{/* Names, labels and shared parts of pods. The Ray pods are in _ray.tpl. */}}

{{- define "ante.name" -}}
{{- $name := .Values.fullnameOverride | default .Release.Name -}}
{{- if not (regexMatch "^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$" $name) -}}
{{- fail (printf "%q is not a valid name: use a letter, then at most 39 letters, digits and dashes (fullnameOverride)" $name) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/* Labels by which chart, CLI and notebook select the objects of one training. */}}
{{- define "ante.selector" -}}
app.kubernetes.io/name: ante
app.kubernetes.io/instance: {{ include "ante.name" . }}
{{- end -}}

{{/* Metadata of an object that CLI and notebook also create. */}}
{{- define "ante.metadata" -}}
name: {{ .name | default (include "ante.name" .root) }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "ante.selector" .root | nindent 2 }}
{{- end -}}

{{/* Metadata of an object that only the chart creates. root, suffix, component, namespace */}}
{{- define "ante.chartMetadata" -}}
name: {{ include "ante.name" .root }}{{ with .suffix }}-{{ . }}{{ end }}
namespace: {{ .namespace | default .root.Release.Namespace }}
labels:
  {{- include "ante.selector" .root | nindent 2 }}
  {{- with .component }}
  app.kubernetes.io/component: {{ . }}
  {{- end }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{- define "ante.componentSelector" -}}
{{ include "ante.selector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* The image reference of an image block. root, image */}}
{{- define "ante.reference" -}}
{{- $image := .image -}}
{{- $path := splitList "/" $image.repository -}}
{{- $registry := trimSuffix "/" .root.Values.imageRegistry -}}
{{- if and $registry (not (hasPrefix (printf "%s/" $registry) $image.repository)) -}}
{{- if and (gt (len $path) 1) (regexMatch "[.:]|^localhost$" (first $path)) }}{{ $path = rest $path }}{{ end -}}
{{- $path = prepend $path $registry -}}
{{- end -}}
{{ join "/" $path }}{{ if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag }}{{ end }}
{{- end -}}

{{- define "ante.image" -}}
image: {{ include "ante.reference" . | quote }}
imagePullPolicy: {{ .image.pullPolicy }}
{{- end -}}

{{- define "ante.account" -}}
{{- .Values.serviceAccount.name | default (ternary (include "ante.name" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{/* Service account and security context of a pod. root, token: whether to mount the API token, account */}}
{{- define "ante.identity" -}}
{{- $security := .root.Values.security -}}
serviceAccountName: {{ .account | default (include "ante.account" .root) }}
automountServiceAccountToken: {{ .token }}
securityContext:
  runAsNonRoot: true
  {{- if not $security.platformUser }}
  runAsUser: {{ int64 $security.runAsUser }}
  runAsGroup: {{ int64 $security.runAsGroup }}
  fsGroup: {{ int64 $security.fsGroup }}
  {{- end }}
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "ante.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: {{ .Values.security.readOnlyRootFilesystem }}
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "ante.place" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* URL of one of the services of the platform that this release uses. root, service, port */}}
{{- define "ante.platform.url" -}}
{{- with .root.Values.platform -}}
http://{{ .name }}-{{ $.service }}.{{ .namespace }}.svc:{{ $.port }}
{{- end -}}
{{- end -}}

{{- define "ante.s3.endpoint" -}}
{{- if .Values.s3.endpoint -}}
{{- .Values.s3.endpoint -}}
{{- else if .Values.objectStore.enabled -}}
http://{{ include "ante.name" . }}-objectstore:9000
{{- else if .Values.platform.namespace -}}
{{- include "ante.platform.url" (dict "root" . "service" "objectstore" "port" 9000) -}}
{{- end -}}
{{- end -}}

{{- define "ante.s3.prefix" -}}
{{- if and .Values.platform.tenant (eq .Values.s3.prefix "runs") -}}
runs/{{ .Values.platform.tenant }}
{{- else -}}
{{- .Values.s3.prefix -}}
{{- end -}}
{{- end -}}

{{- define "ante.s3.secret" -}}
{{- if not .Values.s3.podRole -}}
{{- $own := printf "%s-s3" (include "ante.name" .) -}}
{{- with .Values.platform }}{{ if .tenant }}{{ $own = printf "%s-s3-%s" .name .tenant }}{{ end }}{{ end -}}
{{- .Values.s3.existingSecret | default $own -}}
{{- end -}}
{{- end -}}

{{/* Secret with the object store's own credentials. */}}
{{- define "ante.objectStore.secret" -}}
{{- .Values.objectStore.existingSecret | default (printf "%s-objectstore" (include "ante.name" .)) -}}
{{- end -}}

{{- define "ante.llm.endpoint" -}}
{{- if .Values.llm.endpoint -}}
{{- .Values.llm.endpoint -}}
{{- else if .Values.llmServer.enabled -}}
http://{{ include "ante.name" . }}-llm:8000/v1
{{- else if .Values.platform.namespace -}}
{{- include "ante.platform.url" (dict "root" . "service" "llm" "port" 8000) }}/v1
{{- end -}}
{{- end -}}

{{/* Environment variables of bucket and LLM for pods outside Ray. */}}
{{- define "ante.serviceEnv" -}}
{{- range $name, $value := fromJson (include "ante.ray.s3Env" .) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with include "ante.s3.secret" . }}
- name: S3_ACCESS_KEY_ID
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.s3.accessKeyKey }}
- name: S3_SECRET_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.s3.secretKeyKey }}
{{- end }}
{{- end -}}


{{/* Mount of the CA certificate, if s3.caConfigMap is set. */}}
{{- define "ante.caMount" -}}
{{- if .Values.s3.caConfigMap -}}
- name: s3-ca
  mountPath: /etc/ante-ca
  readOnly: true
{{- end -}}
{{- end -}}

{{- define "ante.caVolume" -}}
{{- with .Values.s3.caConfigMap -}}
- name: s3-ca
  configMap:
    name: {{ . }}
{{- end -}}
{{- end -}}

{{/* Port of a URL, by default that of its scheme. */}}
{{- define "ante.port" -}}
{{- $found := urlParse . -}}
{{- $host := get $found "host" -}}
{{- if regexMatch ":[0-9]+$" $host -}}
{{- regexFind "[0-9]+$" $host -}}
{{- else -}}
{{- get (dict "http" 80 "nats" 4222 "tls" 4222 "redis" 6379 "rediss" 6379) (get $found "scheme") | default 443 -}}
{{- end -}}
{{- end -}}

{{/* Namespaces of the release and of its tenants, as a JSON list. */}}
{{- define "ante.namespaces" -}}
{{- $found := list .Release.Namespace -}}
{{- range .Values.tenants }}{{ $found = append $found .namespace }}{{ end -}}
{{- toJson (uniq $found) -}}
{{- end -}}
