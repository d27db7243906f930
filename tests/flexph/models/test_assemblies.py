"""Assemblies of drawings as model files: contacts, joints, and the mechanisms that they were.

Some ten seconds, as gmsh reads each drawing in a process of its own; without it only the joints of contacts are tested.
"""

import re

import numpy as np
import pytest
from assemblies import by_hand, drawn, started, together
from click.testing import CliRunner
from drawings import Sheet, link
from scipy.spatial.transform import Rotation

from flexph import GROUND, eliminate, hinge, integrate, poles, prismatic
from flexph.cli import main
from flexph.methods import Exact
from flexph.models import load_model
from flexph.models.assemblies.freedoms import pair_of
from flexph.models.assemblies.touching import Touch

X, Y, Z = np.eye(3)
O, P, Q = np.zeros(3), np.array([0.3, 0.1, 0.0]), np.array([0.0, 0.2, 0.1])
SETS = {
    "hinge": [("pin", O, Z), ("plane", P, Z)],
    "cylindrical": [("pin", O, Z), ("pin", 2.0 * Z, Z)],
    "prismatic": [("plane", O, Z), ("plane", P, Y)],
    "prismatic of two pins": [("pin", O, Z), ("pin", P, Z)],
    "weld": [("plane", O, Z), ("plane", P, Y), ("plane", Q, X)],
    "weld of bolts": [("bores", O, Z), ("bores", P, Z), ("plane", Q, Z)],
    "weld of crossed pins": [("pin", O, Z), ("pin", P, X)],
    "planar": [("plane", O, Z), ("plane", P, Z)],
    "spherical": [("ball", P, Z)],
    "hinge of two balls": [("ball", O, Z), ("ball", 0.1 * X, Z)],
    "slot": [("slot", O, Z)],
    "slot on a plane": [("slot", O, Z), ("plane", P, Z)],
}
FREEDOMS = {
    "hinge": 1,
    "cylindrical": 2,
    "prismatic": 1,
    "weld": 0,
    "planar": 3,
    "spherical": 3,
    "slot": 4,
    "slot on a plane": 2,
}


@pytest.mark.parametrize("name", SETS)
def test_contacts_make_the_joint_that_they_leave_free(name):
    """In any axes and about any place; the axis of a hinge runs through its pin."""
    kind = name.partition(" ")[0]
    for seed in range(3):
        R = Rotation.random(random_state=seed).as_matrix() if seed else np.eye(3)
        away = np.random.default_rng(seed).normal(size=3)
        pair = pair_of([Touch(k, "a", "b", R @ at + away, R @ axis, ("p", "q"), R @ Y) for k, at, axis in SETS[name]])
        assert (pair.kind, pair.freedoms) == (kind, FREEDOMS.get(name, FREEDOMS[kind]))
        wanted = {"slot": X, "hinge": Z, "cylindrical": Z, "planar": Z, "prismatic": X, "prismatic of two pins": Z}
        axis = R @ {**wanted, "hinge of two balls": X, "slot on a plane": X}.get(name, Z)
        if kind in ("hinge", "cylindrical", "planar", "prismatic", "slot"):
            np.testing.assert_allclose(np.abs(pair.axis @ axis), 1.0, atol=1e-9)
        if kind in ("hinge", "cylindrical"):  # the place is on the axis, through the origin before the motion
            np.testing.assert_allclose(np.cross(pair.at - away, axis), 0.0, atol=1e-9)
        if kind == "slot":
            np.testing.assert_allclose(pair.at, away, atol=1e-12)
        if kind == "spherical":
            np.testing.assert_allclose(pair.at, R @ P + away, atol=1e-9)


CORNERS = {"O": (0, 0), "A": (30, 40), "B": (120, 80), "C": (100, 0)}


