{{/* The Ray pods, as in src/ante/deploy/spec.py and placement.py; a test compares both. */}}

{{/* The enabled worker groups in Ray's order, as a list of names. */}}
{{- define "ante.ray.groups" -}}
{{- $found := list -}}
{{- if .Values.gpuWorkers.enabled }}{{ $found = append $found "gpu" }}{{ end -}}
{{- if .Values.cpuWorkers.enabled }}{{ $found = append $found "cpu" }}{{ end -}}
{{- range $name, $more := .Values.extraWorkers -}}
{{- if ne (toString $more.enabled) "false" }}{{ $found = append $found $name }}{{ end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* The values of a group, as JSON. root, group */}}
{{- define "ante.ray.group" -}}
{{- $values := .root.Values -}}
{{- $more := get $values.extraWorkers .group -}}
{{- if $more -}}
{{- $whole := deepCopy (get $values (printf "%sWorkers" $more.like)) -}}
{{- range $key, $value := $more }}{{ $_ := set $whole $key $value }}{{ end -}}
{{- toJson $whole -}}
{{- else -}}
{{- toJson (get $values (printf "%sWorkers" .group)) -}}
{{- end -}}
{{- end -}}

{{/* The block of values that describes a group. */}}
{{- define "ante.ray.block" -}}
{{- if has . (list "gpu" "cpu") }}{{ . }}Workers{{ else }}extraWorkers.{{ . }}{{ end -}}
{{- end -}}

{{/* Components of all Ray pods, as a JSON list. */}}
{{- define "ante.ray.components" -}}
{{- toJson (concat (list "head" "gpu" "cpu") (keys .Values.extraWorkers | sortAlpha)) -}}
{{- end -}}

{{/* Planned number of pods of a group. root, group */}}
{{- define "ante.ray.pods" -}}
{{- $group := fromJson (include "ante.ray.group" .) -}}
{{- ternary $group.maxReplicas $group.replicas .root.Values.autoscaling.enabled | int -}}
{{- end -}}

{{/* Learners per pod of a group: all on the first group, spread evenly. root, group */}}
{{- define "ante.ray.learners" -}}
{{- $pods := include "ante.ray.pods" . | int -}}
{{- if and (eq .group (first (fromJsonArray (include "ante.ray.groups" .root)))) $pods -}}
{{- ceil (divf .root.Values.training.learners $pods) | int -}}
{{- else -}}
0
{{- end -}}
{{- end -}}

{{/* Env runners per pod: the configured number, or as many as fit in addition to the learners. root, group */}}
{{- define "ante.ray.runners" -}}
{{- $group := fromJson (include "ante.ray.group" .) -}}
{{- $training := .root.Values.training -}}
{{- if ne (toString $group.runnersPerWorker) "auto" -}}
{{- int $group.runnersPerWorker -}}
{{- else -}}
{{- $learners := include "ante.ray.learners" . | int -}}
{{- $fits := floor (addf (divf (sub (int $group.cpus) $learners) $training.runnerCpus) 0.000001) | int -}}
{{- if $training.runnerGpus -}}
{{- $left := subf (int ($group.gpus | default 0)) (mulf $learners $training.learnerGpus) -}}
{{- $fits = min $fits (floor (addf (divf $left $training.runnerGpus) 0.000001) | int) -}}
{{- end -}}
{{- max 0 $fits -}}
{{- end -}}
{{- end -}}

{{/* Settings of `ante train` in the cluster. */}}
{{- define "ante.ray.train" -}}
{{- $training := .Values.training -}}
{{- $runners := 0 -}}
{{- range fromJsonArray (include "ante.ray.groups" .) -}}
{{- $one := dict "root" $ "group" . -}}
{{- $runners = add $runners (mul (include "ante.ray.pods" $one | int) (include "ante.ray.runners" $one | int)) -}}
{{- end -}}
{{- $learners := int $training.learners -}}
{{- if or $training.sweep $training.compare -}}
{{- $runners = div $runners (max 1 $learners) -}}
{{- $learners = ternary 0 1 (not (empty $training.sweep)) -}}
{{- end -}}
{{- $games := $training.gamesPerRunner -}}
{{- if eq (toString $games) "auto" -}}
{{- $games = mul 64 (max 1 (floor $training.runnerCpus | int)) -}}
{{- end -}}
{{- $resources := dict
  "runners" (int $runners) "games_per_runner" (int $games)
  "runner_cpus" $training.runnerCpus "runner_gpus" $training.runnerGpus "runner_resource" "ante_runner"
  "learners" $learners "learner_gpus" $training.learnerGpus "learner_resource" "ante_learner"
  "memory_gb" 0 -}}
{{- $own := dict "runs" "/var/lib/ante/runs" "resources" $resources -}}
{{- if $training.metricsPort }}{{ $_ := set $own "tracking" (dict "metrics_port" (int $training.metricsPort) "metrics_host" "0.0.0.0") }}{{ end -}}
{{- $own = mergeOverwrite (deepCopy $training.config) $own -}}
{{- toYaml $own -}}
{{- end -}}

