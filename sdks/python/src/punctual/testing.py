"""A real server for tests, on a free port, with a clock that tests can move."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import tempfile
from types import TracebackType
from typing import Any, List, Optional, Type

from .client import Client
from .errors import PunctualError

_READY = "punctual is ready on "


class Server:
    """A server of its own. `PUNCTUAL_BIN` names the binary, else `punctual` is looked for on the PATH."""

    def __init__(self, *arguments: str, dev: bool = True, durable: bool = False, binary: Optional[str] = None) -> None:
        """`durable`: the data is kept in a directory, over `kill` and `restart`, until `close`."""
        self._binary = binary or os.environ.get("PUNCTUAL_BIN") or shutil.which("punctual") or ""
        if not self._binary:
            raise PunctualError("PUNCTUAL_BIN: set it to the binary of the server")
        self._directory = tempfile.TemporaryDirectory(prefix="punctual-")
        store = os.path.join(self._directory.name, "data") if durable else "memory:"
        # A restart comes back under the same address.
        self._listen = f"127.0.0.1:{_free_port()}"
        self._arguments: List[str] = ["--listen", self._listen, "--store", store, *(["--dev"] if dev else []), *arguments]
        self._process: "Optional[subprocess.Popen[str]]" = None
        self.url = ""
        self._client: Optional[Client] = None
        self.restart()

    @property
    def client(self) -> Client:
        """A client of this server."""
        if self._client is None:
            self._client = Client(self.url, "")
        return self._client

    def restart(self) -> None:
        """Starts it, again if it was killed, and waits until it is ready."""
        self.kill()
        log = open(os.path.join(self._directory.name, "log"), "a")
        with log:
            self._process = subprocess.Popen(
                [self._binary, "serve", *self._arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._directory.name,
                text=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.startswith(_READY):
            self.kill()
            with open(os.path.join(self._directory.name, "log")) as written:
                raise PunctualError(f"the server did not get ready: {written.read()[-2000:]}")
        self.url = line[len(_READY) :].strip()

    def kill(self) -> None:
        """Ends it as a crash would, with kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None

    def advance(self, by: Any) -> str:
        """Moves the clock on, as if the server had slept; answers when all that fell due was handed out."""
        return self.client.move_clock(advance=by)["now"]

    def set_clock(self, to: Any) -> str:
        """Sets the clock."""
        return self.client.move_clock(set=to)["now"]

    def close(self) -> None:
        """Ends it and removes its data."""
        if self._client is not None:
            self._client.close()
        self.kill()
        self._directory.cleanup()

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


def _free_port() -> int:
    """A port that no connection of another program takes while the server is down: they use those above."""
    for _ in range(200):
        port = random.randint(10_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise PunctualError("no free port between 10000 and 30000")