@pytest.fixture(scope="module")
def four_bar(tmp_path_factory):
    """A four-bar of a base with two pins, crank and follower with one, and a coupler; properties by the kernel."""
    path = tmp_path_factory.mktemp("assembly") / "four-bar.step"
    a, b, c, o = (CORNERS[n] for n in "ABCO")
    with Sheet() as sheet:
        base = sheet.box((-20, -20, -10), (120, 20, 0))
        pins = [sheet.cylinder((*at, 0), (0, 0, 8), 5) for at in (o, c)]
        sheet.named("base", sheet.joined(base, *pins))
        crank = link(sheet, o, a, low=0, high=8, radius=10, bores=[(o, 5)])
        follower = link(sheet, c, b, low=0, high=8, radius=10, bores=[(c, 5)])
        parts = {
            "crank": sheet.joined(crank, sheet.cylinder((*a, 8), (0, 0, 8), 4)),
            "coupler": link(sheet, a, b, low=8, high=16, radius=9, bores=[(a, 4), (b, 4)]),
            "follower": sheet.joined(follower, sheet.cylinder((*b, 8), (0, 0, 8), 4)),
        }
        for name, part in parts.items():
            sheet.named(name, part)
        properties = {name: sheet.properties(part) for name, part in parts.items()}
        sheet.write(path)
    return path, properties


def test_a_four_bar_comes_back_as_it_was(four_bar, tmp_path):
    path, properties = four_bar
    result = CliRunner().invoke(main, ["new", str(tmp_path / "four"), "--from", str(path), "--density", "7850"])
    assert result.exit_code == 0, result.output
    assert "ground: base, by its name" in result.output and result.output.count("sure: hinge of") == 4
    text = (tmp_path / "four.yaml").read_text()
    assert "# sure: base.pin1 and crank.hole1 are coaxial and fit; base.plane" in text
    model = load_model(tmp_path / "four.yaml")
    corner = {name: (*at, 4.0) for name, at in CORNERS.items()}
    ports = {"crank": "OA", "coupler": "AB", "follower": "CB"}
    ports = {name: {end: corner[end] for end in ends} for name, ends in ports.items()}
    joints = [("crank.O", GROUND.at(0.0, 0.0, 0.004)), ("crank.A", "coupler.A")]
    joints += [("coupler.B", "follower.B"), ("follower.C", GROUND.at(0.1, 0.0, 0.004))]
    hand = by_hand(properties, ports, [hinge(*ends, axis=(0, 0, 1)) for ends in joints], (0.0, -9.81, 0.0))
    method, times = Exact(redundant="least_norm"), np.linspace(0.0, 0.2, 101)
    runs = [integrate(m, started(m), times, method=method) for m in (model.mechanism, hand)]
    tips = [runs[0].position("coupler.follower"), runs[1].position("coupler.B")]
    # bodies of the file have twelve digits, and ports at other heights
    np.testing.assert_allclose(tips[0][:, :2], tips[1][:, :2], atol=1e-8)
    assert np.ptp(tips[0][:, 1]) > 1e-2 and runs[0].ledger.largest_residual < 1e-11
    slow = []
    for mechanism in (model.mechanism, hand):
        rest = mechanism.equilibrium(drawn(mechanism), redundant="least_norm")
        slow.append(np.sort(np.abs(poles(eliminate(mechanism.linearize(rest))).imag))[-1])
    assert slow[0] == pytest.approx(slow[1], rel=1e-7) and slow[0] > 1.0


@pytest.fixture(scope="module")
def crank_slider(tmp_path_factory):
    """A crank-slider: a frame with a guide, a crank pin as a part of its own, a block that slides."""
    path = tmp_path_factory.mktemp("assembly") / "slider.step"
    a, b = (18, 24), (120, 0)
    with Sheet() as sheet:
        plate = sheet.box((-30, -25, -10), (200, 25, 0))
        rails = [sheet.box((70, y, 0), (200, y + 10, 8)) for y in (-22, 12)]
        sheet.named("frame", sheet.joined(plate, *rails, sheet.cylinder((0, 0, 0), (0, 0, 8), 6)))
        parts = {
            "crank": link(sheet, (0, 0), a, low=0, high=8, radius=11, bores=[((0, 0), 6), (a, 4)]),
            "rod": link(sheet, a, b, low=8, high=16, radius=8, bores=[(a, 4), (b, 4)]),
            "block": sheet.joined(sheet.box((105, -12, 0), (135, 12, 8)), sheet.cylinder((*b, 8), (0, 0, 8), 4)),
            "bolt": sheet.cylinder((*a, 0), (0, 0, 16), 4),
        }
        for name, part in parts.items():
            sheet.named(name, part)
        properties = {name: sheet.properties(part) for name, part in parts.items()}
        sheet.write(path)
    return path, properties


