"""Measurements of the event buses, and the nats-server that they and the tests start."""
