"""Systems assembled from several parts; their matrices at a state or over a step follow from those of the parts.

Parts without given derivatives are differentiated by forward differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..discretisation.own_pair import AtState, OverStep, View, all_paired, middle_of
from ..numerics.arrays import Array, block_diag, dense
from ..numerics.differences import FORWARD, forward, state_sizes
from ..numerics.memo import Memo, once
from ..systems.derivatives import Derivatives, KnownDerivatives
from ..systems.nonlinear import PHDAE, Constant


def derivatives_of(system: PHDAE) -> Derivatives:
    """Derivatives given with a system, otherwise forward differences of its non-constant functions."""
    return differenced(system) if system.derivatives is None else system.derivatives


def differenced(system: PHDAE) -> KnownDerivatives:
    """Derivatives of a system by forward differences."""
    fed = system.has_feedthrough
    constant = {name: isinstance(getattr(system, name), Constant) for name in ("E", "J", "R", "B")}
    fixed_ports = constant["B"] and (not fed or isinstance(system.P, Constant))

    def slope(function: Callable[[Array], Any], x: Array) -> Array:
        return slope_of(function, x, system)

    return KnownDerivatives(
        costate=lambda x: slope(system.z, x),
        descriptor=None if constant["E"] else lambda x, w: slope(lambda at: system.E(at) @ w, x),
        structure=None
        if constant["J"] and constant["R"]
        else lambda x, w: slope(lambda at: system.J(at) @ w - system.R(at) @ w, x),
        inputs=None if fixed_ports else lambda x, u: slope(lambda at: system.port_matrices(at).flow(u), x),
        outputs=None if fixed_ports else lambda x, w: slope(lambda at: _outputs(system, at) @ w, x),
        accuracy=FORWARD,
    )


def slope_of(function: Callable[[Array], Any], x: Array, system: PHDAE) -> Array:
    """Derivative ∂f/∂x (m, n) of a function of the state, by forward differences.

    Steps are proportional to the sizes of states in the parts of the system.
    """
    steps = FORWARD * state_sizes(x, system.parts.values())
    values = lambda at: np.asarray(function(at), dtype=float)  # noqa: E731
    return forward(values, x, values(x), steps)


def _outputs(system: PHDAE, x: Array) -> Any:
    """Matrix (B + P)ᵀ (m, n) of the outputs at a state."""
    B = dense(system.B(x))
    return (B + dense(system.P(x)) if system.has_feedthrough else B).T


Matrix = Callable[[str, Sequence[View], Array], Any]
"""Function that returns E, J, R, B or z of an assembled system. Its arguments are the name, the views of the parts
(:class:`View`), and the additional states."""
Slope = Callable[[Array, Array], Array]


class Assembled(Memo):
    """System assembled from several parts: its states are those of the parts, (x₁, …), and additional ones w.

    ``matrix`` computes E, J, R, B and z of the whole from those of the parts. In a step, matrices depend on w at its
    end.
    """

    def __init__(self, systems: Sequence[PHDAE], matrix: Matrix) -> None:
        self.systems, self.matrix = tuple(systems), matrix
        self.paired = all_paired(self.systems)
        self.middles = [middle_of(system) for system in self.paired]
        self.spans = spans_of(self.systems)

    @once
    def _latest(self) -> dict[str, Callable[[bytes], Any]]:
        """Functions E, J, R, B and z of a state given by its bytes; each caches its latest value."""
        return {name: lru_cache(maxsize=1)(partial(self._at_numbers, name)) for name in "EJRBz"}

    def _at_numbers(self, name: str, numbers: bytes) -> Any:
        matrix = self._at(name, np.frombuffer(numbers).copy())
        matrix.setflags(write=False)
        return matrix

    def at(self, name: str, x: Array) -> Any:
        """Matrix E, J, R, B or costate z at a state, read-only."""
        return self._latest[name](x.tobytes()) if x.dtype == float else self._at(name, x)

    def _at(self, name: str, x: Array) -> Any:
        views = [AtState(system, x[span]) for system, span in zip(self.systems, self.spans, strict=True)]
        return self.matrix(name, views, x[self.spans[-1].stop :])

    def over_step(self, name: str, x0: Array, x1: Array) -> Any:
        """Value of E, J, R, B or z over a step from x₀ to x₁, from the means of the parts."""
        parts = zip(self.paired, self.middles, self.spans, strict=True)
        views = [OverStep(system, middle, x0[span], x1[span]) for system, middle, span in parts]
        return self.matrix(name, views, x1[self.spans[-1].stop :])

    def phdae(self, additional: Array, means: Iterable[str], parts: Mapping[str, slice], **given: Any) -> PHDAE:
        """System with the states of the parts and ``additional`` ones.

        ``additional`` are their values in the sample, ``means`` the names of matrices with given means over a step,
        ``parts`` slices of states by name; ``given`` are further arguments of :class:`PHDAE`.
        """
        systems, spans, means = self.systems, self.spans, sorted(means)
        every = list(zip(systems, spans, strict=True))
        sample = np.concatenate([*(system.sample for system in systems), additional])
        matrices: dict[str, Any] = {name: partial(self.at, name) for name in "EJRBz"}
        if "R" not in means and not any(s.has_feedthrough or not isinstance(s.R, Constant) for s in systems):
            matrices["R"] = self.at("R", sample)
        return PHDAE(
            **matrices | given,
            H=lambda x: sum(system.H(x[span]) for system, span in every),
            sample=sample,
            parts=parts,
            means={name: partial(self.over_step, name) for name in means},
            cautions=tuple(partial(_of_part, of, span) for system, span in every for of in system.cautions),
            start_defects=tuple(partial(_of_part, of, span) for system, span in every for of in system.start_defects),
        )


def spans_of(systems: Sequence[PHDAE]) -> list[slice]:
    """Slice of the states of each system in the state of all systems."""
    ends = np.cumsum([system.size for system in systems]).tolist()
    return [slice(end - s.size, end) for end, s in zip(ends, systems, strict=True)]


def _of_part(of: Callable[..., str | None], part: slice, x: Array, *others: float) -> str | None:
    return of(x[part], *others)


def with_structure(means: Iterable[str]) -> set[str]:
    """Add ``J`` to the names of matrices with given means over a step if ``B`` is among them: J contains this B."""
    return {*means, "J"} if "B" in means else {*means}


class PartDerivatives:
    """Derivatives of the parts of an assembled system: given ones, or forward differences for parts without.

    ``additional`` is the number of states that belong to no part.
    """

    def __init__(self, systems: Sequence[PHDAE], additional: int) -> None:
        self.systems, self.spans = tuple(systems), spans_of(systems)
        self.each = [derivatives_of(system) for system in self.systems]
        self.additional, self.size = additional, self.spans[-1].stop + additional
        self.accuracy = max(derivatives.accuracy for derivatives in self.each)

    def whole(self, structure: Slope, *, accuracy: float = 0.0, **ports: Slope | None) -> Derivatives | None:
        """Derivatives of the whole system, by the chain rule; None if no part has given derivatives.

        ``structure`` is ∂((J − R) w)/∂x of the whole, ``ports`` are derivatives of its inputs and outputs; ``accuracy``
        is their relative error if they are differences.
        """
        if all(system.derivatives is None for system in self.systems):
            return None
        varies = any(derivatives.descriptor is not None for derivatives in self.each)
        return KnownDerivatives(
            costate=self.costate,
            descriptor=self.descriptor if varies else None,
            structure=structure,
            accuracy=max(self.accuracy, accuracy),
            **ports,
        )

    def costate(self, x: Array) -> Array:
        """Derivative ∂z/∂x (n, n); additional states are their own costates."""
        costates = (dense(d.costate(x[span])) for d, span in zip(self.each, self.spans, strict=True))
        return block_diag(*costates, np.eye(self.additional))

    def descriptor(self, x: Array, w: Array) -> Array:
        """Derivative ∂(E w)/∂x (n, n) for a fixed w."""
        parts = zip(self.each, self.spans, strict=True)
        return block_diag(*(d.of_descriptor(x[span], w[span]) for d, span in parts), np.zeros((self.additional,) * 2))

    def structure(self, x: Array, w: Array) -> Array:
        """Derivative ∂((J − R) w)/∂x (n, n) of the parts without couplings, for a fixed w."""
        slope = np.zeros((self.size, self.size))
        for derivatives, span in zip(self.each, self.spans, strict=True):
            if derivatives.structure is not None:
                slope[span, span] = dense(derivatives.structure(x[span], w[span]))
        return slope

    def inputs(self, part: int, x: Array, port: Any, u: Array) -> Array:
        """Derivative ∂(B u)/∂x of one part with the index ``part``, with respect to its own states.

        The inputs u are those in the columns ``port``, others are zero; ``x`` is the state of all parts.
        """
        derivatives, span = self.each[part], self.spans[part]
        if derivatives.inputs is None:
            return np.zeros((self.systems[part].size,) * 2)
        every = np.zeros(self.systems[part].inputs_size)
        every[port] = u
        return dense(derivatives.inputs(x[span], every))

    def outputs(self, part: int, x: Array, port: Any, w: Array) -> Array:
        """Derivative ∂(Bᵀw)/∂x of outputs of one part with respect to its own states, for the columns ``port`` of B.

        ``x`` is the state and ``w`` a costate of all parts.
        """
        span, count = self.spans[part], self.systems[part].inputs_size
        return self.each[part].of_outputs(x[span], w[span], np.arange(count)[port], count)

    @property
    def varying_ports(self) -> bool:
        """True if B of any part depends on the state."""
        return any(derivatives.inputs is not None or derivatives.outputs is not None for derivatives in self.each)
