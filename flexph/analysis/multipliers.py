"""Stability of periodic motions of mechanisms: Floquet multipliers of the linearised steps of a method.

Drives, inputs and motions must repeat themselves after the period.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import eig

from ..contacts.arrays import refuse_contacts
from ..integration.blocks.in_blocks import blocks_of
from ..integration.methods.exact import Exact, ExactGauss
from ..integration.schemes.of_method import scheme_from
from ..integration.schemes.scheme import StepStart
from ..joints.rows.connection import measures, refuse_other_laws
from ..kernels.state import Configuration, displacement_sizes, lever
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.constraints import velocities_of
from ..mechanisms.model.state import State
from ..mechanisms.model.time_table import TimeTable
from ..mechanisms.poses.neighbours import FreeMotions, free_motions
from ..numerics import checks as check
from ..numerics.arguments import computing
from ..numerics.arrays import Array
from ..results.solution import Solution
from ..systems.inputs import Forcing, Input
from .linearised_steps import LinearisedSteps

REPEATED = 1e-6
"""Difference of a prescribed function of time after one period, relative to its values, up to which it is periodic."""
LATER = (0.0, 0.381966)
"""Two times, as shares of the period, at which functions are compared with their values one period later."""


class Period(NamedTuple):
    """Period of a motion: the state at its start, and the times (steps + 1,) [s] at which its steps begin and end."""

    start: State
    times: Array

    @property
    def period(self) -> float:
        """Length T [s] of the period."""
        return float(self.times[-1] - self.times[0])

    @property
    def pace(self) -> float:
        """Angular frequency 2π/T [rad/s]."""
        return 2.0 * np.pi / self.period


def read_period(mechanism: Mechanism, about: State | Solution, period: float | None, steps: int) -> Period:
    """Period that starts at a given state and has equal steps, or period of a run with its saved times.

    Raises ValueError if a period is missing for a state, or given for a run.
    """
    if isinstance(about, State):
        if period is None:
            raise ValueError("period must be given [s] for a state; a run over one period defines it")
        length = check.positive("period", period, "s")
        return Period(about, about.time + length * np.linspace(0.0, 1.0, check.count("steps", steps) + 1))
    if about.mechanism is not mechanism and type(about).signature(about.mechanism) != type(about).signature(mechanism):
        raise ValueError("about must be a run of this mechanism, got one of another")
    if period is not None:
        raise ValueError("period must be left out for a run: its own length is the period")
    if about.controls or about.controller_states:
        raise ValueError("about must be a run without controllers: they have no linearised steps")
    rows = np.zeros(mechanism.layout.multipliers)
    return Period(State(float(about.times[0]), about.states[0], rows, about.anchors), np.asarray(about.times))


def refuse_aperiodic(mechanism: Mechanism, table: TimeTable, forcing: Forcing, run: Period) -> None:
    """Raise ValueError if drives, inputs or factors of laws have changed after one period."""
    now = run.start.time + run.period * np.array(LATER)

    def changed(of: Callable[[float], Array]) -> Array:
        before, after = (np.array([of(float(t)) for t in times]) for times in (now, now + run.period))
        size = max(np.abs(before).max(initial=0.0), np.abs(after).max(initial=0.0))
        return np.flatnonzero(np.any(np.abs(after - before) > REPEATED * size, axis=0))

    requirement = f"must repeat itself after the period {run.period:.6g} s"
    inputs = changed(forcing.at)
    if inputs.size:
        port = next(name for name, at in mechanism.network.input_slices.items() if at.start <= inputs[0] < at.stop)
        raise ValueError(f"input {port!r} {requirement}")
    terms, rows = changed(lambda t: table.at(t)[0]), changed(lambda t: table.at(t)[1])
    driven = [*rows, *mechanism.network.arrays.term_row[terms]]
    if driven:
        raise ValueError(f"{mechanism.constraint_names[driven[0]]!r} {requirement}")
    if changed(table.references.at).size:
        raise ValueError(f"the free length of a spring {requirement}")
    if (factors := changed(table.references.factors)).size:
        name, measure = list(measures(mechanism.connections))[factors[0]]
        raise ValueError(f"the factor of {measure.law} of {name} {requirement}")


def is_autonomous(mechanism: Mechanism, forcing: Forcing) -> bool:
    """True if no drive, input or law depends on time."""
    driven = any(c.is_driven for c in mechanism.connections)
    driven = driven or any(m.is_driven or m.is_scheduled for _, m in measures(mechanism.connections))
    return not driven and not forcing.varying.any()


def closure_of(mechanism: Mechanism, first: Configuration, last: Configuration, pace: float) -> float:
    """Distance between the first and last configuration of a period, relative to the size of the mechanism.

    Velocities are compared, too, divided by ``pace`` [1/s].
    """
    a = mechanism.network.arrays
    sizes, length = displacement_sizes(a, lever(a)), lever(a)
    faster = (velocities_of(mechanism, last) - velocities_of(mechanism, first)) / (sizes * pace)
    parts = [(last.r - first.r) / length, last.R - first.R, faster]
    if first.u.size:
        parts.append((last.u - first.u) / sizes[-first.u.size :])
    return float(max(np.abs(part).max(initial=0.0) for part in parts))


GROWS = 1e-6
"""Excess of the modulus of a multiplier above one that counts as growth. Double multipliers have the square root of
round-off as error."""
CLOSED = 3e-3
"""Distance between the end and the start of a period, relative to the size of the mechanism, up to which the motion is
periodic."""
ALONG = 1e-2
"""Distance from one of the multiplier that belongs to the direction of motion, which is one exactly, above which the
steps are too long."""


@dataclass(frozen=True, eq=False)
class Floquet:
    """Floquet multipliers of a periodic motion: small motions about it are sums of Re(p(t) e^{st}) with periodic p.

    Attributes
    ----------
    multipliers : array
        Multipliers e^{sT} (k,), complex, by descending modulus.
    displacements : array
        Displacements at the start, (n_v, k), complex, with largest entry 1: δr in world axes, turns θ in body axes, δu.
    period : float
        Period T [s].
    closure : float
        Distance between the end and the start of the period, relative to the size of the mechanism.
    message : str
        Verdict on stability, in a sentence.
    """

    multipliers: Array
    displacements: Array
    period: float
    closure: float
    message: str

    @property
    def exponents(self) -> Array:
        """Exponents s = log(multiplier)/T (k,) [1/s]; their imaginary parts are known up to multiples of 2π/T."""
        modulus = np.maximum(np.abs(self.multipliers), np.finfo(float).tiny)
        exponents: Array = (np.log(modulus) + 1j * np.angle(self.multipliers)) / self.period
        return exponents

    @property
    def growth(self) -> float:
        """Largest real part of the exponents [1/s]."""
        return float(self.exponents.real.max(initial=-np.inf))

    @property
    def is_stable(self) -> bool:
        """True if no multiplier lies outside of the unit circle by more than 1e-6."""
        return not np.any(np.abs(self.multipliers) > 1.0 + GROWS)


@computing(lambda mechanism: mechanism.largest_body)
def floquet(
    mechanism: Mechanism,
    about: State | Solution,
    *,
    period: float | None = None,
    steps: int = 64,
    method: Exact | ExactGauss | None = None,
    inputs: Mapping[str, Input] | None = None,
) -> Floquet:
    """Floquet multipliers of small motions about a periodic motion of a mechanism, driven, spinning or free.

    The steps of a method over a period are linearised one by one, by differences of fourth order, in the motions that
    the joints allow at the start. The eigenvalues of the product are the multipliers,
    accurate to sixth order in the step with ``ExactGauss()`` (fourth with joints) and to second with ``Exact()``.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism without contacts and without dry friction in proportion to forces.
    about : State or Solution
        A state of the periodic motion, or a run over one period, whose saved times are the ends of the steps.
    period : float, optional
        T [s]; for a run it is the length of the run.
    steps : int
        Number of steps in a period, if a state is given.
    method : Exact or ExactGauss, optional
        Method of the steps, without a tolerance; by default ``ExactGauss()``.
    inputs : mapping, optional
        Values or functions of time by external port, as for :func:`flexph.integrate`.

    Returns
    -------
    Floquet
        Multipliers, mode shapes, and a verdict in a sentence.

    Raises
    ------
    ValueError
        If the motion does not close, a drive, an input or the schedule of a law is not periodic, or a part has no
        linearised step.
    ArithmeticError
        If a step does not converge, or the steps are too long for the multiplier along a free motion.

    Examples
    --------
    Mathieu's equation: an inverted pendulum is stable if its pivot oscillates fast enough:

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import connect, drive
    >>> from flexph.analysis import floquet
    >>> verdicts = []
    >>> for frequency in (20.0, 120.0):  # rad/s
    ...     pivot = drive("rod.root", position=lambda t, f=frequency: (0.0, 0.1 * np.sin(f * t)))
    ...     shaken = connect({"rod": rigid.bar(1.0, 1.0)}, [pivot], gravity=(0.0, -9.81))
    ...     start = shaken.consistent_state(shaken.assemble(guess={"rod": np.pi / 2}))
    ...     verdicts.append(floquet(shaken, start, period=2.0 * np.pi / frequency, steps=16).is_stable)
    >>> verdicts
    [False, True]
    """
    linearised = linearised_period(mechanism, read_period(mechanism, about, period, steps), method, inputs or {})
    closure = closure_of(mechanism, linearised.start.state.c, linearised.end.state.c, linearised.run.pace)
    if closure > CLOSED:
        raise ValueError(
            f"the motion must be periodic: after {linearised.run.period:.6g} s it is {closure:.1e} of its size from "
            "its start; give the period and a state of the periodic motion (or more steps)"
        )
    along = linearised.is_free and bool(np.any(velocities_of(mechanism, linearised.start.state.c)))
    return _report(linearised.free, linearised.monodromy, linearised.run.period, closure=closure, along=along)


class LinearisedPeriod(NamedTuple):
    """Result of a linearised period: states at its start and end, free motions at the start, monodromy matrix.

    The monodromy matrix is in the coordinates of the free motions. ``is_free`` is True if no drive, input or law
    depends on time.
    """

    run: Period
    table: TimeTable
    start: StepStart
    end: StepStart
    free: FreeMotions
    monodromy: Array
    is_free: bool


def linearised_period(
    mechanism: Mechanism, run: Period, method: Exact | ExactGauss | None, inputs: Mapping[str, Input]
) -> LinearisedPeriod:
    """Compute the steps of a period and linearise them one by one; ValueError for parts without linearised steps."""
    refuse_contacts(mechanism.connections, "analysis.floquet")
    refuse_other_laws(mechanism, "analysis.floquet", has_schedules=True)
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    scheme, _ = scheme_from(mechanism, run.start, _method(method), forcing)
    refuse_aperiodic(mechanism, scheme.table, forcing, run)
    blocks = blocks_of(scheme)
    linearised, begun = LinearisedSteps(blocks, run.pace), blocks.start(run.start)
    free = free_motions(mechanism, scheme.table, (begun.state.c, run.start.time), pace=run.pace)
    at, variations = begun, free.variations
    for time in run.times[1:]:
        at, variations = linearised.step(at, float(time), variations)
    coordinates = free.coordinates(variations)
    return LinearisedPeriod(run, scheme.table, begun, at, free, coordinates, is_autonomous(mechanism, forcing))


def _method(given: Exact | ExactGauss | None) -> Exact | ExactGauss:
    """Method of the steps, by default ExactGauss()."""
    if isinstance(given, Exact) and given.tolerance is not None:
        raise ValueError("method must have prescribed steps: use Exact() without a tolerance, and steps=")
    return given or ExactGauss()


def _report(free: FreeMotions, monodromy: Array, period: float, *, closure: float, along: bool) -> Floquet:
    multipliers, vectors = eig(monodromy)
    order = np.argsort(-np.abs(multipliers), kind="stable")
    multipliers, vectors = multipliers[order], vectors[:, order]
    shapes = free.sizes[:, None] * (free.basis @ vectors[: free.basis.shape[1]])
    top = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=0)[None], axis=0) if shapes.size else shapes
    nearest = float(np.abs(multipliers - 1.0).min(initial=np.inf))
    if along and nearest > ALONG:
        raise ArithmeticError(
            f"a free motion has the multiplier 1 along itself, and the nearest is {nearest:.1e} away: use more steps"
        )
    message = f"small motions about a periodic motion of {period:.6g} s that closes to {closure:.1g} "
    message += f"({_verdict(multipliers, period)})" + (
        f"; along itself its multiplier is 1 to {nearest:.1g}" if along else ""
    )
    return Floquet(multipliers, shapes / np.where(top == 0.0, 1.0, top), period, closure, message)


def _verdict(multipliers: Array, period: float) -> str:
    largest = float(np.abs(multipliers).max(initial=0.0))
    if largest > 1.0 + GROWS:
        return f"unstable: a multiplier of modulus {largest:.6g} grows with {np.log(largest) / period:.4g} 1/s"
    return f"no growing motion: the largest modulus of a multiplier is {largest:.9g}"
