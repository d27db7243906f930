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
    """Number of entries of an array."""
    size: int = a.size
    return size


def part(a: Any, first: int, end: int) -> Any:
    """View of the entries, or rows, of an array from ``first`` up to ``end``, which is not included."""
    return a[first:end]


def block(a: Any, first: int, rows: int, columns: int) -> Any:
    """View, as a matrix (rows, columns), of consecutive entries of an array from the flat index ``first`` on."""
    return a.reshape(-1)[first : first + rows * columns].reshape(rows, columns)


def flat(a: Any) -> Any:
    """View of all entries of an array as a vector."""
    return a.reshape(-1)


def get(a: Any, i: int) -> Any:
    """Entry of an array by its flat index."""
    return a.reshape(-1)[i]


def put(a: Any, i: int, value: complex) -> None:
    """Set one entry of an array by its flat index."""
    a.reshape(-1)[i] = value


def fill(a: Any, value: complex) -> None:
    """Set all entries of an array to a value."""
    a[...] = value


def copy(source: Any, target: Any) -> None:
    """Copy all entries of ``source`` to the first entries of ``target``."""
    target.reshape(-1)[: source.size] = source.reshape(-1)


def average(first: Any, second: Any, out: Any) -> None:
    """Write the mean of two arrays, entry by entry, to ``out``."""
    out[...] = 0.5 * (first + second)


def row_product(d: int, a: Any, b: Any) -> Any:
    """Sum of the products a_i b_i of the first d entries of two vectors."""
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


def larger_int(a: int, b: int) -> int:
    """Larger of two integers."""
    return max(a, b)


def smaller_int(a: int, b: int) -> int:
    """Smaller of two integers."""
    return min(a, b)


def absolute_int(x: int) -> int:
    """Absolute value of an integer."""
    return abs(x)


def divided(x: complex, y: complex) -> Any:
    """Quotient x/y, also of complex numbers; equal bit by bit to the quotient in compiled loops."""
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
    """Sum |Re x| + |Im x| of a number that may be complex, which is cheaper than its absolute value."""
    return abs(x.real) + abs(x.imag)


def padded(count: Any) -> Any:
    """Smallest multiple of LANES that is at least ``count``."""
    return -(-count // LANES) * LANES


def stored(w: Any) -> Any:
    """Number of entries in which a row of a banded matrix of half bandwidth w is stored (see algebra.band)."""
    return padded(3 * w + LANES) + LANES


def subtract(A: Any, i: int, B: Any, j: int, factor: complex, count: int) -> None:
    """Apply A[i + k] −= ``factor`` · B[j + k], k = 0, 1, …, to ``count`` entries; all indices are flat.

    ``count`` is rounded up to a multiple of LANES.
    """
    count = min(padded(count), A.size - i, B.size - j)  # a view may end within a lane
    A.reshape(-1)[i : i + count] -= _times(factor, B.reshape(-1)[j : j + count])


def _times(factor: complex, values: Any) -> Any:
    """Products of a factor and values; of complex ones by real operations, as in compiled loops (NumPy may fuse)."""
    if not np.iscomplexobj(values):
        return factor * values
    a, b, products = factor.real, factor.imag, np.empty_like(values)
    products.real = a * values.real - b * values.imag
    products.imag = a * values.imag + b * values.real
    return products


def subtract_rows(A: Any, i: int, f: int, j: int, step: int, count: int) -> None:
    """Subtract Σ_k A[f + k] A[j + k step:], k = 0 … LANES − 1, from ``count`` entries A[i:]; all indices are flat.

    ``count`` is rounded up to a multiple of LANES.
    """
    factors = [get(A, f + k) for k in range(LANES)]
    for k, factor in enumerate(factors):
        subtract(A, i, A, j + k * step, factor, count)


def mix(out: Any, i: int, x: complex, A: Any, y: complex, B: Any, count: int) -> None:
    """Write x A + y B to ``out`` in ``count`` entries, rounded up to a multiple of LANES, from the flat index i on."""
    o, a, b = (v.reshape(-1)[i : i + padded(count)] for v in (out, A, B))
    o[...] = _times(x, a) + _times(y, b)


def add_product(
    out: Any, o: int, share: float, A: Any, a: int, B: Any, b: int, rows: int, inner: int, columns: int
) -> None:
    """Add ``share`` A B to ``out``, with ``share`` ±1, for parts of the matrices.

    The parts begin at the flat indices o, a and b; A has ``rows`` rows and ``inner`` columns, B has ``columns``
    columns.
    """
    if rows <= 0 or inner <= 0 or columns <= 0:
        return
    to, left, right = (_part_at(X, *x) for X, x in ((out, (o, columns)), (A, (a, inner)), (B, (b, columns))))
    for k in range(inner):
        to[:rows] += (share * left[:rows, k, None]) * right[k]


def _part_at(A: Any, first: int, columns: int) -> Any:
    """View of a matrix from the entry with the flat index ``first`` on: all rows from there, ``columns`` columns."""
    row, column = divmod(first, A.shape[1])
    return A[row:, column : column + columns]


def add_row(out: Any, o: int, factor: float, B: Any, b: int, count: int) -> None:
    """Apply out[o + k] += ``factor`` · B[b + k], k = 0 … ``count`` − 1; all indices are flat."""
    out.reshape(-1)[o : o + count] += factor * B.reshape(-1)[b : b + count]


def prefetch(A: Any, i: int, count: int) -> None:
    """Do nothing: compiled loops prefetch ``count`` entries of A from the flat index i on into the cache."""


def combine(
    d: int, out: Any, i: int, mean: Any, form: Any, val: Any, first: int, last: int, shift: int, u: Any, col: Any
) -> None:
    """Write Σ_j mean[i, j] form[j] + Σ_e val[e + shift] u[col[e]] into row i of ``out``.

    j runs over the first d rows of ``form``, e from ``first`` up to ``last``, which is not included.
    """
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
    """Apply :func:`combine` for two vectors: u to ``out``, and du with the next d rows of ``form`` to ``more``."""
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
    """Call the function at an address with an integer, and return its integer result."""
    value: int = _function_at(address, ctypes.c_ssize_t, ctypes.c_ssize_t)(int(x))
    return value


def call_two(address: int, x: int, y: int) -> int:
    """Call the function at an address with two integers, and return its integer result."""
    value: int = _function_at(address, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_ssize_t)(int(x), int(y))
    return value


def bind(structure: Any, value: Any) -> None:
    """Raise TypeError, as uncompiled loops have no structures that could refer to arrays (see binding.hpp)."""
    raise TypeError("uncompiled loops accept a tuple of arrays instead of a structure")
