"""Ed25519 verification (RFC 8032, section 5.1), so that the package needs no compiled dependency.

Only public values are computed with where signatures are verified: no timing can betray a secret.
"""

from __future__ import annotations

from hashlib import sha512
from typing import Optional, Tuple

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_SQRT_M1 = pow(2, (_P - 1) // 4, _P)

# Extended homogeneous coordinates: x = X/Z, y = Y/Z, xy = T/Z.
_Point = Tuple[int, int, int, int]


def _add(a: _Point, b: _Point) -> _Point:
    e = (a[1] - a[0]) * (b[1] - b[0]) % _P
    f = (a[1] + a[0]) * (b[1] + b[0]) % _P
    g = 2 * a[3] * b[3] * _D % _P
    h = 2 * a[2] * b[2] % _P
    i, j, k, m = f - e, h - g, h + g, f + e
    return (i * j % _P, k * m % _P, j * k % _P, i * m % _P)


def _times(number: int, point: _Point) -> _Point:
    result: _Point = (0, 1, 1, 0)
    while number:
        if number & 1:
            result = _add(result, point)
        point = _add(point, point)
        number >>= 1
    return result


def _equal(a: _Point, b: _Point) -> bool:
    return (a[0] * b[2] - b[0] * a[2]) % _P == 0 and (a[1] * b[2] - b[1] * a[2]) % _P == 0


def _x_of(y: int, sign: int) -> Optional[int]:
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _SQRT_M1 % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    return _P - x if x & 1 != sign else x


def _point_of(encoded: bytes) -> Optional[_Point]:
    if len(encoded) != 32:
        return None
    number = int.from_bytes(encoded, "little")
    y, sign = number & ((1 << 255) - 1), number >> 255
    x = _x_of(y, sign)
    return None if x is None else (x, y, 1, x * y % _P)


_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_BASE_X = _x_of(_BASE_Y, 0) or 0
_BASE: _Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)


def public_key(seed: bytes) -> bytes:
    """The public key of a secret seed."""
    digest = bytearray(sha512(seed).digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    point = _times(int.from_bytes(digest, "little"), _BASE)
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def verifies(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature of the message is that key's."""
    if len(signature) != 64:
        return False
    key, start = _point_of(public), _point_of(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or start is None or s >= _L:
        return False
    digest = int.from_bytes(sha512(signature[:32] + public + message).digest(), "little") % _L
    return _equal(_times(s, _BASE), _add(start, _times(digest, key)))
