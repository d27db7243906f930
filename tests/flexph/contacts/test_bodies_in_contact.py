"""Boxes, capsules and meshes that touch each other: by corners, nodes and edges."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, integrate
from flexph.contacts import Box, Capsule, Cylinder, Hertz, KelvinVoigt, Mesh, Plane, Rigid, Sphere, contact
from flexph.contacts.parts import SLENDER
from flexph.kernels.contacts.gaps import BASE
from flexph.kernels.surfaces.segments import squares
from flexph.kernels.surfaces.surfaces import PLACES
from flexph.methods import Decaying, Exact
from flexph.models import load_model, write_model
from flexph.sensors import gap

LAW = KelvinVoigt(1e4)
ROUGH = KelvinVoigt(1e4, damping=2.0, friction=0.4)
HARD = Rigid(restitution=0.5, friction=0.3)
ROUND_OFF = 1e-12
TETRAHEDRON = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) * 0.1
FACES = [(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)]
SHAPES = {
    "boxes": lambda port: Box(port, (0.2, 0.3, 0.25), round=0.03),
    "sharp boxes": lambda port: Box(port, (0.2, 0.3, 0.25)),
    "capsules": lambda port: Capsule(port, 0.4, 0.05, (0.6, 0.0, 0.8)),
    "tetrahedra": lambda port: Mesh(port, (TETRAHEDRON, FACES)),
}
MIXED = [("boxes", "capsules"), ("tetrahedra", "boxes"), ("capsules", "tetrahedra")]
PAIRS = [(name, name) for name in SHAPES] + MIXED


def body(dim=3):
    inertia = (0.02, 0.03, 0.025) if dim == 3 else 0.02
    return rigid.body(1.5, inertia=inertia, ports={"own": (0.01, -0.02, 0.015)[:dim]})


def thrown(first, second, law, seed, turn=None):
    """Two bodies that spin and fly at each other."""
    turn, rng = np.eye(3) if turn is None else turn, np.random.default_rng(seed)
    one, other = SHAPES[first]("a.own"), SHAPES[second]("b.own")
    mechanism = connect({"a": body(), "b": body()}, [contact(one, other, law, name="touch")])
    frames = [Rotation.random(random_state=int(rng.integers(1000))).as_matrix() for _ in range(2)]
    places = {"a": (turn @ (0.0, 0.0, 0.0), turn @ frames[0]), "b": (turn @ (0.6, 0.03, 0.05), turn @ frames[1])}
    spins = rng.normal(0.0, 3.0, (2, 3))
    velocities = {"a": (turn @ (1.0, 0.0, 0.1), turn @ spins[0]), "b": (turn @ (-2.0, 0.0, 0.0), turn @ spins[1])}
    return mechanism, mechanism.consistent_state(mechanism.assemble(places), velocities=velocities)


@pytest.mark.parametrize("law", [LAW, Hertz(1e6), ROUGH, HARD], ids=["linear", "hertz", "rough", "rigid"])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(pair))
def test_balance_and_momenta(pair, law):
    touched = 0.0
    for seed in range(2):  # of which one touches
        mechanism, start = thrown(*pair, law, seed)
        run = integrate(mechanism, start, np.linspace(0.0, 0.3, 151))
        touched += sum(own.sum() for name, own in run.ledger.impulses.items() if name.startswith("touch: normal"))
        assert np.abs(run.ledger.residual).max() < ROUND_OFF * run.ledger.scale
        for momentum in (run.linear_momentum(), run.angular_momentum()):
            assert np.ptp(momentum, axis=0).max() < 1e-11 * np.abs(momentum).max()
        if law in (ROUGH, HARD):
            assert all(own.min() > -1e-12 * run.ledger.scale for own in run.ledger.dissipation.values())
    assert touched > 0.0


def test_capsules_in_turned_axes_and_by_decaying():
    turn, ends = Rotation.from_rotvec((0.4, -0.8, 0.5)).as_matrix(), []
    for axes in (np.eye(3), turn):
        mechanism, start = thrown("capsules", "capsules", LAW, 0, axes)
        run = integrate(mechanism, start, np.linspace(0.0, 0.3, 301), method=Decaying())
        assert np.abs(run.ledger.residual).max() < ROUND_OFF * run.ledger.scale
        ends.append(run.position("b.own")[-1] @ axes)
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-8)


def placed(base):
    """Rows for the results of two pairs of segments, with the places of their base points."""
    rows = np.zeros((2, PLACES))
    rows[:, BASE : BASE + 2] = base
    return rows


def test_the_distance_of_segments():
    """The closest points of random segments against a general minimisation, and the slopes against differences."""
    rng = np.random.default_rng(3)
    for k in range(40):
        V, W, U = rng.normal(0.0, (1.5, 1.0, 1.0), (3, 3)).T
        base = rng.uniform(-1.0, 1.0, 2) if k % 2 else np.zeros(2)
        Y = V + base[0] * W - base[1] * U
        x = np.array([Y @ Y, Y @ W, Y @ U, W @ U, W @ W, U @ U])
        near, bent = placed(base), np.zeros((5, 4))
        shifted = x + np.append(1e-3 * rng.normal(size=4), np.zeros(2))
        squares(np.array([x, shifted]), near, bent)
        starts = [(0.0, 0.0), *product((-0.9, 0.9), repeat=2)]  # from a single one the minimisation may get stuck
        square = lambda p, V=V, W=W, U=U: np.sum((V + p[0] * W - p[1] * U) ** 2)  # noqa: E731
        found = [minimize(square, place, bounds=[(-1, 1)] * 2, tol=1e-14) for place in starts]
        least = min(found, key=lambda result: result.fun)
        assert near[0, 0] == pytest.approx(least.fun, abs=3e-6 * (W @ W + U @ U))  # by ε of both squares
        assert np.hypot(*(near[0, 1:3] - least.x)) < 1e-3 * max(1.0, 1.0 / abs(np.linalg.norm(np.cross(W, U))))
        assert bent[0] @ (shifted - x)[:4] == pytest.approx(near[1, 0] - near[0, 0], abs=1e-14)
        for j in range(4):
            moved, other = x.copy(), placed(base)
            moved[j] += 1e-6
            squares(np.array([x, moved]), other, bent)
            np.testing.assert_allclose(other[1, 3:7] - other[0, 3:7], 1e-6 * near[0, 7 + j : 23 : 4], rtol=0, atol=1e-8)


def test_mean_slopes_of_a_point_are_its_gradient():
    near, bent = placed((0.0, 0.0)), np.zeros((5, 4))
    x = np.array([1.0, 0.1, 0.2, 0.3, 1.0, 1.0])
    squares(np.array([x, x]), near, bent)
    np.testing.assert_array_equal(bent[0], near[0, 3:7])


def test_a_box_stands_on_a_plane_and_on_a_box():
    """The weight is carried by four corners, on the plane and by a box on the ground alike."""
    depths = []
    for floor in (Plane(GROUND.at(0, 0, 0), (0, 0, 1)), Box(GROUND.at(0, 0, -0.5), (3.0, 3.0, 1.0))):
        law = KelvinVoigt(1e5, damping=300.0)
        own = rigid.body(2.0, inertia=(0.02,) * 3, ports={"own": (0.0, 0.0, 0.0)})
        box = Box("a.own", (0.2, 0.3, 0.4), round=0.01)
        mechanism = connect({"a": own}, [contact(box, floor, law)], gravity=(0.0, 0.0, -9.81))
        start = mechanism.consistent_state(mechanism.assemble({"a": ((0.0, 0.0, 0.2), np.eye(3))}))
        run = integrate(mechanism, start, np.linspace(0.0, 0.4, 201))
        depths.append(0.2 - run.position("a.own")[-1, 2])
    np.testing.assert_allclose(depths, 2.0 * 9.81 / 4e5, rtol=1e-6)


def test_crossed_edges_carry_a_box_on_an_edge():
    """A bar on two edges that cross it: each carries half of the weight at the distance of the radii."""
    bar = rigid.body(2.0, inertia=(0.01, 0.1, 0.1), ports={"own": (0.0, 0.0, 0.0)})
    law = KelvinVoigt(1e5, damping=400.0)
    rails = [Capsule(GROUND.at(x, 0.0, 0.0), 1.0, 0.02, (0.0, 1.0, 0.0)) for x in (-0.3, 0.3)]
    mechanism = connect(
        {"a": bar}, [contact(Capsule("a.own", 1.0, 0.03, (1.0, 0.0, 0.0)), rails, law, name="rails")],
        gravity=(0.0, 0.0, -9.81),
    )  # fmt: skip
    start = mechanism.consistent_state(mechanism.assemble({"a": ((0.0, 0.0, 0.05), np.eye(3))}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.5, 251))
    # ε of the squares of both half lengths makes the distance 0.9 μm larger
    assert 0.05 - run.position("a.own")[-1, 2] == pytest.approx(9.81 / 1e5, abs=1e-6)


def test_rectangles_in_the_plane_keep_their_balance():
    law = KelvinVoigt(1e4, friction=0.3)
    mechanism = connect(
        {"a": body(2), "b": body(2)}, [contact(Box("a.own", (0.3, 0.2)), Box("b.own", (0.2, 0.4)), law, name="touch")]
    )
    start = mechanism.consistent_state(
        mechanism.assemble({"a": (0.0, 0.0, 0.3), "b": (0.5, 0.05, -0.4)}),
        velocities={"a": (1.0, 0.0, 3.0), "b": (-2.0, 0.0, -4.0)},
    )
    run = integrate(mechanism, start, np.linspace(0.0, 0.3, 151), method=Exact())
    assert run.ledger.impulses["touch: normal"].sum() > 0.0
    assert np.abs(run.ledger.residual).max() < ROUND_OFF * run.ledger.scale
    assert np.ptp(run.angular_momentum()) < 1e-12 * np.abs(run.angular_momentum()).max()


def test_a_file_has_boxes_in_contact(tmp_path):
    mechanism, start = thrown("boxes", "boxes", ROUGH, 1)
    write_model(tmp_path / "model.yaml", mechanism)
    other = load_model(tmp_path / "model.yaml").mechanism
    times = np.linspace(0.0, 0.1, 51)
    np.testing.assert_array_equal(integrate(mechanism, start, times).states, integrate(other, start, times).states)


CAPSULE = Capsule("a.own", 0.4, 0.0, (1.0, 0.0, 0.0))
ROD = Capsule("a.own", 2.0, 1e-3, (1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Box("a.own", (0.2, 0.3), round=0.1), "round must be less than half"),
        (lambda: Box("a.own", (0.2, 0.3), round=-0.1), "round must not be negative"),
        (lambda: contact(CAPSULE, Capsule("b.own", 1.0, 0.0, (1, 0, 0)), LAW).formed(3), "pass through each other"),
        (lambda: contact(ROD, replace(ROD, port="b.own"), LAW, name="rods").formed(3), "rods: edges must be thicker"),
        (lambda: contact(Box(GROUND.at(0, 0), (1, 1)), Box(GROUND.at(0, 3), (1, 1)), LAW), "both on the ground"),
        (lambda: contact(Plane(GROUND.at(0, 0), (0, 1)), Cylinder("a.own", 0.1), LAW), "needs a point or sphere"),
    ],
)
def test_bad_pairs_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_spheres_are_balls_of_boxes_as_before():
    assert len(contact(Sphere("a.own", 0.1), Box("b.own", (0.2, 0.3)), LAW).formed(2).form.gaps) == 1


def test_the_thinnest_edges_touch_with_their_ends():
    """The error of the distance at the ends is ε (W² + U²)/2R, at SLENDER 0.08 R: the rods touch before they meet."""
    radius = 2.0 * np.sqrt(2.0) * 0.5 / SLENDER / 2.0 * 1.0001
    rod = Capsule("a.own", 2.0, radius, (1.0, 0.0, 0.0))
    other = Capsule(GROUND.at(1.0, 1.0, 0.0), 2.0, radius, (0.0, 1.0, 0.0))
    level = rigid.body(1.0, inertia=(1.0, 1.0, 1.0), ports={"own": (0.0, 0.0, 0.0)})
    mechanism = connect({"a": level}, [contact(rod, other, LAW, name="touch")])
    gaps = []
    for height in (2.0 * radius, 2.0 * radius * 0.9):
        state = mechanism.consistent_state(mechanism.assemble({"a": ((0.0, 0.0, height), np.eye(3))}))
        gaps.append(integrate(mechanism, state, [0.0, 1e-9]).measured(gap("touch"))[0, 0])
    assert 0.0 < gaps[0] < 0.081 * 2.0 * radius and gaps[1] < 0.0


@pytest.mark.parametrize("radius", [0.0, 0.01])
def test_equal_boxes_lie_on_each_other_with_four_corners(radius):
    """In closed form: the depth is mg/4k, since flush edges and the corners of the other box do not touch."""
    size, damped = (0.1, 0.1, 0.1), KelvinVoigt(1e4, damping=100.0)
    upper, lower = Box("a.own", size, round=radius), Box(GROUND.at(0.0, 0.0, 0.0), size, round=radius)
    block = rigid.body(1.0, inertia=(2e-3,) * 3, ports={"own": (0.0, 0.0, 0.0)})
    stack = connect({"a": block}, [contact(upper, lower, damped, name="touch")], gravity=(0.0, 0.0, -9.81))
    start = stack.consistent_state(stack.assemble({"a": ((0.0, 0.0, 0.1), np.eye(3))}))
    run = integrate(stack, start, np.linspace(0.0, 0.3, 301))
    assert 0.1 - run["a.centre"][-1, 2] == pytest.approx(9.81 / 1e4 / 4.0, rel=1e-6)  # after 60 decay times


def stacked(count, law, twist=0.0, drop=0.0, turn=None):
    """Equal sharp cubes of 0.2 m and 1 kg on each other, each turned relative to the one below."""
    turn, size, names = np.eye(3) if turn is None else turn, 0.2, [f"cube {k}" for k in range(count)]
    cube = rigid.body(1.0, inertia=(size**2 / 6.0,) * 3, ports={"own": (0.0, 0.0, 0.0)})
    boxes = [Box(f"{name}.own", (size,) * 3) for name in names]
    floor = Plane(GROUND.at(0.0, 0.0, 0.0), tuple(turn[:, 2]))
    joints = [contact(boxes[0], floor, law, name="floor")]
    joints += [contact(boxes[k], boxes[k + 1], law, name=f"touch {k}") for k in range(count - 1)]
    mechanism = connect(dict.fromkeys(names, cube), joints, gravity=tuple(-9.81 * turn[:, 2]))
    heights = [0.5 * size + k * (size + drop) for k in range(count)]
    frames = [turn @ Rotation.from_rotvec((0.0, 0.0, k * twist)).as_matrix() for k in range(count)]
    places = {name: (turn[:, 2] * heights[k], frames[k]) for k, name in enumerate(names)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(places))


@pytest.mark.parametrize(
    ("count", "twist", "drop", "law"),
    [
        (3, 0.0, 0.0, Rigid(friction=0.3)),
        (3, 0.0, 0.01, Rigid(friction=0.3, restitution=0.2)),
        (2, np.pi / 4.0, 0.01, Rigid(friction=0.3)),  # no corner is above the other cube: edges carry
        (3, 0.3, 0.01, Rigid()),
    ],
)
def test_equal_sharp_cubes_stand_rigidly(count, twist, drop, law):
    """They come to rest with balance, complementarity, no penetration, and the weights that are above each contact."""
    mechanism, start = stacked(count, law, twist, drop)
    run = integrate(mechanism, start, np.linspace(0.0, 0.3, 151), method=Exact(contact="steps"))
    assert np.abs(run.ledger.residual).max() < ROUND_OFF * run.ledger.scale
    assert run.ledger.complementarity_residual.max() < 1e-10
    names = ["floor", *(f"touch {k}" for k in range(count - 1))]
    for k, name in enumerate(names):
        assert run.contact(name).gap.min() > -1e-12
        weight = 9.81 * (count - k) * 0.002 * 20.0
        pressed = run.ledger.impulses[f"{name}: normal"][-20:].sum()
        assert pressed == pytest.approx(weight, rel=1e-3)  # they have come to rest nearly
    # crossing edges lie deeper by the error of their distance, at most ε (W² + U²)/2R with R = 2 mm
    assert run[f"cube {count - 1}.centre"][-1, 2] == pytest.approx(0.2 * count - 0.1, abs=(count - 1) * 5e-6)


@pytest.mark.parametrize(("count", "shift"), [(2, 0.02), (2, 0.08), (3, 0.03)])
def test_bricks_lie_on_each_other_displaced(count, shift):
    """Sharp edges of 0.5 mm radius cross edges of 0.2 m: round-off of their products may not turn their normals."""
    size, names = np.array([0.2, 0.1, 0.05]), [f"brick {k}" for k in range(count)]
    inertia = tuple((np.sum(size**2) - size**2) / 12.0)
    brick, law = rigid.body(1.0, inertia=inertia, ports={"own": (0.0, 0.0, 0.0)}), Rigid(friction=0.3)
    boxes = [Box(f"{name}.own", tuple(size)) for name in names]
    joints = [contact(boxes[0], Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), law, name="floor")]
    joints += [contact(boxes[k], boxes[k + 1], law, name=f"touch {k}") for k in range(count - 1)]
    wall = connect(dict.fromkeys(names, brick), joints, gravity=(0.0, 0.0, -9.81))
    places = {name: ((shift * (k % 2), 0.0, (k + 0.5) * size[2]), np.eye(3)) for k, name in enumerate(names)}
    run = integrate(wall, wall.consistent_state(wall.assemble(places)), np.linspace(0.0, 0.2, 101))
    assert np.abs(run.ledger.residual).max() < ROUND_OFF * run.ledger.scale
    assert run.ledger.complementarity_residual.max() < 1e-10
    assert all(run.contact(f"touch {k}").gap.min() > -1e-12 for k in range(count - 1))
    # crossing edges lie deeper by the error of their distance, at most ε (W² + U²)/2R = 13 μm with R = 0.5 mm
    assert run[f"{names[-1]}.centre"][-1, 2] == pytest.approx((count - 0.5) * size[2], abs=13e-6 * (count - 1))
    assert np.abs(run[f"{names[-1]}.velocity"][-1]).max() < 1e-3


@pytest.mark.parametrize(("twist", "restitution"), [(0.3, 0.2), (0.1, 0.2), (0.3, 0.5)])
def test_five_twisted_cubes_fall_on_each_other(twist, restitution):
    """Impacts of eight redundant contacts between two cubes, which slip a little."""
    mechanism, start = stacked(5, Rigid(friction=0.3, restitution=restitution), twist, 0.5 * restitution * 0.1)
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 101), method=Exact(contact="steps"))
    assert np.abs(run.ledger.residual).max() < ROUND_OFF * run.ledger.scale
    assert run.ledger.complementarity_residual.max() < 1e-10
    assert min(run.contact(name).gap.min() for name in ("floor", "touch 0", "touch 3")) > -1e-12
    assert all(own.min() > -1e-12 * run.ledger.scale for own in run.ledger.dissipation.values())


def test_stacks_in_a_turned_world_and_by_events():
    turn, ends = Rotation.from_rotvec((0.4, -0.8, 0.5)).as_matrix(), []
    for axes in (np.eye(3), turn):
        mechanism, start = stacked(2, Rigid(friction=0.3), drop=0.01, turn=axes)
        run = integrate(mechanism, start, np.linspace(0.0, 0.1, 51), method=Exact(contact="events"))
        assert np.abs(run.ledger.residual).max() < ROUND_OFF * run.ledger.scale
        ends.append(run["cube 1.centre"][-1] @ axes)
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ends[0], (0.0, 0.0, 0.3), rtol=0, atol=1e-9)


def test_a_square_slides_off_another_one_rigidly():
    """In the plane, along the line of their flush sides: the friction is μmg, no corner catches at the other square."""
    law = Rigid(friction=0.2)
    upper, lower = Box("a.own", (0.2, 0.2)), Box(GROUND.at(0.0, 0.0), (0.2, 0.2))
    block = rigid.body(1.0, inertia=1e-2, ports={"own": (0.0, 0.0)})
    mechanism = connect({"a": block}, [contact(upper, lower, law, name="touch")], gravity=(0.0, -9.81))
    place = mechanism.assemble({"a": (0.0, 0.2, 0.0)})
    start = mechanism.consistent_state(place, velocities={"a": (0.4, 0.0, 0.0)})
    run = integrate(mechanism, start, np.linspace(0.0, 0.4, 401))
    assert np.abs(run.ledger.residual).max() < ROUND_OFF * run.ledger.scale
    assert run["a.centre"][-1, 0] == pytest.approx(0.4**2 / (2.0 * 0.2 * 9.81), rel=1e-5)
    assert run["a.centre"][-1, 1] == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("way", ["steps", "events"])
def test_a_block_that_slides_on_a_slab_is_braked_by_its_friction_alone(way):
    """Round-off of the normal of a moving plane may not turn the tangents of a step by a right angle at its end."""
    slab = rigid.body(36.0, inertia=(1.0, 1.0, 2.0), ports={"centre": (0.0, 0.0, 0.0), "top": (0.0, 0.0, 0.05)})
    feet = {f"foot {k}": (0.05 * x, 0.05 * y, -0.05) for k, (x, y) in enumerate(product((-1, 1), repeat=2))}
    block = rigid.body(1.0, inertia=(1 / 600,) * 3, ports=feet)
    law, up = Rigid(friction=0.5), (0.0, 0.0, 1.0)
    joints = [
        contact([f"block.{foot}" for foot in feet], Plane("slab.top", up), law, name="rubs"),
        contact(Box("slab.centre", (0.6, 0.6, 0.1)), Plane(GROUND.at(0.0, 0.0, 0.0), up), law, name="floor"),
    ]
    mechanism = connect({"slab": slab, "block": block}, joints, gravity=(0.0, 0.0, -9.81))
    pose = mechanism.assemble({"slab": ((0.0, 0.0, 0.05), np.eye(3)), "block": ((-0.2, 0.0, 0.15), np.eye(3))})
    still = (0.0, 0.0, 0.0)
    start = mechanism.consistent_state(pose, velocities={"slab": (still, still), "block": ((1.0, 0.0, 0.0), still)})
    run = integrate(mechanism, start, np.linspace(0.0, 0.15, 76), method=Exact(contact=way))
    braked = np.column_stack([1.0 - 0.5 * 9.81 * run.times, 0.0 * run.times, 0.0 * run.times])
    np.testing.assert_allclose(run["block.velocity"], braked, rtol=0, atol=1e-11)