def test_a_crank_slider_with_a_loose_bolt_comes_back_as_it_was(crank_slider, tmp_path):
    path, properties = crank_slider
    arguments = ["new", str(tmp_path / "slider.yaml"), "--from", str(path), "--density", "7.85 g/cm^3"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert [line.partition(": ")[2] for line in result.output.splitlines()[2:]] == [
        "weld of crank and bolt",
        "hinge of frame and crank",
        "prismatic of frame and block",
        "hinge of rod and bolt",
        "hinge of rod and block",
    ]
    assert "bolt turns in all of its bores: it is held in crank here" in (tmp_path / "slider.yaml").read_text()
    model = load_model(tmp_path / "slider.yaml")
    ends = {"crank": {"O": (0, 0, 4), "A": (18, 24, 4)}, "rod": {"A": (18, 24, 4), "B": (120, 0, 4)}}
    ends["block"] = {"B": (120, 0, 4)}
    joints = [hinge("crank.O", GROUND.at(0.0, 0.0, 0.004), axis=Z), hinge("crank.A", "rod.A", axis=Z)]
    joints += [hinge("rod.B", "block.B", axis=Z), prismatic("block.B", GROUND.at(0.12, 0.0, 0.004), direction=X)]
    hand = by_hand({**properties, "crank": together(properties, "crank", "bolt")}, ends, joints, (0.0, -9.81, 0.0))
    method, times = Exact(redundant="least_norm"), np.linspace(0.0, 0.2, 101)
    runs = [integrate(m, started(m), times, method=method) for m in (model.mechanism, hand)]
    ways = [run.position(port)[:, 0] for run, port in zip(runs, ("block.rod", "block.B"), strict=True)]
    np.testing.assert_allclose(ways[0], ways[1], atol=1e-8)
    assert np.ptp(ways[0]) > 1e-3


@pytest.fixture(scope="module")
def yoke(tmp_path_factory):
    """A Scotch yoke: the pin of a crank slides in a slot across the way of a yoke; a tag penetrates the frame."""
    path = tmp_path_factory.mktemp("assembly") / "yoke.step"
    with Sheet() as sheet:
        plate = sheet.box((-60, -60, -10), (160, 60, 0))
        rails = [sheet.box((70, y, 0), (150, y + 10, 16)) for y in (-16, 6)]
        floor = sheet.box((70, -6, 0), (150, 6, 8))
        sheet.named("frame", sheet.joined(plate, *rails, floor, sheet.cylinder((0, 0, 0), (0, 0, 8), 6)))
        crank = link(sheet, (0, 0), (24, 18), low=0, high=8, radius=10, bores=[((0, 0), 6)])
        sheet.named("crank", sheet.joined(crank, sheet.cylinder((24, 18, 8), (0, 0, 8), 4)))
        bar, slot = sheet.box((10, -50, 8), (38, 50, 16)), sheet.box((20, -40, 7), (28, 40, 17))
        stem = sheet.box((38, -6, 8), (140, 6, 16))
        sheet.named("yoke", sheet.joined(sheet.without(bar, slot), stem))
        sheet.named("tag", sheet.box((-60, -60, -2), (-50, -50, 5)))
        sheet.write(path)
    return path


def test_a_pin_in_a_slot_is_a_slider_that_turns(yoke, tmp_path):
    """A Scotch yoke comes back: its way is the first coordinate of the pin, x = r cos φ."""
    result = CliRunner().invoke(main, ["new", str(tmp_path / "yoke"), "--from", str(yoke), "--density", "7850"])
    assert result.exit_code == 0, result.output
    told = result.output.splitlines()
    assert "likely: pin in a slot of crank and yoke" in told and "sure: prismatic of frame and yoke" in told
    assert "frame and tag overlap by 200 mm³: a press fit, or drawn in a wrong place" in told
    text = (tmp_path / "yoke.yaml").read_text()
    assert "{kind: slider, port: crank.yoke, rail: yoke.crank, direction: [0, 1, 0], turning: true}" in text
    assert "# frame and tag overlap by 200 mm³" in text
    mechanism = load_model(tmp_path / "yoke.yaml").mechanism
    run = integrate(mechanism, started(mechanism), np.linspace(0.0, 0.2, 101), method=Exact(redundant="least_norm"))
    pin, way = run.position("crank.yoke"), run.position("yoke.crank")
    np.testing.assert_allclose(np.hypot(pin[:, 0], pin[:, 1]), 0.03, atol=1e-12)
    np.testing.assert_allclose(way[:, 0], pin[:, 0], atol=1e-12)
    np.testing.assert_allclose(way[:, 1], 0.018, atol=1e-12)
    assert np.ptp(pin[:, 1]) > 5e-3 and run.ledger.largest_residual < 1e-11


def test_parts_in_a_row_make_what_is_likely(tmp_path):
    """Bores in line without a pin are a likely hinge; two of them with a plane are a weld, as are parts glued alone."""
    with Sheet() as sheet:
        bar = {"low": 0, "high": 5, "radius": 10}
        sheet.named("base", link(sheet, (0, 0), (100, 0), **bar, bores=[((0, 0), 4), ((60, 0), 3), ((80, 0), 3)]))
        sheet.named("arm", link(sheet, (0, 0), (0, 60), low=5, high=10, radius=9, bores=[((0, 0), 4)]))
        lid = sheet.box((50, -8, 5), (90, 8, 10))
        holes = [sheet.cylinder((x, 0, 4), (0, 0, 8), 3) for x in (60, 80)]
        sheet.named("lid", sheet.without(lid, *holes))
        sheet.named("tag", sheet.box((-4, 50, 10), (4, 58, 12)))
        sheet.named("ball", sheet.ball((0, 300, 0), 5))
        path = sheet.write(tmp_path / "row.step")
    result = CliRunner().invoke(main, ["new", str(tmp_path / "row"), "--from", str(path), "--density", "1000"])
    assert result.output.splitlines()[1:] == [
        "ground: base, by its name",
        "likely: hinge of base and arm",
        "likely: weld of base and lid",
        "not sure: weld of arm and tag",
        "nothing holds ball",
    ]
    assert list(load_model(tmp_path / "row.yaml").mechanism.bodies) == ["base", "arm", "lid", "tag", "ball"]


@pytest.mark.parametrize("rail", [False, True])
def test_bearing_blocks_stand_on_their_base_and_jaws_slide_on_their_rail(tmp_path, rail):
    """Blocks with bores for one shaft do not turn about it; a part that holds the shaft itself lets blocks slide."""
    with Sheet() as sheet:
        base, parts = sheet.box((-60, -20, -10), (60, 20, 0)), {}
        for name, x in (("left", -40), ("right", 40)):
            block = sheet.box((x - 5, -10, 0), (x + 5, 10, 40))
            parts[name] = sheet.without(block, sheet.cylinder((x - 6, 0, 25), (12, 0, 0), 5))
        if rail:
            wall = sheet.without(sheet.box((-60, -10, 0), (-50, 10, 40)), sheet.cylinder((-61, 0, 25), (12, 0, 0), 5))
            base = sheet.joined(base, wall)
        for name, part in {"base": base, **parts, "shaft": sheet.cylinder((-60, 0, 25), (120, 0, 0), 5)}.items():
            sheet.named(name, part)
        path = sheet.write(tmp_path / "blocks.step")
    result = CliRunner().invoke(main, ["new", str(tmp_path / "own"), "--from", str(path), "--density", "1000"])
    kinds = {line.split(" with ")[0] for line in result.output.splitlines()[2:]}
    blocks = {
        "not sure: weld of base and left",
        "not sure: weld of base and right",
        "likely: cylindrical of left and shaft",
    }
    jaws = {"sure: weld of base and shaft", "sure: prismatic of left and shaft", "sure: prismatic of right and shaft"}
    assert kinds == (jaws if rail else blocks)


def test_screws_clamp_and_spindles_ask_for_their_lead(tmp_path):
    """Two screws hold a lid in threads of 5 mm for pins of 6 mm; a spindle in a nut that slides gets no lead."""
    with Sheet() as sheet:
        frame, rail = sheet.box((-20, -20, -20), (120, 20, -10)), sheet.box((-20, -40, -20), (120, -20, 20))
        wall = sheet.without(sheet.box((-20, -20, -10), (-10, 20, 20)), sheet.cylinder((-21, 0, 5), (12, 0, 0), 4))
        threads = [sheet.cylinder((x, -30, 10), (0, 0, 11), 2.5) for x in (0, 100)]
        sheet.named("frame", sheet.without(sheet.joined(frame, rail, wall), *threads))
        lid = sheet.box((-20, -40, 20), (120, -20, 25))
        sheet.named("lid", sheet.without(lid, *(sheet.cylinder((x, -30, 19), (0, 0, 7), 3.2) for x in (0, 100))))
        for k, x in enumerate((0, 100)):
            head = sheet.cylinder((x, -30, 25), (0, 0, 5), 5)
            sheet.named(f"m6_{k}", sheet.joined(sheet.cylinder((x, -30, 12), (0, 0, 14), 3), head))
        spindle = sheet.joined(sheet.cylinder((-30, 0, 5), (140, 0, 0), 4), sheet.cylinder((-10, 0, 5), (5, 0, 0), 7))
        sheet.named("spindle", spindle)
        nut = sheet.box((40, -20, -10), (60, 20, 18))
        sheet.named("nut", sheet.without(nut, sheet.cylinder((39, 0, 5), (22, 0, 0), 3.4)))
        path = sheet.write(tmp_path / "screws.step")
    given = ["new", str(tmp_path / "own"), "--from", str(path), "--density", "7850"]
    result = CliRunner().invoke(main, given)
    assert sorted(result.output.splitlines()[1:]) == [
        "ground: frame, by its name",
        "likely: weld of frame and m6_0",
        "likely: weld of frame and m6_1",
        "not sure: cylindrical of spindle and nut",
        "sure: hinge of frame and spindle",
        "sure: prismatic of frame and nut",
        "sure: weld of lid and m6_0",
    ]
    file = tmp_path / "own.yaml"
    text = file.read_text()
    assert "its lead is not in the drawing: {kind: screw, …, lead: 2 mm}" in text and "a screw that is tight" in text
    mechanism = load_model(file).mechanism
    assert "freedoms 2" in mechanism.describe(drawn(mechanism))
    file.write_text(re.sub(r"kind: cylindrical, (.*)\}", r"kind: screw, \1, lead: 2 mm}", text))
    mechanism = load_model(file).mechanism
    assert "freedoms 1" in mechanism.describe(drawn(mechanism))


def test_a_part_may_be_flexible(four_bar, tmp_path):
    path, properties = four_bar
    (tmp_path / "four.step").write_bytes(path.read_bytes())
    common = ["--from", str(tmp_path / "four.step"), "--density", "7850", "--flexible", "follower", "--size", "30mm"]
    result = CliRunner().invoke(main, ["new", str(tmp_path / "four"), *common])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "four.yaml").read_text()
    assert "moduli are not in a drawing: these are of steel" in text and "select: follower" in text
    model = load_model(tmp_path / "four.yaml")
    follower = model.mechanism.bodies["follower"]
    assert follower.size == 6 and follower.mass == pytest.approx(7.85e-6 * properties["follower"][0], rel=1e-3)
    model.check()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "density must be given, the drawing has none for 'crank', 'coupler', 'follower'"),
        (["--density", "7850", "--ground", "bas"], "'bas'"),
        (["--density", "7850", "--flexible", "base"], "a part that moves, got 'base', the ground"),
        (["--density", "7850", "--flexible", "crank"], "in the folder of the drawing or above"),
        (["--like", "four-bar"], "not both"),
    ],
)
def test_wrong_options_are_refused(four_bar, tmp_path, options, words):
    result = CliRunner().invoke(main, ["new", str(tmp_path / "own"), "--from", str(four_bar[0]), *options])
    assert result.exit_code != 0 and words in " ".join(result.output.split())
    assert not (tmp_path / "own.yaml").exists()


