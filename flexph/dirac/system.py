"""Port-Hamiltonian systems: a Dirac structure, an energy, resistive relations, external ports ([survey] sec. 2.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import checks as check
from ..methods.derivatives import Derivatives
from ..phdae import PHDAE
from ..space import Array
from .composition import compose
from .equations import DirectEquations, GeneralEquations, Layout, partition
from .forms import ConstrainedForm, KernelForm
from .modulated import ModulatedDirac, storage_of
from .resistance import Resistance, resistance_of
from .structure import DiracStructure


@dataclass(frozen=True, kw_only=True)
class PortHamiltonian:
    """``(−ẋ, ∇H(x), f_R, e_R, u, y) ∈ D(x)`` with (f_R, e_R) in a resistive relation ([survey] eq. (2.22)-(2.23)).

    ``structure`` is a :class:`DiracStructure` or, modulated, a function of the state x (n,) that returns one.
    ``H`` and ``gradient`` ∇H (n,) are functions of x, ``hessian`` (n, n) may be given. ``storage`` names the ports of
    the states in their order, by default the first ones that cover x. ``resistive`` gives each resistive port its
    relation: a number or matrix R of f = −R e, relations of :func:`flexph.viscous` and others (f_i = −ρ_i(e_i)), or a
    :class:`LinearResistance`. All other ports are external, with flows u as inputs and efforts y as outputs. Then

        dH/dt = e_Rᵀf_R + yᵀu ≤ yᵀu

    :meth:`kernel_form` and :meth:`constrained_form` are the equations at a state, :meth:`phdae` makes the
    :class:`flexph.PHDAE` for runs and analysis.
    """

    structure: DiracStructure | Callable[[Array], DiracStructure]
    H: Callable[[Array], float]
    gradient: Callable[[Array], Array]
    sample: Array
    hessian: Callable[[Array], Array] | None = None
    storage: tuple[str, ...] = ()
    resistive: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample", check.array("sample", self.sample, (None,)))
        D = self.at(self.sample)
        object.__setattr__(self, "storage", storage_of(D, self.size, self.storage))
        relations: dict[str, Resistance] = {}
        for name, given in self.resistive.items():
            span = check.lookup("port", name, D.ports)
            if name in self.storage:
                raise ValueError(f"port {name!r} stores energy, it cannot be resistive too")
            relations[name] = resistance_of(name, given, span.stop - span.start)
        object.__setattr__(self, "resistive", MappingProxyType(relations))

    @property
    def size(self) -> int:
        """Number n of states."""
        return len(self.sample)

    @property
    def external(self) -> tuple[str, ...]:
        """Names of the external ports."""
        return tuple(n for n in self.at(self.sample).ports if n not in self.storage and n not in self.resistive)

    @property
    def is_constant(self) -> bool:
        """Whether the structure does not depend on the state."""
        return isinstance(self.structure, DiracStructure)

    def at(self, x: Array) -> DiracStructure:
        """D(x)."""
        if isinstance(self.structure, DiracStructure):
            return self.structure
        return self.structure(np.asarray(x, dtype=float))

    def modulated(self) -> ModulatedDirac:
        """The structure as a function of the state."""
        return ModulatedDirac(self.at, self.sample, self.storage)

    def kernel_form(self, x: Array) -> KernelForm:
        """The equations at a state in kernel form ([survey] eq. (3.11)), f_S = −ẋ."""
        D = self._ordered(x)
        ends = self._sizes(D)
        parts = [slice(0, ends[0]), slice(ends[0], ends[1]), slice(ends[1], ends[2])]
        (s, r, c) = ((D.F[:, p], D.E[:, p]) for p in parts)
        return KernelForm(s, r, c)

    def constrained_form(self, x: Array) -> ConstrainedForm:
        """The equations at a state in constrained form ([survey] eq. (3.16)).

        Raises ValueError where inputs or what resists feed through to outputs: they have a place in :meth:`phdae`.
        """
        D = self._ordered(x)
        inner = self._sizes(D)[0]
        made = partition(D.graph, inner)
        if not made.direct:
            raise ValueError(
                "the constrained form needs efforts of resistive and external ports that follow from the storage's: "
                "here others or the inputs feed through, or are constrained; phdae() takes them as algebraic states"
            )
        return made.form(D.graph, self._sizes(D)[1] - inner)

    def phdae(self) -> PHDAE:
        """The system as a :class:`flexph.PHDAE` with states x and multipliers λ of the constrained form.

        Where inputs or what resists feed through, or are constrained, efforts of resistive and external ports are
        algebraic states beside them: ``e_R`` of a resistive port bears its name (of a linear relation the coordinates
        of the efforts it admits), so does y of an external one. Which entries are multipliers is decided at the sample
        and holds along a run.
        """
        D = self._ordered(self.sample)
        names = Layout(self.storage, tuple(self.resistive), self.external, dict(D.ports), dict(self.resistive))
        free = all(r.admits_efforts for r in self.resistive.values())
        kind = DirectEquations if free and partition(D.graph, self._sizes(D)[0]).direct else GeneralEquations
        constant = self.is_constant
        graph = (lambda x: D.graph) if constant else (lambda x: self._ordered(x).graph)
        equations = kind(names, graph, start=D.graph, gradient=self.gradient)
        extra = equations.size - self.size
        sample = np.concatenate([self.sample, np.zeros(extra)])
        return PHDAE(
            E=np.diag(np.concatenate([np.ones(self.size), np.zeros(extra)])),
            J=equations.J(sample) if constant else equations.J,
            R=equations.R(sample) if constant and equations.linear else equations.R,
            B=equations.B(sample) if constant else equations.B,
            z=equations.z,
            H=lambda x: float(self.H(x[: self.size])),
            sample=sample,
            ports=equations.ports,
            parts=equations.parts,
            derivatives=self._derivatives(extra) if constant and equations.linear else None,
        )

    def _derivatives(self, extra: int) -> Derivatives | None:
        hessian, n = self.hessian, self.size
        if hessian is None:
            return None

        def costate(x: Array) -> Array:
            made = np.eye(n + extra)
            made[:n, :n] = hessian(x[:n])
            return made

        return Derivatives(costate=costate)

    def _ordered(self, x: Array) -> DiracStructure:
        """D(x) with its ports in the order storage, resistive, external."""
        D = self.at(x)
        external = [n for n in D.ports if n not in self.storage and n not in self.resistive]
        return D.reordered([*self.storage, *self.resistive, *external])

    def _sizes(self, D: DiracStructure) -> list[int]:
        size = [sum(D.ports[n].stop - D.ports[n].start for n in names) for names in (self.storage, self.resistive)]
        return [size[0], size[0] + size[1], D.size]


def interconnect(
    first: PortHamiltonian,
    second: PortHamiltonian,
    *,
    ports: Mapping[str, str] | None = None,
    gyrative: bool = False,
) -> PortHamiltonian:
    """Two systems as one: ``D(x₁, x₂) = D₁(x₁) ∥ D₂(x₂)``, H = H₁ + H₂ ([survey] sec. 6.2).

    Connected are external ports by ``u₁ = −u₂, y₁ = y₂``, or gyrative by ``u₁ = y₂, u₂ = −y₁``; names as in
    :func:`flexph.dirac.compose`, where elements can be composed with one of the structures before.
    """
    n = first.size
    inner = {*first.storage, *first.resistive} | {*second.storage, *second.resistive}
    for name in inner & ({*(ports or {})} | {*(ports or {}).values()}):
        raise ValueError(f"port {name!r} is not external: it stores energy or resists")
    if ports is None:
        ports = {name: name for name in first.external if name in second.external}

    def whole(x: Array) -> DiracStructure:
        return compose(first.at(x[:n]), second.at(x[n:]), ports=ports, gyrative=gyrative)

    sample = np.concatenate([first.sample, second.sample])
    hessians = first.hessian, second.hessian

    def hessian(x: Array) -> Array:
        made = np.zeros((x.size, x.size))
        assert hessians[0] is not None and hessians[1] is not None
        made[:n, :n], made[n:, n:] = hessians[0](x[:n]), hessians[1](x[n:])
        return made

    return PortHamiltonian(
        structure=whole(sample) if first.is_constant and second.is_constant else whole,
        H=lambda x: float(first.H(x[:n])) + float(second.H(x[n:])),
        gradient=lambda x: np.concatenate([first.gradient(x[:n]), second.gradient(x[n:])]),
        sample=sample,
        hessian=None if None in hessians else hessian,
        storage=(*first.storage, *second.storage),
        resistive={**first.resistive, **second.resistive},
    )
