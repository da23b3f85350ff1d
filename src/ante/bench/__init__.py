"""Benchmarks: engine speed, training throughput, profiles, comparisons with other implementations."""
