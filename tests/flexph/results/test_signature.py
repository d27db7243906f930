"""What tells one mechanism from another, by which saved runs and checkpoints are refused."""

import numpy as np
import pytest

import fem
from flexph import GROUND, PHDAE, Checkpoint, connect, hinge, integrate, spring_damper
from flexph.methods import Gauss
from flexph.results.signature import digits, mechanism_signature

STEEL = fem.Material(young=2e11, density=7800.0)
BAR = fem.Section(width=0.02, height=0.01)


def pendulum(spring=None, **options):
    arm = fem.beam(0.5, STEEL, BAR, elements=2, **options)
    force = spring_damper("arm.tip", GROUND.at(0.0, 1.0), **{"stiffness": 10.0, "length": 0.9, **(spring or {})})
    return connect({"arm": arm}, [hinge("arm.root", GROUND), force], gravity=(0.0, -9.81))


@pytest.mark.parametrize(
    "change",
    [
        {"damping": fem.Damping(stiffness=1e-4)},
        {"damping": fem.Damping(mass=1e-4)},
        {"strain": "von_karman"},
        {"reference": "simply_supported"},
        {"momenta": "constant"},
        {"pair": "hermite"},
        {"spring": {"length": 0.8}},
        {"spring": {"damping": 1.0}},
    ],
)
def test_mechanisms_that_move_otherwise_have_other_signatures(change):
    assert mechanism_signature(pendulum(**change)) != mechanism_signature(pendulum())
    assert mechanism_signature(pendulum(**change)) == mechanism_signature(pendulum(**change))


def test_round_off_has_no_digits():
    numbers = np.array([1.0, 1e-16, -3e-28, 2.5])
    assert list(digits([numbers])) == list(digits([numbers * (1.0 + 1e-15) + 1e-17]))
    assert list(digits([numbers])) != list(digits([numbers + 1e-7 * (numbers > 2.0)]))


def test_checkpoints_of_other_damping_are_refused(tmp_path):
    times = np.linspace(0.0, 0.002, 3)

    def run(mechanism):
        start = mechanism.consistent_state(mechanism.assemble())
        kept = Checkpoint(tmp_path / "kept", every=0.0, resume=True)
        return integrate(mechanism, start, times, checkpoint=kept, progress=False)

    run(pendulum(damping=fem.Damping(stiffness=1e-4)))
    with pytest.raises(ValueError, match="to another run: system"):
        run(pendulum(damping=fem.Damping(stiffness=1e-2)))


def test_checkpoints_of_other_equations_are_refused(tmp_path):
    def run(loss):
        """At rest at first, so that R z vanishes."""
        system = PHDAE(
            E=np.eye(2),
            J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
            R=np.diag([0.0, loss]),
            z=lambda x: np.array([x[0] ** 3, x[1]]),
            H=lambda x: 0.25 * x[0] ** 4 + 0.5 * x[1] ** 2,
            sample=np.array([1.0, 0.5]),
        )
        kept = Checkpoint(tmp_path / "kept", every=0.0, resume=True)
        return integrate(system, [1.0, 0.0], np.linspace(0.0, 0.2, 3), method=Gauss(2), checkpoint=kept, progress=False)

    run(0.1)
    with pytest.raises(ValueError, match="to another run"):
        run(1.0)
