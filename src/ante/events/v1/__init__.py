"""Version 1 of the events: the .proto file, and the Python that tools/write_protos.py generates from it."""
