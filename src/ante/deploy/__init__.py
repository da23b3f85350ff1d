"""Deployment on Kubernetes: settings, chart values, resources, preflight checks, jobs and the CodeFlare notebook."""
