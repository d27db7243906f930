"""Gearboxes and a gripper as drawings: they come back as the mechanisms that they were.

Some ten seconds, as gmsh reads each drawing in a process of its own; the slow ones take as long each.
"""

import numpy as np
import pytest
from assemblies import by_hand, drawn, started, together
from click.testing import CliRunner
from drawings import Sheet, link, wheel

from flexph import GROUND, eliminate, gear, hinge, integrate, poles, prismatic, spring_damper, torsion_spring
from flexph.cli import main
from flexph.meshes.drawings.drawing import MeshRequest, read_drawing
from flexph.meshes.drawings.teeth import toothed_wheels
from flexph.meshes.files import read_contents
from flexph.methods import Exact
from flexph.models import load_model
from flexph.sensors import joint_angle

Z = (0.0, 0.0, 1.0)
METHOD = Exact(redundant="least_norm")


def proposed(path, folder, *options):
    """Lines that ``flexph new`` prints for a drawing, and the path of the model file."""
    arguments = ["new", str(folder / "own"), "--from", str(path), "--density", "7850", *options]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output.splitlines()[1:], folder / "own.yaml"


def with_connection(file, line):
    """The mechanism of a model file with one more connection, which no drawing has."""
    file.write_text(file.read_text().replace("\nstart:", f"  - {line}\n\nstart:"))
    return load_model(file).mechanism


def slowest(mechanism, pose):
    """Least angular frequency of the motion about a pose at rest [rad/s]."""
    return np.sort(np.abs(poles(eliminate(mechanism.linearize(pose))).imag))[-1]


def turn(run, port):
    """Angle of a section about z since the start [rad]."""
    angle = run.measured(joint_angle(port, axis=Z))
    return angle - angle[0]


@pytest.fixture(scope="module")
def two_stages(tmp_path_factory):
    """A gearbox of two stages: three shafts with wheels drawn by their pitch cylinders, in bores of two walls."""
    path = tmp_path_factory.mktemp("gearbox") / "gearbox.step"
    at = {"input": (0, 0), "middle": (60, 0), "output": (96, 48)}
    discs = {"input": [(20, 10, 30)], "middle": [(40, 10, 30), (15, 40, 60)], "output": [(45, 40, 60)]}
    with Sheet() as sheet:
        floor, walls = sheet.box((-30, -60, 0), (150, -50, 70)), []
        for low in (0, 60):
            wall = sheet.box((-30, -60, low), (150, 70, low + 10))
            walls.append(sheet.without(wall, *(sheet.cylinder((*p, low - 1), (0, 0, 12), 8) for p in at.values())))
        sheet.named("housing", sheet.joined(floor, *walls))
        properties = {}
        for name, place in at.items():
            shaft = sheet.cylinder((*place, 0), (0, 0, 70), 8)
            wheels = [sheet.cylinder((*place, low), (0, 0, high - low), r) for r, low, high in discs[name]]
            shaft = sheet.named(name, sheet.joined(shaft, *wheels))
            properties[name] = sheet.properties(shaft)
        sheet.write(path)
    return path, properties, at


