"""Energy ledger: stored energy, work and dissipation in each step, and the energy exchanged between states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display.labelled import Labelled, Labels, Variable
from ..display.tables import html_table, paragraph
from ..mechanisms.model.accounts import Accounts
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import NamedFields
from ..systems.nonlinear import PHDAE

if TYPE_CHECKING:
    from ..mechanisms.model.consistency import Resolution


SYSTEM = "system"
"""Name of the only energy and the only dissipation of a general system."""
AUDIT = (
    "residual",
    "position_residual",
    "velocity_residual",
    "nonholonomic_residual",
    "iterations",
    "steps",
    "rejected",
)
"""Columns of the audit of a mechanism's steps."""
ACCOUNTS = {
    "energy": ("store", "time", "J", "stored energy by part"),
    "work": ("port", "step", "J", "work of external ports and drives within the step"),
    "joint_work": ("joint", "step", "J", "work of ideal joints within the step, round-off"),
    "controllers": ("controller", "step", "J", "work of controllers within the step"),
    "dissipation": ("loss", "step", "J", "dissipated energy within the step"),
    "impulses": ("impulse", "step", "N s", "impulses of contacts within the step"),
}
"""Accounts by name: dimension of their names, dimension of their values, unit, and description."""
CHECKS = {
    "residual": ("J", "largest balance residual of a step"),
    "iterations": ("1", "Newton iterations"),
    "steps": ("1", "steps taken"),
    "rejected": ("1", "steps rejected"),
    "position_residual": ("m or rad", "largest constraint defect"),
    "velocity_residual": ("m/s or rad/s", "largest rate of a constraint defect"),
    "nonholonomic_residual": ("m/s", "largest mean rate of a nonholonomic row"),
    "complementarity_residual": ("1", "largest relative defect of the laws of rigid contacts"),
}
"""Columns of the audit by name: unit and description."""
_NONE: Callable[[], Array] = partial(np.zeros, 0)
_LARGEST = ("exchanged", "unresolved")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ledger(NamedFields, Labelled):
    """Energy accounts of a run, all in [J]: ΔH = work of ports and drives − dissipation + residual.

    Attributes
    ----------
    energy : mapping
        Energy by part (``kinetic crank``, ``elastic rod``, ``potential crank``, ``stored spring …``) at every saved
        time, (k + 1,). A general system has one part, ``system``.
    work : mapping
        Work by external port and drive between saved times, (k,).
    joint_work : mapping
        Work by ideal joint, (k,): zero up to round-off.
    controllers : mapping
        Work at the ports of each controller, (k,). For a sampled controller it is part of ``work``, together with
        inputs at the same ports. For a continuous controller it is not in ``work``, as its energy is
        ``stored controller``.
    dissipation : mapping
        Dissipation by damped body, damper and joint with friction, and ``numerical`` dissipation of the method
        ``Decaying``, (k,), never negative. A general system has one account, ``system``.
    impulses : mapping
        Impulses of contacts, ``NAME: normal`` and ``NAME: friction``: sums of the magnitudes over the gaps of a contact
        between saved times, (k,) [N s]. For rigid contacts ``NAME: normal at impacts`` and ``NAME: friction at
        impacts`` are the parts in steps in which gaps close.
    residual : array
        Largest balance residual |ΔH − work + dissipation| of a step between saved times, (k,). For adaptive methods the
        residual from one saved time to the next.
    iterations : array
        Newton iterations between saved times, (k,); for adaptive methods their internal steps.
    steps : array
        Steps between saved times, (k,), including the parts of a step that had to be divided. Empty for adaptive
        methods.
    rejected : array
        Steps that step control rejected, (k,); empty for adaptive methods.
    position_residual : array
        Largest constraint defect [m, rad] between saved times, (k,). Empty for general systems.
    velocity_residual : array
        Largest rate of the constraint defect [m/s, rad/s], (k,). Empty for general systems.
    nonholonomic_residual : array
        Largest defect |A v̄| of nonholonomic constraints (knife edges, rolling), which have no position defect, with
        the mean velocities v̄ of steps between saved times, (k,) [m/s]. Empty for general systems.
    complementarity_residual : array
        Largest defect of 0 ≤ g ⟂ Λ ≥ 0 and of Coulomb's law at rigid contacts in a step between saved times, relative
        to the largest sum of terms in a contact velocity, (k,). Empty without rigid contacts.
    exchanged : float
        Energy exchanged within the system, independent of the zero of H: for a mechanism the work of the weights of all
        bodies along a distance equal to the size of the mechanism, for a general system
        :func:`flexph.results.ledger.exchanged_energy`.
    unresolved : float
        Kinetic energy of a mechanism's bodies if each moves by the round-off of its position in the shortest step.
    """

    energy: Mapping[str, Array]
    work: Mapping[str, Array]
    joint_work: Mapping[str, Array] = field(default_factory=dict)
    controllers: Mapping[str, Array] = field(default_factory=dict)
    dissipation: Mapping[str, Array]
    impulses: Mapping[str, Array] = field(default_factory=dict)
    residual: Array
    iterations: Array
    steps: Array = field(default_factory=_NONE)
    rejected: Array = field(default_factory=_NONE)
    position_residual: Array = field(default_factory=_NONE)
    velocity_residual: Array = field(default_factory=_NONE)
    nonholonomic_residual: Array = field(default_factory=_NONE)
    complementarity_residual: Array = field(default_factory=_NONE)
    exchanged: float = 0.0
    unresolved: float = 0.0

    def __repr__(self) -> str:
        return f"<Ledger of {len(self.residual)} steps: {self._sums()}>"

    def _repr_html_(self) -> str:
        """Tables of all accounts in HTML, for notebooks."""
        stored = [(f"{n}", float(e[-1] - e[0]), float(np.max(e)), float(np.min(e))) for n, e in self.energy.items()]
        flows = [*_flow_rows("work", self.work), *_flow_rows("dissipation", self.dissipation)]
        head = paragraph(f"Ledger of {len(self.residual)} steps: {self._sums()}")
        energies = html_table(("energy", "change [J]", "largest [J]", "smallest [J]"), stored)
        return head + energies + (html_table(("flow", "of", "in all [J]"), flows) if flows else "")

    def _sums(self) -> str:
        energy = self.total_energy
        return (
            f"stored {energy[-1] - energy[0]:+.4g} J, work {self.total_work.sum():+.4g} J, dissipated "
            f"{self.total_dissipation.sum():.4g} J, balance residual {self.largest_residual:.1e}"
        )

    def _labels(self) -> Labels:
        return ledger_labels(self)

    @property
    def total_energy(self) -> Array:
        """Total energy H at every saved time, (k + 1,) [J]."""
        return np.sum(list(self.energy.values()), axis=0)

    @property
    def total_work(self) -> Array:
        """Work of all ports and drives between saved times, (k,) [J]."""
        return sum(self.work.values(), np.zeros(len(self.residual)))

    @property
    def total_dissipation(self) -> Array:
        """Dissipation of all parts between saved times, (k,) [J]."""
        return sum(self.dissipation.values(), np.zeros(len(self.residual)))

    @property
    def relative_residual(self) -> Array:
        """Balance residuals between saved times, minus the effect of rounded positions, divided by ``scale``, (k,)."""
        return self.relative(self.residual)

    @property
    def largest_residual(self) -> float:
        """Largest ``relative_residual``; 0 for a system at rest."""
        return float(self.relative_residual.max(initial=0.0))

    @property
    def drift(self) -> float:
        """Accumulated residual: largest |H(t) − H(0) − work + dissipation|, divided by ``scale``."""
        change = self.total_energy[1:] - self.total_energy[0]
        errors = change - np.cumsum(self.total_work - self.total_dissipation)
        steps = np.cumsum(self.steps) if len(self.steps) else 1.0
        return float(self.relative(errors, steps).max(initial=0.0))

    @property
    def scale(self) -> float:
        """Energy to which balance errors are relative [J].

        It is the largest of three values: the sum of the magnitudes of all energies at one time, the sum of the
        magnitudes of work and dissipation between two saved times, and ``exchanged``. Only the first one depends on the
        zero of H.
        """
        flows = [*self.work.values(), *self.dissipation.values()]
        return max(_largest_sum(self.energy.values()), _largest_sum(flows), self.exchanged)

    def relative(self, error: Array, steps: Array | float = 1.0) -> Array:
        """Balance errors of ``steps`` steps, minus the effect of rounded positions in these, divided by ``scale``.

        Parameters
        ----------
        error : array
            Balance errors [J].
        steps : array or float
            Number of steps over which they accumulated.

        Returns
        -------
        array
            Errors divided by ``scale``.
        """
        return relative_error(error, self.scale, steps * self.unresolved)

    @checked
    def kind(self, word: str) -> Array:
        """Energy of one kind (``kinetic``, ``elastic``, ``potential``, ``stored``), summed over its parts [J].

        Parameters
        ----------
        word : str
            ``kinetic``, ``elastic``, ``potential`` or ``stored``.

        Returns
        -------
        array
            (k + 1,) [J], zero if there is no such part.

        Raises
        ------
        ValueError
            For another word.
        """
        check.choice("kind", word, ("kinetic", "elastic", "potential", "stored"))
        parts = [v for k, v in self.energy.items() if k.split()[0] == word]
        return np.sum(parts, axis=0) if parts else np.zeros_like(self.total_energy)


