"""Stability of periodic motions of mechanisms: Floquet multipliers of the linearised steps of a method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eig

from ...contacts.arrays import refuse_contacts
from ...integration.blocks.in_blocks import blocks_of
from ...integration.methods.exact import Exact, ExactGauss
from ...integration.schemes.of_method import scheme_from
from ...joints.rows.connection import measures, refuse_other_laws
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.model.constraints import velocities_of
from ...mechanisms.model.state import State
from ...numerics.arguments import computing
from ...numerics.arrays import Array
from ...results.solution import Solution
from ...systems.inputs import Forcing, Input
from .free_motions import FreeMotions, free_motions
from .linearised_steps import LinearisedSteps
from .periods import closure_of, is_autonomous, read_period, refuse_aperiodic

GROWS = 1e-6
"""Excess of a modulus above one that counts as growth: double multipliers err by the square root of round-off."""
CLOSED = 3e-3
"""Distance between the end and start of a period, relative to the size of the mechanism, up to which it is periodic."""
ALONG = 1e-2
"""Distance of the multiplier along a free motion from one, beyond which the steps are too long."""


@dataclass(frozen=True, eq=False)
class Floquet:
    """Floquet multipliers of small motions about a periodic one: sums of ξ(t) = Re(p(t) e^{st}), p periodic.

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
        Method of the steps, without a tolerance; by default ``ExactGauss()``, or ``Exact()`` if springs have laws.
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
    ...     verdicts.append(floquet(shaken, start, period=2.0 * np.pi / frequency).is_stable)
    >>> verdicts
    [False, True]
    """
    refuse_contacts(mechanism.connections, "analysis.floquet")
    refuse_other_laws(mechanism, "analysis.floquet", has_schedules=True)
    run = read_period(mechanism, about, period, steps)
    forcing = Forcing(mechanism.network.input_slices, inputs or {}, mechanism.layout.dim)
    scheme, _ = scheme_from(mechanism, run.start, _method(method, mechanism), forcing)
    refuse_aperiodic(mechanism, scheme.table, forcing, run)
    blocks = blocks_of(scheme)
    linearised, begun = LinearisedSteps(blocks, run.pace), blocks.start(run.start)
    free = free_motions(mechanism, scheme.table, (begun.state.c, run.start.time), pace=run.pace)
    at, variations = begun, free.variations
    for time in run.times[1:]:
        at, variations = linearised.step(at, float(time), variations)
    closure = closure_of(mechanism, begun.state.c, at.state.c, run.pace)
    if closure > CLOSED:
        raise ValueError(
            f"the motion must be periodic: after {run.period:.6g} s it is {closure:.1e} of its size from its start; "
            "give the period and a state of the periodic motion (or more steps)"
        )
    along = is_autonomous(mechanism, forcing) and bool(np.any(velocities_of(mechanism, begun.state.c)))
    return _report(free, free.coordinates(variations), run.period, closure=closure, along=along)


def _method(given: Exact | ExactGauss | None, mechanism: Mechanism) -> Exact | ExactGauss:
    """Method of the steps; by default one that takes the laws of the mechanism."""
    if isinstance(given, Exact) and given.tolerance is not None:
        raise ValueError("method must have prescribed steps: take Exact() without a tolerance, and steps=")
    has_laws = any(measure.law is not None for _, measure in measures(mechanism.connections))
    return given or (Exact() if has_laws else ExactGauss())


def _report(free: FreeMotions, monodromy: Array, period: float, *, closure: float, along: bool) -> Floquet:
    multipliers, vectors = eig(monodromy)
    order = np.argsort(-np.abs(multipliers), kind="stable")
    multipliers, vectors = multipliers[order], vectors[:, order]
    shapes = free.sizes[:, None] * (free.basis @ vectors[: free.basis.shape[1]])
    top = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=0)[None], axis=0) if shapes.size else shapes
    nearest = float(np.abs(multipliers - 1.0).min(initial=np.inf))
    if along and nearest > ALONG:
        raise ArithmeticError(
            f"a free motion has the multiplier 1 along itself, and the nearest is {nearest:.1e} away: take more steps"
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
