"""Runs: kept on disk, continued, thinned out, broken off; and what their ledger adds up to.

Ten seconds, as files are damaged in many places and read again.
"""

import math
import os
from dataclasses import fields, replace

import h5py
import numpy as np
import pytest

import fem
import rigid
from flexph import (
    GROUND,
    IntegrationError,
    IntegrationInterrupted,
    Solution,
    connect,
    distributed_load,
    drive,
    force,
    hinge,
    integrate,
    slider,
    spring_damper,
)
from flexph.kernels.convergence.tolerances import NEWTON

MATERIAL = fem.Material(young=2e7, density=200.0)
SECTION = fem.Section(width=0.1, height=0.05)
TIMES = np.linspace(0.0, 0.2, 21)
INPUTS = {"force slider.point": lambda t: (math.cos(9.0 * t), 0.0), "load rod.load": (0.0, -2.0)}


def turning(t):
    return 0.7 + 5.0 * t


def crank_slider(angle=turning, mass=0.4, gravity=(0.0, -9.81)):
    rod = fem.beam(0.8, MATERIAL, SECTION, elements=2, strain="von_karman", damping=fem.Damping(mass=0.5))
    connections = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        drive("crank.root", angle=angle),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "slider.point"),
        slider("slider.point", GROUND.at(0.0, 0.0), turning=True),
        spring_damper("slider.point", GROUND.at(2.0, 0.5), stiffness=20.0, damping=0.5, length=1.0),
        force("slider.point"),
        distributed_load("rod.load"),
    ]
    bodies = {"crank": rigid.bar(0.3, 0.5), "rod": rod, "slider": rigid.point(mass)}
    return connect(bodies, connections, gravity=gravity)


MECHANISM = crank_slider()


def start_of(mechanism):
    return mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.7)}, guess={"rod": -0.2}))


def run(times=TIMES, start=None, mechanism=MECHANISM, **options):
    return integrate(mechanism, start_of(mechanism) if start is None else start, times, inputs=INPUTS, **options)


@pytest.fixture(scope="module")
def whole():
    return run()


@pytest.fixture(scope="module")
def saved(whole, tmp_path_factory):
    """Bytes of the file of the run."""
    path = tmp_path_factory.mktemp("saved") / "run.h5"
    whole.save(path)
    return path.read_bytes()


def assert_same(first, second):
    """Every array of two solutions has the same bits."""
    for field in fields(Solution):
        if field.name not in ("mechanism", "ledger", "anchors"):
            assert np.array_equal(getattr(first, field.name), getattr(second, field.name)), field.name
    for name in ("rows", "springs"):
        assert np.array_equal(getattr(first.anchors, name), getattr(second.anchors, name), equal_nan=True)
    for name, value in vars(first.ledger).items():
        other = getattr(second.ledger, name)
        if isinstance(value, dict):
            assert list(value) == list(other)
            value, other = np.array(list(value.values())), np.array(list(other.values()))
        assert np.array_equal(value, other), name


# --- on disk ----------------------------------------------------------------------------------------------------------


def test_a_saved_run_is_read_back_exactly(whole, tmp_path):
    whole.save(tmp_path / "run.h5")
    assert_same(Solution.load(tmp_path / "run.h5", crank_slider()), whole)
    whole.save(str(tmp_path / "run.h5"))  # a path as text, over the old file
    assert_same(Solution.load(str(tmp_path / "run.h5"), MECHANISM), whole)


def test_a_run_without_constraints_and_accounts_is_read_back(tmp_path):
    mechanism = connect({"bob": rigid.point(1.0)}, [])
    made = integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), [0.0, 0.5])
    made.save(tmp_path / "run.h5")
    assert_same(Solution.load(tmp_path / "run.h5", mechanism), made)


