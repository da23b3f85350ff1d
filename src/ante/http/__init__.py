"""HTTP with limits: a client and connections for untrusted servers, and a server for untrusted clients."""
