"""What Ray and RLlib may say on the terminal."""

import logging


def be_quiet() -> None:
    """Errors only."""
    for name in ("ray", "ray.rllib", "ray.tune"):
        logging.getLogger(name).setLevel(logging.ERROR)