def test_options_of_drawings_need_one(tmp_path):
    result = CliRunner().invoke(main, ["new", str(tmp_path / "own"), "--density", "7850"])
    assert result.exit_code == 2 and "--density is for a drawing: give it by --from" in result.output


def test_names_that_yaml_reads_as_something_else_stay_names(tmp_path):
    """Names of parts such as ``null`` and ``1e3``, and a file with a colon and a number sign."""
    path = tmp_path / "two: no #1.step"
    with Sheet() as sheet:
        sheet.named("1e3", sheet.joined(sheet.box((-9, -9, -5), (9, 9, 0)), sheet.cylinder((0, 0, 0), (0, 0, 8), 4)))
        sheet.named("null", link(sheet, (0, 0), (40, 0), low=0, high=8, radius=9, bores=[((0, 0), 4)]))
        sheet.named("alone", sheet.box((60, 60, 60), (70, 70, 70)))
        sheet.write(path)
    given = ["new", str(tmp_path / "two"), "--from", str(path), "--density", "7850", "--ground", "1e3"]
    result = CliRunner().invoke(main, [*given, "--flexible", "alone"])
    assert result.exit_code == 1 and "a part with a joint, got 'alone', which nothing holds" in result.output
    result = CliRunner().invoke(main, [*given, "--flexible", "null", "--size", "8mm"])
    assert result.exit_code == 0, result.output
    model = load_model(tmp_path / "two.yaml")
    assert set(model.mechanism.bodies) == {"1e3", "null", "alone"} and model.mechanism.bodies["null"].stress_size