def test_a_gearbox_of_pitch_cylinders_comes_back_as_it_was(two_stages, tmp_path):
    """Ratios by the radii; frequency also by the reduced inertia, ω² = k / (J₃ + 3² J₂ + 6² J₁)."""
    path, properties, at = two_stages
    told, file = proposed(path, tmp_path)
    assert told == [
        "ground: housing, by its name",
        *(f"sure: hinge of housing and {name}" for name in at),
        "likely: gear pair of input and middle with ratio -2",
        "likely: gear pair of middle and output with ratio -3",
    ]
    text = file.read_text()
    assert "# likely: input.pin1 and middle.pin1 touch like the pitch cylinders of gears" in text
    assert "freedoms 1" in load_model(file).mechanism.describe()
    spring = "{kind: torsion_spring, first: output.housing, second: {ground: [0, 0, 0]}, axis: [0, 0, 1], "
    mechanism = with_connection(file, spring + "stiffness: 40, angle: 0.5}")
    joints = [hinge(f"{name}.axle", GROUND.at(*1e-3 * np.array([*at[name], 35])), axis=Z) for name in at]
    joints += [gear("input.axle", "middle.axle", ratio=-2.0, axis=Z)]
    joints += [gear("middle.axle", "output.axle", ratio=-3.0, axis=Z)]
    joints += [torsion_spring("output.axle", GROUND.at(0.0, 0.0, 0.0), stiffness=40.0, angle=0.5, axis=Z)]
    hand = by_hand(properties, {name: {"axle": (*at[name], 35)} for name in at}, joints, (0.0, -9.81, 0.0))
    inertias = [7.85e-12 * properties[name][2][2, 2] for name in at]
    omega = np.sqrt(40.0 / (inertias[2] + 9.0 * inertias[1] + 36.0 * inertias[0]))
    times = np.linspace(0.0, 4.0 / omega, 201)
    runs = [integrate(m, started(m), times, method=METHOD) for m in (mechanism, hand)]
    turns = [turn(run, port) for run, port in zip(runs, ("output.housing", "output.axle"), strict=True)]
    np.testing.assert_allclose(turns[0], turns[1], atol=1e-9)  # rad; inertias of the file have twelve digits
    # the steps are of second order: ωh = 0.02, error ωt (ωh)²/12
    np.testing.assert_allclose(turns[0], 0.5 * (1.0 - np.cos(omega * times)), atol=2e-4)
    np.testing.assert_allclose(turn(runs[0], "input.housing"), 6.0 * turns[0], atol=1e-9)
    for one in (mechanism, hand):
        rest = one.equilibrium(drawn(one), redundant="least_norm")
        assert slowest(one, rest) == pytest.approx(omega, rel=1e-9)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    """A gear pair of 20 and 40 teeth in two bearing blocks with dowels on a base; the large wheel is held by a key."""
    path = tmp_path_factory.mktemp("gearbox") / "keyed.step"
    with Sheet() as sheet:
        base, parts, dowels = sheet.box((-40, -60, 0), (120, -45, 70)), {}, []
        for block, low in (("left", 0), ("right", 60)):
            wall = sheet.box((-40, -45, low), (120, 30, low + 10))
            wall = sheet.without(wall, *(sheet.cylinder((x, 0, low - 1), (0, 0, 12), 8) for x in (0, 60)))
            for k, x in enumerate((-20, 100)):
                hole = ((x, -55, low + 5), (0, 20, 0), 3)
                base, wall = (sheet.without(own, sheet.cylinder(*hole)) for own in (base, wall))
                dowels.append((f"dowel_{block}{k}", sheet.cylinder(*hole)))
            parts[block] = wall
        parts = {"base": base, **parts, **dict(dowels)}
        pinion = wheel(sheet, (0, 0), teeth=20, module=2, low=10, high=30)
        parts["pinion"] = sheet.joined(pinion, sheet.cylinder((0, 0, 0), (0, 0, 70), 8))
        slot = ((56, 6, 10), (64, 11, 30))
        shaft = sheet.joined(sheet.cylinder((60, 0, 0), (0, 0, 70), 8), sheet.cylinder((60, 0, 30), (0, 0, 10), 12))
        parts["shaft"] = sheet.without(shaft, sheet.box(*slot))
        large = wheel(sheet, (60, 0), teeth=40, module=2, low=10, high=30, phase=0.5)
        parts["wheel"] = sheet.without(large, sheet.cylinder((60, 0, 9), (0, 0, 22), 8), sheet.box(*slot))
        parts["key"] = sheet.box(*slot)
        for name, part in parts.items():
            sheet.named(name, part)
        properties = {name: sheet.properties(part) for name, part in parts.items()}
        sheet.write(path)
    return path, properties


