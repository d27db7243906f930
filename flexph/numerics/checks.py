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
"""Numbers that an error lists of many."""

LARGE = 20000
"""Rows from which on a sparse matrix is factored by the solver of large ones, which announces it."""

SHOWN = 200
"""Letters that an error shows of a value."""

NAMES = 30
"""Names that an error lists."""

FEW = 9
"""Entries up to which a value is shown: those of a rotation matrix."""

_NAME = re.compile(r"(?!\.\.?$)[^/\0\ud800-\udfff]+")

_NO_NUMBERS = (str, bytes, bool, np.bool_, np.datetime64, np.timedelta64)
"""What float() takes, or may take, without being a number."""


def shown(value: Any) -> str:
    """A value in a message: of many numbers or entries the shape or their count, and what is long is cut."""
    match value:
        case np.ndarray() if value.size > FEW:
            return f"an array of shape {value.shape}"
        case list() | tuple() if len(value) > FEW:
            return f"a {type(value).__name__} of {len(value)}"
        case dict() if len(value) > FEW:
            return f"a dict of {len(value)}: {', '.join(map(repr, list(value)[:3]))}, …"
    try:
        text = " ".join(repr(value).split()) if isinstance(value, np.ndarray) else repr(value)
    except Exception:  # of somebody's class
        text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def real(name: str, value: Any) -> None:
    """No complex numbers, whose imaginary parts numpy would drop: an array, a sparse matrix or a number."""
    if isinstance(value, complex | np.complexfloating) or getattr(getattr(value, "dtype", None), "kind", "") == "c":
        raise ValueError(f"{name} must be real, got complex numbers")


def number(name: str, value: Any) -> float:
    """A finite number; neither a text, a truth value nor a date."""
    real(name, value)
    try:
        if isinstance(value, _NO_NUMBERS) or (isinstance(value, np.ndarray) and value.ndim):
            raise TypeError
        result = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {shown(value)}") from None
    except OverflowError:
        raise ValueError(f"{name} must be finite, got {shown(value)}") from None
    if not np.isfinite(result):
        raise ValueError(f"{name} must be finite, got {value}")
    return result


def positive(name: str, value: float, unit: str = "") -> float:
    """A finite number > 0."""
    result = number(name, value)
    if result <= 0.0:
        raise ValueError(f"{name} must be positive, got {value}{' ' + unit if unit else ''}")
    return result


def asked(name: str, function: Callable[[Any], Any], at: Any) -> Any:
    """function(at); what it raises is a ValueError that says whose function it was, and at which time (a number)."""
    try:
        return function(at)
    except ValueError:
        raise
    except Exception as error:
        when = f" at t = {at} s" if isinstance(at, float | int) else ""
        raise ValueError(f"{name}{when} raised {type(error).__name__}: {error}") from error


def answer(name: str, function: Callable[..., Any], at: Any, *, shape: tuple[int | None, ...]) -> np.ndarray:
    """What a function returns, checked: a finite float array of the given shape."""
    return array(f"the value of {name}", asked(name, function, at), shape)


def not_negative(name: str, value: float, unit: str = "") -> float:
    """A finite number >= 0."""
    result = number(name, value)
    if result < 0.0:
        raise ValueError(f"{name} must not be negative, got {value}{' ' + unit if unit else ''}")
    return result


def whole(name: str, value: Any) -> int:
    """A whole number, of Python or numpy: 2.0 is none."""
    try:
        if isinstance(value, (*_NO_NUMBERS, np.ndarray)):
            raise TypeError
        return index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, got {shown(value)}") from None


def count(name: str, value: int, least: int = 1) -> int:
    """A whole number >= least, of things that can be counted."""
    result = whole(name, value)
    if result < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    if result > sys.maxsize:
        raise ValueError(f"{name} must be at most {sys.maxsize}, got {shown(value)}")
    return result


