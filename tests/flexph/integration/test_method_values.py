"""Methods of integration as values: they check themselves, compare, and are written as they read."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import rigid
from flexph import GROUND, PHDAE, LinearPHDAE, connect, hinge, integrate, methods, torque
from flexph.methods import (
    BDF,
    IDA,
    Decaying,
    DiracDissipative,
    DiscreteGradient,
    Exact,
    Exact4,
    ExactGauss,
    Gauss,
    Radau,
)
from flexph.switching import SwitchingPHDAE

OSCILLATOR = LinearPHDAE(E=np.eye(2), J=np.array([[0.0, 1.0], [-1.0, 0.0]]))
GENERAL = PHDAE(E=np.eye(2), J=OSCILLATOR.J, z=lambda x: x, H=lambda x: 0.5 * float(x @ x), sample=np.ones(2))


def bar():
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.3)}))


@pytest.mark.parametrize("name", methods.NAMES)
def test_a_name_leads_to_its_method_and_back(name):
    method = methods.by_name(name)
    assert method.name == name
    assert method == eval(repr(method), vars(methods).copy())
    assert hash(method) == hash(methods.by_name(name))
    with pytest.raises(ValueError, match=r"write method=\w+\(.*\) in place of '" + name):
        integrate(GENERAL, (1.0, 0.0), [0.0, 0.1], method=name)


def test_names_take_the_options_of_their_method():
    assert methods.by_name("radau", tolerance=(1e-4, 1e-5)) == Radau(1e-4, atol=1e-5)
    assert methods.by_name("ida", tolerance=1e-4) == IDA(1e-4)
    assert methods.by_name("gauss4", completion=None) == Gauss(4)
    with pytest.raises(TypeError, match="completion"):
        methods.by_name("exact", completion="new")
    with pytest.raises(ValueError, match=r"method must be one of 'exact', .* got 'euler'"):
        methods.by_name("euler")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Exact(tolerance=0.0), "tolerance must be positive, got 0"),
        (lambda: Exact(tolerance=(1e-3, -1.0)), "atol must not be negative, got -1"),
        (lambda: Exact4(redundant="drop"), "redundant must be one of 'refuse', 'least_norm', got 'drop'"),
        (lambda: ExactGauss(0), "stages must be at least 1, got 0"),
        (lambda: ExactGauss(6), "stages must be at most 5, got 6"),
        (lambda: Decaying("half"), "radius must be a number, got 'half'"),
        (lambda: DiscreteGradient("euler"), "gradient must be one of 'gonzalez', .* got 'euler'"),
        (lambda: DiracDissipative(tolerance=-1.0), "the relative tolerance must be positive"),
        (lambda: Gauss(3), "order must be 2, 4 or 6, got 3"),
        (lambda: Radau(1.0), "the relative tolerance must be at least 1e-12 and below 1, got 1"),
        (lambda: BDF(atol=np.array([1.0, 0.0])), "absolute tolerances must be positive, got 0"),
    ],
    ids=range(11),
)
def test_a_wrong_value_is_not_made(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_options_that_a_method_does_not_understand_cannot_be_written():
    for method, option in ((Exact4, "tolerance"), (ExactGauss, "redundant"), (Decaying, "contact"), (Exact, "radius")):
        with pytest.raises(TypeError, match=option):
            method(**{option: None})


def test_values_are_frozen_and_keep_a_copy_of_arrays():
    atol = np.array([1e-3, 1e-4])
    method = IDA(1e-6, atol=atol)
    atol[0] = 1.0
    assert method == IDA(1e-6, atol=(1e-3, 1e-4))
    with pytest.raises(FrozenInstanceError):
        method.rtol = 1.0


def test_a_class_is_no_method():
    with pytest.raises(ValueError, match=r"not its class: write method=Gauss\(\)"):
        integrate(GENERAL, (1.0, 0.0), [0.0, 0.1], method=Gauss)


@pytest.mark.parametrize("method", [Exact(), Exact4(), ExactGauss(), Decaying()], ids=repr)
def test_methods_of_mechanisms_are_for_them(method):
    systems = (GENERAL, OSCILLATOR, SwitchingPHDAE({"on": GENERAL}))
    for system in systems:
        with pytest.raises(ValueError, match=r"\(\).*mechanisms:.*other systems use DiscreteGradient\(\)"):
            integrate(system, (1.0, 0.0), [0.0, 0.1], method=method)


def test_a_switching_system_takes_no_adaptive_method():
    with pytest.raises(ValueError, match=r"needs steps prescribed by times, but Radau\(\) chooses its"):
        integrate(SwitchingPHDAE({"on": GENERAL}), (1.0, 0.0), [0.0, 0.1], method=Radau())


@pytest.mark.parametrize(("stages", "order"), [(1, 2), (2, 4), (3, 6)])
def test_stages_of_exact_gauss(stages, order):
    """Positions of a pendulum under hinges, against a fine run, at twice as many steps; of two stages see the docs."""
    mechanism, start = bar()
    coarse, fine, finest = (ExactGauss(count) for count in (stages, stages, 4))
    angle = [
        integrate(mechanism, start, np.linspace(0.0, 1.0, n + 1), method=method).states[-1][:4]
        for method, n in ((coarse, 8), (fine, 16), (finest, 60))
    ]
    coarse, fine = (np.abs(x - angle[-1]).max() for x in angle[:2])
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.4)


def test_an_option_of_another_method_says_which_methods_have_it():
    with pytest.raises(TypeError, match=r"ExactGauss\(\).*no argument 'redundant':.*takes stages; .*Exact4"):
        ExactGauss(redundant="least_norm")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: torque("a", "b"), r"torque\(\) takes port without names, got 2; write against=…, .*for the others"),
        (lambda: Exact(1e-3), r"Exact\(\) takes no argument without its name, got 1; write tolerance=…"),
        (lambda: torque(), r"torque\(\) lacks port: it takes port, against"),
        (lambda: torque("a", port="b"), r"torque\(\) got 'port' twice, by position and by name"),
    ],
)
def test_calls_that_do_not_fit_say_how_to_write_them(call, told):
    with pytest.raises(TypeError, match=told):
        call()
