"""Checks of arguments: each error names the argument, what was given and what would be right."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

ROUND_OFF = 1e-12
"""Relative defect up to which an assembled matrix counts as symmetric, skew or positive: assembly sums
thousands of products in double precision, each with a relative error of 1e-16."""

LISTED = 8
"""Number of numbers that an error lists."""

LARGE = 20000
"""Number of rows from which on a sparse matrix is factored by the solver for large ones, which announces it."""

SHOWN = 200
"""Number of letters of a value that an error shows."""

NAMES = 30
"""Number of names that an error lists."""

SMALL = 40_000
"""Number of entries of a matrix, zeros among them, up to which dense operations are faster."""

FEW = 9
"""Number of entries up to which an error shows the value itself: that of a rotation matrix."""

_NAME = re.compile(r"(?!\.\.?$)[^/\0\ud800-\udfff]+")

_QUANTITY = re.compile(r"\s*[-+]?\.?\d")
_NO_NUMBERS = (str, bytes, bool, np.bool_, np.datetime64, np.timedelta64)
"""Types that float() accepts, or may accept, although they are not numbers."""


def shown(value: Any) -> str:
    """Text of a value for a message, cut if it is long.

    For a list or dict of many entries the text names their number, for an array of many entries its shape.
    """
    match value:
        case np.ndarray() if value.size > FEW:
            return f"an array of shape {value.shape}"
        case list() | tuple() if len(value) > FEW:
            return f"a {type(value).__name__} of {len(value)}"
        case dict() if len(value) > FEW:
            return f"a dict of {len(value)}: {', '.join(map(repr, list(value)[:3]))}, …"
    try:
        text = " ".join(repr(value).split()) if isinstance(value, np.ndarray) else repr(value)
    except Exception:  # raised by a foreign class
        text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def unit_hint(value: Any) -> str:
    """Text to add to an error about numbers if the value is a text such as "30 deg"; empty for other values."""
    entries = value if isinstance(value, list | tuple) else [value]
    is_quantity = any(isinstance(entry, str) and _QUANTITY.match(entry) for entry in entries)
    return ": texts are not read here, write numbers of SI units" if is_quantity else ""


def real(name: str, value: Any) -> None:
    """Raise ValueError for complex numbers, whose imaginary parts NumPy would drop."""
    if isinstance(value, complex | np.complexfloating) or getattr(getattr(value, "dtype", None), "kind", "") == "c":
        raise ValueError(f"{name} must be real, got complex numbers")


def number(name: str, value: Any) -> float:
    """Value as a float; raises ValueError unless it is a finite number, also for texts, truth values and dates."""
    real(name, value)
    try:
        if isinstance(value, _NO_NUMBERS) or (isinstance(value, np.ndarray) and value.ndim):
            raise TypeError
        result = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {shown(value)}{unit_hint(value)}") from None
    except OverflowError:
        raise ValueError(f"{name} must be finite, got {shown(value)}") from None
    if not np.isfinite(result):
        raise ValueError(f"{name} must be finite, got {value}")
    return result


def positive(name: str, value: float, unit: str = "") -> float:
    """Value as a float; raises ValueError unless it is a finite number > 0."""
    result = number(name, value)
    if result <= 0.0:
        raise ValueError(f"{name} must be positive, got {value}{' ' + unit if unit else ''}")
    return result


def value_of(name: str, function: Callable[[Any], Any], at: Any) -> Any:
    """Value ``function(at)``; its exceptions become a ValueError with ``name`` and, if ``at`` is a number, the time."""
    try:
        return function(at)
    except Exception as error:
        when = f" at t = {at} s" if isinstance(at, float | int) else ""
        raise ValueError(f"{name}{when} raised {type(error).__name__}: {error}") from error


def result_of(name: str, function: Callable[..., Any], at: Any, *, shape: tuple[int | None, ...]) -> np.ndarray:
    """Value ``function(at)`` as a read-only float array; raises ValueError unless it is finite and has the given shape.

    None in the shape is any length.
    """
    return array(f"the value of {name}", value_of(name, function, at), shape)


def not_negative(name: str, value: float, unit: str = "") -> float:
    """Value as a float; raises ValueError unless it is a finite number >= 0."""
    result = number(name, value)
    if result < 0.0:
        raise ValueError(f"{name} must not be negative, got {value}{' ' + unit if unit else ''}")
    return result


def whole(name: str, value: Any) -> int:
    """Value as an int; raises ValueError unless it has an integer type of Python or NumPy, also for 2.0."""
    try:
        if isinstance(value, (*_NO_NUMBERS, np.ndarray)):
            raise TypeError
        return index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, got {shown(value)}") from None


def count(name: str, value: int, least: int = 1) -> int:
    """Value as an int; raises ValueError unless it is a whole number >= ``least``."""
    result = whole(name, value)
    if result < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    if result > sys.maxsize:
        raise ValueError(f"{name} must be at most {sys.maxsize}, got {shown(value)}")
    return result


def choice(name: str, value: str, known: Iterable[str]) -> str:
    """Return the word ``value``; raise ValueError unless it is one of the ``known`` words."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, names))}, got {shown(value)}")
    return value