def test_the_format_is_open(whole, tmp_path):
    """Numbers and names as docs/solution-format.md says, with a checksum on every dataset."""
    whole.save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["format"] == b"flexph solution 6"
        assert np.array_equal(file["states"][:], whole.states)
        assert list(file["ledger/work"].attrs["names"]) == [name.encode() for name in whole.ledger.work]
        for name, work in whole.ledger.work.items():
            assert np.array_equal(file[f"ledger/work/{name}"][:], work)
        datasets = []
        own = {name: item for name, item in file.items() if name != "VTKHDF"}  # the scene has the format of its files
        for item in own.values():
            if isinstance(item, h5py.Dataset):
                datasets.append(item)
            else:
                item.visititems(lambda name, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)
        accounts = ("energy", "work", "joint_work", "dissipation")
        assert len(datasets) == 20 + sum(len(getattr(whole.ledger, name)) for name in accounts)
        assert all(d.fletcher32 for d in datasets if d.size)


def refused(path, message="cannot read the saved run '.*run.h5'", mechanism=MECHANISM):
    with pytest.raises(ValueError, match=message):
        Solution.load(path, mechanism)


NAMES = ("times", "states", "multipliers", "memory", "anchors/rows", "ledger/energy/kinetic rod", "ledger/residual")


@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_byte_is_found(saved, tmp_path, name):
    path = tmp_path / "run.h5"
    path.write_bytes(saved)
    with h5py.File(path) as file:
        chunk = file[name].id.get_chunk_info(0)
    content = bytearray(path.read_bytes())
    content[chunk.byte_offset + chunk.size // 3] ^= 0x10
    path.write_bytes(content)
    refused(path)


def test_the_structures_of_a_file_have_checksums(whole, tmp_path):
    """From version 3 of the superblock on, chunk indexes too; without, a flipped byte can skip a chunk's own checksum.

    Texts of variable length lie on a heap that has none: damage there makes the library search for ever.
    """
    whole.save(tmp_path / "run.h5")
    assert (tmp_path / "run.h5").read_bytes()[8] >= 3
    with h5py.File(tmp_path / "run.h5") as file:
        for attributes, name in (
            (file.attrs, "format"),
            (file.attrs, "layout"),
            (file["ledger/energy"].attrs, "names"),
        ):
            assert not attributes.get_id(name).get_type().is_variable_str()


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_found(whole, tmp_path, part):
    path = tmp_path / "run.h5"
    whole.save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    refused(path)


def test_files_that_are_not_runs(whole, tmp_path):
    path = tmp_path / "run.h5"
    with pytest.raises(FileNotFoundError, match=r"there is no such file: '.*run\.h5'"):
        Solution.load(path, MECHANISM)
    os.mkfifo(tmp_path / "pipe.h5")  # would never end
    with pytest.raises(OSError, match="must be a regular file"):
        Solution.load(tmp_path / "pipe.h5", MECHANISM)
    with pytest.raises(ValueError, match=r"which is HDF5, must end in \.h5, \.hdf5, got '.*t\.csv'"):
        whole.save(tmp_path / "t.csv")
    path.write_text("time,angle\n0,1\n")
    refused(path)
    with h5py.File(path, "w") as file:
        file["numbers"] = np.ones(3)
    refused(path, "an HDF5 file without checksums")
    with h5py.File(path, "w", libver="latest") as file:
        file["numbers"] = np.ones(3)
    refused(path, "format is None, expected 'flexph solution 6'")
    whole.save(path)
    with h5py.File(path, "a") as file:
        file.attrs["format"] = np.bytes_("flexph solution 7")
    refused(path, "format is 'flexph solution 7', expected 'flexph solution 6'")
    whole.save(path)
    with h5py.File(path, "a") as file:
        del file["multipliers"]
    refused(path)


def test_a_run_of_another_mechanism_is_refused(whole, tmp_path):
    whole.save(tmp_path / "run.h5")
    for other in (crank_slider(mass=0.5), crank_slider(gravity=None), connect({"bob": rigid.point(1.0)}, [])):
        refused(tmp_path / "run.h5", "belongs to another mechanism: .* there, .* here", other)


# --- continued --------------------------------------------------------------------------------------------------------


@pytest.mark.covering
@pytest.mark.parametrize("steps", [1, 2, 9])
@pytest.mark.parametrize("saved", [False, True], ids=["in memory", "from disk"])
def test_a_continued_run_has_the_bits_of_an_uninterrupted_one(whole, tmp_path, steps, saved):
    first = run(TIMES[: steps + 1])
    if saved:
        first.save(tmp_path / "run.h5")
        first = Solution.load(tmp_path / "run.h5", MECHANISM)
    later = run(TIMES[steps:], start=first.final)
    assert np.array_equal(later.states, whole.states[steps:])
    assert_same(first.followed_by(later), whole)


def test_only_a_later_run_follows(whole):
    half = run(TIMES[:11])
    for other in (half, replace(run(TIMES[10:], start=half.final), states=whole.states[9:-1])):
        with pytest.raises(ValueError, match=r"must start from the final state of this one, at t = 0\.1 s"):
            half.followed_by(other)


def test_final_is_the_last_state(whole):
    assert whole.final.time == TIMES[-1]
    assert np.array_equal(whole.final.x, whole.states[-1])
    assert np.array_equal(whole.final.multipliers, whole.multipliers[-1])


# --- thinned out ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [3, 20, 50])
def test_saved_rows_stand_for_the_steps_between(whole, every):
    kept = sorted({*range(every, 21, every), 20})  # and always the last
    edges = [0, *kept]
    thin = run(save_every=every)
    assert np.array_equal(thin.times, TIMES[edges])
    assert np.array_equal(thin.states, whole.states[edges])
    assert np.array_equal(thin.multipliers, whole.multipliers[np.array(kept) - 1])
    assert np.array_equal(thin.multiplier_times, whole.multiplier_times[np.array(kept) - 1])
    assert np.array_equal(thin.final.memory, whole.final.memory)
    pieces = [slice(a, b) for a, b in zip(edges, kept, strict=False)]
    for name in ("work", "joint_work", "dissipation"):
        for account, values in getattr(whole.ledger, name).items():
            sums = [values[p].sum() for p in pieces]
            assert getattr(thin.ledger, name)[account] == pytest.approx(sums, rel=1e-12, abs=1e-16)  # order of adding
    for name in ("residual", "position_residual", "velocity_residual"):
        largest = [getattr(whole.ledger, name)[p].max() for p in pieces]
        assert np.array_equal(getattr(thin.ledger, name), largest)
    assert np.array_equal(thin.ledger.iterations, [whole.ledger.iterations[p].sum() for p in pieces])


# --- the ledger -------------------------------------------------------------------------------------------------------


def test_energy_is_work_less_dissipation(whole):
    ledger = whole.ledger
    work, lost = (np.sum([v.sum() for v in account.values()]) for account in (ledger.work, ledger.dissipation))
    change = ledger.total_energy[-1] - ledger.total_energy[0]
    assert abs(change) > 1e-2
    # twenty balances, each good to 1e-15 of the energy
    assert change == pytest.approx(work - lost, abs=1e-13 * np.abs(ledger.total_energy).max())
    assert ledger.total_energy == pytest.approx(
        sum(ledger.kind(word) for word in ("kinetic", "elastic", "potential", "stored")), rel=1e-14
    )


def test_accounts_have_the_names_of_the_parts(whole):
    ledger = whole.ledger
    assert set(ledger.work) == {"force slider.point", "load rod.load", "drive crank.root–GROUND"}
    assert set(ledger.dissipation) == {"rod", "spring slider.point–GROUND at (2.0, 0.5)"}
    assert "hinge crank.tip–rod.root" in ledger.joint_work
    assert {"kinetic crank", "elastic rod", "potential slider"} <= set(ledger.energy)
    with pytest.raises(ValueError, match=r"kind must.*one.*'kinetic', 'elastic', 'potential', 'stored'"):
        ledger.kind("chemical")


def test_energies_by_their_formulas(whole):
    crank, mass = whole.ledger.energy, 0.5
    v, spin = whole["crank.velocity"], whole["crank.spin"][:, 0]
    kinetic = 0.5 * mass * (v**2).sum(axis=1) + 0.5 * mass * 0.3**2 / 12.0 * spin**2
    assert crank["kinetic crank"] == pytest.approx(kinetic, rel=1e-14)
    assert crank["potential crank"] == pytest.approx(9.81 * mass * whole["crank.centre"][:, 1], rel=1e-14, abs=1e-14)
    tension = whole["spring slider.point–GROUND at (2.0, 0.5)"][:, 0]
    length = np.linalg.norm(whole.position("slider.point") - [2.0, 0.5], axis=1)
    assert tension == pytest.approx(20.0 * (length - 1.0), abs=1e-13)  # exact increments: no drift over twenty steps
    sigma, compliance = whole["rod.stress"], MECHANISM.bodies["rod"].elasticity.compliance
    elastic = 0.5 * np.einsum("ti,ti->t", sigma, (compliance @ sigma.T).T)
    assert crank["elastic rod"] == pytest.approx(elastic, rel=1e-13)


# --- parts by name ----------------------------------------------------------------------------------------------------


def test_parts_are_read_by_name(whole):
    assert whole["rod.deformation"].shape == (21, 6)
    assert np.array_equal(whole["rod.deformation"], whole.deformation("rod"))
    assert whole.deformation("crank").shape == (21, 0)
    assert np.array_equal(whole["hinge crank.tip–rod.root: y"], whole.multipliers[:, 4])
    assert np.array_equal(whole.rotations("slider")[3], np.eye(2))
    assert whole.position("slider.point")[:, 1] == pytest.approx(np.zeros(21), abs=1e-14)
    assert np.array_equal(whole.displacement("rod.tip"), whole["rod.deformation"][:, 3:5])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s["rod.velo"], "no part 'rod.velo': there are 'crank.centre', .*'rod.stress'.*hinge crank.root"),
        (lambda s: s["hinge crank.tip–rod.root"], "no part 'hinge crank.tip–rod.root': there are"),
        (lambda s: s.position("crank.tp"), "no port 'crank.tp': crank has 'root', 'middle', 'tip'"),
        (lambda s: s.displacement("cranc.tip"), "no body 'cranc': there are 'crank', 'rod', 'slider'"),
        (lambda s: s.rotations("cranc"), "no body 'cranc'"),
        (lambda s: s.deformation("cranc"), "no body 'cranc'"),
    ],
)
def test_a_wrong_name_is_answered_with_the_names_that_exist(whole, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(whole)


# --- broken off -------------------------------------------------------------------------------------------------------


def interrupting(function, time):
    def interrupted(t):
        if t > time:
            raise KeyboardInterrupt
        return function(t)

    return interrupted


def assert_beginning(part, whole, steps):
    assert len(part.times) == steps + 1
    assert np.array_equal(part.states, whole.states[: steps + 1])
    assert np.array_equal(part.stage_multipliers, whole.stage_multipliers[:steps])
    assert np.array_equal(part.multipliers[:-1], whole.multipliers[: steps - 1])  # the last one lacks a neighbour
    assert np.array_equal(part.ledger.total_energy, whole.ledger.total_energy[: steps + 1])
    assert np.array_equal(part.ledger.residual, whole.ledger.residual[:steps])


def test_an_interrupt_in_an_input_keeps_the_finished_steps(whole):
    inputs = INPUTS | {"force slider.point": interrupting(INPUTS["force slider.point"], 0.1)}
    with pytest.raises(IntegrationInterrupted, match=r"interrupted.*t = 0.1 s;.*finished steps.*.solution"):
        try:
            integrate(MECHANISM, start_of(MECHANISM), TIMES, inputs=inputs)
        except KeyboardInterrupt as error:  # what Ctrl-C is to everybody else
            assert_beginning(error.solution, whole, 10)
            assert_same(error.solution.followed_by(run(TIMES[10:], start=error.solution.final)), whole)
            raise


def test_an_interrupt_in_a_drive_keeps_the_finished_steps(whole):
    mechanism = crank_slider(interrupting(turning, 0.12))
    with pytest.raises(IntegrationInterrupted) as caught:
        run(mechanism=mechanism)
    done = len(caught.value.solution.times) - 1
    assert 8 <= done <= 12  # the audit looks at the drive up to two steps ahead
    assert_beginning(caught.value.solution, whole, done)


def test_an_interrupt_in_the_first_step_leaves_the_start():
    inputs = {"force slider.point": interrupting(lambda t: (0.0, 0.0), -1.0)}
    with pytest.raises(IntegrationInterrupted, match="interrupted at t = 0 s") as caught:
        integrate(MECHANISM, start_of(MECHANISM), TIMES, inputs=inputs)
    assert np.array_equal(caught.value.solution.times, [0.0])
    assert np.array_equal(caught.value.solution.final.x, start_of(MECHANISM).x)


FAILURE = (
    r"the step from t = \S+ s to \S+ s \(h = 0.05 s\) could not be solved: .* after \d+ iterations, last correction "
    r"\S+ of the motion; try a smaller step, check the drives, loads and inputs of controllers at this time"
    r".*The \d+ finished steps are in .solution"
)


def pulled():
    """A slider that is pulled away until crank and rod are stretched at 1 m, at t = 0.5 s, and its start."""
    pull = drive("pin.point", position=lambda t: (0.5 + t, 0.0))
    bodies = {"crank": rigid.bar(0.4, 1.0), "rod": rigid.bar(0.6, 1.0), "pin": rigid.point(1.0)}
    joints = [hinge("crank.root", GROUND.at(0.0, 0.0)), hinge("crank.tip", "rod.root"), hinge("rod.tip", "pin.point")]
    mechanism = connect(bodies, [*joints, pull])
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess={"crank": 1.0, "rod": -1.0}))


