"""Programs that run in pods of the chart: the checks of `helm test`, and the creation of credentials."""
