"""Frequencies and damping ratios as functions of a pose or parameter."""

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

from ...display.bars import bar
from ...display.labelled import Labelled, Labels, Variable
from ...display.tables import html_table
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.memo import read_only
from ...systems.linear import LinearPHDAE, linear_system
from ..eigenmodes.modes import modes
from ..elimination import eliminate
from .zeros import lowest_vectors

SHOWN = 6
"""Modes of a table in a notebook."""
SPARE = 4
"""Number of additional modes, as a tracked mode may leave the lowest ones."""


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Labelled):
    """Natural frequencies as functions of a parameter; each column tracks one mode.

    Attributes
    ----------
    name : str
        Name of the parameter.
    values : array
        Parameter values (k,).
    frequencies : array
        ω = |s| (k, count) [rad/s].
    ratios : array
        ζ = −Re s/|s| (k, count), zero without dissipation.
    likeness : array
        Similarity (k − 1, count) of each mode with that at the value before, 0 to 1 (1 if shapes were not compared).
    failures : mapping
        Messages by value, for values without a result.
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

    def __repr__(self) -> str:
        k, count = self.frequencies.shape
        span = f" from {self.values[0]:.4g} to {self.values[-1]:.4g}" if k else ""
        left = f", {len(self.failures)} left out" if self.failures else ""
        return f"<Sweep of {count} frequencies over {k} values of {self.name}{span}{left}>"

    def _repr_html_(self) -> str:
        """HTML table of the frequencies over the parameter for notebooks."""
        head = (self.name, *(f"mode {i + 1} [rad/s]" for i in range(min(self.frequencies.shape[1], SHOWN))))
        rows = [
            (float(v), *map(float, frequencies[:SHOWN]))
            for v, frequencies in zip(self.values, self.frequencies, strict=True)
        ]
        return html_table(head, rows, title=repr(self)[1:-1])

    def _labels(self) -> Labels:
        modes_of = np.arange(1, self.frequencies.shape[1] + 1)
        coordinates = {
            self.name: Variable((self.name,), self.values, "", self.name),
            "mode": Variable(("mode",), modes_of, "", "number of the mode that is followed"),
        }
        dims = (self.name, "mode")
        variables = {
            "frequency": Variable(dims, self.frequencies, "rad/s", "natural frequency"),
            "damping_ratio": Variable(dims, self.ratios, "1", "damping ratio −Re s/|s|"),
        }
        return Labels(self.name, variables, coordinates)

    @property
    def poles(self) -> Array:
        """Poles s = ω (−ζ + i√(1 − ζ²)) of the tracked modes, (k, count) [1/s]."""
        return self.frequencies * (-self.ratios + 1j * np.sqrt(np.maximum(1.0 - self.ratios**2, 0.0)))


class _Spectrum(NamedTuple):
    """Poles (m,) of a system, and the shapes (n, m) of their motions in its states."""

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
    """Compute the ``count`` lowest frequencies and damping ratios of ``make(value)`` for every value.

    A system without dissipation is solved for its frequencies (:func:`flexph.modes`), others for their poles, densely.
    The modes are the lowest ones at the first value; each is then tracked by the assignment that maximises the
    similarity of shapes, ``|aᴴE b|²/(aᴴE a · bᴴE b)`` (MAC in the energy of the later system, each state of the earlier
    one scaled by √E_ii), and the nearness of poles; by poles alone if the number of states differs. Reduced systems are
    compared in the states that they approximate.

    Parameters
    ----------
    make : callable
        Function from a value to its system; for worker processes a function of a module.
    values : array_like
        Values (k,).
    count : int
        Number of modes.
    name : str
        Name of the parameter, for pictures.
    follow : bool
        False to sort by frequency at every value instead of tracking modes.
    failures : {"raise", "keep"}
        "raise" to end the sweep if a value fails, "keep" to record its message.
    progress : bool
        True to show a progress bar in a terminal.
    executor : Executor, optional
        Executor of :mod:`concurrent.futures` or similar, whose workers compute the values.

    Returns
    -------
    Sweep
        Frequencies and damping ratios (k, count), similarities of modes, messages.

    Raises
    ------
    ValueError
        If a value fails (the message names it) or there are fewer than ``count`` modes.
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
    kept, errors = [], {}
    shown = bar(attempts, total=grid.size, delay=1.0, shown=progress, unit="value")
    for value, spectrum in zip(grid.tolist(), shown, strict=True):
        if isinstance(spectrum, _Spectrum):
            spectra.append(spectrum)
            kept.append(value)
        elif failures == "raise":
            raise ValueError(f"{name} = {value:g}: {spectrum}") from spectrum
        else:
            errors[value] = str(spectrum)
    if not spectra:
        raise ValueError(f"no value of {name} gave a spectrum: {next(iter(errors.values()))}")
    poles = [f.poles for f in spectra]
    alike = lambda k, own: _modal_assurance(spectra[k - 1]._replace(shapes=spectra[k - 1].shapes[:, own]), spectra[k])  # noqa: E731
    return swept(name, np.array(kept), followed(poles, count, alike) if follow else _sorted(poles, count), errors)


