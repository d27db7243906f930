"""Every published case: its checks pass, and the command writes its tables and pictures.

Half a minute, as each case is computed and drawn; checks that take more than a second are slow.
"""

import json
import re

import pytest
from click.testing import CliRunner

from flexph.case import find_cases
from flexph.cli import main
from flexph.report import reports
from flexph.results.result import Result
from flexph.scenes import read_scene
from flexph.scenes.of_results import values_of

CASES = {  # number of checks; options of a short run; tables and pictures that it writes
    "andrews-squeezer": (31, "--steps 200", "angles.csv angles.png forces.csv ledger.csv ledger.png motion.png"),
    "beam-reduction": (2, "--elements 12 --order 8", "methods.csv responses.png"),
    "bend-45": (12, "--elements 2", "bend.png tips.csv"),
    "boost-converter": (16, "--steps 20 --periods 4", "converter.png discontinuous.csv started.csv steady.csv"),
    "casimirs": (9, "--end 2", "casimirs.csv flux.png reports.txt"),
    "clamped-capacitor": (16, "", "capacitances.csv clamped.png undetermined.csv"),
    "controlled-lc": (8, "--periods 2", "casimir.png motion.csv"),
    "coupled-masses": (6, "--end 0.5", "motion.csv report.txt structure.png"),
    "crank-slider": (12, "--elements 2 --steps 50 --turns 0.25", "ledger.csv ledger.png midpoint.csv midpoint.png"),
    "differential-drive": (
        16,
        "--steps 80 --duration 1",
        "ledger.csv ledger.png path.csv path.png wheels.csv wheels.png",
    ),
    "double-four-bar": (22, "--step 0.05", "ledger.csv ledger.png motion.csv motion.png singular.png"),
    "flexible-pendulum": (17, "--elements 1 --steps 50", "ledger.csv ledger.png tip.csv tip.png"),
    "elbow": (5, "--elements 1 --step 0.1 --end 1", "displacements.csv displacements.png motion.vtkhdf ledger.csv"),
    "flexible-rope": (8, "--elements 1 --end 0.1", "ledger.csv motion.png tension.png tip.csv"),
    "flying-rod": (13, "--elements 2 --end 1", "ends.csv ledger.csv motion.png motion.vtkhdf"),
    "gear-train": (8, "--end 0.1 --until 0.05", "angles.csv angles.png ledger.csv ledger.png motion.vtkhdf"),
    "hardware-in-the-loop": (5, "--end 0.1", "angle.csv angle.png ledger.csv ledger.png motion.vtkhdf"),
    "four-bar": (16, "--angles 0:90:45 --elements 2 --mode-angle 45", "frequencies.csv frequencies.png modes.png"),
    "four-bar-control": (12, "--elements 4 --points 60", "bode.png loops.png responses.csv steps.csv steps.png"),
    "four-particle": (
        16,
        "--end 0.1",
        "constraints.png convergence.csv convergence.png energy.png states.csv steps.csv undamped.png",
    ),
    "free-flight": (41, "--steps 50", "conserved.png ledger.csv ledger.png momenta.csv spins.csv tumbling.png"),
    "ground-resonance": (11, "--speeds 2 --ratios 1", "campbell.png growth.csv stability.png"),
    "gyroscope": (
        19,
        "--step 2e-3 --duration 0.112 --orientation quaternion",
        "kept.png lock.csv motion.png quaternion.csv rates.csv rates.png",
    ),
    "helicopter-blade": (10, "--elements 1 --end 0.1", "frequencies.csv ledger.csv tip.csv tip.png"),
    "hinged-beam": (24, "--elements 4 --steps 640 --end 16", "history.csv history.png ledger.png stresses.png"),
    "index-one": (31, "--step 0.5", "completions.csv example.csv example.png orders.csv orders.png"),
    "interconnected-beams": (5, "--elements 2 --steps 10", "elements.csv steps.csv tip.csv tip.png"),
    "large-beam-chain": (11, "--beams 3 --elements 4", "frequencies.csv"),
    "lateral-buckling": (2, "--elements 2", "frequencies.csv frequencies.png"),
    "lc-circuit": (8, "--periods 1", "motion.csv routes.png"),
    "levitated-ball": (4, "--end 0.05", "ball.png motion.csv"),
    "mass-spring-kernel": (4, "", "motion.csv structure.png"),
    "mobile-robot": (10, "--end 1 --wheels plain", "ledger.csv ledger.png motion.vtkhdf path.csv path.png"),
    "nafems": (29, "--refine 4", "frequencies.csv fv12.png fv32.png fv52.png"),
    "plate-modes": (
        18,
        "--cells quad --refine 2",
        "convergence.csv errors.png modes_clamped.png modes_hinged.png thin_limit.csv",
    ),
    "pogo-stick": (9, "--end 0.5", "convergence.csv events.csv motion.csv pogo-stick.png"),
    "point-masses": (23, "--step 0.02", "balance.csv kept.png motion.csv motion.png orders.csv"),
    "princeton-beam": (12, "--elements 1 --angles 2", "tips.csv tips.png"),
    "rigid-slider-crank": (19, "--step 0.02", "balance.csv motion.csv motion.png pin.csv pin.png"),
    "rlc-graph": (8, "--steps 50", "incidence.csv ladder.png response.csv step.csv"),
    "robot-arm": (11, "--step 1e-3 --end 0.3", "motion.vtkhdf ledger.csv ledger.png motion.csv motion.png"),
    "stewart-platform": (6, "--step 0.02", "motion.vtkhdf ledger.csv ledger.png legs.csv legs.png"),
    "hydraulic-arm": (6, "--end 0.02", "motion.vtkhdf ledger.csv ledger.png motion.csv motion.png"),
    "pick-and-place": (4, "--end 0.02", "motion.vtkhdf ledger.csv ledger.png motion.csv motion.png"),
    "rod-between-bodies": (12, "--elements 1 --end 1", "motion.vtkhdf ledger.csv momenta.csv motion.png"),
    "rolled-cantilever": (2, "--elements 7", "rolled.png tips.csv"),
    "rolling-coin": (38, "--steps 60", "accounts.png motions.csv paths.png wobble.csv wobble.png"),
    "rotor-in-bearings": (4, "--speeds 2 --shares 2", "campbell.png frequencies.csv growth.csv stability.png"),
    "rotating-beam": (32, "--elements 3", "frequencies.png modes.png speeds.csv"),
    "rubber-block": (44, "--cells 1 --end 0.05", "bend.csv ledger.csv ledger.png motion.png motion.vtkhdf"),
    "singular-mass": (18, "--end 0.2", "convergence.csv lambda.csv motion.csv routes.png"),
    "slider-crank-3d": (26, "--steps 400", "ledger.png motion.csv motion.png reactions.csv reactions.png"),
    "solid-cantilever": (5, "--degree 1 --refine 1", "convergence.csv convergence.png"),
    "solid-crank-slider": (
        16,
        "--rod bar --modes 2 --steps 6 --turns 0.05 --start undeformed",
        "ledger.csv ledger.png midpoint.png peaks.png rod.csv rod.png",
    ),
    "spin-up": (6, "--elements 2 --steps 200", "ledger.csv ledger.png tip.csv tip.png tip_linear.csv"),
    "spinning-body": (6, "--end 5", "momentum.csv sphere.png"),
    "swinging-plate": (9, "--elements 2 --steps 10 --end 0.1", "ledger.csv ledger.png stress.png swing.png tip.csv"),
    "conveyor": (8, "--end 0.05", "ledger.csv ledger.png motion.csv motion.png motion.vtkhdf"),
    "chain-drive": (3, "--end 0.002", "chain.csv chain.png ledger.csv ledger.png motion.vtkhdf"),
    "gripper": (7, "--end 0.02", "ledger.csv ledger.png motion.csv motion.png motion.vtkhdf"),
    "rubber-pad": (10, "--end 0.02", "ledger.csv ledger.png motion.vtkhdf path.csv path.png"),
    "ball-in-bowl": (
        10,
        "--rings 3 --end 0.05",
        "ledger.csv ledger.png motion.csv motion.png motion.vtkhdf",
    ),
    "cam-stop": (8, "--turns 0.05 --step 2e-3", "ledger.csv ledger.png motion.csv motion.png motion.vtkhdf"),
    "chain-on-ground": (
        8,
        "--links 3 --height 1e-4 --step 5e-3 --end 0.02",
        "chain.csv chain.png ledger.csv ledger.png motion.csv motion.vtkhdf",
    ),
    "disc-pile": (8, "--discs 4 --end 0.02", "ledger.csv ledger.png motion.vtkhdf pile.csv pile.png"),
    "woodpecker-toy": (6, "--step 1e-3 --end 0.01", "ledger.csv ledger.png motion.csv motion.png motion.vtkhdf"),
    "clearance-crank": (5, "--step 1e-3 --end 0.004", "motion.vtkhdf ledger.csv ledger.png motion.csv motion.png"),
    "bouc-wen": (15, "--end 0.1", "ledger.csv ledger.png loops.csv loops.png motion.vtkhdf"),
    "cam-follower": (10, "--turns 0.05", "ledger.csv ledger.png lift.csv lift.png motion.vtkhdf"),
    "identify": (10, "--steps 20 --turns 0.2", "estimates.csv identify.png series.csv"),
    "co-design": (
        6,
        "--steps 40 --tolerance 0.01",
        "co-design.png design.csv ledger.csv ledger.png motion.vtkhdf search.csv",
    ),
    "trained-swing-up": (
        4,
        "--periods 4 --substeps 2 --iterations 1",
        "ledger.csv ledger.png motion.vtkhdf swing-up.png swing.csv weights.csv",
    ),
    "optimal-slew": (5, "--steps 20 --nodes 9", "angles.csv ledger.csv ledger.png motion.vtkhdf slew.png torque.csv"),
    "time-optimal-slew": (
        6,
        "--steps 1 --nodes 10",
        "angles.csv fastest.png ledger.csv ledger.png motion.vtkhdf torque.csv",
    ),
    "hose": (12, "--elements 2 --end 0.04", "exponents.csv hose.png ledger.csv ledger.png motion.vtkhdf tip.csv"),
    "elevator": (7, "--end 0.1", "ledger.csv ledger.png motion.vtkhdf travel.csv travel.png"),
    "belt-drive": (8, "--end 0.01", "ledger.csv ledger.png motion.vtkhdf belt.csv belt.png"),
    "tower-crane": (4, "--end 0.1", "ledger.csv ledger.png motion.vtkhdf load.csv load.png"),
    "cable-robot": (9, "--end 0.02", "ledger.csv ledger.png motion.vtkhdf tensions.csv tensions.png"),
    "latch-deployment": (
        11,
        "--end 1.6 --step 0.02",
        "ledger.csv ledger.png motion.csv motion.png motion.vtkhdf",
    ),
    "bicycle": (10, "--speeds 2 --end 0.02", "exponents.csv exponents.png ledger.csv ledger.png motion.vtkhdf"),
    "wheelset": (
        11,
        "--speeds 2 --end 0.02",
        "exponents.csv hunting.png ledger.csv ledger.png motion.vtkhdf sideways.csv",
    ),
    "bouncing-ball": (10, "--end 0.02 --height 1e-4", "motion.vtkhdf ledger.csv ledger.png motion.csv motion.png"),
    "newtons-cradle": (16, "--law rigid --step 5e-3", "motion.vtkhdf ledger.csv ledger.png motion.csv velocities.png"),
    "rocking-block": (6, "--step 0.01 --end 0.5", "motion.vtkhdf ledger.csv ledger.png motion.csv motion.png"),
    "sliding-block": (4, "--step 0.01 --end 0.1", "motion.vtkhdf ledger.csv ledger.png motion.csv motion.png"),
    "painleve-rod": (3, "--steps 2", "ledger.csv ledger.png motion.csv motion.png motion.vtkhdf"),
    "flexible-stop": (5, "--elements 1 --end 0.01", "motion.vtkhdf ledger.csv ledger.png motion.csv motion.png"),
    "synchronous-machine": (
        12,
        "--steps-per-cycle 20 --short-circuit 0.05 --loaded 0.1",
        "convergence.csv convergence.png ledger.png loaded-ledger.csv loaded.csv loaded.png "
        "short-circuit-ledger.csv short-circuit.csv short-circuit.png",
    ),
    "van-der-pol": (11, "--end 2.5 --step 0.02", "convergence.csv jumps.csv motion.csv van-der-pol.png"),
}
NEEDED = {  # packages of all of their checks
    "crank-slider": ("scipy_dae", "sksundae"),
    "hinged-beam": ("scipy_dae", "sksundae"),
    "point-masses": ("scipy_dae",),
    "identify": ("xarray",),
    "co-design": ("xarray",),
}
SLOW_CHECKS = """
    gear-train ground-resonance hardware-in-the-loop identify mobile-robot optimal-slew rotor-in-bearings
    time-optimal-slew co-design trained-swing-up
    bouncing-ball cable-robot clearance-crank newtons-cradle rocking-block sliding-block flexible-stop painleve-rod
    woodpecker-toy bicycle crank-slider lc-circuit wheelset
    disc-pile chain-on-ground cam-stop ball-in-bowl chain-drive conveyor gripper rubber-pad
    andrews-squeezer beam-reduction bend-45 boost-converter casimirs differential-drive double-four-bar elbow
    flexible-pendulum helicopter-blade princeton-beam
    flexible-rope hose
    flying-rod four-bar-control four-particle free-flight gyroscope hinged-beam index-one
    interconnected-beams lateral-buckling nafems robot-arm rod-between-bodies rolled-cantilever rubber-block
    stewart-platform pick-and-place hydraulic-arm
    plate-modes pogo-stick point-masses rigid-slider-crank rolling-coin rotating-beam singular-mass slider-crank-3d
    solid-cantilever solid-crank-slider spin-up swinging-plate synchronous-machine van-der-pol
"""
SLOW_RUNS = """
    stewart-platform four-bar large-beam-chain solid-cantilever
    belt-drive bouc-wen cable-robot elevator latch-deployment tower-crane wheelset
    gear-train ground-resonance hardware-in-the-loop identify mobile-robot optimal-slew rotor-in-bearings
    time-optimal-slew co-design trained-swing-up
    clearance-crank newtons-cradle rocking-block sliding-block flexible-stop painleve-rod woodpecker-toy disc-pile
    chain-on-ground cam-stop ball-in-bowl chain-drive conveyor gripper rubber-pad
    andrews-squeezer beam-reduction bend-45 boost-converter casimirs crank-slider differential-drive double-four-bar
    elbow helicopter-blade princeton-beam
    flexible-rope
    flying-rod lateral-buckling robot-arm rod-between-bodies rolled-cantilever rubber-block
    flexible-pendulum four-bar-control four-particle free-flight gyroscope hinged-beam index-one
    interconnected-beams nafems plate-modes pogo-stick point-masses rigid-slider-crank rolling-coin rotating-beam
    singular-mass slider-crank-3d solid-crank-slider spin-up swinging-plate synchronous-machine van-der-pol
"""