@pytest.mark.slow
def test_wheels_with_teeth_keys_and_bearing_blocks_come_back_as_they_were(keyed, tmp_path):
    """One hinge for each shaft, though it runs in two blocks: parts that are welded are one body to the others."""
    path, properties = keyed
    told, file = proposed(path, tmp_path)
    assert sum("weld" in line for line in told) == 8  # four dowels, two blocks, key and wheel
    assert [line for line in told if "hinge" in line or "gear" in line] == [
        "sure: hinge of left and pinion",
        "sure: hinge of left and shaft",
        "sure: gear pair of pinion and wheel with ratio -2",
    ]
    assert len(told) == 12 and told[0] == "ground: base, by its name"
    (found,) = toothed_wheels((part := read_drawing(path).part("pinion")).faces, part.scale)
    assert (found.teeth, found.name, len(found.faces)) == (20, "gear1", 40)
    np.testing.assert_allclose((found.tip, found.root, found.width), (0.022, 0.0175, 0.02), rtol=1e-9)
    regions = read_contents(path, (), MeshRequest(size=8e-3, select="pinion")).mesh.cell_sets
    assert sum(len(own) for own in regions["gear1"]) > 40
    spring = "{kind: torsion_spring, first: pinion.left, second: {ground: [0, 0, 0]}, axis: [0, 0, 1], "
    mechanism = with_connection(file, spring + "stiffness: 5, angle: 0.5}")
    bodies = {"one": properties["pinion"], "two": together(properties, "shaft", "wheel", "key")}
    joints = [
        hinge("one.axle", GROUND.at(0.0, 0.0, 0.02), axis=Z),
        hinge("two.axle", GROUND.at(0.06, 0.0, 0.02), axis=Z),
    ]
    joints += [gear("one.axle", "two.axle", ratio=-2.0, axis=Z)]
    joints += [torsion_spring("one.axle", GROUND.at(0.0, 0.0, 0.0), stiffness=5.0, angle=0.5, axis=Z)]
    hand = by_hand(bodies, {"one": {"axle": (0, 0, 20)}, "two": {"axle": (60, 0, 20)}}, joints, (0.0, -9.81, 0.0))
    times = np.linspace(0.0, 0.02, 101)
    runs = [integrate(m, started(m), times, method=METHOD) for m in (mechanism, hand)]
    turns = [turn(run, port) for run, port in zip(runs, ("pinion.left", "one.axle"), strict=True)]
    np.testing.assert_allclose(turns[0], turns[1], atol=1e-8)
    assert np.ptp(turns[0]) > 0.5
    rests = [one.equilibrium(drawn(one), redundant="least_norm") for one in (mechanism, hand)]
    slow = [slowest(one, rest) for one, rest in zip((mechanism, hand), rests, strict=True)]
    assert slow[0] == pytest.approx(slow[1], rel=1e-8) and slow[0] > 50.0


@pytest.fixture(scope="module")
def planetary(tmp_path_factory):
    """A planetary gear: a ring of 60 inner teeth in the housing, a sun and two planets of 20, and an arm."""
    path = tmp_path_factory.mktemp("gearbox") / "planetary.step"
    with Sheet() as sheet:
        gap = wheel(sheet, (0, 0), teeth=60, module=2, low=-1, high=21, internal=True, phase=0.5)
        ring = sheet.without(sheet.cylinder((0, 0, 0), (0, 0, 20), 75), gap)
        floor = sheet.cylinder((0, 0, -10), (0, 0, 10), 75)
        floor = sheet.without(floor, sheet.cylinder((0, 0, -11), (0, 0, 12), 8))
        sun = wheel(sheet, (0, 0), teeth=20, module=2, low=0, high=20)
        arm = link(sheet, (-40, 0), (40, 0), low=20, high=30, radius=12, bores=[((0, 0), 8)])
        sheet.named("housing", sheet.joined(ring, floor))
        sheet.named("sun", sheet.joined(sun, sheet.cylinder((0, 0, -10), (0, 0, 40), 8)))
        for name, x in (("near", 40), ("far", -40)):
            planet = wheel(sheet, (x, 0), teeth=20, module=2, low=2, high=20, phase=0.5)
            sheet.named(name, sheet.without(planet, sheet.cylinder((x, 0, 0), (0, 0, 22), 6)))
        pins = [sheet.cylinder((x, 0, 2), (0, 0, 18), 6) for x in (40, -40)]
        sheet.named("arm", sheet.joined(arm, *pins, sheet.box((20, -15, 20), (40, -12, 30))))
        sheet.write(path)
    return path


