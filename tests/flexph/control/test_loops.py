"""Loops by which controllers and a mechanism agree: their structs, the bits of their source, and functions in C."""

import ctypes
import re
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_loader
from pathlib import Path

import numpy as np
import pytest
from scipy import LowLevelCallable

import flexph
import rigid
from flexph import GROUND, InputError, connect, hinge, integrate, torque
from flexph.control import Continuous, StateFeedback, gearbox, motor
from flexph.control.coupled_controllers import CoupledControllers
from flexph.control.coupling import CompiledCoupling
from flexph.control.loops import data
from flexph.laws import coulomb
from flexph.numerics.loops.views import call_two
from flexph.sensors import distance, joint_angle, joint_rate, panel_arrays
from flexph.sensors.panel import Panel

ROOT = Path(flexph.__file__).parent
MODULES = [f"flexph.control.loops.{name}" for name in ("elimination", "answers", "laws", "coupling")]
MODULES += ["flexph.sensors.loops"]
SENSORS = {"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")}
TRAINS = {
    "limited": motor(constant=0.05, resistance=0.8, inductance=1e-3, inertia=2e-5, dry_friction=0.02, torque_limit=0.3),
    "smooth": gearbox(ratio=5.0, inertia=2e-5, friction=coulomb(0.05, speed=1e-2)),
}
DRIVEN = {"limited": "supply", "smooth": "drive"}


@contextmanager
def uncompiled():
    """The modules of loops by name, imported from their source, whether they are compiled or not."""

    def find_spec(name, path=None, target=None):
        source = ROOT.parent / Path(*name.split(".")).with_suffix(".py")
        return spec_from_loader(name, SourceFileLoader(name, str(source))) if name in MODULES else None

    known = {name: import_module(name) for name in MODULES}
    finder = type("Finder", (), {"find_spec": staticmethod(find_spec)})
    sys.meta_path.insert(0, finder)
    try:
        for name in MODULES:
            del sys.modules[name]
        yield {name: import_module(name) for name in MODULES}
    finally:
        sys.meta_path.remove(finder)
        for name, module in known.items():
            sys.modules[name] = module
            parent, _, own = name.rpartition(".")
            setattr(sys.modules[parent], own, module)


def declared(path):
    """Fields and their types of the structs of a .pxd."""
    structs = re.findall(r"cdef struct (\w+):\n((?:    \w+ \w+\n)+)", path.read_text(encoding="utf-8"))
    return {name: [tuple(line.split()) for line in body.splitlines()] for name, body in structs}


@pytest.mark.parametrize("module", [data, panel_arrays])
def test_structs_are_the_named_tuples(module):
    """Python lays out the arrays by one of them, and compiled loops find them by the other."""
    structs = declared(Path(module.__file__).with_suffix(".pxd"))
    tuples = {n: t for n, t in vars(module).items() if hasattr(t, "_fields") and t.__module__ == module.__name__}
    assert structs == {
        name: [(kind.__forward_arg__, field) for field, kind in own.__annotations__.items()]
        for name, own in tuples.items()
    }


def c_law(stiff):
    """A law of an angle and a rate as a function in C; it fails beyond 1 rad."""
    pointer = ctypes.POINTER(ctypes.c_double)

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, pointer, pointer, ctypes.c_void_p)
    def function(time, readings, inputs, own):
        gain = ctypes.cast(own, pointer)[0]
        inputs[0] = gain * (0.1 * time - readings[0]) - 0.2 * readings[1]
        return int(abs(readings[0]) < 1.0)

    gain = ctypes.c_double(stiff)
    function.gain = gain  # kept with it
    return LowLevelCallable(function, ctypes.cast(ctypes.pointer(gain), ctypes.c_void_p))


def law_of(stiff):
    return lambda time, y: stiff * (0.1 * time - y[0]) - 0.2 * y[1]


def arm_of(*ports):
    joints = [hinge("arm.root", GROUND), *(torque("arm.root", name=name) for name in ports)]
    arm = connect({"arm": rigid.bar(0.5, 2.0)}, joints, gravity=(0.0, -9.81))
    return arm, arm.consistent_state(arm.assemble({"arm": (0.0, 0.0, 0.0)}))