def name(of: str, given: Any) -> str:
    """Return the name ``given``; raise ValueError unless it is a text that can name a group in a file.

    It must not be empty, "." or "..", and must not contain "/", NUL or lone surrogates. ``of`` says what is named.
    """
    if not isinstance(given, str) or not _NAME.fullmatch(given):
        raise ValueError(f"the name of {of} must be a text without '/', and not empty or '.', got {shown(given)}")
    return given


def lookup(kind: str, name: str, known: Mapping[str, Any], owner: str = "") -> Any:
    """Entry ``known[name]``; raises ValueError, which lists the known names, for an unknown one.

    ``kind`` says what is named, ``owner`` what has the names. Of many names the error lists the first ones and the
    nearest.
    """
    if isinstance(name, str) and name in known:
        return known[name]
    names, hint = ", ".join(map(repr, list(known)[:NAMES])) or "none", ""
    if len(known) > NAMES:
        near = get_close_matches(str(name), list(known), n=1)
        names, hint = f"{names}, … ({len(known)} in all)", f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"no {kind} {shown(name)}: {hint}{owner + ' has' if owner else 'there are'} {names}")


def numbers(name: str, value: Any, *, complex_too: bool = False) -> np.ndarray:
    """Value as an array of finite real numbers of any shape; raises ValueError for other values.

    Texts, truth values, dates and masked entries are refused; complex numbers, too, unless ``complex_too``.
    """
    if type(value) is np.ndarray and value.dtype == np.float64 and np.isfinite(value).all():  # the usual case
        return value
    try:
        given = np.asarray(value)
        kind = given.dtype.kind
        if kind not in "iufcO" or np.ma.is_masked(value):
            raise TypeError
        if kind == "O" and any(isinstance(v, _NO_NUMBERS) or v is None for v in given.flat):
            raise TypeError
        is_complex = kind == "c"
        result = given if is_complex else np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise ValueError(f"{name} must be numbers, got {shown(value)}{unit_hint(value)}") from None
    if is_complex and not complex_too:
        raise ValueError(f"{name} must be real, got complex numbers")
    if not np.isfinite(result).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return result


