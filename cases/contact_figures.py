"""Summary numbers of runs with contacts: balance, complementarity, dissipation."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexph import Solution


def balance(solution: Solution) -> float:
    """Largest residual of the energy balance of any step, divided by the scale of the energies."""
    ledger = solution.ledger
    return float(np.abs(ledger.residual).max() / ledger.scale) if ledger.scale > 0.0 else 0.0


def complementarity(solution: Solution) -> float:
    """Largest relative residual of the laws of rigid contacts in any step; zero without such contacts."""
    return float(solution.ledger.complementarity_residual.max(initial=0.0))


def taken(solution: Solution) -> dict[str, float]:
    """Energy [J] that each account of the ledger has dissipated over the run."""
    return {name: float(values.sum()) for name, values in solution.ledger.dissipation.items()}


def least_taken(solution: Solution) -> float:
    """Smallest dissipation of any step, divided by the scale of the energies, if it is negative; else zero.

    A negative value means that contacts generated energy. Dissipation is summed over all contacts, since in an impact
    at several contacts one of them may gain energy.
    """
    ledger = solution.ledger
    least = float(np.sum(list(ledger.dissipation.values()), axis=0).min())
    return min(least, 0.0) / ledger.scale if ledger.scale > 0.0 else 0.0


def figures(solution: Solution) -> dict[str, Any]:
    """Summary numbers of a run with contacts: balance, least dissipation of a step, dissipation by account."""
    return {
        "balance_residual_max_rel": balance(solution),
        "dissipation_min_rel": least_taken(solution),
        "taken_J": taken(solution),
    }
