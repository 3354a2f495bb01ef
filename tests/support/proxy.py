"""A proxy that loses replies."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress


class Proxy:
    """Stands between client and server. For some commands it cuts the connection behind them, when the server has
    answered; or stalls it, so that the answer never comes; or cuts it before the server has got them."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._faults: list[tuple[bytes, str]] = []
        self._swallowed = threading.Semaphore(0)
        self.seen: list[bytes] = []
        """The commands whose replies did not come."""
        self.afterwards: Callable[[], object] = lambda: None
        """Called when a reply was swallowed, before the connection is closed."""
        threading.Thread(target=self._accept, daemon=True).start()

    def swallow(self, command: bytes, times: int = 1, how: str = "cut") -> None:
        """Lets the next ones have no reply: "cut", "stall", or "drop", which the server does not get at all."""
        self._faults += [(command, how)] * times

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        """Clients send a command only when the one before was answered, and these ones are short."""
        with near, socket.create_connection(("127.0.0.1", self._target)) as far, suppress(OSError):
            answering = threading.Event()
            answering.set()
            threading.Thread(target=self._answer, args=(far, near, answering), daemon=True).start()
            while data := near.recv(1 << 20):
                fault = next((fault for fault in self._faults if fault[0] in data), None)
                if fault is None:
                    far.sendall(data)
                    continue
                self._faults.remove(fault)
                doomed, how = fault
                if how != "drop":
                    answering.clear()
                    far.sendall(data)
                    self._swallowed.acquire()
                self.seen.append(doomed)
                self.afterwards()
                if how == "stall":
                    near.recv(1)  # until the client gives up
                return

    def _answer(self, far: socket.socket, near: socket.socket, answering: threading.Event) -> None:
        with suppress(OSError):
            while data := far.recv(1 << 20):
                if not answering.is_set():
                    self._swallowed.release()
                    return
                near.sendall(data)