def broadcast(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Read-only view of finite real numbers with the given shape; a single number stands for all entries.

    Raises ValueError for other values and shapes.
    """
    given = numbers(name, value)
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(f"{name} must have shape {shape} or be one number for all, got shape {given.shape}") from None


def array(name: str, value: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Read-only copy of a value as a float array; raises ValueError unless it is finite and has the given shape.

    None in the shape is any length.
    """
    result = np.array(numbers(name, value))
    if result.ndim != len(shape) or any(
        want is not None and want != have for want, have in zip(shape, result.shape, strict=False)
    ):
        wanted = str(tuple("any" if n is None else n for n in shape)).replace("'", "")
        raise ValueError(f"{name} must have shape {wanted}, got {result.shape}")
    result.setflags(write=False)
    return result


def matrix(name: str, value: Any, shape: tuple[int, int]) -> Any:
    """Read-only copy of a matrix as a float array, or a CSR array if it is sparse.

    Raises ValueError unless it is finite and has the given shape.
    """
    if not sparse.issparse(value):
        return array(name, value, shape)
    real(name, value)
    result = sparse.csr_array(value, dtype=float, copy=True)
    if result.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {result.shape}")
    if not np.all(np.isfinite(result.data)):
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return result


def path(name: str, value: Any) -> Path:
    """Value as a Path; raises ValueError unless it is a path or the text of one."""
    try:
        usable = isinstance(value, str | os.PathLike) and b"\0" not in os.fsencode(value) and os.fspath(value)
    except UnicodeEncodeError:  # lone surrogate
        usable = False
    if not usable:
        raise ValueError(f"{name} must be a path, got {shown(value)}")
    return Path(value)


def two_dimensional(name: str, value: Any) -> tuple[int, int]:
    """Shape of a dense or sparse matrix; raises ValueError for values that do not have two axes."""
    try:
        shape = value.shape if sparse.issparse(value) else np.asarray(value).shape
    except (TypeError, ValueError):  # rows of different lengths, or not numbers
        raise ValueError(f"{name} must be a matrix, got {shown(value)}") from None
    if len(shape) != 2:
        raise ValueError(f"{name} must have shape (any, any), got {shape}")
    return shape


def spans(what: str, value: Any, of: str) -> None:
    """Raise ValueError unless a value is a dict of names with slices start:stop.

    ``what`` is the name of the argument. ``of`` says what the slices select, such as "columns of B".
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} must be a dict of names with slices, got {value!r}")
    for key, span in value.items():
        name(f"one of the {what}", key)
        ends = isinstance(span, slice) and all(isinstance(i, int | np.integer) for i in (span.start or 0, span.stop))
        if not ends or span.step not in (None, 1) or not 0 <= (span.start or 0) <= span.stop:
            raise ValueError(f"{what}[{key!r}] must be a slice(start, stop) of the {of}, got {span!r}")


def covering(ports: Mapping[str, slice], inputs: int) -> None:
    """Raise ValueError unless the slices of ports cover each column of B once; ``inputs`` is the number of columns."""
    for port in ports:
        name("a port", port)
    covered = sorted(i for s in ports.values() for i in range(s.start or 0, s.stop))
    if covered != list(range(inputs)):
        raise ValueError(f"ports must cover the {inputs} columns of B once each, got columns {covered}")


def listed(numbers: Any) -> str:
    """Text that lists the first of many integers, and how many there are in all."""
    shown = ", ".join(str(int(n)) for n in numbers[:LISTED])
    return shown + (f", … ({len(numbers)} in all)" if len(numbers) > LISTED else "")


def norm(a: Any) -> float:
    """Frobenius norm of a dense or sparse matrix."""
    return float(np.linalg.norm(a.data)) if sparse.issparse(a) else float(np.linalg.norm(a))


def symmetric(name: str, a: Any) -> None:
    """Raise ValueError unless a matrix is symmetric up to round-off."""
    a = _dense_if_small(a)
    _vanishes(f"{name} must be symmetric: ‖{name} − {name}ᵀ‖/‖{name}‖", a - a.T, a)


def skew(name: str, a: Any) -> None:
    """Raise ValueError unless a matrix is skew-symmetric up to round-off."""
    a = _dense_if_small(a)
    _vanishes(f"{name} must be skew-symmetric: ‖{name} + {name}ᵀ‖/‖{name}‖", a + a.T, a)


def _dense_if_small(a: Any) -> Any:
    """Dense array of a small sparse matrix, for which operations are faster; other matrices are returned unchanged."""
    return a.toarray() if sparse.issparse(a) and a.shape[0] * a.shape[1] <= SMALL else a


def _vanishes(message: str, difference: Any, a: Any) -> None:
    defect, size = norm(difference), norm(a)
    if defect > ROUND_OFF * size:
        raise ValueError(f"{message} = {defect / size:.0e}")
