"""Deliveries are verified, genuine ones and others."""

from __future__ import annotations

import base64
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Dict, List, Tuple

import pytest

from conftest import until
from punctual import WebhookError, verify
from punctual._ed25519 import public_key, verifies
from punctual.testing import Server

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
# The example of the Standard Webhooks specification.
BODY = '{"test": 2432232314}'
HEADERS = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}


def test_the_known_example_fits() -> None:
    assert verify(BODY, HEADERS, SECRET, now=1614265330) == "msg_p5jXN8AQM9LWM0D4loKWxJek"
    assert verify(BODY, HEADERS, ["whsec_AAAA", SECRET], now=1614265330)


@pytest.mark.parametrize(
    "body, change, now",
    [
        (BODY + " ", {}, 1614265330),
        (BODY, {"webhook-id": "other"}, 1614265330),
        (BODY, {"webhook-signature": "v1,AAAA v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}, 1614265330),
        (BODY, {"webhook-timestamp": "soon"}, 1614265330),
        (BODY, {}, 1614265330 + 301),
        (BODY, {}, 1614265330 - 301),
    ],
)
def test_others_are_refused(body: str, change: Dict[str, str], now: float) -> None:
    with pytest.raises(WebhookError):
        verify(body, {**HEADERS, **change}, SECRET, now=now)
    with pytest.raises(WebhookError, match="missing"):
        verify(body, {}, SECRET)


def test_ed25519_is_that_of_rfc_8032() -> None:
    seed = bytes.fromhex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")
    public = bytes.fromhex("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
    signature = bytes.fromhex(
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    )
    assert public_key(seed) == public
    assert verifies(public, b"\xaf\x82", signature)
    assert not verifies(public, b"\xaf\x83", signature)
    assert not verifies(public, b"\xaf\x82", signature[:63] + b"\xff")


def test_real_deliveries_are_verified(punctual_server: Server) -> None:
    got: List[Tuple[bytes, Dict[str, str]]] = []

    class Target(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append((self.rfile.read(int(self.headers["content-length"])), dict(self.headers.items())))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    target = HTTPServer(("127.0.0.1", 0), Target)
    threading.Thread(target=target.serve_forever, daemon=True).start()
    seed = bytes(range(32))
    pair = "whsk_" + base64.b64encode(seed).decode()
    public = "whpk_" + base64.b64encode(public_key(seed)).decode()
    url = f"http://127.0.0.1:{target.server_port}/"
    punctual_server.client.put_queue("hooks", mode="http", url=url, secret=[SECRET, pair])
    punctual_server.client.push("hooks", {"a": 1}, id="d1")
    until(lambda: got)
    body, headers = got[0]
    for secret in (SECRET, pair, public):
        assert verify(body, headers, secret)
        with pytest.raises(WebhookError):
            verify(body + b"x", headers, secret)
    with pytest.raises(WebhookError):
        verify(body, headers, SECRET, now=time.time() + 1_000)
    target.shutdown()