def _flow_rows(kind: str, flows: Mapping[str, Array]) -> list[tuple[str, str, float]]:
    return [(kind, name, float(flow.sum())) for name, flow in flows.items()]


def ledger_labels(ledger: Ledger, times: Array | None = None) -> Labels:
    """Accounts and checks of a ledger as labelled arrays; ``largest_residual``, ``drift``, ``scale`` are attributes.

    The coordinates of the arrays are the saved ``times`` (k + 1,) [s], which are also the ends of steps; without
    ``times`` they are numbers of saved times and of steps.
    """
    ends = np.arange(1, len(ledger.residual) + 1) if times is None else times[1:]
    starts = np.arange(len(ledger.residual) + 1) if times is None else times
    unit, word = ("", "number of the step") if times is None else ("s", "end of the step")
    coordinates = {"step": Variable(("step",), ends, unit, word), "time": Variable(("time",), starts, unit, "time")}
    if times is None:
        coordinates["time"] = Variable(("time",), starts, "", "number of the saved time")
    variables: dict[str, Variable] = {}
    for name, (entry, dim, account_unit, words) in ACCOUNTS.items():
        accounts = getattr(ledger, name)
        if accounts:
            coordinates[entry] = Variable((entry,), np.array(list(accounts), dtype=str), "", words)
            values = np.stack(list(accounts.values()), axis=1)
            variables[name] = Variable((dim, entry), values, account_unit, words)
    for name, (audit_unit, words) in CHECKS.items():
        if len(values := getattr(ledger, name)):
            variables[name] = Variable(("step",), values, audit_unit, words)
    attributes = {"largest_residual": ledger.largest_residual, "drift": ledger.drift, "scale": ledger.scale}
    return Labels("step", variables, coordinates, attributes)


