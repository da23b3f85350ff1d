"""Comparisons of several runs: specification, execution, results, report."""