@pytest.mark.slow
def test_a_planetary_gear_has_its_arm_as_carrier(planetary, tmp_path):
    """With the ring at rest the sun turns 1 + 60/20 times as fast as the arm (R. Willis, Principles of mechanism)."""
    told, file = proposed(planetary, tmp_path)
    assert told[0] == "ground: housing, by its name" and len(told) == 9
    assert {frozenset(line.split(" of ")[1].split(" and ")) for line in told if "hinge" in line} == {
        *(frozenset({"arm", name}) for name in ("near", "far", "sun")),
        frozenset({"housing", "sun"}),
    }
    gears = [line for line in told if "gear pair" in line]
    assert sum("ratio -1" in line for line in gears) == 2  # of sun and planets
    assert sum("ratio 3" in line or "ratio 0.333333" in line for line in gears) == 2  # of planets and ring
    assert "# A loop of parallel hinges or of gears" in file.read_text()  # one of the four pairs is redundant
    assert "carrier: arm.carrier" in file.read_text()
    mechanism = load_model(file).mechanism
    assert "freedoms 1" in mechanism.describe(drawn(mechanism))
    run = integrate(mechanism, started(mechanism), np.linspace(0.0, 0.6, 101), method=METHOD)
    arm, sun = (turn(run, port) for port in ("arm.sun", "sun.arm"))
    assert np.ptp(arm) > 0.1  # rad; the lug of the arm falls
    np.testing.assert_allclose(sun, 4.0 * arm, atol=1e-9)
    np.testing.assert_allclose(turn(run, "near.arm"), -2.0 * arm, atol=1e-9)  # 1 − 60/20


def test_a_shaft_turns_with_the_wheels_that_it_carries(tmp_path):
    """A stepped shaft without keys in two wheels of two gear pairs is welded to both, and turns in the housing."""
    with Sheet() as sheet:
        wall = sheet.box((-30, -60, 0), (150, 70, 10))
        wall = sheet.without(wall, *(sheet.cylinder((x, 0, -1), (0, 0, 12), 8) for x in (0, 60, 120)))
        sheet.named("housing", wall)
        sheet.named("middle", sheet.cylinder((60, 0, 0), (0, 0, 70), 8))
        for name, x, r, low in (("one", 60, 40, 10), ("two", 60, 15, 40)):
            disc = sheet.cylinder((x, 0, low), (0, 0, 20), r)
            sheet.named(name, sheet.without(disc, sheet.cylinder((x, 0, low - 1), (0, 0, 22), 8)))
        for name, x, r, low in (("input", 0, 20, 10), ("output", 120, 45, 40)):
            shaft = sheet.cylinder((x, 0, 0), (0, 0, 70), 8)
            sheet.named(name, sheet.joined(shaft, sheet.cylinder((x, 0, low), (0, 0, 20), r)))
        path = sheet.write(tmp_path / "slipped.step")
    told, file = proposed(path, tmp_path)
    assert sorted(told) == [
        "ground: housing, by its name",
        "likely: cylindrical of housing and output",
        "likely: gear pair of one and input with ratio -0.5",
        "likely: gear pair of two and output with ratio -3",
        "sure: hinge of housing and input",
        "sure: hinge of housing and middle",
        "sure: weld of one and middle",
        "sure: weld of two and middle",
    ]
    text = file.read_text()
    assert "middle turns in all of its bores: it is held in one with its gear wheel" in text
    assert "a hinge if something does, a screw if it has a thread" in text


