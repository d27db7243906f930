"""Massless velocities are determined by constraints, dampers or potentials, or refused."""

import numpy as np
import pytest

import rigid
from flexph.laws import viscous

pytestmark = pytest.mark.processor

PLACES = [[1.0, 0.0], [2.0, 0.0]]


def knot(**options):
    return rigid.point_masses({"a": 1.0, "k": 0.0}, PLACES, **options)


@pytest.mark.parametrize("options", [{}, {"rods": [rigid.Rod("a", "k", 1.0)]}])
def test_velocities_that_nothing_acts_on_are_refused(options):
    """A massless point by itself, and one that turns about another."""
    with pytest.raises(ValueError, match=r"massless velocities must.*determined .* nothing acts.*k"):
        knot(**options).phdae()


@pytest.mark.parametrize(
    "options",
    [
        {
            "springs": [rigid.Spring.linear("a", "k", stiffness=10.0, length=1.0)]
        },  # across, it acts beside the sample only
        {
            "dashpots": [
                rigid.Dashpot("k", (3.0, 0.0), viscous(1.0)),
                rigid.Dashpot("k", (2.0, 1.0), viscous(1.0), name="up"),
            ]
        },
        {
            "rods": [rigid.Rod("a", "k", 1.0)],
            "springs": [rigid.Spring.linear("k", (2.0, 1.0), stiffness=10.0, length=0.5)],
        },
        {"rods": [rigid.Rod("a", "k", 1.0), rigid.Rod("k", (2.0, 1.0), 1.0)]},
    ],
)
def test_velocities_that_something_determines_are_taken(options):
    knot(**options).phdae()


@pytest.mark.parametrize("orientation", [rigid.quaternion(), rigid.rotation_matrix()])
def test_the_spin_of_a_massless_link_between_two_points_is_refused(orientation):
    """Unless a damper acts on it."""
    link = {"inertia": (0.0, 0.0, 0.0), "orientation": orientation, "ports": {"b": (0.0, 0.0, -0.5)}}
    pin = {"pin": rigid.Pinned((0.0, 0.0, 0.5), (0.0, 0.0, 0.0))}
    ball = rigid.free_body(1.0, inertia=(0.1, 0.1, 0.2), orientation=orientation, ports={"c": (0.0, 0.0, 0.0)})
    sample = np.concatenate([orientation.pose([0.0, 0.0, z], np.eye(3)) for z in (-0.5, -1.0)])
    for dampers in ({}, {"d": (rigid.Torque(), viscous(0.1))}):
        bar = rigid.free_body(0.0, constraints=pin, dampers=dampers, **link)
        whole = rigid.interconnect({"l": bar, "b": ball}, [("l.b", "b.c")], sample=sample)
        if dampers:
            whole.phdae()
        else:
            with pytest.raises(ValueError, match="massless velocities must be determined"):
                whole.phdae()
