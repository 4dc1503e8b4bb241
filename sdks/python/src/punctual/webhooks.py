"""Verifies deliveries: Standard Webhooks, signatures `v1` (HMAC-SHA256) and `v1a` (Ed25519)."""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from hashlib import sha256
from typing import List, Mapping, Optional, Sequence, Union

from ._ed25519 import public_key, verifies
from .errors import PunctualError

# How far the sender's clock and the receiver's may be apart.
TOLERANCE_S = 300.0


class WebhookError(PunctualError):
    """The delivery is not genuine, or too old."""


def verify(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = TOLERANCE_S,
    now: Optional[float] = None,
) -> str:
    """Checks a delivery and returns its `webhook-id`, by which a repeat is recognised.

    `body` is the request's body as it came, before any parsing. `secret` is one or several of: `whsec_…` or plain
    text (HMAC), `whpk_…` (a public Ed25519 key) or `whsk_…` (the key pair). One signature that fits is enough.
    """
    named = {name.lower(): value for name, value in headers.items()}
    try:
        id_, stamp, signed = (named[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        sent = float(int(stamp))
    except KeyError as missing:
        raise WebhookError(f"the header {missing} is missing") from None
    except ValueError:
        raise WebhookError("webhook-timestamp is no number") from None
    if abs((time.time() if now is None else now) - sent) > tolerance:
        raise WebhookError("webhook-timestamp is too far from now")
    content = body.encode() if isinstance(body, str) else body
    message = id_.encode() + b"." + stamp.encode() + b"." + content
    signatures = [part.partition(",") for part in signed.split()]
    for key in [secret] if isinstance(secret, str) else secret:
        is_ed25519 = key.startswith(("whpk_", "whsk_"))
        given = [decoded(value) for kind, _, value in signatures if kind == ("v1a" if is_ed25519 else "v1")]
        if _fits(key, is_ed25519, message, given):
            return id_
    raise WebhookError("no signature fits")


def _fits(key: str, is_ed25519: bool, message: bytes, given: List[bytes]) -> bool:
    if is_ed25519:
        public = decoded(key[5:])
        if key.startswith("whsk_"):
            public = public_key(public[:32])
        return any(verifies(public, message, signature) for signature in given)
    secret = decoded(key[6:]) if key.startswith("whsec_") else key.encode()
    expected = hmac.new(secret, message, sha256).digest()
    return any([hmac.compare_digest(expected, signature) for signature in given])


def decoded(text: str) -> bytes:
    """Base64, standard or URL-safe, padded or not; nothing if it is neither."""
    text = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return b""