def test_gears_act_at_the_wheels_of_a_flexible_shaft(two_stages, tmp_path):
    """Between its wheels it twists: two ports of their faces, not that of the bearings."""
    path = tmp_path / "gearbox.step"
    path.write_bytes(two_stages[0].read_bytes())
    text = proposed(path, tmp_path, "--flexible", "middle", "--size", "15mm")[1].read_text()
    for port, place in (("wheel: {region: pin1", 0.02), ("wheel2: {region: pin2", 0.05)):
        assert f"{port}, at: [0.06, 0, {place}]}}" in text
    assert "first: input.wheel, second: middle.wheel, ratio: -2" in text
    assert "first: middle.wheel2, second: output.wheel, ratio: -3" in text


def test_wheels_that_no_pair_is_proposed_for_are_named(tmp_path):
    """A wheel that meets no other, one whose partner does not turn, and one by its name alone."""
    with Sheet() as sheet:
        base = sheet.joined(sheet.box((-50, -50, -10), (90, 50, 0)), sheet.cylinder((0, 0, 0), (0, 0, 10), 5))
        sheet.named("base", sheet.joined(base, wheel(sheet, (37, 0), teeth=17, module=2, low=0, high=10, phase=0.5)))
        own = wheel(sheet, (0, 0), teeth=20, module=2, low=0, high=10, phase=0.5)
        sheet.named("turning", sheet.without(own, sheet.cylinder((0, 0, -1), (0, 0, 12), 5)))
        own = wheel(sheet, (0, 200), teeth=12, module=2, low=0, high=10)
        sheet.named("alone", own)
        sheet.named("worm", sheet.box((60, 60, 0), (80, 80, 20)))
        path = sheet.write(tmp_path / "wheels.step")
    told, file = proposed(path, tmp_path)
    wanted = "wheels of 17 and 20 teeth in mesh at 37 mm, but no part carries the shafts of base and turning"
    assert f"left out: {wanted}" in told and f"# left out: {wanted}" in file.read_text()
    assert any(line.startswith("left out: alone has 12 equal teeth or notches without a mating wheel") for line in told)
    assert "left out: worm is a part of a transmission by its name, but no wheel touches it in the drawing" in told
    assert not any("gear pair" in line for line in told)


SIDES = {"r": 1.0, "l": -1.0}
PLACES = {"A": (30, 0), "B": (55, 10), "P": (50, 40), "Q": (75, 50), "R": (30, -25), "S": (12, -45)}
BARS = {"drive": "APR", "rear": "BQ", "finger": "PQ", "rod": "RS"}


@pytest.fixture(scope="module")
def gripper(tmp_path_factory):
    """A gripper: a slider in a guide of the base moves two fingers by rods, on parallel four-bars."""
    path = tmp_path_factory.mktemp("gripper") / "gripper.step"
    with Sheet() as sheet:
        frame = [sheet.box((-90, -100, -10), (90, 30, 0))]
        frame += [sheet.box((x, -95, 0), (x + 10, -36, 6)) for x in (-28, 18)]
        parts, block = {}, [sheet.box((-18, -60, 0), (18, -35, 8))]
        for side, sign in SIDES.items():
            at = {name: (sign * x, y) for name, (x, y) in PLACES.items()}
            frame += [sheet.cylinder((*at[name], 0), (0, 0, 8), 5) for name in "AB"]
            block.append(sheet.cylinder((*at["S"], 8), (0, 0, 8), 4))
            arms = [link(sheet, at["A"], at[end], low=0, high=8, radius=8, bores=[(at["A"], 5)]) for end in "PR"]
            pins = [sheet.cylinder((*at[end], 8), (0, 0, 8), 4) for end in "PR"]
            parts[f"drive_{side}"] = sheet.joined(*arms, *pins)
            rear = link(sheet, at["B"], at["Q"], low=0, high=8, radius=8, bores=[(at["B"], 5)])
            parts[f"rear_{side}"] = sheet.joined(rear, sheet.cylinder((*at["Q"], 8), (0, 0, 8), 4))
            jaw = sheet.box((42, 40, 8), (58, 100, 16)) if sign > 0 else sheet.box((-58, 40, 8), (-42, 100, 16))
            finger = sheet.joined(link(sheet, at["P"], at["Q"], low=8, high=16, radius=8), jaw)
            bores = [sheet.cylinder((*at[end], 7), (0, 0, 10), 4) for end in "PQ"]
            parts[f"finger_{side}"] = sheet.without(finger, *bores)
            bores = [(at[end], 4) for end in "RS"]
            parts[f"rod_{side}"] = link(sheet, at["R"], at["S"], low=8, high=16, radius=6, bores=bores)
        parts["base"], parts["slider"] = sheet.joined(*frame), sheet.joined(*block)
        for name, part in parts.items():
            sheet.named(name, part)
        properties = {name: sheet.properties(part) for name, part in parts.items()}
        sheet.write(path)
    return path, properties


