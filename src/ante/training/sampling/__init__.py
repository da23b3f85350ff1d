"""Env runners: play games in batches and produce rollout fragments for the learners."""
