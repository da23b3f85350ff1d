{{/* Validation before anything is created. `ante cluster preflight -f values.yaml` checks more. */}}
{{- define "ante.checks" -}}
{{- if not (or .Values.skipCrdCheck .Values.servicesOnly (.Capabilities.APIVersions.Has "ray.io/v1")) -}}
{{- fail "the cluster does not serve ray.io/v1: install KubeRay first, helm repo add kuberay https://ray-project.github.io/kuberay-helm && helm install kuberay-operator kuberay/kuberay-operator -n kuberay-system --create-namespace (skipCrdCheck: true renders without)" -}}
{{- end -}}
{{- if not .Values.servicesOnly -}}
{{- range keys .Values.extraWorkers -}}
{{- if or (has . (list "head" "gpu" "cpu" "submitter" "preflight" "bucket" "objectstore" "llm" "decisions" "catalogue" "archive")) (not (regexMatch "^[a-z]([a-z0-9-]{0,13}[a-z0-9])?$" .)) -}}
{{- fail (printf "extraWorkers.%s: choose another name of at most 15 letters, digits and dashes" .) -}}
{{- end -}}
{{- end -}}
{{- include "ante.checks.pod" (dict "block" "head" "pod" .Values.head) -}}
{{- $pods := 0 -}}
{{- $runners := 0 -}}
{{- range fromJsonArray (include "ante.ray.groups" .) -}}
{{- $one := dict "root" $ "group" . -}}
{{- $group := fromJson (include "ante.ray.group" $one) -}}
{{- $block := include "ante.ray.block" . -}}
{{- include "ante.checks.pod" (dict "block" $block "pod" $group) -}}
{{- if and $.Values.autoscaling.enabled (or (gt (int $group.minReplicas) (int $group.replicas)) (gt (int $group.replicas) (int $group.maxReplicas))) -}}
{{- fail (printf "%s.replicas %d is not between minReplicas %d and maxReplicas %d" $block (int $group.replicas) (int $group.minReplicas) (int $group.maxReplicas)) -}}
{{- end -}}
{{- $mine := include "ante.ray.runners" $one | int -}}
{{- $learners := include "ante.ray.learners" $one | int -}}
{{- $pods = add $pods (include "ante.ray.pods" $one | int) -}}
{{- $runners = add $runners (mul (include "ante.ray.pods" $one | int) $mine) -}}
{{- if gt (addf (mulf $mine $.Values.training.runnerCpus) $learners) (addf (int $group.cpus) 0.000001) -}}
{{- fail (printf "%d runners x %v cores and %d learners do not fit into a pod of %s with %d: lower %s.runnersPerWorker" $mine $.Values.training.runnerCpus $learners $block (int $group.cpus) $block) -}}
{{- end -}}
{{- if gt (addf (mulf $mine $.Values.training.runnerGpus) (mulf $learners $.Values.training.learnerGpus)) (addf (int ($group.gpus | default 0)) 0.000001) -}}
{{- fail (printf "%d runners x %v GPU and %d learners x %v GPU do not fit into a pod of %s with %d: lower training.learnerGpus, training.runnerGpus or %s.runnersPerWorker" $mine $.Values.training.runnerGpus $learners $.Values.training.learnerGpus $block (int ($group.gpus | default 0)) $block) -}}
{{- end -}}
{{- end -}}
{{- if not $pods -}}
{{- fail "the cluster has no worker pod: enable gpuWorkers or cpuWorkers with replicas" -}}
{{- end -}}
{{- $training := .Values.training -}}
{{- $home := first (fromJsonArray (include "ante.ray.groups" .)) -}}
{{- $one := dict "root" . "group" $home -}}
{{- if not (int $training.learners) -}}
{{- fail "training.learners 0 would train in the head, which offers neither cores nor GPUs: set at least 1" -}}
{{- end -}}
{{- if not (include "ante.ray.pods" $one | int) -}}
{{- fail (printf "%d learners need pods of %s, which has none: raise its replicas" (int $training.learners) (include "ante.ray.block" $home)) -}}
{{- end -}}
{{- if (fromJson (include "ante.ray.group" $one)).spot -}}
{{- fail (printf "the learner would run on spot pods, and each preemption stops the training: set %s.spot false" (include "ante.ray.block" $home)) -}}
{{- end -}}
{{- if and $training.sweep $training.compare -}}
{{- fail "training.sweep and training.compare are both set: remove one" -}}
{{- end -}}
{{- if and $training.compare $training.metricsPort (gt (int $training.learners) 1) -}}
{{- fail "training.metricsPort serves one run, and training.compare has several at a time: set training.metricsPort 0, or training.learners 1" -}}
{{- end -}}
{{- range $kind, $keys := dict "sweep" (list "name" "runs" "store" "parallel" "config" "settings") "compare" (list "store" "config" "settings" "seed_file") -}}
{{- range $keys -}}
{{- if hasKey (get $training $kind) . }}{{ fail (printf "training.%s.%s is derived from the cluster: remove it" $kind .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if not (or $runners $training.sweep) -}}
{{- fail "the cluster has no env runner: raise cpus or runnersPerWorker of a group" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.platform.namespace (or .Values.objectStore.enabled .Values.llmServer.enabled .Values.servicesOnly) -}}
{{- fail (printf "platform.namespace %s has the services: set objectStore.enabled, llmServer.enabled and servicesOnly false" .Values.platform.namespace) -}}
{{- end -}}
{{- if and .Values.tenants (not (and .Values.objectStore.enabled .Values.objectStore.scopedUser)) -}}
{{- fail "tenants get users of the object store: set objectStore.enabled and objectStore.scopedUser true" -}}
{{- end -}}
{{- $users := list -}}
{{- range .Values.tenants -}}
{{- if has .name $users }}{{ fail (printf "tenant %s is listed twice" .name) }}{{ end -}}
{{- $users = append $users .name -}}
{{- end -}}
{{- if and .Values.llm.enabled (not (and .Values.llm.model (include "ante.llm.endpoint" .))) -}}
{{- fail "llm.enabled needs llm.model, and llm.endpoint or llmServer.enabled" -}}
{{- end -}}
{{- if and .Values.llmServer.enabled (not .Values.llm.model) -}}
{{- fail "llmServer.enabled needs llm.model, the name of the served model" -}}
{{- end -}}
{{- if and .Values.llmServer.enabled (eq .Values.llmServer.kind "stub") (ne .Values.llm.model "fake") -}}
{{- fail "llmServer.kind stub serves one model: set llm.model fake" -}}
{{- end -}}
{{- $weights := .Values.llmServer.modelPath | default .Values.llm.model -}}
{{- if and .Values.llmServer.enabled (ne .Values.llmServer.kind "stub") (not (hasPrefix "/" $weights)) (not .Values.llmServer.storage.existingClaim) .Values.networkPolicies.enabled (not .Values.networkPolicies.llmDownloads) -}}
{{- fail (printf "model %s must be downloaded: set networkPolicies.llmDownloads true, or llmServer.modelPath to a file under /models of llmServer.storage.existingClaim" $weights) -}}
{{- end -}}
{{- if and .Values.decisionService.clientCaSecret (not .Values.decisionService.tlsSecret) -}}
{{- fail "decisionService.clientCaSecret needs decisionService.tlsSecret, the certificate of the server" -}}
{{- end -}}
{{- if and .Values.decisionService.enabled (not .Values.decisionService.tokenSecret) (not .Values.decisionService.clientCaSecret) -}}
{{- fail "decisionService.enabled needs decisionService.tokenSecret or clientCaSecret: kubectl create secret generic decisions --from-literal=token=$(openssl rand -hex 32)" -}}
{{- end -}}
{{- if and .Values.eventArchive.enabled (not .Values.events.url) -}}
{{- fail "eventArchive.enabled needs events.url, such as nats://nats.nats:4222" -}}
{{- end -}}
{{- if gt (int .Values.decisionService.minReplicas) (int .Values.decisionService.maxReplicas) -}}
{{- fail (printf "decisionService.minReplicas %d exceeds maxReplicas %d" (int .Values.decisionService.minReplicas) (int .Values.decisionService.maxReplicas)) -}}
{{- end -}}
{{- if and .Values.gcsFaultTolerance.enabled (not .Values.gcsFaultTolerance.redisAddress) -}}
{{- fail "gcsFaultTolerance.enabled needs gcsFaultTolerance.redisAddress" -}}
{{- end -}}
{{- if and (or .Values.monitoring.podMonitor.enabled .Values.monitoring.alerts.enabled) (not (or .Values.training.metricsPort .Values.servicesOnly)) -}}
{{- fail "monitoring requires the driver's metrics: set training.metricsPort, such as 9100" -}}
{{- end -}}
{{- if and .Values.objectStore.enabled .Values.s3.podRole -}}
{{- fail "s3.podRole is not supported with objectStore: set s3.podRole false or objectStore.enabled false" -}}
{{- end -}}
{{- if and .Values.queue.priorityClass (not .Values.queue.name) -}}
{{- fail "queue.priorityClass needs queue.name" -}}
{{- end -}}
{{- range $name, $value := .Values.env -}}
{{- if regexMatch "(?i)(PASSWORD|PASSWD|SECRET|TOKEN([^S]|$)|ACCESS_KEY|API_KEY|PRIVATE_KEY|CREDENTIAL)" $name -}}
{{- fail (printf "env.%s looks like a secret: store it in a Secret and name that in envFromSecrets" $name) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.queue.name .Values.autoscaling.enabled -}}
{{- fail (printf "queue %s admits a workload as a whole, but autoscaling changes it: disable one" .Values.queue.name) -}}
{{- end -}}
{{- end -}}

{{/* Requests of a Ray pod do not exceed its limits. block, pod */}}
{{- define "ante.checks.pod" -}}
{{- $limits := dict "cpuRequest" "cpus" "memoryRequest" "memory" -}}
{{- range $request, $limit := $limits -}}
{{- $wanted := get $.pod $request -}}
{{- if and $wanted (gt (include "ante.quantity" $wanted | float64) (include "ante.quantity" (get $.pod $limit) | float64)) -}}
{{- fail (printf "%s.%s %s is more than the limit, %s.%s %v" $.block $request $wanted $.block $limit (get $.pod $limit)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A quantity such as 500m, 2 or 16Gi as a number. */}}
{{- define "ante.quantity" -}}
{{- $units := dict "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 -}}
{{- $text := toString . -}}
{{- mulf (float64 (regexFind "^[0-9.]+" $text)) (get $units (regexFind "[A-Za-z]+$" $text) | default 1.0) -}}
{{- end -}}
