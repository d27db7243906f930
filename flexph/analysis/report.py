"""Report on a system: constraints, index, conserved quantities, passivity, stability ([survey] sec. 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent

import numpy as np

from ..consistency.conditions import Conditions, Inconsistency
from ..consistency.start import consistent
from ..dirac.structure import DiracStructure
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import State
from ..mechanisms.poses.multipliers import drive_rates
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..systems.inputs import Input
from .casimirs import CasimirReport, casimir_report
from .index import IndexReport, index_report, unit_scales
from .passivity import PassivityReport, passivity_report
from .stability import StabilityReport, stability_report
from .structure import sparsity_text, structure_at
from .view import System, SystemView, view

SINGULAR = 1e-6
"""Smallest singular value of ∂g/∂x₂ at the probes, relative to the largest, below which resistive relations are nearly
ill-posed."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """Report on a system at a state; with constant matrices it holds at every state.

    ``str()`` returns the report as text.

    Attributes
    ----------
    state : array
        Consistent state next to the given one, at which the system was analysed; the given state if none was found.
    note : str
        Reason why no consistent state was found; empty if one was found.
    constant : bool
        True if the matrices are constant.
    equations : tuple of str
        Names of the algebraic equations.
    given : Inconsistency, optional
        Violation of the equations at the given state.
    index : IndexReport
        Index and constraints.
    casimirs : CasimirReport
        Conserved quantities.
    passivity : PassivityReport
        Passivity of the system.
    stability : StabilityReport
        Stability of the state.
    well_posed : str
        Sentence on whether the resistive relations determine their algebraic states.
    structure : DiracStructure
        Dirac structure of the storage and the ports.
    whole : DiracStructure
        Dirac structure in which the algebraic states have ports as well (:func:`structure_of` with ``algebraic=True``).
    """

    state: Array
    note: str
    constant: bool
    equations: tuple[str, ...]
    given: Inconsistency | None
    index: IndexReport
    casimirs: CasimirReport
    passivity: PassivityReport
    stability: StabilityReport
    well_posed: str
    structure: DiracStructure
    whole: DiracStructure

    def __str__(self) -> str:
        listed = ", ".join(_short(self.equations)) or "none"
        parts = {
            "structure": f"{_described(self.structure)}, {'constant' if self.constant else 'modulated by the state'}",
            "algebraic equations": f"in the rows of {listed}" if self.equations else "none",
            "index and state space": str(self.index),
            "given state": f"{self.given}" if self.given is not None else self.note,
            "relations": self.well_posed,
            "Casimirs": str(self.casimirs),
            "passivity": str(self.passivity),
            "stability": str(self.stability),
        }
        return "\n".join(f"{title}\n{indent(text, '  ')}" for title, text in parts.items())

    def picture(self) -> str:
        """Sparsity pattern of the Dirac structure as text."""
        return sparsity_text(self.whole)


@checked
def analyze(
    system: System,
    state: Sequence[float] | Array | State | None = None,
    *,
    inputs: Mapping[str, Input] | None = None,
    time: float = 0.0,
) -> Analysis:
    """Report on a system at a state: index, constraints, Casimirs, passivity and stability ([survey] sec. 4).

    Ranks are decided at the state and at four nearby ones; for constant matrices they hold everywhere.
    Derivatives are those given with the system, or fourth-order differences.

    Parameters
    ----------
    system : PHDAE, LinearPHDAE, PortHamiltonian or Mechanism
        The system. For a switching system give one of its modes.
    state : array_like or State, optional
        State (n,), by default the sample; it is made consistent first. A mechanism needs a :class:`flexph.State`,
        whose time sets drives and inputs; missing joint forces are computed.
    inputs : mapping, optional
        Inputs by port, zero unless given; they are held constant.
    time : float
        Time [s] at which inputs are evaluated.

    Returns
    -------
    Analysis
        The report; ``str()`` returns it as text.

    Raises
    ------
    ValueError
        If the system is of another kind, or a mechanism is given without a state.

    Examples
    --------
    The torque-free rigid body, ẋ = x × ∇H, keeps its angular momentum:

    >>> import numpy as np
    >>> from flexph import PHDAE, analyze
    >>> inertia = np.array([1.0, 2.0, 3.0])
    >>> def cross(x):
    ...     return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])
    >>> def energy(x):
    ...     return 0.5 * x @ (x / inertia)
    >>> body = PHDAE(E=np.eye(3), J=cross, z=lambda x: x / inertia, H=energy, sample=np.ones(3))
    >>> report = analyze(body, [1.0, 0.0, 0.0])
    >>> print(report.casimirs)
    quadratic: x[0]² + x[1]² + x[2]²
    >>> report.stability.verdict
    'stable'
    """
    if isinstance(system, Mechanism) and isinstance(state, State):
        state, inputs = _in_motion(system, state, inputs or {})
        time = state.time
    first = view(system, state, inputs=inputs, time=time)
    x, note = _consistent(first, inputs, time)
    here = first.at(x)
    conditions = _conditions(first)
    index = index_report(here)
    slopes, casimirs = _constraint_slopes(here), casimir_report(here)
    return Analysis(
        state=x,
        note=note,
        constant=here.is_constant,
        equations=tuple(conditions.names) if conditions is not None else (),
        given=_reported(conditions, first.x),
        index=index,
        casimirs=casimirs,
        passivity=passivity_report(here, slopes),
        stability=stability_report(here, slopes, casimirs=casimirs, index=index),
        well_posed=_relations(here, index),
        structure=structure_at(here),
        whole=structure_at(here, algebraic=True),
    )


def _in_motion(mechanism: Mechanism, state: State, inputs: Mapping[str, Input]) -> tuple[State, dict[str, Input]]:
    """State with the joint forces that balance it, and the inputs with the rates of drives added.

    If constraints are redundant or inconsistent, the state is returned unchanged.
    """
    moving = {**drive_rates(mechanism, (state.time, np.inf)), **inputs}
    if state.joint_forces:
        return state, moving
    external = {name: value for name, value in inputs.items() if name in mechanism.network.input_slices}
    try:
        return mechanism.consistent_multipliers(state, inputs=external), moving
    except (ArithmeticError, ValueError):
        return state, moving


def _consistent(first: SystemView, inputs: Mapping[str, Input] | None, time: float) -> tuple[Array, str]:
    if not first.V2.shape[1]:
        return first.x, "no algebraic equations"
    try:
        return consistent(first.system, first.x, time=time, inputs=inputs), ""
    except (ArithmeticError, ValueError) as error:
        return first.x, f"no consistent state was found: {error}"


def _conditions(first: SystemView) -> Conditions | None:
    return Conditions(first.equations, first.time, first.x) if first.V2.shape[1] else None


def _reported(conditions: Conditions | None, x: Array) -> Inconsistency | None:
    if conditions is None:
        return None
    try:
        return conditions.report(x)
    except (ArithmeticError, ValueError):
        return None


def _constraint_slopes(here: SystemView) -> Array:
    """Derivatives (k, r), by the differential states, of the algebraic equations that contain no algebraic state."""
    if not here.V2.shape[1]:
        return np.zeros((0, here.V1.shape[1]))
    whole = here.equations.split.U2.T @ here.flow_slope(here.x)
    along, slopes = whole @ here.V2, whole @ here.V1
    size = np.abs(slopes).max(axis=1, initial=0.0) + np.abs(along).max(axis=1, initial=0.0)
    pure = (np.abs(along).max(axis=1, initial=0.0) <= 1e-9 * size) & (size > 0.0)
    return slopes[pure]


def _relations(here: SystemView, index: IndexReport) -> str:
    """Sentence on whether resistive relations determine the algebraic states at the probes ([survey] sec. 4.5)."""
    if index.undetermined:
        return f"not well-posed: {index.undetermined} algebraic states are free ([survey] example 4.5)"
    if index.index != 1:
        return "no algebraic state is determined by a resistive relation alone" if index.algebraic else "explicit"
    slopes = [here.algebraic_slope(x) for x in here.probes]
    rows, columns = unit_scales(slopes[0])
    slopes = [rows[:, None] * matrix * columns for matrix in slopes]
    values = [np.linalg.svd(matrix, compute_uv=False) for matrix in slopes]
    worst = min(float(v[-1] / max(v[0], 1e-300)) for v in values)
    if len({float(np.linalg.slogdet(matrix)[0]) for matrix in slopes}) > 1:
        return "ill-posed near the state: ∂g/∂x₂ changes its sign, see impasse_points(system, path, inputs=...)"
    word = "nearly ill-posed" if worst < SINGULAR else "well-posed at the state and near it"
    return f"{word}: smallest singular value of ∂g/∂x₂ over the largest, scaled, {worst:.1e}"


def _described(D: DiracStructure) -> str:
    sizes = [f"{name} ({span.stop - span.start})" for name, span in D.ports.items()]
    return f"Dirac structure of {D.size} flows and efforts: {', '.join(_short(sizes, 8))}"


def _short(names: Sequence[str], most: int = 6) -> list[str]:
    return [*names[:most], f"{len(names) - most} more"] if len(names) > most else list(names)
