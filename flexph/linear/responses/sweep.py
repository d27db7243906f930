"""Frequencies and damping ratios over a pose or a parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy
from scipy import sparse
from scipy.linalg import lstsq
from scipy.sparse.linalg import splu
from tqdm import tqdm

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.memo import read_only
from ...systems.linear import LinearPHDAE, linear_system
from ..eigenmodes.modes import modes
from ..elimination import eliminate
from .zeros import lowest_vectors

SPARE = 4
"""Modes computed beyond those asked for: a followed mode may leave the lowest ones."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """Natural frequencies over a parameter, each column one mode that is followed.

    Attributes
    ----------
    name : str
        Name of the parameter.
    values : array
        (k,).
    frequencies : array
        ω = |s| (k, count) [rad/s].
    ratios : array
        ζ = −Re s/|s| (k, count), zero without dissipation.
    likeness : array
        (k − 1, count) of each mode with that of the value before, 0 to 1 (1 where shapes were not compared).
    failures : mapping
        Messages by the values that were left out.
    """

    name: str
    values: Array
    frequencies: Array
    ratios: Array
    likeness: Array
    failures: Mapping[float, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", check.array("values", self.values, (None,)))
        k = self.values.size
        object.__setattr__(self, "frequencies", check.array("frequencies", self.frequencies, (k, None)))
        shape = self.frequencies.shape
        object.__setattr__(self, "ratios", check.array("ratios", self.ratios, shape))
        object.__setattr__(self, "likeness", check.array("likeness", self.likeness, (max(k - 1, 0), shape[1])))
        object.__setattr__(self, "failures", read_only(self.failures))

    @property
    def poles(self) -> Array:
        """s = ω (−ζ + i√(1 − ζ²)), (k, count) [1/s]."""
        return self.frequencies * (-self.ratios + 1j * np.sqrt(np.maximum(1.0 - self.ratios**2, 0.0)))


class _Spectrum(NamedTuple):
    """Poles (m,) and shapes (n, m) over the states of a system."""

    poles: Array
    shapes: Array
    system: LinearPHDAE


@checked
def sweep(
    make: Callable[[float], LinearPHDAE],
    values: Sequence[float] | Array,
    *,
    count: int = 6,
    name: str = "value",
    follow: bool = True,
    failures: str = "raise",
    progress: bool = True,
    executor: Executor | None = None,
) -> Sweep:
    """The ``count`` lowest frequencies and damping ratios of ``make(value)`` for every value.

    A system without dissipation is solved for its frequencies (:func:`flexph.modes`), others for their poles, dense.
    Modes are those that are lowest at the first value; then each is followed by the assignment that makes shapes alike,
    ``|aᴴE b|²/(aᴴE a · bᴴE b)`` (MAC in the energy of the later system, each state of the earlier one scaled by √E_ii),
    and poles near; by poles alone where the number of states differs. Reduced systems are compared through the states
    that they stand for.

    Parameters
    ----------
    make : callable
        The system of a value; for workers that are processes a function of a module.
    values : array_like
        Values (k,).
    count : int
        Number of modes.
    name : str
        Name of the value, for pictures.
    follow : bool
        False sorts by frequency at every value instead of following modes.
    failures : {"raise", "keep"}
        Whether a value that fails ends the sweep, or its message is kept.
    progress : bool
        Whether a bar shows in a terminal.
    executor : Executor, optional
        One of :mod:`concurrent.futures`, or of its kind, whose workers compute the values.

    Returns
    -------
    Sweep
        Frequencies and damping ratios (k, count), how alike their modes are, messages.

    Raises
    ------
    ValueError
        With the value in its message, where one fails, and where fewer than ``count`` modes exist.
    """
    check.count("count", count)
    check.choice("failures", failures, ("raise", "keep"))
    if not callable(make):
        raise ValueError(f"make must be a function of one value that returns a LinearPHDAE, got {make!r}")
    grid = check.array("values", list(values), (None,))
    if not grid.size:
        raise ValueError("values must hold at least one number, got none")
    compute = partial(_attempt, make, wanted=count + SPARE if follow else count, least=count)
    attempts = map(compute, grid.tolist()) if executor is None else executor.map(compute, grid.tolist())
    spectra: list[_Spectrum] = []
    kept, told = [], {}
    shown = tqdm(attempts, total=grid.size, delay=1.0, disable=None if progress else True, unit="value")
    for value, found in zip(grid.tolist(), shown, strict=True):
        if isinstance(found, _Spectrum):
            spectra.append(found)
            kept.append(value)
        elif failures == "raise":
            raise ValueError(f"{name} = {value:g}: {found}") from found
        else:
            told[value] = str(found)
    if not spectra:
        raise ValueError(f"no value of {name} gave a spectrum: {next(iter(told.values()))}")
    poles = [f.poles for f in spectra]
    alike = lambda k, own: _mac(spectra[k - 1]._replace(shapes=spectra[k - 1].shapes[:, own]), spectra[k])  # noqa: E731
    return swept(name, np.array(kept), followed(poles, count, alike) if follow else _sorted(poles, count), told)


def swept(
    name: str, values: Array, branches: tuple[Array, Array], failures: Mapping[float, str] | None = None
) -> Sweep:
    """The sweep of branches: their poles (k, count) and the likeness (k − 1, count) of each with the one before."""
    poles, likeness = branches
    size = np.abs(poles)
    ratios = np.clip(-poles.real / size, -1.0, 1.0) + 0.0
    return Sweep(name, values, size, ratios, likeness, failures or {})


def _attempt(
    make: Callable[[float], LinearPHDAE], value: float, *, wanted: int, least: int
) -> _Spectrum | ValueError | ArithmeticError | RuntimeError:
    """The spectrum at a value, or the error that it ends in: one value that fails must not end a map."""
    try:
        return _lowest(make(value), wanted, least)
    except (ValueError, ArithmeticError, RuntimeError) as error:
        return error


def _lowest(system: LinearPHDAE, wanted: int, least: int) -> _Spectrum:
    system = linear_system(system, "what the function returns")
    bare = replace(system, lift=None, parts={})  # shapes over the states of this system
    if check.norm(system.R) > 0.0:
        free = eliminate(bare)
        poles, shapes = lowest_vectors(free, wanted)
        shapes = free.expand(shapes)
    else:
        spectrum = modes(bare, wanted)
        poles, shapes = 1j * spectrum.frequencies, spectrum.shapes
    if poles.size < least:
        raise ValueError(f"count = {least} modes were asked for, the system has {poles.size}")
    return _Spectrum(poles, shapes.astype(complex), system)


def _sorted(poles: list[Array], count: int) -> tuple[Array, Array]:
    return np.array([own[:count] for own in poles]), np.ones((len(poles) - 1, count))


def followed(poles: Sequence[Array], count: int, alike: Callable[[int, Array], Array | None]) -> tuple[Array, Array]:
    """Poles (k, count) of modes that are followed, and the likeness (k − 1, count) of each with the one before.

    ``poles`` (m,) of every value; ``alike(k, own)``: likeness (count, m) of the modes ``own`` of value k − 1 with those
    of value k, or None where they cannot be compared.
    """
    tracked, likeness, own = [poles[0][:count]], [], np.arange(count)
    for k in range(1, len(poles)):
        distance, similar = _distance(tracked, poles[k]), alike(k, own)
        own = scipy.optimize.linear_sum_assignment(distance if similar is None else distance + 1.0 - similar)[1]
        tracked.append(poles[k][own])
        likeness.append(np.ones(count) if similar is None else similar[np.arange(count), own])
    return np.array(tracked), np.reshape(likeness, (len(poles) - 1, count))


def _distance(tracked: list[Array], poles: Array) -> Array:
    """Relative distance of poles from where the followed ones are heading, at most one."""
    ahead = tracked[-1] if len(tracked) < 2 else 2.0 * tracked[-1] - tracked[-2]
    return np.minimum(np.abs(ahead[:, None] - poles) / np.abs(tracked[-1])[:, None], 1.0)


def _mac(before: _Spectrum, now: _Spectrum) -> Array | None:
    """Likeness of shapes in the energy of the second system; states at round-off have none."""
    a, b, E = _brought(before, now.system), now.shapes, now.system.E
    if a is None:
        return None
    overlap = np.abs(a.conj().T @ (E @ b)) ** 2
    of_a, of_b = (np.einsum("ij,ij->j", x.conj(), E @ x).real for x in (a, b))
    return np.clip(overlap / np.maximum(np.outer(of_a, of_b), np.finfo(float).tiny), 0.0, 1.0)


def _brought(before: _Spectrum, now: LinearPHDAE) -> Array | None:
    """Shapes in the states of another system: in its units of energy, or through the states that both lift to."""
    old = before.system
    if old.lift is None and now.lift is None:
        if old.size != now.size:
            return None
        was, now_is = old.E.diagonal(), now.E.diagonal()
        both = (was > 0.0) & (now_is > 0.0)
        return before.shapes * np.sqrt(np.where(both, was, 1.0) / np.where(both, now_is, 1.0))[:, None]
    lifted = old.expand(before.shapes)
    if now.lift is None:
        return lifted if lifted.shape[0] == now.size else None
    if lifted.shape[0] != now.lift.shape[0]:
        return None
    if sparse.issparse(now.lift):
        return np.asarray(splu(sparse.csc_array(now.lift.T @ now.lift).astype(complex)).solve(now.lift.T @ lifted))
    return np.asarray(lstsq(now.lift, lifted)[0])
