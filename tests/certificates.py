"""Certificates of servers and clients for tests with TLS."""

import datetime
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def certificate(
    folder: Path, name: str, authority: tuple[Any, Any] | None = None, host: str = "localhost"
) -> tuple[Any, Any]:
    """Write NAME.crt and NAME.key, valid for an hour; return certificate and key. Without an authority it signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(authority[0].subject if authority else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
        .sign(authority[1] if authority else key, hashes.SHA256())
    )
    (folder / f"{name}.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return made, key


def certificates(folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """Write an authority, a server and a client of it, and a stranger who signs itself; return certificates and keys."""
    authority = certificate(folder, "ca")
    for name in ("server", "client"):
        certificate(folder, name, authority)
    certificate(folder, "stranger")
    files = {name: folder / f"{name}.crt" for name in ("ca", "server", "client", "stranger")}
    return files, {name: file.with_suffix(".key") for name, file in files.items()}
