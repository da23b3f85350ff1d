"""HTTP with limits: a client and connections for servers that may misbehave, and a server for clients that may."""
