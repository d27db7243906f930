"""Port-Hamiltonian systems: a Dirac structure, an energy, resistive relations, external ports ([survey] sec. 2.5)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, block_diag
from ..numerics.memo import PickledByCall, read_only
from ..systems.derivatives import Derivatives
from ..systems.nonlinear import PHDAE, Constant
from .characteristic import resistance_of
from .equations import DirectEquations, GeneralEquations, Layout
from .forms import ConstrainedForm, KernelForm, partition
from .graph import Graph
from .modulated import ModulatedDirac, check_continuous, storage_of
from .resistance import Resistance
from .storage import LagrangianStorage, LagrangianSubspace
from .structure import DiracStructure


def _missing(x: Array) -> Any:
    """Stand-in for H and its gradient if a Lagrangian storage is given: raises ValueError with advice."""
    raise ValueError("the storage was given as lagrangian: use energy.H and energy.efforts of the system")


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class PortHamiltonian(PickledByCall):
    """System ``(−ẋ, ∇H(x), f_R, e_R, u, y) ∈ D(x)`` with resistive relations of (f_R, e_R) ([survey] (2.22)-(2.23)).

    All ports that belong neither to the storage nor to resistances are external, with flows u as inputs and efforts y
    as outputs. Then

        dH/dt = e_Rᵀf_R + yᵀu ≤ yᵀu

    :meth:`kernel_form` and :meth:`constrained_form` are the equations at a state, :meth:`phdae` converts to a
    :class:`flexph.PHDAE` for runs and analysis. ``energy`` is the storage, from H or from ``lagrangian``.

    Parameters
    ----------
    structure : DiracStructure or callable
        Dirac structure, or for a modulated one a function of the state x (n,) that returns it: D(x) must be continuous
        at the sample ([rigid] definition 4).
    H : callable
        Energy as a function of x.
    gradient : callable
        ∇H (n,) as a function of x.
    sample : array
        State (n,).
    hessian : callable, optional
        Hessian (n, n) as a function of x.
    lagrangian : LagrangianSubspace or LagrangianStorage, optional
        Instead of H, a storage (x, e) ∈ L ([rigid] definition 7): a :class:`LagrangianSubspace` {(P ξ, S ξ)} or a
        :class:`LagrangianStorage` {(X(ξ), ε(ξ))}; the states of the system, and ``sample``, are then its parameters ξ.
    storage : tuple of str
        Ports of the states in their order; by default the first ones that cover x.
    resistive : mapping
        Relation of each resistive port: a number or matrix R of f = −R e, relations as :func:`flexph.laws.viscous`
        (f_i = −ρ_i(e_i)), a :class:`Resistance` such as :class:`LinearResistance` or
        :class:`MultiportCharacteristic`, or, modulated, a function of x that returns one of these.
    energy : LagrangianStorage
        Storage, computed from H and its gradient, or from ``lagrangian``; it cannot be given.
    """

    structure: DiracStructure | Callable[[Array], DiracStructure]
    H: Callable[[Array], float] = _missing
    gradient: Callable[[Array], Array] = _missing
    sample: Array
    hessian: Callable[[Array], Array] | None = None
    lagrangian: LagrangianSubspace | LagrangianStorage | None = None
    storage: tuple[str, ...] = ()
    resistive: Mapping[str, Any] = field(default_factory=dict)
    energy: LagrangianStorage = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample", check.array("sample", self.sample, (None,)))
        self._set_energy()
        x = self.energy.states(self.sample)
        D = self.at(x)
        if not self.is_constant:
            check_continuous(self.at, x)
        object.__setattr__(self, "storage", storage_of(D, self.size, self.storage))
        relations: dict[str, Resistance] = {}
        for name, given in self.resistive.items():
            span = check.lookup("port", name, D.ports)
            if name in self.storage:
                raise ValueError(f"port {name!r} stores energy, it cannot be resistive too")
            relations[name] = resistance_of(name, given, span.stop - span.start, x)
        object.__setattr__(self, "resistive", read_only(relations))

    def _set_energy(self) -> None:
        given = [name for name in ("H", "gradient") if getattr(self, name) is not _missing]
        if self.lagrangian is None:
            if len(given) < 2:
                raise ValueError(f"H and gradient must be given, or lagrangian; got {given or 'none of them'}")
            energy = LagrangianStorage.of_energy(self.H, self.gradient, self.size, self.hessian)
        else:
            if given or self.hessian is not None:
                raise ValueError(f"lagrangian replaces H, gradient and hessian, but got {given or ['hessian']}, too")
            lagrangian = self.lagrangian
            if isinstance(lagrangian, LagrangianSubspace) and lagrangian.size != self.size:
                raise ValueError(f"sample must have the {lagrangian.size} parameters of the subspace, got {self.size}")
            energy = (
                LagrangianStorage.of_subspace(lagrangian) if isinstance(lagrangian, LagrangianSubspace) else lagrangian
            )
            energy.check(self.sample)
        object.__setattr__(self, "energy", energy)

    @property
    def size(self) -> int:
        """Number n of states."""
        return len(self.sample)

    @property
    def external(self) -> tuple[str, ...]:
        """Names of the external ports."""
        D = self.at(self.energy.states(self.sample))
        return tuple(n for n in D.ports if n not in self.storage and n not in self.resistive)

    @property
    def is_constant(self) -> bool:
        """True if the structure does not depend on the state."""
        return isinstance(self.structure, DiracStructure)

    def at(self, x: Array) -> DiracStructure:
        """Structure D(x) at energy variables x."""
        if isinstance(self.structure, DiracStructure):
            return self.structure
        return self.structure(np.asarray(x, dtype=float))

    def modulated(self) -> ModulatedDirac:
        """Dirac structure as a function of the energy variables."""
        return ModulatedDirac(self.at, self.energy.states(self.sample), self.storage)

    @checked
    def split_port(self, port: str, parts: Mapping[str, int]) -> PortHamiltonian:
        """System with one port split into ``parts``, such as a force and a torque, given as names with sizes in order.

        Parts of a storage port belong to the storage. A resistive port cannot be split, as its relation couples its
        entries.
        """
        if port in self.resistive:
            raise ValueError(f"port {port!r} is resistive, with one relation of all its entries: it cannot be split")
        D = self.structure
        storage = tuple(part for name in self.storage for part in (parts if name == port else (name,)))
        split = D.split(port, parts) if isinstance(D, DiracStructure) else lambda x: D(x).split(port, parts)
        return dataclasses.replace(self, structure=split, storage=storage)

    @checked
    def kernel_form(self, x: Array) -> KernelForm:
        """Equations at energy variables x in kernel form ([survey] eq. (3.11)), f_S = −ẋ."""
        D = self._ordered(x)
        ends = self._sizes(D)
        parts = [slice(0, ends[0]), slice(ends[0], ends[1]), slice(ends[1], ends[2])]
        (s, r, c) = ((D.F[:, p], D.E[:, p]) for p in parts)
        return KernelForm(s, r, c)

    @checked
    def constrained_form(self, x: Array) -> ConstrainedForm:
        """Equations at energy variables x in constrained form ([survey] eq. (3.16)).

        Raises ValueError if inputs or resistances feed through to outputs, or their efforts are constrained;
        :meth:`phdae` supports that.
        """
        D = self._ordered(x)
        inner = self._sizes(D)[0]
        split = partition(D.graph, inner)
        if not split.direct:
            raise ValueError(
                "the constrained form needs efforts of resistive and external ports that depend on the storage's only: "
                "here other ports or inputs feed through, or are constrained; use phdae(), which has algebraic states"
            )
        return split.form(D.graph, self._sizes(D)[1] - inner)

    def phdae(self) -> PHDAE:
        """System as a :class:`flexph.PHDAE` with states x (or ξ, the parameters of a storage) and multipliers λ.

        If inputs or resistances feed through, or efforts of these ports are constrained, there are algebraic states for
        all resistive and external ports, in parts with the names of the ports: the effort e_R of a resistive port (for
        a flow-controlled relation its flow f_R, for a linear one the coordinates of its possible efforts), and the
        output y of an external port.

        Multipliers are chosen at the sample and kept along a run, which ends with an error where they are not
        determined any more. E is the identity in the rows of x, X'(ξ) in those of ξ, and zero in the rows of all other
        states.
        """
        D = self._ordered(self.energy.states(self.sample))
        names = Layout(self.storage, tuple(self.resistive), self.external, dict(D.ports), dict(self.resistive))
        graph = (lambda x: D.graph) if self.is_constant else (lambda x: self._ordered(x).graph)
        equations = self._equations(names, graph)
        extra = equations.size - self.size
        sample = np.concatenate([self.sample, np.zeros(extra)])
        constant, linear = self.is_constant, self.is_constant and names.constant
        return PHDAE(
            E=self._descriptor(extra),
            J=equations.J(sample) if linear or (constant and names.reciprocal and names.admits) else equations.J,
            R=equations.R(sample) if linear else equations.R,
            B=equations.B(sample) if constant else equations.B,
            z=equations.z,
            H=lambda x: float(self.energy.H(x[: self.size])),
            sample=sample,
            ports=equations.ports,
            parts=equations.parts,
            derivatives=self._derivatives(extra) if linear and self.energy.is_constant else None,
        )

    def _equations(self, names: Layout, graph: Callable[[Array], Graph]) -> DirectEquations | GeneralEquations:
        direct = DirectEquations(names, graph, self.energy, self.sample)
        return (
            direct
            if names.admits and direct.partition.direct
            else GeneralEquations(names, graph, self.energy, self.sample)
        )

    def _descriptor(self, extra: int) -> Any:
        """Descriptor matrix diag(X'(ξ), 0) of the states x = X(ξ) of the storage and ``extra`` algebraic states.

        It is a matrix if X' is constant, otherwise a function of the state of the whole system.
        """
        one = self.energy.descriptor
        zero = np.zeros((extra, extra))
        if isinstance(one, Constant):
            return block_diag(one.matrix, zero)
        return lambda x: block_diag(one(x[: self.size]), zero)

    def _derivatives(self, extra: int) -> Derivatives | None:
        slopes, n = self.energy.slopes, self.size
        if slopes is None:
            return None

        def costate(x: Array) -> Array:
            slope = np.eye(n + extra)
            slope[:n, :n] = slopes(x[:n])
            return slope

        return Derivatives(costate=costate)

    def _ordered(self, x: Array) -> DiracStructure:
        """Structure D(x) with its ports in the order storage, resistive, external."""
        D = self.at(x)
        external = [n for n in D.ports if n not in self.storage and n not in self.resistive]
        return D.reordered([*self.storage, *self.resistive, *external])

    def _sizes(self, D: DiracStructure) -> list[int]:
        size = [sum(D.ports[n].stop - D.ports[n].start for n in names) for names in (self.storage, self.resistive)]
        return [size[0], size[0] + size[1], D.size]
