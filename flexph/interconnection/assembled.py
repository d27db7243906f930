"""Systems assembled of others: their matrices follow from those of the parts, at a state or over a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..discretisation.over_a_step import AtState, OverStep, View, all_paired, middle_of
from ..numerics.arrays import Array
from ..systems.nonlinear import PHDAE

Matrix = Callable[[str, Sequence[View], Array], Any]
"""E, J, R, B or z of an assembled system: of its name, the views of the parts, and the additional states."""


class Assembled:
    """A system with the states (x₁, …, w) of its parts and additional ones w, which are stage values over a step."""

    def __init__(self, systems: Sequence[PHDAE], matrix: Matrix) -> None:
        self.systems, self.matrix = tuple(systems), matrix
        self.paired = all_paired(self.systems)
        self.middles = [middle_of(system) for system in self.paired]
        ends = np.cumsum([system.size for system in self.systems]).tolist()
        self.spans = [slice(end - s.size, end) for end, s in zip(ends, self.systems, strict=True)]

    def at(self, name: str, x: Array) -> Any:
        """E, J, R, B or z at a state."""
        views = [AtState(system, x[own]) for system, own in zip(self.systems, self.spans, strict=True)]
        return self.matrix(name, views, x[self.spans[-1].stop :])

    def over(self, name: str, x0: Array, x1: Array) -> Any:
        """The mean of E, J, R, B or z over a step."""
        parts = zip(self.paired, self.middles, self.spans, strict=True)
        views = [OverStep(system, middle, x0[own], x1[own]) for system, middle, own in parts]
        return self.matrix(name, views, x1[self.spans[-1].stop :])

    def phdae(self, additional: Array, means: Iterable[str], parts: Mapping[str, slice], **given: Any) -> PHDAE:
        """The system; ``additional`` states of the sample, names of means and parts, ports and what is given beside."""
        systems, spans = self.systems, self.spans
        every = list(zip(systems, spans, strict=True))
        return PHDAE(
            **{name: partial(self.at, name) for name in "EJRBz"} | given,
            H=lambda x: sum(system.H(x[own]) for system, own in every),
            sample=np.concatenate([*(system.sample for system in systems), additional]),
            parts=parts,
            means={name: partial(self.over, name) for name in sorted(means)},
            cautions=tuple(partial(_of_part, of, own) for system, own in every for of in system.cautions),
            start_defects=tuple(partial(_of_part, of, own) for system, own in every for of in system.start_defects),
        )


def _of_part(of: Callable[..., str | None], part: slice, x: Array, *others: float) -> str | None:
    return of(x[part], *others)


def with_structure(means: Iterable[str]) -> set[str]:
    """The means of a system whose J contains the B of a port: B̄ is then in J̄."""
    return {*means, "J"} if "B" in means else {*means}
