"""When a Newton iteration ends and its Jacobian is renewed."""

import pytest

from flexph.kernels.convergence.rules import is_slow, settled_at, settles, stagnates
from flexph.kernels.convergence.tolerances import NEWTON

UNKNOWN = float("inf")
"""Correction before the first one."""


def test_an_iteration_settles_where_its_next_correction_is_round_off():
    settled = settled_at(0)
    assert settled == NEWTON.settled
    assert not settles(1e-8, UNKNOWN, 1, settled)  # nothing is known of the reduction
    assert not settles(1e-9, 1e-4, 2, settled)  # the first one is not trusted beyond its limit
    assert settles(1e-11, 1e-7, 3, settled)
    assert settled_at(100) > settled


def test_an_iteration_that_no_longer_improves_stagnates():
    assert not stagnates(1e-3, UNKNOWN)
    assert not stagnates(4e-4, 1e-3)
    assert stagnates(6e-4, 1e-3)


@pytest.mark.parametrize(
    ("size", "previous", "slow", "expected"),
    [
        (1e-3, UNKNOWN, (NEWTON.slow, NEWTON.many), False),
        (1e-4, 1e-3, (NEWTON.slow, NEWTON.many), True),
        (1e-4, 1e-3, (0.2, 20.0), False),
        (0.9 * NEWTON.noise, 1e-12, (NEWTON.slow, NEWTON.many), False),  # there corrections are round-off
    ],
)
def test_a_jacobian_is_renewed_where_it_makes_slow_progress(size, previous, slow, expected):
    assert is_slow(size, previous, 2, *slow) == expected