def test_a_gripper_comes_back_as_it_was(gripper, tmp_path):
    """Twelve hinges and a slider, one freedom; on a spring it moves as the one by hand does."""
    path, properties = gripper
    told, file = proposed(path, tmp_path)
    kinds = sorted(line.partition(": ")[2].partition(" of ")[0] for line in told[1:])
    assert told[0] == "ground: base, by its name" and kinds == ["hinge"] * 12 + ["prismatic"]
    place = "[0.012, -0.1, 0.012]"
    spring = f"{{kind: spring_damper, first: slider.rod_r, second: {{ground: {place}}}, stiffness: 2000, length: 5 cm, "
    spring += "direction: [0, 1, 0]}"
    mechanism = with_connection(file, spring)
    assert "freedoms 1" in mechanism.describe(drawn(mechanism))
    ends, joints = {"slider": {}}, []
    for side, sign in SIDES.items():
        at = {name: (sign * x, y, 12.0) for name, (x, y) in PLACES.items()}
        ends |= {f"{bar}_{side}": {end: at[end] for end in names} for bar, names in BARS.items()}
        ends["slider"][f"S{side}"] = at["S"]
        for bar, end in (("drive", "A"), ("rear", "B")):
            joints.append(hinge(f"{bar}_{side}.{end}", GROUND.at(*1e-3 * np.array(at[end])), axis=Z))
        for one, two, end in (("drive", "finger", "P"), ("rear", "finger", "Q"), ("drive", "rod", "R")):
            joints.append(hinge(f"{one}_{side}.{end}", f"{two}_{side}.{end}", axis=Z))
        joints.append(hinge(f"rod_{side}.S", f"slider.S{side}", axis=Z))
    joints.append(prismatic("slider.Sr", GROUND.at(0.012, -0.045, 0.012), direction=(0.0, 1.0, 0.0)))
    joints.append(
        spring_damper(
            "slider.Sr", GROUND.at(0.012, -0.1, 0.012), stiffness=2000.0, length=0.05, direction=(0.0, 1.0, 0.0)
        )
    )
    hand = by_hand(properties, ends, joints, (0.0, -9.81, 0.0))
    times = np.linspace(0.0, 0.1, 101)
    runs = [integrate(m, started(m), times, method=METHOD) for m in (mechanism, hand)]
    for one, two in (("slider.rod_r", "slider.Sr"), ("finger_l.drive_l", "finger_l.P")):
        ways = [run.position(port)[:, :2] for run, port in zip(runs, (one, two), strict=True)]
        np.testing.assert_allclose(ways[0], ways[1], atol=1e-8)  # m
        assert np.ptp(ways[0]) > 1e-3
    rests = [one.equilibrium(drawn(one), redundant="least_norm") for one in (mechanism, hand)]
    slow = [slowest(one, rest) for one, rest in zip((mechanism, hand), rests, strict=True)]
    assert slow[0] == pytest.approx(slow[1], rel=1e-7) and slow[0] > 5.0
