"""Scenes of bodies whose shapes are kept with a product of low rank, as those of large bodies in mean axes are."""

import numpy as np
import pytest

import fem
import fem.solids.solid
import fem.solids.ties
from flexph import GROUND, connect, force, weld
from flexph.bodies import mean_axes
from flexph.numerics.factors.low_rank import Bordered
from flexph.results import static_solution
from flexph.scenes import motion_scene, pose_scene


def bent():
    """A solid cantilever in mean axes under a force at its tip."""
    rubber = fem.Material(young=1e7, density=1000.0, poisson=0.4)
    bar = fem.solid(fem.box_mesh((0.3, 0.1, 0.1), (2, 1, 1)), rubber, ports={"root": "left", "tip": "right"}, degree=2)
    mechanism = connect({"bar": bar}, [weld("bar.root", GROUND), force("bar.tip", name="f")])
    return static_solution(mechanism, mechanism.equilibrium(mechanism.assemble(), inputs={"f": (0.0, 0.0, -20.0)}))


def test_a_scene_of_a_body_in_mean_axes_does_not_ask_how_its_shapes_are_kept(monkeypatch):
    want = bent()
    for module in (mean_axes, fem.solids.ties, fem.solids.solid):
        monkeypatch.setattr(module, "FILLED", 0)
    kept_apart = bent()
    assert isinstance(kept_apart.mechanism.bodies["bar"].view.shape, Bordered)
    parts = [motion_scene(run).parts[0] for run in (want, kept_apart)]
    sag = np.ptp(want.mechanism.bodies["bar"].view.points[:, 2]) - np.ptp(parts[0].points[0, :, 2])
    assert abs(sag) > 1e-3  # it is bent
    # the equilibrium is solved to 1e-9 of the displacements, of 1e-2 m
    np.testing.assert_allclose(parts[1].points, parts[0].points, atol=1e-9)
    np.testing.assert_allclose(parts[1].deformation, parts[0].deformation, atol=1e-9)
    for scene in (pose_scene(run.mechanism, run.mechanism.assemble()) for run in (want, kept_apart)):
        assert scene.parts[0].points[0, :, 0].min() == pytest.approx(0.0, abs=1e-9)