{{/* An argument quoted for the shell. */}}
{{- define "ante.shellWord" -}}
{{- if regexMatch "^[A-Za-z0-9@%+=:,./_-]+$" . -}}
{{- . -}}
{{- else -}}
'{{ replace "'" "'\"'\"'" . }}'
{{- end -}}
{{- end -}}

{{- define "ante.ray.run" -}}
{{- .Values.training.name | default (include "ante.name" .) -}}
{{- end -}}

{{- define "ante.store" -}}
s3://{{ .Values.s3.bucket }}{{ with include "ante.s3.prefix" . }}/{{ . }}{{ end }}
{{- end -}}

{{/* The file of `ante sweep`, which names that of the shared settings. */}}
{{- define "ante.ray.sweep" -}}
{{- $own := dict "name" (include "ante.ray.run" .) "runs" "/var/lib/ante/runs" "store" (include "ante.store" .) "parallel" (int .Values.training.learners) "config" "train.yaml" -}}
{{- toYaml (merge $own .Values.training.sweep) -}}
{{- end -}}

{{/* The file of `ante compare`, likewise. */}}
{{- define "ante.ray.compare" -}}
{{- $own := dict "store" (include "ante.store" .) "config" "train.yaml" -}}
{{- toYaml (merge $own .Values.training.compare) -}}
{{- end -}}

{{/* The command that starts the training, sweep or comparison, or resumes it from the store. */}}
{{- define "ante.ray.entrypoint" -}}
{{- $words := list "ante" "train" "--config" "/etc/ante/train.yaml" "--name" (include "ante.ray.run" .) "--store" (include "ante.store" .) "--resume" "auto" -}}
{{- if .Values.training.sweep -}}
{{- $words = list "ante" "sweep" "/etc/ante/sweep.yaml" -}}
{{- else if .Values.training.compare -}}
{{- $words = list "ante" "compare" "/etc/ante/compare.yaml" "--out" (printf "/var/lib/ante/runs/%s" (include "ante.ray.run" .)) "--parallel" (toString (int .Values.training.learners)) -}}
{{- end -}}
{{- $quoted := list -}}
{{- range concat $words .Values.training.args }}{{ $quoted = append $quoted (include "ante.shellWord" .) }}{{ end -}}
{{- join " " $quoted -}}
{{- end -}}

{{/* Environment variables of the bucket. */}}
{{- define "ante.ray.s3Env" -}}
{{- $s3 := .Values.s3 -}}
{{- $found := dict "S3_BUCKET_NAME" $s3.bucket "S3_REGION_NAME" $s3.region -}}
{{- with include "ante.s3.endpoint" . }}{{ $_ := set $found "S3_ENDPOINT_URL" . }}{{ end -}}
{{- if ne $s3.addressing "path" }}{{ $_ := set $found "S3_ADDRESSING_STYLE" $s3.addressing }}{{ end -}}
{{- with $s3.encryption }}{{ $_ := set $found "S3_ENCRYPTION" . }}{{ end -}}
{{- with $s3.kmsKey }}{{ $_ := set $found "S3_KMS_KEY_ID" . }}{{ end -}}
{{- if not $s3.verify }}{{ $_ := set $found "S3_VERIFY" "false" }}{{ end -}}
{{- if $s3.caConfigMap }}{{ $_ := set $found "S3_CA_BUNDLE" "/etc/ante-ca/ca.crt" }}{{ end -}}
{{- toJson $found -}}
{{- end -}}

