"""Systems of a circuit: PHDAE in charges and fluxes, LinearPHDAE in voltages and currents.

Q are charges, φ fluxes, v voltages and i currents of elements, e potentials of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..laws.resistive_relations import SMALL, Relation
from ..numerics.arrays import Array
from ..systems.derivatives import Derivatives
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE
from .elements import Energy, Storage
from .equations import Assembly, Loss


def energies(assembly: Assembly) -> dict[int, Energy]:
    """Energies of the storage elements, by the index of the state on which each depends."""
    by_state = {}
    for state, name in assembly.storages.items():
        element = assembly.elements[name]
        assert isinstance(element, Storage)
        by_state[state] = element.energy
    return by_state


class Storing:
    """Stored energy ``H = Σ H_k(x_k)`` as a function of the state, with the costates ``z = (H′, algebraic states)``."""

    def __init__(self, size: int, stored: Mapping[int, Energy]) -> None:
        self.stored = stored
        self.general = {k: energy for k, energy in stored.items() if energy.capacity is None}
        self.stiff = np.ones(size)
        self.is_stored = np.zeros(size)
        for k, energy in stored.items():
            self.stiff[k] = 0.0 if energy.capacity is None else 1.0 / energy.capacity
            self.is_stored[k] = 1.0

    def costates(self, x: Array) -> Array:
        """Costate z (n,)."""
        z: Array = self.stiff * x
        for k, energy in self.general.items():
            z[k] = energy.slope(float(x[k]))
        return z

    def slopes(self, x: Array) -> Array:
        """Diagonal matrix ∂z/∂x (n, n)."""
        diagonal = self.stiff.copy()
        for k, energy in self.general.items():
            diagonal[k] = energy.stiffness(float(x[k]))
        return np.diag(diagonal)

    def energy(self, x: Array) -> float:
        """Energy H [J]."""
        linear = 0.5 * float((self.is_stored * self.stiff * x) @ x)
        return linear + sum(energy.value(float(x[k])) for k, energy in self.general.items())

    @property
    def sample(self) -> Array:
        """Sample state: charges and fluxes at their typical values ``Energy.scale``, algebraic states one."""
        states = np.ones(self.stiff.size)
        for k, energy in self.stored.items():
            states[k] = energy.scale
        return states


def resistances(size: int, losses: Sequence[Loss]) -> tuple[Array | Callable[[Array], Array], bool]:
    """Matrix R of the losses, or R as a function of the state x; the second value is True if R is constant."""
    constant = np.zeros((size, size))
    varying = [loss for loss in losses if loss.constant is None]
    for loss in losses:
        constant[loss.row, loss.row] += loss.constant or 0.0

    def at(x: Array) -> Array:
        R = constant.copy()
        for loss in varying:
            R[loss.row, loss.row] += float(loss.relation.resistance(x[loss.row]))
        return R

    return (at, False) if varying else (constant, True)


def quotient_slope(relation: Relation, rate: float) -> float:
    """Derivative (ρ′ − ρ/s)/s of the quotient ρ(s)/s with respect to s; zero near s = 0."""
    if abs(rate) <= SMALL:
        return 0.0
    return float((relation.slope(rate) - relation.force(rate) / rate) / rate)


def named(names: Sequence[str], stored: int) -> dict[str, slice]:
    """Slices of the states by name, and the slice ``algebraic`` of all states after the ``stored`` ones."""
    parts = {name: slice(k, k + 1) for k, name in enumerate(names)}
    return parts | ({"algebraic": slice(stored, len(names))} if stored < len(names) else {})


def to_phdae(assembly: Assembly) -> PHDAE:
    """Equations in x = (Q, φ, algebraic efforts), E = diag(1, 0); of index 1 except the multipliers of constraints."""
    size, stored = assembly.size, energies(assembly)
    storing = Storing(size, stored)
    R, constant = resistances(size, assembly.losses)

    def structure(x: Array, w: Array) -> Array:
        slopes = np.zeros((size, size))
        for loss in assembly.losses:
            if loss.constant is None:
                slopes[loss.row, loss.row] -= quotient_slope(loss.relation, float(x[loss.row])) * float(w[loss.row])
        return slopes

    return PHDAE(
        E=np.diag(storing.is_stored),
        J=assembly.J,
        R=R,
        B=assembly.B,
        z=storing.costates,
        H=storing.energy,
        sample=storing.sample,
        ports={name: slice(k, k + 1) for k, name in enumerate(assembly.inputs)},
        parts=named(assembly.names, len(stored)),
        derivatives=Derivatives(costate=storing.slopes, structure=None if constant else structure),
    )


def to_linear(assembly: Assembly) -> LinearPHDAE:
    """Linear equations in the costates, E = diag(C, L, 0); constraints without inputs become rows of G.

    Raises ValueError if an energy or a resistor is not linear.
    """
    stored = energies(assembly)
    bent = [assembly.storages[k] for k, energy in stored.items() if energy.capacity is None]
    bent += [loss.name for loss in assembly.losses if loss.constant is None]
    if bent:
        raise ValueError(f"linear() needs linear elements, got nonlinear: {', '.join(map(repr, bent))}; use phdae()")
    E = np.zeros(assembly.size)
    for k, energy in stored.items():
        E[k] = energy.capacity or 0.0
    R, _ = resistances(assembly.size, assembly.losses)
    assert isinstance(R, np.ndarray)
    free = [c for c in assembly.constraints if not c.sources and c.kind != "gyrator"]
    rows = [assembly.names.index(c.state) for c in free]
    kept = [k for k in range(assembly.size) if k not in rows]
    J, some = assembly.J, np.ix_(kept, kept)
    return LinearPHDAE(
        E=np.diag(E[kept]),
        J=J[some],
        R=R[some],
        B=assembly.B[kept],
        G=J[np.ix_(kept, rows)].T,
        ports={name: slice(k, k + 1) for k, name in enumerate(assembly.inputs)},
        parts={assembly.names[k]: slice(i, i + 1) for i, k in enumerate(kept)},
        constraints=tuple(f"{c.kind} {', '.join((*c.elements, *c.switches))}" for c in free),
    )