def test_a_part_of_micrometres_keeps_its_inertia(tmp_path):
    """That of a box, m (b² + c²) / 12, of 1e-19 kg m², read of the drawing, and by numbers if that is elsewhere."""
    with Sheet() as sheet:
        sheet.named("base", sheet.box((-0.1, -0.1, -0.1), (0.1, 0.1, 0)))
        sheet.named("chip", sheet.box((0, 0, 0), (0.05, 0.04, 0.03)))
        path = sheet.write(tmp_path / "small.step")
    mass, squares = 2330.0 * 6e-14, 1e-10 * np.array([25.0, 16.0, 9.0])
    for folder in (tmp_path, tmp_path / "away"):
        folder.mkdir(exist_ok=True)
        result = CliRunner().invoke(main, ["new", str(folder / "small"), "--from", str(path), "--density", "2330"])
        assert result.exit_code == 0, result.output
        chip = load_model(folder / "small.yaml").mechanism.bodies["chip"]
        np.testing.assert_allclose(chip.mass, mass, rtol=1e-9)
        np.testing.assert_allclose(chip.moments, mass / 12.0 * np.diag(squares.sum() - squares), rtol=1e-7, atol=1e-27)
    chip = load_model(tmp_path / "away" / "small.yaml").document.bodies["chip"]
    np.testing.assert_allclose(chip.mass, mass, rtol=1e-9)
