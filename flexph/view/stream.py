"""Stream of arrays as 16-bit numbers, which ``browser/stream.js`` reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics.arrays import Array

TYPES = {"i2": "<i2", "u2": "<u2", "u4": "<u4", "f4": "<f4"}
LARGEST = 32767.0
"""Largest 16-bit number."""
RANKS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32)
"""Numbers of modes that are tested."""

Told = dict[str, Any]


class Stream:
    """Writer of arrays one after another; equal arrays are stored once.

    The low bytes of an array precede the high ones, which gzip compresses better.
    """

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self._known: dict[tuple[bytes, str], Told] = {}

    def add(self, values: Array, kind: str) -> Told:
        """Append an array in a number type; return its reference in the stream."""
        numbers = np.ascontiguousarray(values.astype(TYPES[kind]))
        raw = numbers.view(np.uint8).reshape(numbers.size, -1).T.tobytes()
        key = raw, kind
        if key not in self._known:
            self._known[key] = {"offset": self._size, "count": int(numbers.size), "type": kind}
            self._chunks.append(raw)
            self._size += len(raw)
        return self._known[key]

    def contents(self) -> bytes:
        """Bytes of all arrays."""
        return b"".join(self._chunks)


def add_shares(stream: Stream, values: Array) -> Told:
    """Append numbers as 16-bit shares of the largest one; return their reference."""
    step = (float(np.abs(values).max(initial=0.0)) or 1.0) / LARGEST
    return {"numbers": stream.add(np.round(values / step), "i2"), "step": step}


def add_path(stream: Stream, values: Array) -> Told:
    """Append numbers (k, n) at k times as 16-bit shares of the largest one, each as the change from the time before.

    Changes wrap around at 16 bits, as their sums do in the browser. Return their reference.
    """
    step = (float(np.abs(values).max(initial=0.0)) or 1.0) / LARGEST
    whole = np.round(values / step).astype(np.int32)
    changes = np.diff(whole, axis=0, prepend=0).astype(np.int16)
    return {"changes": stream.add(changes.T, "i2"), "step": step, "width": values.shape[1]}


def add_series(stream: Stream, values: Array, tolerance: float) -> Told | None:
    """Append numbers (k, n) at k times to a tolerance; return their reference, None if all are smaller than it.

    They are stored as a mean and as few modes as reach the tolerance, or as changes from time to time if that takes
    fewer numbers.
    """
    if float(np.abs(values).max(initial=0.0)) <= tolerance:
        return None
    return _as_modes(stream, values, tolerance) or _as_changes(stream, values, tolerance)


def _as_modes(stream: Stream, values: Array, tolerance: float) -> Told | None:
    """Append the mean and modes of a singular value decomposition; return None if they save no numbers."""
    k, n = values.shape
    largest = float(np.abs(values).max())
    mean = np.round(values.mean(axis=0) / largest * LARGEST)
    rest = values - mean * (largest / LARGEST)
    squares, vectors = np.linalg.eigh(rest @ rest.T)
    squares, vectors = squares[::-1], vectors[:, ::-1]
    most = int(0.45 * k * n / (n + 2 * k))
    for rank in (rank for rank in RANKS if rank <= most):
        # a mean square of the remainder above the tolerance rules out that all its entries are within it
        if float(np.maximum(squares[rank:], 0.0).sum()) > tolerance**2 * values.size:
            continue
        weights = vectors[:, :rank].astype(np.float32)
        modes = weights.T @ rest
        steps = (np.abs(modes).max(axis=1) / LARGEST).clip(np.finfo(float).tiny)
        shares = np.round(modes / steps[:, None])
        coefficients = (weights * steps).astype(np.float32)
        if np.abs(coefficients @ shares - rest).max() <= tolerance:
            told = {"rank": rank, "coefficients": stream.add(coefficients, "f4"), "modes": stream.add(shares, "i2")}
            return told | {"mean": stream.add(mean, "i2"), "step": largest / LARGEST}
    return None


def _as_changes(stream: Stream, values: Array, tolerance: float) -> Told:
    largest = float(np.abs(values).max())
    step = largest / max(2.0, min(LARGEST, np.ceil(largest / tolerance)))
    whole = np.round(values / step).astype(np.int32)
    changes = np.diff(whole, axis=0, prepend=0).astype(np.int16)
    return {"rank": 0, "changes": stream.add(changes, "i2"), "step": step}
