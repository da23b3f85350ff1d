"""Gymnasium environments. Importing this package registers `ante/Balatro-v1`."""

from ante.env.registration import register_environments

register_environments()
