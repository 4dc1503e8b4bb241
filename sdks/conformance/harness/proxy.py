"""Stands between an SDK and the server: checks every exchange, counts, and can lose an answer.

It listens only while the server is there, so that an SDK sees a server that is away as one that is away.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Optional
from urllib.parse import urlsplit

from schema import Document


@dataclass
class Exchange:
    method: str
    path: str
    status: int


class Proxy:
    def __init__(self, document: Document, port: int, upstream: int) -> None:
        self._document = document
        self._port = port
        self._upstream = upstream
        self._server: Optional[asyncio.AbstractServer] = None
        self._connections: set[asyncio.Task[None]] = set()
        self.exchanges: list[Exchange] = []
        self.problems: list[str] = []
        # (method, end of the path) of the next request whose answer is lost.
        self.lose: Optional[tuple[str, str]] = None

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port, limit=1 << 26)

    async def close(self) -> None:
        """Ends all connections, as the end of the server's process does."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        me = asyncio.current_task()
        assert me is not None
        self._connections.add(me)
        try:
            first = b""
            while True:
                head = first + await reader.readuntil(b"\r\n\r\n")
                length = int(_header(head, "content-length") or 0)
                body = await reader.readexactly(length)
                gone = asyncio.ensure_future(reader.read(1))
                asked = asyncio.ensure_future(self._pass_on(head, body, writer))
                try:
                    await asyncio.wait([gone, asked], return_when=asyncio.FIRST_COMPLETED)
                    if gone.done() and not gone.result() and not asked.done():
                        return  # The client has hung up; the server must see that.
                    if not await asked:
                        return
                finally:
                    asked.cancel()
                first = await gone
                if not first:
                    return
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(me)
            writer.close()

    async def _pass_on(self, head: bytes, body: bytes, client: asyncio.StreamWriter) -> bool:
        """Sends a request on and its answer back; False: the connection ends here."""
        method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ", 2)
        reader, writer = await asyncio.open_connection("127.0.0.1", self._upstream, limit=1 << 26)
        try:
            writer.write(_without(head, ("connection", "upgrade", "http2-settings"), b"connection: close\r\n") + body)
            answer_head = await reader.readuntil(b"\r\n\r\n")
            kind = _header(answer_head, "content-type") or ""
            status = int(answer_head.split(b" ", 2)[1])
            if kind.startswith("text/event-stream"):
                client.write(answer_head)
                while piece := await reader.read(1 << 16):
                    client.write(piece)
                    await client.drain()
                return False
            answer = await reader.read() if _header(answer_head, "content-length") is None else await reader.readexactly(
                int(_header(answer_head, "content-length") or 0)
            )
            self._note(method, target, body, status, kind, answer)
            if self.lose and method == self.lose[0] and urlsplit(target).path.endswith(self.lose[1]):
                self.lose = None
                return False
            length = b"" if status == 204 else b"content-length: %d\r\n" % len(answer)
            client.write(_without(answer_head, ("connection", "content-length", "transfer-encoding"), length) + answer)
            await client.drain()
            return True
        finally:
            writer.close()

    def _note(self, method: str, target: str, body: bytes, status: int, kind: str, answer: bytes) -> None:
        self.exchanges.append(Exchange(method, urlsplit(target).path, status))
        self.problems += self._document.problems(method, target, body, status, kind, answer)


def _header(head: bytes, name: str) -> Optional[str]:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.decode().lower() == name:
            return value.decode().strip()
    return None


def _without(head: bytes, names: tuple[str, ...], more: bytes) -> bytes:
    lines = head.rstrip(b"\r\n").split(b"\r\n")
    kept = [line for line in lines if line.partition(b":")[0].decode().lower() not in names]
    return b"\r\n".join(kept) + b"\r\n" + more + b"\r\n"
