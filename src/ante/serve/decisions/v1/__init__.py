"""Version 1 of the protocol: the .proto files, and the Python that tools/write_protos.py generates from them."""