@pytest.mark.processor
def test_no_step_goes_beyond_reach():
    """Some of these steps end the iteration far away, at energies of 1e90, which were once taken for found."""
    mechanism, start = pulled()
    for steps in (47, 62, 80, 91, 96):
        with pytest.raises(IntegrationError) as caught:
            integrate(mechanism, start, np.linspace(0.0, 1.0, steps + 1))
        assert caught.value.solution.times[-1] <= 0.5 + 1e-9
        # some runs end in the stretched pose itself, where a step that stagnates is taken with defects of this size
        assert caught.value.solution.ledger.position_residual.max() < NEWTON.balanced


def test_a_drive_beyond_reach_stops_with_an_explanation():
    mechanism, start = pulled()
    with pytest.raises(IntegrationError, match=FAILURE) as caught:
        integrate(mechanism, start, np.linspace(0.0, 1.0, 21))
    done = caught.value.solution
    assert done.times[-1] <= 0.5 + 1e-9
    assert len(done.times) >= 9
    assert done.ledger.largest_residual < 1e-12
    assert_beginning(done, integrate(mechanism, start, done.times), len(done.times) - 1)


def test_a_hopeless_step_stops_with_an_explanation():
    """The tip of a bar is to be where the bar does not reach."""
    away = drive("rod.tip", GROUND.at(0.0, 0.0), displacement=lambda t: 0.7 + (t > 1.0), direction=(1.0, 0.0))
    mechanism = connect({"rod": rigid.bar(0.8, 1.0)}, [hinge("rod.root", GROUND.at(0.0, 0.0)), away])
    start = mechanism.consistent_state(mechanism.assemble(guess={"rod": (0.0, 0.0, 0.5)}))
    with pytest.raises(ArithmeticError, match=r"h = 100 s\) could not be solved") as caught:
        integrate(mechanism, start, [0.0, 1e-3, 100.0 + 1e-3])
    assert isinstance(caught.value, IntegrationError)
    assert np.array_equal(caught.value.solution.times, [0.0, 1e-3])