WARNED = {  # what runs of these cases are warned of, knowingly
    "identify": "(deflection is off by about|carries a mean axial compression)",
    "lateral-buckling": "the equilibrium is unstable",
    "optimal-slew": "deflection is off by about",
    "time-optimal-slew": "deflection is off by about",
    "robot-arm": "deflection is off by about",
    "rod-between-bodies": "start with the least kinetic energy",
    "rubber-block": "the equilibrium is unstable",
    "swinging-plate": "deflection is off by about",
}


def each(slow: str):
    """All cases, slow ones marked; the warnings of :data:`WARNED` are expected."""
    marked = slow.split()

    def marks(name: str):
        if name in marked:
            yield pytest.mark.slow
        if name in WARNED:
            yield pytest.mark.filterwarnings(f"ignore:.*{WARNED[name]}")

    return pytest.mark.parametrize("name", [pytest.param(name, marks=tuple(marks(name))) for name in CASES])


def test_every_case_is_here():
    assert set(CASES) == set(find_cases())
    assert {*SLOW_CHECKS.split(), *SLOW_RUNS.split()} <= set(CASES)


@each(SLOW_CHECKS)
def test_all_checks_of_a_case_pass(name):
    for package in NEEDED.get(name, ()):
        pytest.importorskip(package)
    checks = list(find_cases()[name].checks())
    assert len(checks) == CASES[name][0]
    assert [c for c in checks if c.passed is False] == []


