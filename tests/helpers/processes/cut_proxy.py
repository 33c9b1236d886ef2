"""A TCP proxy between a browser and the app, whose connections a test cuts and lets through again."""

import socket
import threading
from contextlib import suppress
from typing import Self

from helpers.processes.ports import free_port

_CHUNK = 65_536


class CutProxy:
    """Passes bytes to a port of this machine and back; while it is cut, nothing passes and nobody gets in."""

    def __init__(self, to_port: int) -> None:
        self.port, self._to = free_port(), to_port
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._is_cut = False
        self._listening = socket.create_server(("127.0.0.1", self.port))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        """End every connection, as a network that is gone, and let nobody in."""
        with self._lock:
            self._is_cut = True
            for one in self._open:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
            self._open.clear()

    def mend(self) -> None:
        """Let connections through again."""
        with self._lock:
            self._is_cut = False

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            with self._lock:
                if self._is_cut:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self._to), 5)
                except OSError:  # the server is not there
                    near.close()
                    continue
                far.settimeout(None)  # five seconds to connect; a quiet connection stays open
                self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(_CHUNK):
            other.sendall(data)
    for end in (one, other):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
