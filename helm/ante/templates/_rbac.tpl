{{/* Rules of the roles viewer, trainer and admin. */}}

{{/* A Role with its binding. root, role, rules, subjects, namespace */}}
{{- define "ante.rbac.role" }}
{{- $about := dict "root" .root "suffix" .role "namespace" .namespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  {{- include "ante.chartMetadata" $about | nindent 2 }}
rules:
  {{- .rules | nindent 2 }}
{{- with .subjects }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  {{- include "ante.chartMetadata" $about | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ include "ante.name" $.root }}-{{ $.role }}
subjects:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Read trainings and their logs. configMaps: names; all by default. queue: whether Kueue admits trainings */}}
{{- define "ante.rbac.view" -}}
- apiGroups: [ray.io]
  resources: [rayclusters, rayjobs, rayclusters/status, rayjobs/status]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [pods, pods/log, services, events, persistentvolumeclaims, resourcequotas]
  verbs: [get, list, watch]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [configmaps]
  {{- with .configMaps }}
  resourceNames: {{ toJson . }}
  {{- end }}
  verbs: [get{{ if not .configMaps }}, list, watch{{ end }}]
{{- if .queue }}
- apiGroups: [kueue.x-k8s.io]
  resources: [localqueues, workloads]
  verbs: [get, list, watch]
{{- end }}
{{- end -}}

{{/* Change trainings. names: of these only, else of all, and `ante cluster` creates them; token: Secret with Ray's token */}}
{{- define "ante.rbac.train" -}}
- apiGroups: [ray.io]
  resources: [rayjobs, rayclusters]
  {{- with .names }}
  resourceNames: {{ toJson . }}
  {{- end }}
  verbs: [{{ if not .names }}create, {{ end }}patch, update, delete]
- apiGroups: [""]
  resources: [pods/portforward]
  verbs: [get, create]
{{- if not .names }}
- apiGroups: [""]
  resources: [configmaps, serviceaccounts]
  verbs: [get, list, create, patch, delete]
- apiGroups: [""]
  resources: [pods]
  verbs: [create, delete]
{{- end }}
{{- with .token }}
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ . }}]
  verbs: [get]
{{- end }}
{{- end -}}

{{/* Install releases: all kinds of the chart, in this namespace. */}}
{{- define "ante.rbac.administer" -}}
- apiGroups: [ray.io]
  resources: [rayclusters, rayjobs, rayclusters/status, rayjobs/status]
  verbs: ["*"]
- apiGroups: [""]
  resources: [pods, pods/log, pods/exec, pods/portforward, services, events, configmaps, secrets, serviceaccounts, persistentvolumeclaims]
  verbs: ["*"]
- apiGroups: [""]
  resources: [resourcequotas]
  verbs: [get, list, watch]
- apiGroups: [apps]
  resources: [statefulsets, deployments]
  verbs: ["*"]
- apiGroups: [batch]
  resources: [jobs]
  verbs: ["*"]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies, ingresses]
  verbs: ["*"]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: ["*"]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: ["*"]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [roles, rolebindings]
  verbs: ["*"]
- apiGroups: [monitoring.coreos.com]
  resources: [podmonitors, prometheusrules]
  verbs: ["*"]
- apiGroups: [route.openshift.io]
  resources: [routes]
  verbs: ["*"]
- apiGroups: [kueue.x-k8s.io]
  resources: [localqueues]
  verbs: ["*"]
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [get, list, watch]
{{- end -}}
