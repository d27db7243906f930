"""Limit loads of mechanisms on contacts and of slender ones, in closed form; stacks of blocks at rest."""

import math

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, force, hinge, slider, spring_damper, torsion_spring, weld
from flexph.analysis import limit_load
from flexph.contacts import Plane, Rigid, contact

G = 10.0
FRICTION = 1e-4
"""Friction is bounded to 1e-6 of itself, of which limits close to the own weight are a multiple."""


def block(half=0.1, **ports):
    own = {"left": (-0.2, -half), "right": (0.2, -half), "top": (0.0, half)}
    return rigid.body(2.0, inertia=0.1, ports=own | ports)


def on_slope(angle, friction, half=0.1):
    normal = (math.sin(angle), math.cos(angle))
    plane = Plane(GROUND.at(0.0, 0.0), normal)
    feet = contact(["block.left", "block.right"], plane, Rigid(friction=friction), name="feet")
    pushed = [force("block.left", name="push"), force("block.top", name="high")]
    mechanism = connect({"block": block(half)}, [feet, *pushed], gravity=(0.0, -G))
    return mechanism, mechanism.assemble({"block": (half * normal[0], half * normal[1], -angle)})


STEEP = math.tan(0.25) * (1.0 + 1e-4)


@pytest.mark.parametrize(
    ("angle", "friction"), [(0.0, 0.3), pytest.param(0.25, 0.3, marks=pytest.mark.slow), (0.25, STEEP)]
)
def test_a_block_on_a_slope_slips_at_its_cone(angle, friction):
    """F = mg (μ cos α − sin α) down the slope, nothing at μ = tan α."""
    mechanism, pose = on_slope(angle, friction)
    limit = limit_load(mechanism, pose, {"push": (math.cos(angle), -math.sin(angle))})
    weight = 2.0 * G
    expected = weight * (friction * math.cos(angle) - math.sin(angle))
    assert limit.factor == pytest.approx(expected, rel=FRICTION, abs=1e-5 * weight)
    assert limit.cause == "slip" and "feet" in limit.message


def test_a_block_that_is_steeper_than_its_cone_has_no_limit():
    mechanism, pose = on_slope(0.25, math.tan(0.25) * (1.0 - 1e-4))
    with pytest.raises(ValueError, match=r"without inputs the mechanism must rest in the pose.*slips"):
        limit_load(mechanism, pose, {"push": (1.0, 0.0)})


def test_a_tall_block_tips_over_before_it_slips():
    mechanism, pose = on_slope(0.0, 0.9, half=0.5)
    limit = limit_load(mechanism, pose, {"high": (1.0, 0.0)})
    assert limit.factor == pytest.approx(2.0 * G * 0.2 / 1.0, rel=2e-6)  # the bracket is 1e-6 wide
    assert limit.cause == "opening" and limit.message.endswith("'feet: 1' opens")


def test_a_ladder_slips_under_a_person_that_climbs_too_high():
    """P = w (μ tan θ − ½)/(x/L − μ tan θ) at a smooth wall."""
    length, angle, friction, share, weight = 4.0, 1.1, 0.4, 0.9, 12.0 * G
    ports = {"foot": (-2.0, 0.0), "head": (2.0, 0.0), "step": ((share - 0.5) * length, 0.0)}
    ladder = rigid.body(12.0, inertia=1.0, ports=ports)
    floor = contact("ladder.foot", Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Rigid(friction=friction), name="foot")
    wall = Plane(GROUND.at(length * math.cos(angle), 0.0), (-1.0, 0.0))
    parts = [floor, contact("ladder.head", wall, Rigid(), name="wall"), force("ladder.step", name="person")]
    mechanism = connect({"ladder": ladder}, parts, gravity=(0.0, -G))
    pose = mechanism.assemble({"ladder": (2.0 * math.cos(angle), 2.0 * math.sin(angle), angle)})
    limit = limit_load(mechanism, pose, {"person": (0.0, -1.0)})
    grip = friction * math.tan(angle)
    assert limit.factor == pytest.approx(weight * (grip - 0.5) / (share - grip), rel=FRICTION)
    assert "'foot' slips" in limit.message


