"""Frequencies and damping ratios over a pose or a parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from tqdm import tqdm

from .. import checks as check
from ..elimination import eliminate
from ..linear import LinearPHDAE
from ..space import Array
from ..spectrum import modes
from .zeros import lowest_vectors

SPARE = 4
"""Modes computed beyond those asked for: a followed mode may leave the lowest ones."""


@dataclass(frozen=True)
class Sweep:
    """Natural frequencies over a parameter, each column one mode that is followed.

    values (k,) of the parameter ``name``; frequencies ω = |s| (k, count) [rad/s]; ratios ζ = −Re s/|s| (k, count), zero
    without dissipation; likeness (k − 1, count) of each mode with that of the value before, 0 to 1 (1 where shapes
    were not compared). ``failures`` holds the message of every value that was left out.
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
        object.__setattr__(self, "failures", MappingProxyType(dict(self.failures)))

    @property
    def poles(self) -> Array:
        """s = ω (−ζ + i√(1 − ζ²)), (k, count) [1/s]."""
        return self.frequencies * (-self.ratios + 1j * np.sqrt(np.maximum(1.0 - self.ratios**2, 0.0)))


class _Found(NamedTuple):
    """Poles (k,) and shapes (n, k), or None, with the weight of each state in their comparison."""

    poles: Array
    shapes: Array


def sweep(
    make: Callable[[float], LinearPHDAE],
    values: Iterable[float],
    *,
    count: int = 6,
    name: str = "value",
    follow: bool = True,
    failures: str = "raise",
    progress: bool = True,
) -> Sweep:
    """The ``count`` lowest frequencies and damping ratios of ``make(value)`` for every value.

    A system without dissipation is solved for its frequencies (:func:`flexph.modes`), others for their poles, dense.
    Modes are those that are lowest at the first value; then each is followed by the assignment that makes shapes alike,
    ``|aᴴW b|²/(aᴴW a · bᴴW b)`` (MAC, W a diagonal that takes out the units), and poles near; by poles alone where
    the number of states differs. ``follow=False`` sorts by frequency at every value instead.

    A value that fails raises ValueError with the value in its message; ``failures="keep"`` goes on and keeps the
    messages. Raises ValueError where fewer than ``count`` modes exist.
    """
    check.count("count", count)
    check.choice("failures", failures, ("raise", "keep"))
    grid = check.array("values", list(values), (None,))
    found: list[_Found] = []
    kept, told = [], {}
    for value in tqdm(grid.tolist(), delay=1.0, disable=None if progress else True, unit="value"):
        try:
            found.append(_lowest(make(value), count + SPARE if follow else count, count))
            kept.append(value)
        except (ValueError, ArithmeticError, RuntimeError) as error:
            if failures == "raise":
                raise ValueError(f"{name} = {value:g}: {error}") from error
            told[value] = str(error)
    if not found:
        raise ValueError(f"no value of {name} gave a spectrum: {next(iter(told.values()), 'values is empty')}")
    poles, likeness = _followed(found, count) if follow else _sorted(found, count)
    size = np.abs(poles)
    return Sweep(name, np.array(kept), size, np.clip(-poles.real / size, -1.0, 1.0) + 0.0, likeness, told)


def _lowest(system: LinearPHDAE, wanted: int, least: int) -> _Found:
    if not isinstance(system, LinearPHDAE):
        raise ValueError(f"the function must return a LinearPHDAE, got {type(system).__name__}")
    if check.norm(system.R) > 0.0:
        free = eliminate(system)
        poles, shapes = lowest_vectors(free, wanted)
        shapes = free.expand(shapes)
    else:
        spectrum = modes(system, wanted)
        poles, shapes = 1j * spectrum.frequencies, spectrum.shapes
    if poles.size < least:
        raise ValueError(f"count = {least} modes were asked for, the system has {poles.size}")
    return _Found(poles, shapes)


def _sorted(found: list[_Found], count: int) -> tuple[Array, Array]:
    return np.array([f.poles[:count] for f in found]), np.ones((len(found) - 1, count))


def _followed(found: list[_Found], count: int) -> tuple[Array, Array]:
    tracked, likeness = [found[0].poles[:count]], []
    shapes = found[0].shapes[:, :count]
    for now in found[1:]:
        distance = _distance(tracked, now.poles)
        alike = _mac(shapes, now.shapes)
        pick = linear_sum_assignment(distance if alike is None else distance + 1.0 - alike)[1]
        tracked.append(now.poles[pick])
        likeness.append(np.ones(count) if alike is None else alike[np.arange(count), pick])
        shapes = now.shapes[:, pick]
    return np.array(tracked), np.reshape(likeness, (len(found) - 1, count))


def _distance(tracked: list[Array], poles: Array) -> Array:
    """Relative distance of poles from where the followed ones are heading, at most one."""
    ahead = tracked[-1] if len(tracked) < 2 else 2.0 * tracked[-1] - tracked[-2]
    return np.minimum(np.abs(ahead[:, None] - poles) / np.abs(tracked[-1])[:, None], 1.0)


def _mac(before: Array, now: Array) -> Array | None:
    if before.shape[0] != now.shape[0]:
        return None
    size = np.maximum(np.abs(before).max(axis=1), np.abs(now).max(axis=1))
    weight = 1.0 / np.where(size > 0.0, size, 1.0)[:, None]
    a, b = weight * before, weight * now
    overlap = np.abs(a.conj().T @ b) ** 2
    return overlap / np.outer(np.linalg.norm(a, axis=0) ** 2, np.linalg.norm(b, axis=0) ** 2)
