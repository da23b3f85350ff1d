"""HTTP with limits: a client and connections for servers that may answer anything, and a server for clients that may ask anything."""