def relative_error(error: Array, scale: float, resolution: Array | float = 0.0) -> Array:
    """Balance errors (k,) relative to an energy: max(|error| − resolution, 0)/scale.

    All arguments are in [J]. An error below the ``resolution`` of the states counts as zero, as all energies of a
    system at rest can be that small. If ``scale`` is zero, other errors are infinite.
    """
    beyond = np.maximum(np.abs(error) - resolution, 0.0)
    if scale > 0.0:
        return np.asarray(beyond / scale)
    return np.where(beyond > 0.0, np.inf, 0.0)


def _largest_sum(accounts: Iterable[Array]) -> float:
    """Largest value in time of the sum of the magnitudes of all accounts, each (k,) [J]; 0 without any."""
    return float(np.abs(np.array(list(accounts))).sum(axis=0).max(initial=0.0))


def join_ledgers(ledgers: Sequence[Ledger]) -> Ledger:
    """One ledger of consecutive runs; an account that is missing in a run is zero during this run.

    Energies at a common saved time are those of the earlier run. Of numbers for a whole run, such as ``exchanged``, the
    joint ledger has the largest of all runs.
    """
    sizes = [len(ledger.residual) for ledger in ledgers]
    joined: dict[str, Any] = {name: max(getattr(ledger, name) for ledger in ledgers) for name in _LARGEST}
    for name in {f.name for f in fields(Ledger)} - {*_LARGEST, "energy"}:
        joined[name] = _joined([getattr(ledger, name) for ledger in ledgers], sizes)
    first, *later = (ledger.energy for ledger in ledgers)
    energies = [first, *({name: values[1:] for name, values in energy.items()} for energy in later)]
    return Ledger(energy=_joined(energies, [sizes[0] + 1, *sizes[1:]]), **joined)