def test_a_column_buckles_at_eulers_load():
    """P (1 + P/GA − P/EA) = π²EI/4L², GA with the shear factor 10(1 + ν)/(12 + 11ν) of G. R. Cowper (1966)."""
    steel, section = fem.Material(young=2e11, density=7800.0, poisson=0.3), fem.Section(width=0.02, height=0.01)
    rod = fem.rod(1.0, steel, section, elements=8, dim=2)
    slender, axial = math.pi**2 / 4.0 * 2e11 * 0.02 * 0.01**3 / 12.0, 2e11 * 0.02 * 0.01
    soft = (2.6 * (12.0 + 11.0 * 0.3) / (10.0 * 1.3) - 1.0) / axial
    expected = 2.0 * slender / (1.0 + math.sqrt(1.0 + 4.0 * soft * slender))
    column = connect({"rod": rod}, [weld("rod.root", GROUND), force("rod.tip", name="load")])
    limit = limit_load(column, column.assemble(), {"load": (-100.0, 0.0)})
    assert limit.factor == pytest.approx(expected / 100.0, rel=6e-6)  # 4e-6 of eight elements, at fourth order
    assert limit.cause == "instability"


@pytest.mark.parametrize("gravity", [pytest.param(0.0, marks=pytest.mark.slow), 1.0])
def test_a_shallow_truss_snaps_through(gravity):
    """Two springs of length l₀ over the half span a: P = 2k (l₀^⅔ − a^⅔)^(3/2); the weight stays as it is."""
    half, rise, k = 1.0, 0.2, 1e3
    length = math.hypot(half, rise)
    springs = [spring_damper("p.point", GROUND.at(x, 0.0), stiffness=k, length=length) for x in (-half, half)]
    guide = slider("p.point", GROUND.at(0.0, 0.0), direction=(0.0, 1.0), turning=True)
    expected = 2.0 * k * (length ** (2 / 3) - half ** (2 / 3)) ** 1.5
    truss = connect({"p": rigid.point(1.0)}, [*springs, guide, force("p.point", name="load")], gravity=(0.0, -gravity))
    limit = limit_load(truss, truss.assemble({"p": (0.0, rise, 0.0)}), {"load": (0.0, -1.0)})
    assert limit.factor == pytest.approx(expected - gravity, rel=2e-5)
    assert limit.cause == "limit point"


def stack(count, overhang, friction=0.5):
    """Blocks on each other, each shifted by the overhang against the one below."""
    bodies = {f"b{i}": block() for i in range(count)}
    law = Rigid(friction=friction)
    planes = [Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), *(Plane(f"b{i}.top", (0.0, 1.0)) for i in range(count - 1))]
    touching = [contact([f"b{i}.left", f"b{i}.right"], planes[i], law, name=f"on {i}") for i in range(count)]
    mechanism = connect(bodies, [*touching, force(f"b{count - 1}.top", name="push")], gravity=(0.0, -G))
    return mechanism, mechanism.assemble({f"b{i}": (overhang * i, 0.1 + 0.2 * i, 0.0) for i in range(count)})


def test_a_stack_of_blocks_rests_with_the_weights_above():
    mechanism, pose = stack(4, 0.0)
    held, state = mechanism.with_closed_contacts(mechanism.equilibrium(pose, redundant="least_norm"))
    forces = dict(zip(held.constraint_names, state.multipliers, strict=True))
    for i in range(4):
        pressed = [force for name, force in forces.items() if name.startswith(f"on {i}: ") and "normal" in name]
        assert sum(pressed) == pytest.approx(2.0 * G * (4 - i), rel=1e-9)


@pytest.mark.parametrize(("friction", "expected", "cause"), [(0.05, 0.05 * 2.0 * G, "slip"), (1.2, 2.0 * G, "opening")])
def test_the_top_of_a_stack_slips_or_tips(friction, expected, cause):
    """μmg, or mg b/H with half the width and the height of a block, both 0.2 m."""
    mechanism, pose = stack(3, 0.0, friction)
    limit = limit_load(mechanism, pose, {"push": (1.0, 0.0)})
    assert limit.factor == pytest.approx(expected, rel=FRICTION)
    assert limit.cause == cause