def choice(name: str, value: str, known: Iterable[str]) -> str:
    """One of the known words."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, names))}, got {shown(value)}")
    return value


def name(of: str, given: Any) -> str:
    """A name that may be that of a group in a file: a text, not empty or ".", without "/", NUL and half characters."""
    if not isinstance(given, str) or not _NAME.fullmatch(given):
        raise ValueError(f"the name of {of} must be a text without '/', and not empty or '.', got {shown(given)}")
    return given


def lookup(kind: str, name: str, known: Mapping[str, Any], owner: str = "") -> Any:
    """known[name], or an error that lists the names that exist, of many the nearest and the first."""
    if isinstance(name, str) and name in known:
        return known[name]
    names, hint = ", ".join(map(repr, list(known)[:NAMES])) or "none", ""
    if len(known) > NAMES:
        near = get_close_matches(str(name), list(known), n=1)
        names, hint = f"{names}, … ({len(known)} in all)", f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"no {kind} {shown(name)}: {hint}{owner + ' has' if owner else 'there are'} {names}")


def numbers(name: str, value: Any, *, complex_too: bool = False) -> np.ndarray:
    """Finite real numbers as a float array of any shape; no texts, truth values, dates or masked entries."""
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
        raise ValueError(f"{name} must be numbers, got {shown(value)}") from None
    if is_complex and not complex_too:
        raise ValueError(f"{name} must be real, got complex numbers")
    if not np.isfinite(result).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return result


def broadcast(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Finite real numbers of a shape; one for all, or one for each."""
    given = numbers(name, value)
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(f"{name} must have shape {shape} or be one for all, got {given.shape}") from None


def array(name: str, value: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """A finite float array of the given shape (None is any length), read only."""
    result = np.array(numbers(name, value))
    if result.ndim != len(shape) or any(
        want is not None and want != have for want, have in zip(shape, result.shape, strict=False)
    ):
        wanted = str(tuple("any" if n is None else n for n in shape)).replace("'", "")
        raise ValueError(f"{name} must have shape {wanted}, got {result.shape}")
    result.setflags(write=False)
    return result


def matrix(name: str, value: Any, shape: tuple[int, int]) -> Any:
    """A finite matrix of the given shape: a read-only float array, or a scipy CSR array if it came sparse."""
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
    """A path, or a text that can be one."""
    try:
        usable = isinstance(value, str | os.PathLike) and b"\0" not in os.fsencode(value) and os.fspath(value)
    except UnicodeEncodeError:  # half a character
        usable = False
    if not usable:
        raise ValueError(f"{name} must be a path, got {shown(value)}")
    return Path(value)


def two_dimensional(name: str, value: Any) -> tuple[int, int]:
    """Shape of a matrix, dense or sparse."""
    try:
        shape = value.shape if sparse.issparse(value) else np.asarray(value).shape
    except (TypeError, ValueError):  # rows of different lengths, no numbers at all
        raise ValueError(f"{name} must be a matrix, got {shown(value)}") from None
    if len(shape) != 2:
        raise ValueError(f"{name} must have shape (any, any), got {shape}")
    return shape


def spans(what: str, value: Any, of: str) -> None:
    """Names with a slice start:stop each, of things such as "columns of B"."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} must be a dict of names with slices, got {value!r}")
    for key, span in value.items():
        name(f"one of the {what}", key)
        ends = isinstance(span, slice) and all(isinstance(i, int | np.integer) for i in (span.start or 0, span.stop))
        if not ends or span.step not in (None, 1) or not 0 <= (span.start or 0) <= span.stop:
            raise ValueError(f"{what}[{key!r}] must be a slice(start, stop) of the {of}, got {span!r}")


def covering(ports: Mapping[str, slice], inputs: int) -> None:
    """Ports take every column of B once."""
    for port in ports:
        name("a port", port)
    covered = sorted(i for s in ports.values() for i in range(s.start or 0, s.stop))
    if covered != list(range(inputs)):
        raise ValueError(f"ports must cover the {inputs} columns of B once each, got columns {covered}")


def listed(numbers: Any) -> str:
    """The first of many numbers, as words."""
    shown = ", ".join(str(int(n)) for n in numbers[:LISTED])
    return shown + (f", … ({len(numbers)} in all)" if len(numbers) > LISTED else "")


def norm(a: Any) -> float:
    """Frobenius norm of a dense or sparse matrix."""
    return float(np.linalg.norm(a.data)) if sparse.issparse(a) else float(np.linalg.norm(a))


def symmetric(name: str, a: Any) -> None:
    """A = Aᵀ up to round-off."""
    _vanishes(f"{name} must be symmetric: ‖{name} − {name}ᵀ‖/‖{name}‖", a - a.T, a)


def skew(name: str, a: Any) -> None:
    """A = −Aᵀ up to round-off."""
    _vanishes(f"{name} must be skew-symmetric: ‖{name} + {name}ᵀ‖/‖{name}‖", a + a.T, a)


def _vanishes(message: str, difference: Any, a: Any) -> None:
    defect, size = norm(difference), norm(a)
    if defect > ROUND_OFF * size:
        raise ValueError(f"{message} = {defect / size:.0e}")
