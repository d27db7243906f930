"""Summary of a run in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..plot.stress_extremes import StressExtremes
from ..results.result import Result
from ..results.solution import Solution

NAMED = 5
"""Number of bodies up to which all are named."""
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


class LargestForce(NamedTuple):
    """Largest force [N] of a joint, and its time [s]."""

    joint: str
    size: float
    time: float


def summary_of(run: Result, forces: Sequence[LargestForce] = (), stresses: Sequence[StressExtremes] = ()) -> str:
    """Summary of a run: bodies, times, largest stress and joint force, accuracy of energy and joints."""
    sentences = [_moved(run)]
    in_pascal = [own for own in stresses if own.unit == "Pa" and own.largest.any()]
    if in_pascal:
        worst = max(in_pascal, key=lambda own: float(own.largest.max()))
        quantity = worst.quantity.replace("_", " ").replace("von mises", "von Mises stress")
        size = told(float(worst.largest.max()), "Pa")
        sentences.append(f"The largest stress is {size}, the {quantity} of {worst.body} at {worst.time:.4g} s.")
    if forces:
        hardest = max(forces, key=lambda own: own.size)
        sentences.append(
            f"The largest force of a joint is {told(hardest.size, 'N')}, of {hardest.joint} at {hardest.time:.4g} s."
        )
    if len(run.times) > 1:
        sentences.append(
            f"The account of energy closes to {run.ledger.largest_residual:.1e} of the energy between two saved times "
            f"and to {run.energy_drift():.1e} over the run."
        )
    if isinstance(run, Solution) and run.mechanism.layout.multipliers and run.ledger.position_residual.size:
        sentences.append(f"Joints keep together to {run.ledger.position_residual.max():.1e} m or rad.")
    return " ".join(sentences)


def told(value: float, unit: str) -> str:
    """Text of a number in a unit with a prefix."""
    factor, prefix = next((own for own in PREFIXES if abs(value) >= own[0]), (1.0, ""))
    return f"{value / factor:.3g} {prefix}{unit}"


def _moved(run: Result) -> str:
    names = list(run.mechanism.bodies) if isinstance(run, Solution) else []
    first, last = np.asarray(run.times)[[0, -1]]
    span = f"from {first:.6g} to {last:.6g} s, saved at {len(run.times)} times"
    if not names:
        return f"The system runs {span}."
    if len(names) > NAMED:
        return f"{len(names)} bodies move {span}."
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{listed} move{'s' if len(names) == 1 else ''} {span}."
