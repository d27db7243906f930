"""A disc that comes to lie flat has no point of contact."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import IntegrationError, ValidityWarning, integrate

pytestmark = pytest.mark.processor

RADIUS = 0.02


def coin(orientation, tilt):
    """A coin whose plane is at an angle over the ground."""
    rolling = rigid.Rolling(RADIUS, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), axis=(0.0, 0.0, 1.0))
    return rigid.free_body(
        0.1,
        inertia=(1e-5, 1e-5, 2e-5),
        orientation=orientation,
        gravity=(0.0, 0.0, -9.81),
        constraints={"roll": rolling},
        sample=pose(orientation, tilt),
    )


def pose(orientation, tilt):
    return orientation.pose([0.0, 0.0, RADIUS * np.sin(tilt)], Rotation.from_euler("X", tilt))


@pytest.mark.parametrize(
    "orientation", [rigid.quaternion(), pytest.param(rigid.rotation_matrix(), marks=pytest.mark.slow)]
)
def test_a_flat_start_is_refused_and_a_falling_coin_ends_its_run(orientation):
    """Without numpy's warnings of roots of negative numbers."""
    system = coin(orientation, 0.5)
    x = system.state(system.sample, np.zeros(6))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ValidityWarning)
        with pytest.raises(ValueError, match="disc of 'roll' comes to lie flat on the ground"):
            system.state(pose(orientation, 0.0), np.zeros(6))
        with pytest.raises(ValueError, match="disc of 'roll' comes to lie flat on the ground"):
            coin(orientation, 0.0)
        with pytest.raises(IntegrationError, match=r"lie flat on the ground|could not be solved") as failed:
            integrate(system.phdae(), x, np.linspace(0.0, 0.5, 251), progress=False)
    assert failed.value.solution.times[-1] > 0.03


def test_runs_warn_of_discs_near_the_ground():
    """At 1.5 degrees, not at 6."""
    system = coin(rigid.quaternion(), 0.5)
    said = [caution(pose(rigid.quaternion(), np.radians(angle))) for angle in (1.5, 6.0) for caution in system.cautions]
    assert [text for text in said if text] == ["the disc of 'roll' nearly lies flat on the ground (1.5° over it)"]