def swept(
    name: str, values: Array, branches: tuple[Array, Array], failures: Mapping[float, str] | None = None
) -> Sweep:
    """Result of a sweep over ``values``, from tracked poles (k, count) and similarities of modes (k − 1, count)."""
    poles, likeness = branches
    size = np.abs(poles)
    ratios = np.clip(-poles.real / size, -1.0, 1.0) + 0.0
    return Sweep(name, values, size, ratios, likeness, failures or {})


def _attempt(
    make: Callable[[float], LinearPHDAE], value: float, *, wanted: int, least: int
) -> _Spectrum | ValueError | ArithmeticError | RuntimeError:
    """Poles and shapes of the system ``make(value)``, or the error that occurred.

    One failing value must not end a sweep. ``wanted`` is the number of modes to compute, ``least`` the number that must
    exist.
    """
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
    return np.array([values[:count] for values in poles]), np.ones((len(poles) - 1, count))


def followed(poles: Sequence[Array], count: int, alike: Callable[[int, Array], Array | None]) -> tuple[Array, Array]:
    """Poles (k, count) that track ``count`` modes over k values, and the similarity (k − 1, count) of successive modes.

    ``poles`` (m,) are those of every value; ``alike(k, own)`` is the similarity (count, m) of the modes ``own`` of
    value k − 1 with those of value k, or None if they cannot be compared.
    """
    tracked, likeness, order = [poles[0][:count]], [], np.arange(count)
    for k in range(1, len(poles)):
        distance, similar = _distance(tracked, poles[k]), alike(k, order)
        order = scipy.optimize.linear_sum_assignment(distance if similar is None else distance + 1.0 - similar)[1]
        tracked.append(poles[k][order])
        likeness.append(np.ones(count) if similar is None else similar[np.arange(count), order])
    return np.array(tracked), np.reshape(likeness, (len(poles) - 1, count))


def _distance(tracked: list[Array], poles: Array) -> Array:
    """Relative distances (count, m) of poles from tracked ones, at most one each.

    The tracked poles are extrapolated linearly to the next value.
    """
    ahead = tracked[-1] if len(tracked) < 2 else 2.0 * tracked[-1] - tracked[-2]
    return np.minimum(np.abs(ahead[:, None] - poles) / np.abs(tracked[-1])[:, None], 1.0)


def _modal_assurance(before: _Spectrum, now: _Spectrum) -> Array | None:
    """Similarities, 0 to 1, of all shapes of ``before`` with those of ``now``, in the energy of ``now``; or None.

    The result is None if the systems cannot be compared.
    """
    a, b, E = _converted_shapes(before, now.system), now.shapes, now.system.E
    if a is None:
        return None
    overlap = np.abs(a.conj().T @ (E @ b)) ** 2
    of_a, of_b = (np.einsum("ij,ij->j", x.conj(), E @ x).real for x in (a, b))
    return np.clip(overlap / np.maximum(np.outer(of_a, of_b), np.finfo(float).tiny), 0.0, 1.0)


def _converted_shapes(before: _Spectrum, now: LinearPHDAE) -> Array | None:
    """Shapes of the system ``before``, converted to the states of the system ``now``; None if that is not possible.

    If neither system is reduced, each state is scaled by the square root of its diagonal entry of E. Otherwise the
    shapes are expanded to the states of the full system, and fitted by the basis of ``now``.
    """
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
