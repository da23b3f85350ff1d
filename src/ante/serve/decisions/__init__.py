"""The decision service: a gRPC server that decides for a player, and its clients (docs/how-to/serve.md)."""
