"""Kubernetes: settings, chart values, resources, preflight checks, jobs, the CodeFlare notebook."""
