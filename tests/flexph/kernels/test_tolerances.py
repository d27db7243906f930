"""When a Newton iteration ends and its Jacobian is renewed."""

from flexph.kernels.convergence.progress import Progress
from flexph.kernels.convergence.rules import settled_at
from flexph.kernels.convergence.tolerances import NEWTON


def after(*sizes):
    """The progress of an iteration with corrections of these sizes, all by one Jacobian."""
    progress = Progress()
    for size in sizes:
        progress = progress.corrected(size)
    return progress


def test_an_iteration_settles_where_its_next_correction_is_round_off():
    settled = settled_at(0)
    assert settled == NEWTON.settled
    assert not after(1e-8).settles(settled)  # nothing is known of the reduction
    assert not after(1e-4, 1e-9).settles(settled)  # the first one is not trusted beyond its limit
    assert after(1e-2, 1e-7, 1e-11).settles(settled)
    assert settled_at(100) > settled


def test_an_iteration_that_no_longer_improves_stagnates():
    assert not after(1e-3).stagnates
    assert not after(1e-3, 4e-4).stagnates
    assert after(1e-3, 6e-4).stagnates


def test_a_jacobian_is_renewed_where_it_makes_slow_progress():
    assert not after(1e-3).is_slow()
    assert after(1e-3, 1e-4).is_slow()
    assert not after(1e-3, 1e-4).is_slow(NEWTON._replace(slow=0.2, many=20.0))
    assert not after(1e-12, 0.9 * NEWTON.noise).is_slow()  # there corrections are round-off