{{/* Environment of a Ray container; secrets by reference only. */}}
{{- define "ante.ray.env" -}}
{{- $plain := dict "HOME" "/var/lib/ante" "ANTE_CACHE_DIR" "/var/lib/ante/cache" "RAY_USAGE_STATS_ENABLED" "0" "RAY_JOB_STOP_WAIT_TIME_S" "90" -}}
{{- $order := list "HOME" "ANTE_CACHE_DIR" "RAY_USAGE_STATS_ENABLED" "RAY_JOB_STOP_WAIT_TIME_S" -}}
{{- $s3 := fromJson (include "ante.ray.s3Env" .) -}}
{{- range list "S3_BUCKET_NAME" "S3_REGION_NAME" "S3_ENDPOINT_URL" "S3_ADDRESSING_STYLE" "S3_ENCRYPTION" "S3_KMS_KEY_ID" "S3_VERIFY" "S3_CA_BUNDLE" -}}
{{- if hasKey $s3 . }}{{ $_ := set $plain . (get $s3 .) }}{{ $order = append $order . }}{{ end -}}
{{- end -}}
{{- if .Values.llm.enabled -}}
{{- $_ := set $plain "LLM_ENDPOINT" (include "ante.llm.endpoint" .) -}}
{{- $_ := set $plain "LLM_MODEL" .Values.llm.model -}}
{{- $_ := set $plain "LLM_VISION" (ternary "true" "false" .Values.llm.vision) -}}
{{- $order = concat $order (list "LLM_ENDPOINT" "LLM_MODEL" "LLM_VISION") -}}
{{- end -}}
{{- with .Values.events.url -}}
{{- $_ := set $plain "ANTE_EVENTS_URL" . -}}
{{- $order = append $order "ANTE_EVENTS_URL" -}}
{{- end -}}
{{- range $name, $value := .Values.env -}}
{{- if not (hasKey $plain $name) }}{{ $order = append $order $name }}{{ end -}}
{{- $_ := set $plain $name $value -}}
{{- end -}}
{{- range $order }}
- name: {{ . }}
  value: {{ get $plain . | quote }}
{{- end }}
- name: RAY_AUTH_MODE
  value: {{ .Values.auth.mode }}
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
{{- if and .Values.llm.enabled .Values.llm.existingSecret }}
- name: LLM_API_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.llm.existingSecret }}
      key: {{ .Values.llm.apiKeyKey }}
{{- end }}
{{- include "ante.events.token" . }}
{{- with .Values.notifications.existingSecret }}
- name: ANTE_WEBHOOK_URL
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.notifications.urlKey }}
{{- end }}
{{- range $name, $source := .Values.envValueFrom }}
- name: {{ $name }}
  valueFrom:
    {{- toYaml $source | nindent 4 }}
{{- end }}
{{- end -}}

{{/* Token of the event bus. */}}
{{- define "ante.events.token" -}}
{{- if and .Values.events.url .Values.events.existingSecret }}
- name: ANTE_EVENTS_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ .Values.events.existingSecret }}
      key: token
{{- end }}
{{- end -}}

{{/* Requests and limits. pod, gpus */}}
{{- define "ante.ray.resources" -}}
requests:
  cpu: {{ .pod.cpuRequest | default (toString (int .pod.cpus)) | quote }}
  memory: {{ .pod.memoryRequest | default .pod.memory }}
  {{- if .gpus }}
  {{ .pod.gpuResource }}: {{ int .pod.gpus | quote }}
  {{- end }}
limits:
  cpu: {{ int .pod.cpus | quote }}
  memory: {{ .pod.memory }}
  {{- if .gpus }}
  {{ .pod.gpuResource }}: {{ int .pod.gpus | quote }}
  {{- end }}
{{- end -}}

{{- define "ante.ray.probe" -}}
httpGet:
  path: /api/healthz
  port: 52365
timeoutSeconds: 5
{{- end -}}

