"""`ante serve graphql`: the knowledge graph for GraphQL clients."""

from dataclasses import dataclass

from ante.cli.options import Port


@dataclass(frozen=True)
class ServeGraphql:
    """Serve measured effects of jokers, pairs, hands, bosses and decks over GraphQL, read-only (docs/how-to/knowledge.md).

    POST /graphql receives requests, GET /schema.graphql returns the schema.

    Try:
      ante serve graphql
      ante serve graphql --store bolt://localhost:7687 --port 8400
    """

    store: str = "default"
    """Graph: the tables of this version, a file, or a Bolt URL."""
    port: Port = 8400
    """Port; 0 for any free one."""
    host: str = "127.0.0.1"
    """Address to listen on. There is no authentication."""
    names: tuple[str, ...] = ()
    """Host names by which clients reach the server, in addition to localhost."""

    def run(self) -> int:
        """Serve until Ctrl-C. Raises StoreUnavailable, CannotListen."""
        from ante.cli.games.know_store import opened
        from ante.http.server import address
        from ante.serve.graphql.server import server_of

        with opened(self.store) as graph, server_of(graph.backend, self.host, self.port, self.names) as server:
            print(f"http://{address(self.host, server.port)}/graphql\nCtrl-C stops", flush=True)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                print()
        return 0