def _joined(parts: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Rows of an account of consecutive runs in one array, or of accounts by name; zeros for a run that lacks one.

    ``sizes`` are the numbers of rows of the runs. The array is empty if it is empty in all runs.
    """
    if not isinstance(parts[0], Mapping):
        if not any(len(part) for part in parts):
            return np.zeros(0)
        return np.concatenate([part if len(part) else np.zeros(size) for part, size in zip(parts, sizes, strict=True)])
    names = dict.fromkeys(name for part in parts for name in part)
    pairs = list(zip(parts, sizes, strict=True))
    return {name: np.concatenate([part.get(name, np.zeros(size)) for part, size in pairs]) for name in names}


def make_ledger(
    accounts: Accounts, energy: Array, flows: Array, audit: Sequence[Any], *, resolution: Resolution
) -> Ledger:
    """Ledger of a mechanism from arrays of energies (k + 1, …) and flows (k, …), and from columns (k,) of ``audit``.

    Columns of energies and flows are in the order of the names in ``accounts``, those of ``audit`` in the order of
    AUDIT.
    """
    names = (accounts.work, accounts.joint_work, accounts.impulses, accounts.dissipation)
    rows = iter(flows.T)
    columns = [{name: next(rows) for name in group} for group in names]
    return Ledger(
        energy=dict(zip(accounts.energy, energy.T, strict=True)),
        work=columns[0],
        joint_work=columns[1],
        impulses=columns[2],
        dissipation=columns[3],
        **dict(zip(AUDIT, audit, strict=True)),
        exchanged=resolution.weight,
        unresolved=resolution.unresolved,
    )


def system_ledger(energy: Array, dissipation: Array, **others: Any) -> Ledger:
    """Ledger of a general system from its energy (k + 1,) and dissipation (k,) [J], and other accounts by name."""
    return Ledger(energy={SYSTEM: energy}, dissipation={SYSTEM: dissipation}, **others)


NEARER = 1e-6
"""Relative change of a state at which the curvature of H along it is measured."""
AT_REST = 1e-12
"""Ratio of exchanged to carried energy below which a system counts as at rest: states are rounded to some 1e-16."""
MEASURED = 200
"""Number of evenly chosen states at which the exchanged energy is evaluated; it only serves as a scale."""


def exchanged_energy(system: PHDAE, states: Array) -> float:
    """Largest energy [J] exchanged between the state variables since the first of ``states`` (k, n).

    The energy of state variable i increases by ``½ (∇H(x₀) + ∇H(x))ᵢ (x − x₀)ᵢ`` with ∇H = Eᵀz, exact if H is linear
    or quadratic in this variable. The result is the largest sum of all increases, or of all decreases, over up to
    MEASURED of the states x. (A pendulum released at the height with H = 0 always has H = 0, but exchanges potential
    and kinetic energy.) For a system at rest, with exchanges of the size of round-off, the result is that of
    :func:`carried_energy`.
    """
    first, x0, most = _gradient(system, states[0]), states[0], 0.0
    for x in states[np.unique(np.linspace(0, len(states) - 1, MEASURED).astype(int))[1:]]:
        gained = 0.5 * (first + _gradient(system, x)) * (x - x0)
        most = max(most, float(gained.clip(0.0).sum()), float((-gained).clip(0.0).sum()))
    carried = max(carried_energy(system, x) for x in (states[0], states[-1]))
    return most if most > AT_REST * carried else carried


def carried_energy(system: PHDAE, x: Array) -> float:
    """Energy ½ Σ|xᵢ| max(|∇H|ᵢ, |∇²H x|ᵢ) [J] at a state x; times round-off, it is the error of H by the rounding of x.

    For H = ½ xᵀQx with a diagonal Q ≥ 0 it is equal to H. A constant in H does not change it.
    """
    slope, nearer = (_gradient(system, y) for y in (x, (1.0 - NEARER) * x))
    curved = (slope - nearer) / NEARER
    carried = float(0.5 * np.abs(x) @ np.maximum(np.abs(slope), np.abs(curved)))
    return carried if np.isfinite(carried) else 0.0


def _gradient(system: PHDAE, x: Array) -> Array:
    """Gradient ∇H = Eᵀz of a system's energy H at a state x (n,)."""
    gradient: Array = system.E(x).T @ system.z(x)
    return gradient
