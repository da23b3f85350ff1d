"""Servers through which other programs use Ante: decisions over gRPC, and the protocol of Balatro bots."""
