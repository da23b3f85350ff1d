"""Servers through which other programs use Ante: decisions over gRPC, the protocol of Balatro bots, MCP, and the run catalogue."""