{{/* A Ray pod. root, pod, component, ports: a list of name and number */}}
{{- define "ante.ray.template" -}}
{{- $root := .root -}}
{{- $pod := .pod -}}
{{- $head := eq .component "head" -}}
{{- $labels := merge (dict "app.kubernetes.io/component" .component) (fromYaml (include "ante.selector" .root)) $pod.labels -}}
{{- $tolerations := $pod.tolerations | default list -}}
{{- if $pod.spot -}}
{{- $tolerations = concat $tolerations (fromYamlArray (include "ante.ray.spotTaints" .)) -}}
{{- end -}}
metadata:
  labels:
    {{- toYaml $labels | nindent 4 }}
  {{- with $pod.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "ante.identity" (dict "root" $root "token" (and $head $root.Values.autoscaling.enabled)) | nindent 2 }}
  terminationGracePeriodSeconds: {{ int $pod.terminationGracePeriodSeconds }}
  initContainers:
    - name: warm
      {{- include "ante.image" (dict "root" $root "image" $root.Values.image) | nindent 6 }}
      command:
        - sh
        - -c
        - mkdir -p /var/lib/ante/cache && if [ -d {{ $root.Values.image.cachePath }} ]; then cp -r {{ $root.Values.image.cachePath }}/. /var/lib/ante/cache/; fi && ante warmup
      env:
        - name: HOME
          value: {{ get $root.Values.env "HOME" | default "/var/lib/ante" | quote }}
        - name: ANTE_CACHE_DIR
          value: {{ get $root.Values.env "ANTE_CACHE_DIR" | default "/var/lib/ante/cache" | quote }}
      resources:
        {{- include "ante.ray.resources" (dict "pod" $pod "gpus" false) | nindent 8 }}
      securityContext:
        {{- include "ante.containerSecurity" $root | nindent 8 }}
      volumeMounts:
        - name: data
          mountPath: /var/lib/ante
        - name: tmp
          mountPath: /tmp
  containers:
    - name: {{ ternary "ray-head" "ray-worker" $head }}
      {{- include "ante.image" (dict "root" $root "image" $root.Values.image) | nindent 6 }}
      env:
        {{- include "ante.ray.env" $root | trim | nindent 8 }}
      {{- with $root.Values.envFromSecrets }}
      envFrom:
        {{- range . }}
        - secretRef:
            name: {{ . }}
        {{- end }}
      {{- end }}
      ports:
        {{- range .ports }}
        - name: {{ first . }}
          containerPort: {{ last . | int }}
        {{- end }}
      resources:
        {{- include "ante.ray.resources" (dict "pod" $pod "gpus" $pod.gpus) | nindent 8 }}
      securityContext:
        {{- include "ante.containerSecurity" $root | nindent 8 }}
      readinessProbe:
        {{- include "ante.ray.probe" . | nindent 8 }}
        periodSeconds: 10
        failureThreshold: 6
      livenessProbe:
        {{- include "ante.ray.probe" . | nindent 8 }}
        initialDelaySeconds: 60
        periodSeconds: 15
        failureThreshold: 12
      {{- if $head }}
      lifecycle:
        preStop:
          exec:
            command:
              - sh
              - -c
              - |
                {{- include "ante.ray.leave" $pod | nindent 16 }}
      {{- end }}
      volumeMounts:
        - name: data
          mountPath: /var/lib/ante
        - name: tmp
          mountPath: /tmp
        - name: shared-mem
          mountPath: /dev/shm
        {{- if $head }}
        - name: train
          mountPath: /etc/ante
          readOnly: true
        {{- if $pod.runsClaim }}
        - name: runs
          mountPath: /var/lib/ante/runs
          subPath: runs
        {{- end }}
        {{- end }}
        {{- if $root.Values.s3.caConfigMap }}
        - name: s3-ca
          mountPath: /etc/ante-ca
          readOnly: true
        {{- end }}
        {{- with $pod.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: data
      emptyDir:
        sizeLimit: {{ $pod.scratch }}
    - name: tmp
      emptyDir:
        sizeLimit: {{ $pod.scratch }}
    - name: shared-mem
      emptyDir:
        medium: Memory
        sizeLimit: {{ add (int $pod.objectStoreMib) 64 }}Mi
    {{- if $head }}
    - name: train
      configMap:
        name: {{ include "ante.name" $root }}-train
    {{- with $pod.runsClaim }}
    - name: runs
      persistentVolumeClaim:
        claimName: {{ . }}
    {{- end }}
    {{- end }}
    {{- with $root.Values.s3.caConfigMap }}
    - name: s3-ca
      configMap:
        name: {{ . }}
    {{- end }}
    {{- with $pod.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $pod.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pod.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pod.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pod.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $pod.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
{{- end -}}

{{/* Commands before a head is terminated, as in src/ante/deploy/spec.py, which explains them. */}}
{{- define "ante.ray.leave" -}}
pkill -STOP -f '[d]ashboard/dashboard.py|[r]ay::JobSupervisor'
pkill -TERM -f '[b]in/ante (train|compare)'
timeout {{ sub (int .terminationGracePeriodSeconds) 30 }} sh -c 'while pgrep -f "[b]in/ante (train|compare)" > /dev/null; do sleep 0.5; done'
pkill -KILL gcs_server
sleep 5
{{ end -}}

{{- define "ante.ray.spotTaints" -}}
- {key: cloud.google.com/gke-spot, operator: Equal, value: "true", effect: NoSchedule}
- {key: kubernetes.azure.com/scalesetpriority, operator: Equal, value: spot, effect: NoSchedule}
- {key: spot, operator: Exists, effect: NoSchedule}
{{- end -}}

{{/* One worker group. root, group */}}
{{- define "ante.ray.workers" -}}
{{- $group := fromJson (include "ante.ray.group" .) -}}
{{- $scaled := .root.Values.autoscaling.enabled -}}
groupName: {{ .group }}
replicas: {{ int $group.replicas }}
minReplicas: {{ ternary $group.minReplicas $group.replicas $scaled | int }}
maxReplicas: {{ ternary $group.maxReplicas $group.replicas $scaled | int }}
scaleStrategy: {}
rayStartParams:
  num-cpus: {{ int $group.cpus | quote }}
  num-gpus: {{ int ($group.gpus | default 0) | quote }}
  object-store-memory: {{ mul (int $group.objectStoreMib) 1048576 | quote }}
  resources: {{ printf "\"{\\\"ante_runner\\\": %s, \\\"ante_learner\\\": %s}\"" (include "ante.ray.runners" .) (include "ante.ray.learners" .) | squote }}
template:
  {{- include "ante.ray.template" (dict "root" .root "pod" $group "component" .group "ports" (list (list "metrics" 8080))) | nindent 2 }}
{{- end -}}

{{/* The Ray cluster: a head and worker groups. */}}
{{- define "ante.ray.cluster" -}}
{{- $ports := list (list "gcs" 6379) (list "dashboard" 8265) (list "client" 10001) (list "metrics" 8080) -}}
{{- with .Values.training.metricsPort }}{{ $ports = append $ports (list "training" .) }}{{ end -}}
rayVersion: {{ .Values.ray.version | quote }}
authOptions:
  mode: {{ .Values.auth.mode }}
  {{- if and (eq .Values.auth.mode "token") .Values.auth.existingSecret }}
  secretName: {{ .Values.auth.existingSecret }}
  {{- end }}
enableInTreeAutoscaling: {{ .Values.autoscaling.enabled }}
{{- if .Values.autoscaling.enabled }}
autoscalerOptions:
  version: v2
  idleTimeoutSeconds: {{ int .Values.autoscaling.idleTimeoutSeconds }}
  upscalingMode: {{ .Values.autoscaling.upscalingMode }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  resources:
    requests:
      cpu: 100m
      memory: 512Mi
    limits:
      cpu: 500m
      memory: 512Mi
  securityContext:
    {{- include "ante.containerSecurity" . | nindent 4 }}
{{- end }}
{{- if .Values.gcsFaultTolerance.enabled }}
gcsFaultToleranceOptions:
  redisAddress: {{ .Values.gcsFaultTolerance.redisAddress | quote }}
  {{- with .Values.gcsFaultTolerance.existingSecret }}
  redisPassword:
    valueFrom:
      secretKeyRef:
        name: {{ . }}
        key: {{ $.Values.gcsFaultTolerance.passwordKey }}
  {{- end }}
{{- end }}
headGroupSpec:
  serviceType: ClusterIP
  rayStartParams:
    dashboard-host: 0.0.0.0
    num-cpus: "0"
    object-store-memory: {{ mul (int .Values.head.objectStoreMib) 1048576 | quote }}
  template:
    {{- include "ante.ray.template" (dict "root" . "pod" .Values.head "component" "head" "ports" $ports) | nindent 4 }}
workerGroupSpecs:
  {{- range fromJsonArray (include "ante.ray.groups" .) }}
  - {{- include "ante.ray.workers" (dict "root" $ "group" .) | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Queue labels of a workload. */}}
{{- define "ante.ray.metadata" -}}
{{- include "ante.metadata" (dict "root" .) }}
  {{- with .Values.queue.name }}
  kueue.x-k8s.io/queue-name: {{ . }}
  {{- end }}
  {{- with .Values.queue.priorityClass }}
  kueue.x-k8s.io/priority-class: {{ . }}
  {{- end }}
{{- with .Values.prices }}
{{- if or .cpuHour .gibHour .gpuHour }}
annotations:
  ante/prices: cpuHour={{ .cpuHour }} gibHour={{ .gibHour }} gpuHour={{ .gpuHour }} {{ .currency }}
{{- end }}
{{- end }}
{{- end -}}
