"""Array views for uncompiled loops: NumPy arrays with the functions of views.hpp."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .callbacks import entry_at

Vec: TypeAlias = np.ndarray
"""Vec, Mat, Ten: arrays in C order with one, two, three indices, of floats, complex numbers (C…) or integers (I…)."""
Mat: TypeAlias = np.ndarray
Ten: TypeAlias = np.ndarray
CVec: TypeAlias = np.ndarray
CMat: TypeAlias = np.ndarray
CTen: TypeAlias = np.ndarray
IVec: TypeAlias = np.ndarray
IMat: TypeAlias = np.ndarray
ITen: TypeAlias = np.ndarray
Number: TypeAlias = complex
"""Type of entries that may be complex."""
ComplexNumber: TypeAlias = complex
LANES = 4
"""Number of entries in a SIMD lane."""


def entries(a: Any) -> int:
    """Number of entries."""
    size: int = a.size
    return size


def part(a: Any, first: int, end: int) -> Any:
    """Entries, or rows, from ``first`` to ``end`` (exclusive)."""
    return a[first:end]


def block(a: Any, first: int, rows: int, columns: int) -> Any:
    """Matrix (rows, columns) within an array, from its flat index ``first`` on."""
    return a.reshape(-1)[first : first + rows * columns].reshape(rows, columns)


def flat(a: Any) -> Any:
    """All entries as a vector."""
    return a.reshape(-1)


def get(a: Any, i: int) -> Any:
    """Entry by its flat index."""
    return a.reshape(-1)[i]


def put(a: Any, i: int, value: complex) -> None:
    """Set an entry by its flat index."""
    a.reshape(-1)[i] = value


def fill(a: Any, value: complex) -> None:
    """Set all entries."""
    a[...] = value


def copy(source: Any, target: Any) -> None:
    """Copy all entries to the leading ones of the target."""
    target.reshape(-1)[: source.size] = source.reshape(-1)


def average(first: Any, second: Any, out: Any) -> None:
    """Write the mean of two arrays to ``out``."""
    out[...] = 0.5 * (first + second)


def row_product(d: int, a: Any, b: Any) -> Any:
    """Sum of the products of the first d entries."""
    total = 0.0 * a[0] * b[0]
    for i in range(d):
        total += a[i] * b[i]
    return total


def larger(a: float, b: float) -> float:
    """Larger of two floats; the first if one is NaN."""
    return b if b > a else a


def smaller(a: float, b: float) -> float:
    """Smaller of two floats; the first if one is NaN."""
    return b if b < a else a


def most(a: int, b: int) -> int:
    """Larger of two integers."""
    return max(a, b)


def fewest(a: int, b: int) -> int:
    """Smaller of two integers."""
    return min(a, b)


def distance(x: int) -> int:
    """Absolute value of an integer."""
    return abs(x)


def divided(x: complex, y: complex) -> Any:
    """Quotient, for complex numbers by the conjugate, bitwise equal to that of compiled loops."""
    if not isinstance(y, complex):
        return complex(x.real / y, x.imag / y) if isinstance(x, complex) else x / y
    size = y.real * y.real + y.imag * y.imag
    if not isinstance(x, complex):
        return complex(x * y.real / size, -x * y.imag / size)
    return complex((x.real * y.real + x.imag * y.imag) / size, (x.imag * y.real - x.real * y.imag) / size)


def real_part(x: complex) -> float:
    """Real part of a number that may be complex."""
    return x.real


def magnitude(x: complex) -> float:
    """Magnitude |Re x| + |Im x|."""
    return abs(x.real) + abs(x.imag)


def padded(count: Any) -> Any:
    """Smallest multiple of LANES that is at least ``count``."""
    return -(-count // LANES) * LANES


def stored(w: Any) -> Any:
    """Stored row width of a banded matrix of half bandwidth w (see algebra.band)."""
    return padded(3 * w + LANES) + LANES


def take(A: Any, i: int, B: Any, j: int, factor: complex, count: int) -> None:
    """Compute A[i:] −= factor · B[j:] for ``count`` entries, rounded up to a multiple of LANES."""
    count = min(padded(count), A.size - i, B.size - j)  # a view may end within a lane
    A.reshape(-1)[i : i + count] -= _times(factor, B.reshape(-1)[j : j + count])


def _times(factor: complex, values: Any) -> Any:
    """Complex products by real operations as in compiled loops, as NumPy may use fused operations."""
    if not np.iscomplexobj(values):
        return factor * values
    a, b, products = factor.real, factor.imag, np.empty_like(values)
    products.real = a * values.real - b * values.imag
    products.imag = a * values.imag + b * values.real
    return products


def take_rows(A: Any, i: int, f: int, j: int, step: int, count: int) -> None:
    """Compute A[i:] −= Σ_k A[f + k] A[j + k step:], k < LANES, for ``count`` entries, rounded up likewise."""
    factors = [get(A, f + k) for k in range(LANES)]
    for k, factor in enumerate(factors):
        take(A, i, A, j + k * step, factor, count)


def mix(out: Any, i: int, x: complex, A: Any, y: complex, B: Any, count: int) -> None:
    """Compute out[i:] = x A[i:] + y B[i:] for ``count`` entries, rounded up to a multiple of LANES."""
    o, a, b = (v.reshape(-1)[i : i + padded(count)] for v in (out, A, B))
    o[...] = _times(x, a) + _times(y, b)


def add_product(
    out: Any, o: int, share: float, A: Any, a: int, B: Any, b: int, rows: int, inner: int, columns: int
) -> None:
    """Add share·A B, with ``share`` ±1, to ``out``, for parts of the matrices that begin at the entries o, a and b."""
    if rows <= 0 or inner <= 0 or columns <= 0:
        return
    to, left, right = (_part_at(X, *x) for X, x in ((out, (o, columns)), (A, (a, inner)), (B, (b, columns))))
    for k in range(inner):
        to[:rows] += (share * left[:rows, k, None]) * right[k]


def _part_at(A: Any, first: int, columns: int) -> Any:
    """Part of a matrix from entry ``first`` on: all further rows, and a number of columns."""
    row, column = divmod(first, A.shape[1])
    return A[row:, column : column + columns]


def add_row(out: Any, o: int, factor: float, B: Any, b: int, count: int) -> None:
    """Compute out[o:] += factor · B[b:] for ``count`` entries."""
    out.reshape(-1)[o : o + count] += factor * B.reshape(-1)[b : b + count]


def prefetch(A: Any, i: int, count: int) -> None:
    """Prefetch entries into the cache; no effect in uncompiled loops."""


def combine(
    d: int, out: Any, i: int, mean: Any, form: Any, val: Any, first: int, last: int, shift: int, u: Any, col: Any
) -> None:
    """Compute out[i] = Σ_j mean[i, j] form[j] + Σ_e val[e + shift] u[col[e]], e from ``first`` to ``last``."""
    _combine(d, out, i, mean, form, 0, val, (first, last, shift), u, col)


def combine_two(
    d: int,
    out: Any,
    more: Any,
    i: int,
    mean: Any,
    form: Any,
    val: Any,
    first: int,
    last: int,
    shift: int,
    u: Any,
    du: Any,
    col: Any,
) -> None:
    """Apply :func:`combine` to two vectors at once, the second with the following rows of ``form``."""
    _combine(d, out, i, mean, form, 0, val, (first, last, shift), u, col)
    _combine(d, more, i, mean, form, d, val, (first, last, shift), du, col)


def _combine(
    d: int, out: Any, i: int, mean: Any, form: Any, row: int, val: Any, ends: tuple[int, int, int], u: Any, col: Any
) -> None:
    first, last, shift = ends
    total = np.zeros(val.shape[1])
    for j in range(d):
        total += mean[i, j] * form[row + j]
    for e in range(first, last):
        total += u[col[e]] * val[e + shift]
    out[i] = total


def _function_at(address: int, result: Any, *arguments: Any) -> Callable[..., Any]:
    function: Callable[..., Any] = entry_at(address) or ctypes.CFUNCTYPE(result, *arguments)(int(address))
    return function


def call_one(address: int, x: int) -> int:
    """Call the function of an integer at an address."""
    value: int = _function_at(address, ctypes.c_ssize_t, ctypes.c_ssize_t)(int(x))
    return value


def call_two(address: int, x: int, y: int) -> int:
    """Call the function of two integers at an address."""
    value: int = _function_at(address, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_ssize_t)(int(x), int(y))
    return value


def bind(structure: Any, value: Any) -> None:
    """Raise TypeError: only compiled loops have structures (see binding.hpp)."""
    raise TypeError("uncompiled loops accept a tuple of arrays instead of a structure")
