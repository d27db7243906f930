"""What runs with rigid contacts must show, and how two of them by other ways agree."""

import numpy as np

from flexph.kernels.contacts.gaps import gaps_between, vectors_of
from flexph.kernels.state import derive, node_points
from flexph.mechanisms.model.state import configuration


def agree(by_loops, by_numpy, states=1e-9, *, impulses=None, law=1e-12):
    """Two runs of one mechanism: the same to round-off, which impacts let grow, and sound.

    ``impulses`` is what these and their losses agree to where laws do not say how contacts share them.
    """
    assert (by_loops.steps_by, by_numpy.steps_by) == ("compiled loops", "NumPy, as compiled=False")
    np.testing.assert_allclose(by_loops.states, by_numpy.states, rtol=0, atol=states * np.abs(by_numpy.states).max())
    own, ledger = by_loops.ledger, by_numpy.ledger
    shared = (ledger.scale, 1.0) if impulses is None else (impulses / states,) * 2
    for kind, size in zip(("energy", "dissipation", "impulses"), (ledger.scale, *shared), strict=True):
        for name, values in getattr(ledger, kind).items():
            np.testing.assert_allclose(getattr(own, kind)[name], values, rtol=0, atol=states * size, err_msg=name)
    sound(by_loops, max(law, 2.0 * ledger.complementarity_residual.max()))


def sound(solution, law=1e-12):
    """Balanced to round-off, without gain, laws met, friction in its cone, bodies outside of each other."""
    ledger = solution.ledger
    assert np.abs(ledger.residual).max() <= 1e-12 * ledger.scale
    assert ledger.complementarity_residual.max() <= law
    for name, taken in ledger.dissipation.items():
        if "settling" not in name and "friction" not in name:  # these may give each other what the step took too much
            assert taken.min() >= -1e-13 * ledger.scale, name
    assert sum(ledger.dissipation.values()).min() >= -1e-13 * ledger.scale
    assert inside(solution) <= 1e-12


def inside(solution):
    """How far bodies with rigid contacts are in each other at most, over the size of the mechanism."""
    a, worst = solution.mechanism.network.arrays, 0.0
    contacts = a.contacts.all()
    contacts = contacts.take(np.flatnonzero(contacts.rigid))
    for x in solution.states:
        c = configuration(solution.mechanism, x)
        vectors = vectors_of(contacts, node_points(a, c.r, derive(a, c).arm))
        worst = max(worst, -gaps_between(contacts, vectors, vectors).before.min() / np.abs(c.r).max())
    return worst
