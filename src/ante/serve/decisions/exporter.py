"""Metrics of the decision service for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

SECONDS = (0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
SIZES = (1, 2, 4, 8, 16, 32, 64)


class Exporter:
    """The metrics of one server, in a separate registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.queries = Counter(
            "ante_decision_queries",
            "Queries by method and by strategy of the decision, or status code.",
            ["method", "result"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "ante_decision_seconds",
            "Time from arrival of a query to its answer.",
            ["method"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.waiting = Gauge("ante_decision_queries_waiting", "Queries that wait.", registry=self.registry)
        self.repeated = Counter(
            "ante_decision_queries_repeated", "Queries that had the id of an earlier one.", registry=self.registry
        )
        self.failures = Counter(
            "ante_decision_player_failures", "Batches in which the player failed.", registry=self.registry
        )
        self.batches = Histogram(
            "ante_decision_batch_size", "Queries of a batch.", buckets=SIZES, registry=self.registry
        )
        self.batch_seconds = Histogram(
            "ante_decision_batch_seconds", "Time to decide a batch.", buckets=SECONDS, registry=self.registry
        )
        self.model = Gauge(
            "ante_decision_model", "1 for the model that decides.", ["player", "digest"], registry=self.registry
        )
        self.reloads = Counter(
            "ante_decision_model_reloads", "Loaded models, by result.", ["result"], registry=self.registry
        )

    def observe_batch(self, size: int, seconds: float) -> None:
        """Count a batch."""
        self.batches.observe(size)
        self.batch_seconds.observe(seconds)

    def show_model(self, player: str, digest: str) -> None:
        """Name the model that decides from now on."""
        self.model.clear()
        self.model.labels(player, digest).set(1)
