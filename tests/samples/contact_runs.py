"""Checks of runs with rigid contacts."""

import numpy as np
from contact_laws import unexplained

from flexph.kernels.contacts.gaps import gaps_between, vectors_of
from flexph.kernels.state import derive, node_points
from flexph.mechanisms.model.state import configuration

EXPLAINED = 1e-10
"""Round-off of momenta over the largest impulse of a step: of the iteration, and of Newton's method for impulses."""


def lawful(solution, inputs=None, law=1e-12):
    """Check a run by ``contact="steps"``: sound, and impulses that obey the laws explain the momenta of each step."""
    sound(solution, law)
    assert unexplained(solution, inputs).max() <= EXPLAINED


def sound(solution, law=1e-12):
    """Check that a run is balanced to round-off, gains nothing, meets its laws, and keeps bodies out of each other."""
    ledger = solution.ledger
    assert np.abs(ledger.residual).max() <= 1e-12 * ledger.scale
    assert ledger.complementarity_residual.max() <= law
    for name, lost in ledger.dissipation.items():
        assert "arrival" not in name or lost.min() >= -1e-13 * ledger.scale, name
    at_impacts = [lost for name, lost in ledger.dissipation.items() if "impact" in name]  # they may hand energy on
    assert np.sum(at_impacts, axis=0).min() >= -1e-13 * ledger.scale
    assert sum(ledger.dissipation.values()).min() >= -1e-13 * ledger.scale
    assert inside(solution) <= 1e-12


def inside(solution):
    """Largest overlap of bodies with rigid contacts, over the size of the mechanism."""
    a, worst = solution.mechanism.network.arrays, 0.0
    contacts = a.contacts.all()
    contacts = contacts.take(np.flatnonzero(contacts.rigid))
    for x in solution.states:
        c = configuration(solution.mechanism, x)
        vectors = vectors_of(contacts, node_points(a, c.r, derive(a, c).arm))
        worst = max(worst, -gaps_between(contacts, vectors, vectors).before.min() / np.abs(c.r).max())
    return worst
