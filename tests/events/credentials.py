"""A nats-server in operator mode and the credentials of its users, as `nsc` makes them, for tests."""

import base64
import json
import os
import time
from pathlib import Path
from typing import Any

import nkeys


class Authority:
    """An operator and one account with JetStream; the server trusts the users that the account signs."""

    def __init__(self) -> None:
        self.operator = key_of(nkeys.PREFIX_BYTE_OPERATOR)
        self.account, self.system = (key_of(nkeys.PREFIX_BYTE_ACCOUNT) for _ in range(2))

    def configure(self, file: Path) -> list[str]:
        """Write the configuration of a server; return the words that it is started with."""
        unlimited = dict.fromkeys(("subs", "conn", "leaf", "imports", "exports", "data", "payload"), -1)
        jetstream = dict.fromkeys(("mem_storage", "disk_storage"), -1)
        accounts = {self.account: {**unlimited, **jetstream, "wildcards": True}, self.system: unlimited}
        preload = {
            name_of(key): claims(self.operator, key, {"type": "account", "limits": limits})
            for key, limits in accounts.items()
        }
        lines = {
            "operator": json.dumps(claims(self.operator, self.operator, {"type": "operator"})),
            "system_account": name_of(self.system),
            "resolver": "MEMORY",
            "resolver_preload": json.dumps(preload),
        }
        file.write_text("".join(f"{key}: {value}\n" for key, value in lines.items()))
        return ["-c", str(file)]

    def credentials(self, file: Path) -> Path:
        """Write the credentials of a new user; return the file."""
        user = key_of(nkeys.PREFIX_BYTE_USER)
        token = claims(
            self.account, user, {"type": "user", "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1}
        )
        marks = {"NATS USER JWT": token, "USER NKEY SEED": user.seed.decode()}
        file.write_text("\n".join(f"-----BEGIN {m}-----\n{text}\n------END {m}------\n" for m, text in marks.items()))
        return file


def key_of(prefix: int) -> nkeys.KeyPair:
    """Return a new key of this kind."""
    return nkeys.from_seed(nkeys.encode_seed(os.urandom(32), prefix))


def name_of(key: nkeys.KeyPair) -> str:
    """Return the public name of a key."""
    return str(key.public_key.decode())


def claims(issuer: nkeys.KeyPair, subject: nkeys.KeyPair, nats: dict[str, Any]) -> str:
    """Return a signed JWT of NATS, version 2."""
    body = {"iat": int(time.time()), "iss": name_of(issuer), "sub": name_of(subject), "name": nats["type"]}
    parts = [
        encoded(json.dumps(each).encode())
        for each in ({"typ": "JWT", "alg": "ed25519-nkey"}, {**body, "nats": {**nats, "version": 2}})
    ]
    return ".".join([*parts, encoded(issuer.sign(".".join(parts).encode()))])


def encoded(data: bytes) -> str:
    """Return bytes as URL-safe base 64 without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