def converged(address=None):
    """What trains with laws of all kinds and two feedbacks agree on with a mechanism of random answers."""
    arm, start = arm_of("limited", "smooth", "python", "c")
    feedback = {
        name: StateFeedback(function=own(3.0), sensors=SENSORS, ports=[name])
        for name, own in (("python", law_of), ("c", c_law))
    }
    trains = {
        name: Continuous(system=own, ports={"shaft": name}, inputs={DRIVEN[name]: lambda t: 5.0 * np.sin(40.0 * t)})
        for name, own in TRAINS.items()
    }
    rng, times = np.random.default_rng(5), np.cumsum([0.0, *[1e-2] * 6, *[2e-2] * 6])
    coupling = CompiledCoupling(CoupledControllers(arm, {**trains, **feedback}, {}), times, start.x, 4)
    mobility, shift = 0.3 * np.diag(rng.uniform(size=4)), 0.01 * rng.normal(size=(start.x.size, 4))
    verdicts, trials = [], 0
    for step in range(len(times) - 1):
        around = 0.3 * rng.normal(size=4)
        while True:
            coupling.output[:] = mobility @ coupling.inputs[0] + around
            coupling.state[0] = start.x + shift @ coupling.inputs[0]
            trials += 1
            verdicts.append(call_two(coupling.address if address is None else address, coupling.data, step))
            if verdicts[-1] != data.AGAIN:
                break
    own = coupling._arrays
    return verdicts, trials, [own.converged, own.means, own.states, own.laws.lost, own.slope, own.past]


def test_source_and_compiled_loops_have_the_same_bits():
    """Rows that are agreed on, and Broyden's matrix, for steps of two lengths."""
    with uncompiled() as source:
        verdicts, trials, expected = converged(source["flexph.control.loops.coupling"].iterate_address())
    compiled = converged()
    assert (compiled[0], compiled[1]) == (verdicts, trials)
    assert verdicts.count(data.CONVERGED) == 12 and data.FAILED not in verdicts
    assert np.ptp(expected[3], axis=0).min() > 0.0  # laws lose something, in some steps more than in others
    for found, own in zip(compiled[2], expected, strict=True):
        np.testing.assert_array_equal(found, own)


@pytest.mark.parametrize("dim", [2, 3])
def test_source_and_compiled_loops_measure_the_same_bits(dim):
    ports = {"pin": [0.3, -0.2, 0.1][:dim], "end": [0.1] * dim}
    one, other = (rigid.body(1.0, inertia=(0.2, 0.3, 0.4) if dim == 3 else 0.3, ports=ports) for _ in range(2))
    mechanism = connect({"one": one, "other": other}, [])
    axis = {"axis": (0.0, 0.6, 0.8)} if dim == 3 else {}
    sensors = {
        "turn": joint_angle("one.pin", "other.pin", **axis),
        "spin": joint_rate("one.pin", "other.pin", **axis),
        "apart": distance("one.pin", "other.end"),
    }
    state = np.random.default_rng(dim).normal(size=mechanism.layout.size)
    compiled, source = Panel(mechanism, sensors).read(state), None
    with uncompiled() as modules:
        panel = Panel(mechanism, sensors)
        panel._loop._measure = modules["flexph.sensors.loops"].measure_at
        source = panel.read(state)
    assert compiled == source


@pytest.mark.parametrize("period", [None, 0.02])
def test_functions_in_c_are_those_of_python(period, by_python):
    """The same numbers within steps and held, and a failure that is verdicts; also where Python calls them."""
    arm, start = arm_of("motor")
    times = np.linspace(0.0, 0.3, 31)

    def run(function, times=times):
        loop = StateFeedback(function=function, sensors=SENSORS, ports=["motor"], period=period)
        return integrate(arm, start, times, controllers={"law": loop})

    expected, spinning = run(law_of(60.0)).states, c_law(-60.0)  # which leads away
    np.testing.assert_array_equal(run(c_law(60.0)).states, expected)
    failed = r"'law' raised ArithmeticError at t = .* did not return 1"
    with pytest.raises(InputError, match=failed):
        run(spinning, np.linspace(0.0, 3.0, 151))
    with by_python():
        np.testing.assert_allclose(run(c_law(60.0)).states, expected, rtol=0.0, atol=1e-11)
        with pytest.raises(InputError, match=failed):
            run(spinning, np.linspace(0.0, 3.0, 151))


def test_functions_in_c_of_other_arguments_are_refused():
    own = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x)
    with pytest.raises(ValueError, match=r"must be 'int \(double, double \*, double \*, void \*\)' here"):
        StateFeedback(function=LowLevelCallable(own), sensors=SENSORS, ports=["motor"])


@pytest.mark.slow
def test_smooth_laws_are_met_in_loops_as_by_python(by_python):
    arm, start = arm_of("smooth")
    supply = {"drive": lambda t: 2.0 * np.sin(20.0 * t)}
    train = {"train": Continuous(system=TRAINS["smooth"], ports={"shaft": "smooth"}, inputs=supply)}
    runs = [integrate(arm, start, np.linspace(0.0, 0.3, 151), controllers=train)]
    with by_python():
        runs.append(integrate(arm, start, np.linspace(0.0, 0.3, 151), controllers=train))
    np.testing.assert_allclose(runs[0].states, runs[1].states, atol=1e-9 * abs(runs[1].states).max())
    for run in runs:
        assert run.ledger.largest_residual < 1e-12
        assert run.ledger.dissipation["train"].min() >= 0.0
