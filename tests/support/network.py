"""Sockets of this machine and of processes."""

import socket

import psutil
import pytest

LOOPBACK = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def own_address() -> str:
    """Return an address of this machine that is not loopback."""
    found = [
        each.address
        for addresses in psutil.net_if_addrs().values()
        for each in addresses
        if each.family == socket.AF_INET and not each.address.startswith("127.")
    ]
    if not found:
        pytest.skip("this machine has only a loopback address")
    return found[0]


def listening(processes: list[psutil.Process]) -> set[tuple[str, int]]:
    """Return address and port of each listening socket of those that still run."""
    every = [one for each in processes if each.is_running() for one in each.net_connections("inet")]
    return {(one.laddr.ip, one.laddr.port) for one in every if one.status == psutil.CONN_LISTEN}
