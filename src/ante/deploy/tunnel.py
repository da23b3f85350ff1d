"""Connections to a pod: port forwarding, as `kubectl port-forward` does, and commands, as `kubectl exec` does."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from kubernetes import client
from kubernetes.client.exceptions import ApiException
from kubernetes.stream import portforward, stream
from kubernetes.stream.ws_client import ERROR_CHANNEL
from websocket import WebSocketException

from ante.deploy.access import Access, Object
from ante.errors import BalatroError

BYTES = 65536
NO_PROGRAM = ("executable file not found", "no such file or directory")  # in messages of container runtimes
WAIT_SECONDS = 1.0  # between two looks whether the connection is still open


class NoTunnel(BalatroError, ConnectionError):
    """A port of a pod cannot be reached."""


class CannotRun(BalatroError, ValueError):
    """A container cannot start a command."""


@contextmanager
def tunnel(access: Access, pod: str, port: int, local: int = 0) -> Iterator[int]:
    """Forward a local port to the pod while the context is open, and return it. Raises NoTunnel."""
    try:
        listener = socket.create_server(("127.0.0.1", local))
    except OSError as error:
        raise NoTunnel(f"local port {local} is not available ({error.strerror}): choose another --port") from None
    with listener:
        open_connection(access, pod, port).close()  # fails at once if the port cannot be reached
        threading.Thread(target=accept, args=(listener, access, pod, port), daemon=True).start()
        yield listener.getsockname()[1]


def open_connection(access: Access, pod: str, port: int) -> socket.socket:
    """Return a socket that is connected to the pod. Raises NoTunnel."""
    connect = client.CoreV1Api(client.ApiClient(access.api_client.configuration)).connect_get_namespaced_pod_portforward
    try:
        return portforward(connect, pod, access.namespace, ports=str(port)).socket(port)  # type: ignore[no-any-return]
    except ApiException as error:
        raise NoTunnel(f"cannot connect to port {port} of pod {pod}: {error.reason}") from None


def execute(access: Access, pod: str, container: str, words: Sequence[str], write: Callable[[int, bytes], None]) -> int:
    """Run a command in a container without a terminal and without input; return its exit code. Raises NoTunnel, CannotRun.

    write  receives the parts of its output: 1 for stdout or 2 for stderr, and bytes
    """
    connect = client.CoreV1Api(client.ApiClient(access.api_client.configuration)).connect_get_namespaced_pod_exec
    options = {
        "command": list(words),
        "container": container,
        "stdout": True,
        "stderr": True,
        "stdin": False,
        "tty": False,
    }
    try:
        channels = stream(connect, pod, access.namespace, **options, _preload_content=False, binary=True)
    except ApiException as error:
        raise NoTunnel(
            f"cannot run a command in pod {pod}: {error.reason}; it requires the permissions get and create of pods/exec"
        ) from None
    result = b""
    try:
        while channels.is_open():
            channels.update(timeout=WAIT_SECONDS)
            for number in (1, 2):
                if data := channels.read_channel(number):
                    write(number, data)
            result += channels.read_channel(ERROR_CHANNEL)
    except WebSocketException:
        pass  # the result is incomplete, see below
    finally:
        channels.close()
    if not result:
        raise NoTunnel(f"the connection to pod {pod} was closed before the command ended")
    return exit_code(json.loads(result), words, pod)


def exit_code(status: Object, words: Sequence[str], pod: str) -> int:
    """Return the exit code in the status that Kubernetes sends at the end of a command. Raises CannotRun."""
    if status["status"] == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    text = str(status.get("message", "")).strip()
    if any(part in text for part in NO_PROGRAM):
        raise CannotRun(f"pod {pod} has no program {words[0]!r}; a shell runs builtins: sh -c 'COMMAND'")
    raise CannotRun(f"{words[0]!r} cannot be run in pod {pod}: {text.rpartition(' exec: ')[2]}")


def accept(listener: socket.socket, access: Access, pod: str, port: int) -> None:
    """Open a separate connection to the pod for each client, until the listener is closed."""
    while True:
        try:
            here, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=join, args=(here, access, pod, port), daemon=True).start()


def join(here: socket.socket, access: Access, pod: str, port: int) -> None:
    """Copy bytes in both directions until one side closes."""
    with here:
        try:
            there = open_connection(access, pod, port)
        except NoTunnel:
            return  # the client sees a closed connection and retries
        back = threading.Thread(target=pump, args=(there, here), daemon=True)
        back.start()
        pump(here, there)
        back.join()
        there.close()


def pump(one: socket.socket, two: socket.socket) -> None:
    """Copy bytes from one socket to the other and propagate the end of the stream."""
    with suppress(OSError):
        while data := one.recv(BYTES):
            two.sendall(data)
    with suppress(OSError):
        two.shutdown(socket.SHUT_WR)
