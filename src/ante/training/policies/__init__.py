"""The networks, one module per policy, and the registry that names them."""