@each(SLOW_RUNS)
def test_a_run_writes_its_files(name, tmp_path):
    _, options, files = CASES[name]
    out = tmp_path / "out"
    result = CliRunner().invoke(main, ["run", name, "--out", str(out), *options.split()])
    assert result.exit_code == 0, result.output
    assert {*files.split(), "summary.json"} <= {path.name for path in out.iterdir()}
    assert json.loads((out / "summary.json").read_text())["parameters"] is not None
    assert "no scene" not in result.output
    for path in out.rglob("scene*.vtkhdf"):
        assert any(part.kind == "body" for part in read_scene(path).parts)


@each(" ".join(CASES))
def test_every_case_reports_its_run(name, tmp_path, monkeypatch):
    """All cases have a report with pictures, results, checks and parameters, and energies and steps of their runs."""
    results, write = [], reports.write_case_report

    def noted(folder, record, figures, result, told):
        results.append(result)
        return write(folder, record, figures, result, told)

    monkeypatch.setattr(reports, "write_case_report", noted)
    monkeypatch.setenv("FLEXPH_REPORT", "1")
    words = ["run", name, "--out", str(tmp_path / "out"), *CASES[name][1].split()]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "no report" not in result.output
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"<title>{name}</title>" in page
    assert {"Pictures", "Result", "Validation", "Parameters"} <= set(re.findall(r"<h2[^>]*>(.*?)</h2>", page))
    assert "data:image/png" in page
    if any(True for _ in values_of(results[0], (Result,))):
        assert {"Energy", "Run"} <= set(re.findall(r"<h3[^>]*>(.*?)</h3>", page))
