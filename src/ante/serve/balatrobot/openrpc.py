"""The description of the service that `rpc.discover` returns."""

from typing import Any

from ante import __version__
from ante.serve.balatrobot.methods import Method
from ante.serve.balatrobot.protocol import CODES, Field

TYPES = {"table": "object"}
OPENRPC = "1.3.2"


def document(methods: dict[str, Method]) -> dict[str, Any]:
    """Return the OpenRPC document of these methods."""
    about = "Balatro, played by the engine of Ante behind the JSON-RPC protocol of the mod BalatroBot."
    discover = {"name": "rpc.discover", "summary": "Return this document", "params": [], "result": result_of("OpenRPC")}
    return {
        "openrpc": OPENRPC,
        "info": {"title": "BalatroBot API of Ante", "description": about, "version": __version__},
        "methods": [discover, *(described(name, method) for name, method in sorted(methods.items()))],
    }


def described(name: str, method: Method) -> dict[str, Any]:
    """Return the description of one method."""
    where = f"Works in: {', '.join(method.states)}." if method.states else "Works in all states."
    return {
        "name": name,
        "summary": method.about,
        "description": where,
        "params": [parameter(each, field) for each, field in method.fields.items()],
        "result": result_of("reply"),
        "errors": [{"code": code, "message": error, "data": {"name": error}} for error, code in CODES.items()],
    }


def parameter(name: str, field: Field) -> dict[str, Any]:
    """Return the description of a parameter."""
    schema: dict[str, Any] = {"type": TYPES.get(field.kind, field.kind)}
    if field.items:
        schema["items"] = {"type": field.items}
    return {"name": name, "description": field.about, "required": field.required, "schema": schema}


def result_of(name: str) -> dict[str, Any]:
    """Return the description of a result: an object."""
    return {"name": name, "schema": {"type": "object"}}
