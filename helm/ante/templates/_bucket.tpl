{{/* The Job that sets up the object store, and the Secrets that it creates. */}}

{{/* Secrets for src/ante/deploy/pod_programs/credentials.py, as a JSON list. */}}
{{- define "ante.credentials" -}}
{{- $store := .Values.objectStore -}}
{{- $here := .Release.Namespace -}}
{{- $plan := list -}}
{{- $copy := not (or $store.scopedUser .Values.s3.existingSecret) -}}
{{- if or (not $store.existingSecret) $copy -}}
{{- $plan = append $plan (dict "namespace" $here "name" (include "ante.objectStore.secret" .)
  "user_key" "MINIO_ROOT_USER" "secret_key" "MINIO_ROOT_PASSWORD" "user" "ante-root"
  "create" (not $store.existingSecret)) -}}
{{- end -}}
{{- if not .Values.s3.existingSecret -}}
{{- $plan = append $plan (dict "namespace" $here "name" (include "ante.s3.secret" .) "copy" $copy
  "user_key" .Values.s3.accessKeyKey "secret_key" .Values.s3.secretKeyKey "create" true) -}}
{{- end -}}
{{- range .Values.tenants -}}
{{- $prefixes := .prefixes | default (list (printf "%s/%s" $.Values.s3.prefix .name | trimPrefix "/")) -}}
{{- $one := dict "user_key" "S3_ACCESS_KEY_ID" "secret_key" "S3_SECRET_ACCESS_KEY" "prefixes" $prefixes -}}
{{- if .existingSecret -}}
{{- $plan = append $plan (merge (dict "namespace" $here "name" .existingSecret "create" false) $one) -}}
{{- else -}}
{{- $name := printf "%s-s3-%s" (include "ante.name" $) .name -}}
{{- $plan = append $plan (merge (dict "namespace" .namespace "name" $name "create" true) $one) -}}
{{- end -}}
{{- end -}}
{{- toJson $plan -}}
{{- end -}}

{{/* The Job's pod. root, plan */}}
{{- define "ante.bucket.spec" -}}
{{- $root := .root -}}
{{- $store := $root.Values.objectStore -}}
{{- $account := ternary (printf "%s-bucket" (include "ante.name" $root)) "" (gt (len .plan) 0) -}}
restartPolicy: Never
{{ include "ante.identity" (dict "root" $root "token" (gt (len .plan) 0) "account" $account) }}
{{- if .plan }}
initContainers:
  - name: credentials
    {{- include "ante.image" $root.Values.image | nindent 4 }}
    command: [python, -m, ante.deploy.pod_programs.credentials]
    args:
      - {{ toJson .plan | squote }}
      - --users=/tmp/users.json
    env:
      - name: HOME
        value: /tmp
    {{- include "ante.bucket.container" $root | nindent 4 }}
{{- end }}
containers:
  - name: bucket
    {{- include "ante.image" $root.Values.image | nindent 4 }}
    command: [python, -m, ante.storage.provision]
    args:
      - --seconds=240
      {{- if or $store.scopedUser $store.keepVersionsDays }}
      - --versions={{ int $store.keepVersionsDays }}
      {{- end }}
      {{- if $store.scopedUser }}
      - --user
      {{- end }}
      {{- if $root.Values.tenants }}
      - --users=/tmp/users.json
      {{- end }}
    env:
      - name: HOME
        value: /tmp
      {{- include "ante.serviceEnv" $root | trim | nindent 6 }}
      {{- range list "MINIO_ROOT_USER" "MINIO_ROOT_PASSWORD" }}
      - name: {{ . }}
        valueFrom:
          secretKeyRef:
            name: {{ include "ante.objectStore.secret" $root }}
            key: {{ . }}
      {{- end }}
    {{- include "ante.bucket.container" $root | nindent 4 }}
volumes:
  - name: tmp
    emptyDir:
      medium: Memory
      sizeLimit: 64Mi
  {{- include "ante.caVolume" $root | nindent 2 }}
{{- end -}}

{{- define "ante.bucket.container" -}}
resources:
  requests:
    cpu: 50m
    memory: 128Mi
  limits:
    cpu: "1"
    memory: 512Mi
securityContext:
  {{- include "ante.containerSecurity" . | nindent 2 }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  {{- include "ante.caMount" . | nindent 2 }}
{{- end -}}
