"""The decision service with mutual TLS: it decides for clients of its authority and refuses all others."""

import time
from pathlib import Path

import pytest
from tests.certificates import certificates
from tests.cluster.conftest import CHART, SMALL
from tests.cluster.support import Cluster, Journal, eventually

from ante.serve.decisions.client import Address, DecisionClient, NoDecision
from ante.serve.decisions.v1 import decisions_pb2 as pb

pytestmark = pytest.mark.cluster
NAME, PORT = "ante", 50051
VALUES = """
servicesOnly: true
objectStore: {enabled: false}
decisionService:
  enabled: true
  tlsSecret: server
  clientCaSecret: clients
  resources: {requests: {cpu: 50m, memory: 512Mi}, limits: {cpu: "2", memory: 2Gi}}
"""


def query(name: str) -> "pb.Query":
    """Return a query of the first position of a game."""
    return pb.Query(request_id=name, run=pb.Run(seed="TESTSEED"))


def test_only_clients_of_the_authority_get_decisions(cluster: Cluster, journal: Journal, tmp_path: Path) -> None:
    files, keys = certificates(tmp_path)
    pair = (f"--cert={files['server']}", f"--key={keys['server']}")
    cluster.kubectl("create", "secret", "tls", "server", *pair)
    cluster.kubectl("create", "secret", "generic", "clients", f"--from-file=ca.crt={files['ca']}")
    (tmp_path / "values.yaml").write_text(VALUES)
    begin = time.monotonic()
    values = ("--values", str(SMALL), "--values", str(tmp_path / "values.yaml"))
    cluster.helm("install", NAME, str(CHART), *values, timeout=300)
    eventually("the service is ready", 240, lambda: cluster.pods("decisions", True))
    journal.note("decision service with mutual TLS", ready_after=round(time.monotonic() - begin))

    with cluster.forwarded(f"service/{NAME}-decisions", PORT) as port:

        def client(name: str | None, tls: bool = True) -> DecisionClient:
            own = (files[name], keys[name]) if name else (None, None)
            return DecisionClient(
                Address(f"localhost:{port}", tls, None, files["ca"] if tls else None, *own), timeout=5
            )

        served = client("client")
        assert served.info().player
        assert served.decide(query("a")).action == "select-blind"
        begin = time.monotonic()
        for k in range(100):
            served.decide(query(f"b{k}"))
        journal.note("decisions over TLS through a tunnel", milliseconds=round(10 * (time.monotonic() - begin), 2))
        for name, tls in ((None, True), ("stranger", True), (None, False)):
            with pytest.raises(NoDecision, match=r"unavailable|deadline"):
                client(name, tls).decide(query(f"c{name}{tls}"))
        assert served.decide(query("d")).action == "select-blind", "the service and the tunnel still work"
    cluster.helm("uninstall", NAME)
