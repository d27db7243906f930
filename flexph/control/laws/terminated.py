"""Linear systems with ports closed by dissipative laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...laws.resistive_relations import Relation
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array, dense
from ...numerics.memo import read_only
from ...systems.linear import LinearPHDAE
from .laws import DryFriction, Law, Limit, Smooth


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Terminated:
    """``E ẋ = (J − R) x + B u − B_f f, s = B_fᵀ x, f = ρ(s)``: a linear system whose last ports are closed by laws.

    In the steps of :class:`flexph.control.Continuous` the laws hold for the means of a step, coupled with the mechanism
    at the other ports: dry friction is one implicit equation of the step and holds without creep.

    Parameters
    ----------
    system : LinearPHDAE
        System with all its ports; the closed ones are the last.
    laws : dict
        A :class:`flexph.laws.Relation` or a :class:`DryFriction` by port of one component.

    Raises
    ------
    ValueError
        If the system has no such port, the port is wider than one or not among the last, the value is no law, or dry
        friction acts at a state that stores no energy and so has no rate at the start of a step.

    Examples
    --------
    A sliding mass with a port for a rope:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.control import DryFriction, Terminated
    >>> ports = {"rope": slice(0, 1), "ground": slice(1, 2)}
    >>> mass = LinearPHDAE(E=[[2.0]], J=[[0.0]], R=[[0.0]], B=[[1.0, 1.0]], ports=ports)
    >>> list(Terminated(system=mass, laws={"ground": DryFriction(5.0)}).ports)
    ['rope']
    """

    system: LinearPHDAE
    laws: Mapping[str, Any]

    def __post_init__(self) -> None:
        ports, count = self.system.ports, len(self.laws)
        inputs = sum(part.stop - part.start for part in ports.values())
        for port, law in self.laws.items():
            part = check.lookup("port", port, ports, "the system")
            if part.stop - part.start != 1 or part.start < inputs - count:
                raise ValueError(f"laws are for ports of one component behind all others, got {port!r}")
            if not isinstance(law, Relation | DryFriction | Limit):
                raise ValueError(f"the law of {port!r} must be a Relation or a DryFriction, got {check.shown(law)}")
            column = dense(self.system.B)[:, part.start]
            if isinstance(law, DryFriction) and np.any(column[~dense(self.system.E).any(axis=1)]):
                raise ValueError(f"dry friction needs an inertia, got {port!r} at a state that stores no energy")
        object.__setattr__(self, "laws", read_only(self.laws))

    @property
    def ports(self) -> dict[str, slice]:
        """Ports that no law closes."""
        return {name: part for name, part in self.system.ports.items() if name not in self.laws}

    def linearised(self) -> LinearPHDAE:
        """Linear system for small motions about rest, with limits inactive and the slopes of relations as damping.

        Raises ValueError for dry friction, which sticks at rest and has no linear model.
        """
        system, R = self.system, self.system.R
        for port, law in self.laws.items():
            if isinstance(law, DryFriction) and law.level > 0.0:
                raise ValueError(f"dry friction at {port!r} sticks at rest and has no linear model: omit it")
            if isinstance(law, Relation):
                b = system.inputs(port)
                R = R + float(law.slope(0.0)) * (b @ b.T)
        columns = system.B.shape[1] - len(self.laws)
        return replace(system, R=R, B=system.B[:, :columns], ports=self.ports)

    @property
    def size(self) -> int:
        """Number of states."""
        return self.system.size

    @property
    def acting(self) -> tuple[Law, ...]:
        """Laws in the order of the inputs that they close."""
        order = sorted(self.laws, key=lambda port: self.system.ports[port].start)
        return tuple(Smooth(law) if isinstance(law, Relation) else law for law in (self.laws[port] for port in order))

    @property
    def closed(self) -> Array:
        """Columns of B closed by laws, (n, m)."""
        return np.asarray(dense(self.system.B)[:, self.system.B.shape[1] - len(self.laws) :])