def test_four_feet_in_space_share_friction():
    """A push at the top shifts the load to two feet; the block slips at μmg all the same, if the feet are rigid."""
    corners = {f"c{x}{y}": (0.2 * x, 0.15 * y, -0.1) for x in (-1, 1) for y in (-1, 1)}
    body = rigid.body(2.0, inertia=(0.1, 0.1, 0.1), ports={**corners, "top": (0.0, 0.0, 0.1)})
    ground = Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    feet = contact([f"b.{corner}" for corner in corners], ground, Rigid(friction=0.4), name="feet")
    mechanism = connect({"b": body}, [feet, force("b.top", name="push")], gravity=(0.0, 0.0, -G))
    limit = limit_load(mechanism, mechanism.assemble({"b": ((0.0, 0.0, 0.1), np.eye(3))}), {"push": (0.6, 0.8, 0.0)})
    assert limit.factor == pytest.approx(0.4 * 2.0 * G, rel=3.02e-4)  # 1 − cos(π/128) of the polygons in the cones
    assert limit.cause == "slip"


def test_limits_that_are_not_there_are_told():
    mechanism, pose = on_slope(0.0, 0.3)
    with pytest.raises(ArithmeticError, match="holds up to"):
        limit_load(mechanism, pose, {"push": (0.0, -1.0)}, largest=100.0)
    with pytest.raises(ValueError, match="no external port 'pull'"):
        limit_load(mechanism, pose, {"pull": (1.0, 0.0)})
    with pytest.raises(ValueError, match="inputs must have a load of an external port"):
        limit_load(mechanism, pose, {})
    free = connect({"b": block()}, [force("b.top", name="push")])
    with pytest.raises(ValueError, match="must have a stable equilibrium"):
        limit_load(free, free.assemble(), {"push": (1.0, 0.0)})
    late = limit_load(mechanism, pose, {"push": lambda t: (1.0 + t, 0.0)}, time=1.0)
    assert late.factor == pytest.approx(0.3 * 2.0 * G / 2.0, rel=FRICTION)


@pytest.mark.parametrize("stiffness", [1.0, 6.5, 7.0, 7.3])
def test_a_bifurcation_is_found_where_a_load_of_the_search_is_singular(stiffness):
    spring = torsion_spring("b.root", GROUND, stiffness=stiffness, angle=0.5 * np.pi)
    column = connect({"b": rigid.bar(2.0, 1.0)}, [hinge("b.root", GROUND), spring, force("b.tip", name="load")])
    limit = limit_load(column, column.assemble({"b": (0.0, 0.0, 0.5 * np.pi)}), {"load": (0.0, -1.0)})
    assert limit.factor == pytest.approx(0.5 * stiffness, rel=1e-5)  # P l = k; l = 2 m


@pytest.mark.parametrize("largest", [3.0, 0.9])
def test_a_limit_below_the_largest_factor_is_found(largest):
    block = rigid.body(2.0, inertia=0.1, ports={"left": (-0.2, -0.1), "right": (0.2, -0.1)})
    feet = contact(
        ["block.left", "block.right"], Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Rigid(friction=0.3), name="feet"
    )
    mechanism = connect({"block": block}, [feet, force("block.left", name="push")], gravity=(0.0, -10.0))
    pose, load = mechanism.assemble({"block": (0.0, 0.1, 0.0)}), 6.0 / (0.9 * largest)
    limit = limit_load(mechanism, pose, {"push": (load, 0.0)}, largest=largest)
    assert limit.factor == pytest.approx(0.9 * largest, rel=1e-4)  # μ m g = 6 N
    with pytest.raises(ArithmeticError, match=f"holds up to {0.8 * largest:g} times"):
        limit_load(mechanism, pose, {"push": (load, 0.0)}, largest=0.8 * largest)


def test_hoses_have_no_limit_load():
    hose = fem.cable(1.0, mass_per_length=0.8, axial=1e5, bending=1.0, elements=2, dim=2, flow=fem.Flow(0.2, 5.0))
    mechanism = connect({"hose": hose}, [weld("hose.root", GROUND), force("hose.tip", name="load")])
    with pytest.raises(ValueError, match="supports no flows"):
        limit_load(mechanism, mechanism.assemble(), {"load": (-1.0, 0.0)})
