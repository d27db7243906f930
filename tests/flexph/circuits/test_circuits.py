"""Circuits from graphs: Kirchhoff's laws, structure, an independent solution, both forms, constraints, bad input."""

import re

import numpy as np
import pytest
from circuit_samples import circuits, tableau
from scipy.linalg import null_space

from flexph import eliminate, frequency_response, integrate, poles
from flexph.circuits import (
    Energy,
    Pulse,
    capacitor,
    circuit,
    current_source,
    diode,
    gyrator,
    inductor,
    resistor,
    switch,
    terminals,
    transformer,
    voltage_source,
)
from flexph.consistency import consistent, inconsistency
from flexph.laws import resistive
from flexph.methods import Radau, by_name
from flexph.systems import from_linear

SAMPLES = circuits(40)
PLAIN = circuits(12, two_ports=False, first=1000)
each = pytest.mark.parametrize(("seed", "drawn", "made"), SAMPLES, ids=[str(seed) for seed, *_ in SAMPLES])
plain = pytest.mark.parametrize(("seed", "drawn", "made"), PLAIN, ids=[str(seed) for seed, *_ in PLAIN])

CUBIC = Energy(lambda q: 0.5 * q**2 + 0.25 * q**4, lambda q: q + q**3, lambda q: 1.0 + 3.0 * q**2)
HYPERBOLIC = Energy(lambda p: np.cosh(p) - 1.0, lambda p: np.sinh(p))
GROWING = resistive(lambda s: s + s**3, lambda s: 1.0 + 3.0 * s**2)
SATURATING = resistive(lambda s: float(np.tanh(s)))


def low_pass(**more):
    return circuit(
        {
            "V": voltage_source("in", "gnd"),
            "R": resistor("in", "out", 1e3),
            "C": capacitor("out", "gnd", 1e-6),
            "out": terminals("out", "gnd"),
        }
        | more
    )


def bent():
    """All kinds of nonlinear elements in trees and links, with a loop of capacitors."""
    return circuit(
        {
            "V": voltage_source("in", "gnd", np.sin),
            "R0": resistor("in", "a", GROWING, "current"),
            "L": inductor("a", "b", HYPERBOLIC),
            "C1": capacitor("b", "gnd", CUBIC),
            "C2": capacitor("b", "gnd", 2.0),
            "R1": resistor("b", "gnd", SATURATING, "voltage"),
            "R2": resistor("a", "gnd", SATURATING, "voltage"),
            "R3": resistor("b", "c", GROWING, "voltage"),
            "R4": resistor("c", "gnd", GROWING, "current"),
        }
    )


# structure


@each
def test_kirchhoffs_laws_are_a_dirac_structure(seed, drawn, made):
    """F Kᵀ + K Fᵀ = 0 with full rank, transformers taken in ([survey] eq. (2.26))."""
    F, K = made.kirchhoff
    np.testing.assert_allclose(F @ K.T + K @ F.T, 0.0, atol=1e-13)
    assert np.linalg.matrix_rank(np.hstack([F, K])) == len(made.edges)


@plain
def test_kirchhoffs_laws_are_those_of_the_graph(seed, drawn, made):
    """All circulating currents and all differences of potentials, exactly: nothing but 0 and ±1 is in F and K."""
    (F, K), A = made.kirchhoff, made.incidence
    assert set(np.unique(np.hstack([F, K]))) <= {-1.0, 0.0, 1.0}
    assert np.all(K @ A.T == 0.0)
    np.testing.assert_allclose(F @ null_space(A), 0.0, atol=1e-14)


@plain
def test_tellegen_between_two_states(seed, drawn, made):
    """v(x)·i(x′) = 0 at random states and inputs, consistent or not; v are differences of the potentials."""
    rng = np.random.default_rng(seed)
    x, u = rng.standard_normal((6, made.assembly.size)), rng.standard_normal((6, len(made.assembly.inputs)))
    inputs = dict(zip(made.assembly.inputs, u.T, strict=True))
    v = np.column_stack(list(made.voltages(x, inputs).values()))
    i = np.column_stack(list(made.currents(x, inputs).values()))
    assert np.abs(v @ i.T).max() <= 1e-14 * (np.abs(v) @ np.abs(i).T).max()
    potentials = np.column_stack(list(made.potentials(x, inputs).values()))
    np.testing.assert_allclose(potentials @ made.incidence, v, atol=1e-13)


@each
def test_structure_of_both_forms(seed, drawn, made):
    """J skew without round-off, R ⪰ 0, and zᵀ(Eẋ) = yᵀu − zᵀRz at random states."""
    rng = np.random.default_rng(seed)
    for form in ("tree", "nodal"):
        system = made.phdae(form)
        x, u = rng.standard_normal(system.size), rng.standard_normal(system.inputs_size)
        J, R = system.J(x), system.R(x)
        assert np.all(J == -J.T)
        assert np.linalg.eigvalsh(R).min() >= -1e-14 * np.abs(R).max()
        rate, supplied = system.power_balance(x, u)
        assert rate == pytest.approx(supplied, abs=1e-12 * (1.0 + np.abs(x) @ np.abs(J) @ np.abs(x)))


# the independent solution


@each
def test_frequency_response_is_that_of_the_tableau(seed, drawn, made):
    """Potentials, all voltages and all currents as unknowns, with transformers, gyrators and constraints."""
    omega = [0.3, 1.7]
    found = frequency_response(made.linear(), omega, method="direct", progress=False).values
    exact = np.array([tableau(drawn, made.nodes, 1j * w) for w in omega])
    assert np.abs(found - exact).max() <= 1e-11 * np.abs(exact).max()  # condition numbers up to 1e3


def test_bode_curve_of_a_low_pass():
    omega = np.logspace(0, 6, 61)
    found = frequency_response(low_pass().linear(), omega, inputs="V", outputs="out", progress=False)
    np.testing.assert_allclose(found.values[:, 0, 0], 1.0 / (1.0 + 1j * omega * 1e-3), rtol=1e-13)


def test_a_transformer_scales_impedances():
    """n²R in series with R: V/(n²R + R)."""
    made = circuit(
        {
            "V": voltage_source("in", "gnd"),
            "R1": resistor("in", "p", 2.0),
            "T": transformer(("p", "gnd"), ("s", "away"), 3.0),
            "R2": resistor("s", "away", 5.0),
        }
    )
    assert made.references == ("gnd", "s")  # nothing but the transformer couples the other side
    x = made.state(inputs={"V": 1.0})
    current = 1.0 / (2.0 + 9.0 * 5.0)
    np.testing.assert_allclose(made.currents(x, {"V": 1.0})["T"], [current, -3.0 * current], rtol=1e-13)
    np.testing.assert_allclose(made.voltages(x, {"V": 1.0})["T"], [45.0 * current, 15.0 * current], rtol=1e-13)


def test_a_gyrator_makes_an_inductor_of_a_capacitor():
    """L = r²C beside another capacitor: ω = 1/(r √(C₁C₂))."""
    made = circuit(
        {
            "C1": capacitor("a", "gnd", 2e-6),
            "G": gyrator(("a", "gnd"), ("b", "gnd"), 50.0),
            "C2": capacitor("b", "gnd", 3e-6),
        }
    )
    found = np.sort(poles(made.linear()).imag)
    omega = 1.0 / (50.0 * np.sqrt(6e-12))
    np.testing.assert_allclose(found, [-omega, omega], rtol=1e-12)


# states and runs


@plain
def test_consistent_states_obey_every_law(seed, drawn, made):
    """Kirchhoff's laws and those of resistors from voltages and currents that constraints leave free."""
    rng = np.random.default_rng(seed)
    inputs = {name: float(rng.uniform(-1.0, 1.0)) for name in made.assembly.inputs}
    tied = {name for constraint in made.constraints for name in constraint.elements}
    free = {name: float(rng.uniform(-1.0, 1.0)) for name in made.assembly.storages.values() if name not in tied}
    given = [{n: s for n, s in free.items() if drawn[n].kind == kind} for kind in ("capacitor", "inductor")]
    x = made.state(*given, inputs=inputs)
    assert not inconsistency(made.phdae(), x, inputs=inputs)
    v, i = made.voltages(x, inputs), made.currents(x, inputs)
    scale = 1.0 + max(float(abs(value)) for value in (*v.values(), *i.values()))
    flow = made.incidence @ np.array([i[edge.name] for edge in made.edges])
    assert np.abs(flow).max() <= 1e-12 * scale
    for name, element in drawn.items():
        if element.kind == "resistor":
            assert v[name] == pytest.approx(element.relation.parameters[0] * i[name], abs=1e-12 * scale)
        if name in free:
            assert (v if element.kind == "capacitor" else i)[name] == pytest.approx(free[name], abs=1e-12 * scale)


@plain
def test_both_forms_and_the_linear_system_move_alike(seed, drawn, made):
    """Charges and fluxes of (2.26), of (2.27) and of the LinearPHDAE with its constraints eliminated."""
    inputs = {name: 0.7 - 0.2 * k for k, name in enumerate(made.assembly.inputs)}
    times, tree, nodal = np.linspace(0.0, 1.0, 6), made.phdae(), made.phdae("nodal")
    x, stored = made.state(inputs=inputs), list(made.assembly.storages.values())
    one = integrate(tree, x, times, inputs=inputs, progress=False)
    start = np.concatenate([x[: len(stored)], np.zeros(nodal.size - len(stored))])
    other = integrate(nodal, consistent(nodal, start, inputs=inputs, keep=stored), times, inputs=inputs, progress=False)
    size = 1.0 + max(np.abs(one[name]).max() for name in stored)
    assert max(np.abs(one[name] - other[name]).max() for name in stored) <= 1e-11 * size
    assert max(one.ledger.residual.max(), other.ledger.residual.max()) <= 1e-13 * (size**2 + one.ledger.scale)
    linear = made.linear()
    if not linear.G.shape[0]:
        again = integrate(from_linear(linear), tree.z(x), times, inputs=inputs, progress=False)
        costates = np.array([tree.z(state) for state in one.states])
        np.testing.assert_allclose(again.states[:, : len(stored)], costates[:, : len(stored)], atol=1e-11 * size)


@pytest.mark.parametrize("method", ["gonzalez", "gauss4"])
def test_nonlinear_elements_in_both_forms(method):
    made = bent()
    x, times = made.state({"C1": 0.5}, {"L": 0.2}), np.linspace(0.0, 2.0, 41)
    one = integrate(made.phdae(), x, times, inputs=made.inputs, method=by_name(method), progress=False)
    nodal, stored = made.phdae("nodal"), ("L", "C1", "C2")
    start = np.concatenate([x[:3], np.zeros(nodal.size - 3)])
    start = consistent(nodal, start, inputs=made.inputs, keep=stored)
    other = integrate(nodal, start, times, inputs=made.inputs, method=by_name(method), progress=False)
    for name in stored:
        np.testing.assert_allclose(one[name], other[name], atol=1e-12)
    if method == "gonzalez":
        assert one.ledger.largest_residual < 1e-13


def test_laws_of_nonlinear_elements_at_a_consistent_state():
    made = bent()
    x = made.state({"C1": 0.5}, {"L": 0.2}, time=1.3)
    v, i = (read(x, {"V": np.sin(1.3)}) for read in (made.voltages, made.currents))
    assert (v["C1"], v["C2"], i["L"]) == pytest.approx((0.5, 0.5, 0.2), rel=1e-14)
    assert v["R0"] == pytest.approx(i["R0"] + i["R0"] ** 3, rel=1e-12)
    assert i["R1"] == pytest.approx(np.tanh(v["R1"]), rel=1e-12)
    assert i["R3"] == pytest.approx(v["R3"] + v["R3"] ** 3, rel=1e-12)
    assert v["R4"] == pytest.approx(i["R4"] + i["R4"] ** 3, rel=1e-12)


def test_given_values_are_those_of_sources():
    pytest.importorskip("scipy_dae")
    made = low_pass(V=voltage_source("in", "gnd", 3.0))
    assert made.inputs == {"V": 3.0}
    found = integrate(made.phdae(), made.state(), [0.0, 10.0], inputs=made.inputs, method=Radau(), progress=False)
    assert found.final[0] == pytest.approx(3e-6, rel=1e-3)  # ten thousand time constants


# constraints


def test_loops_and_cutsets_are_named():
    made = circuit(
        {
            "V": voltage_source("a", "gnd"),
            "C1": capacitor("a", "b", 1.0),
            "C2": capacitor("b", "gnd", 1.0),
            "L1": inductor("b", "c", 1.0),
            "L2": inductor("c", "gnd", 1.0),
            "I": current_source("c", "gnd"),
        }
    )
    loop, cutset = made.constraints if made.constraints[0].kind == "loop" else made.constraints[::-1]
    assert (set(loop.elements), loop.sources) == ({"C1", "C2"}, ("V",))
    assert (set(cutset.elements), cutset.sources) == ({"L1", "L2"}, ("I",))
    assert "given by V" in str(loop) and str(loop) in made.describe()
    x = made.state({"C1": 1.0}, {"L1": 0.5}, inputs={"V": 3.0, "I": 0.2})
    v, i = (read(x, {"V": 3.0, "I": 0.2}) for read in (made.voltages, made.currents))
    assert (v["C1"], v["C2"]) == pytest.approx((1.0, 2.0))
    assert (i["L1"], i["L2"]) == pytest.approx((0.5, 0.7))
    with pytest.raises(ValueError, match=r"voltages around.*loop.*'C2', 'C1', 'V' must sum.*zero, got 1 V"):
        made.state({"C1": 1.0, "C2": 1.0}, inputs={"V": 3.0})
    with pytest.raises(ValueError, match=r"currents.*cutset.*'L1', 'L2', 'I' must sum.*zero, got 0.3 A"):
        made.state(currents={"L1": 0.5, "L2": 0.2})


def test_what_is_not_given_is_as_small_as_constraints_allow():
    """Two capacitors in series share a voltage equally."""
    made = circuit(
        {
            "V": voltage_source("a", "gnd"),
            "C1": capacitor("a", "b", 1.0),
            "C2": capacitor("b", "gnd", 3.0),
            "R": resistor("b", "gnd", 1.0),
        }
    )
    v = made.voltages(made.state(inputs={"V": 4.0}), {"V": 4.0})
    assert (v["C1"], v["C2"]) == pytest.approx((2.0, 2.0))


def test_constraints_without_sources_are_rows_of_a_linear_system():
    made = circuit({"C1": capacitor("a", "gnd", 1.0), "C2": capacitor("a", "gnd", 3.0), "L": inductor("a", "gnd", 1.0)})
    system = made.linear()
    assert system.constraints == ("loop C2, C1",)
    assert eliminate(system).size == 2


def test_a_current_source_beside_a_voltage_source():
    """Its power goes from port to port: y_V = u_V/R − u_I, y_I = u_V."""
    made = circuit({"V": voltage_source("a", "gnd"), "I": current_source("a", "gnd"), "R": resistor("a", "gnd", 4.0)})
    system = made.phdae()
    x = made.state(inputs={"V": 2.0, "I": 3.0})
    np.testing.assert_allclose(system.B(x).T @ system.z(x), [0.5 - 3.0, 2.0], rtol=1e-14)


# switches in given positions


def test_undetermined_voltages_and_currents_are_shared():
    """Two open switches in series and two closed ones in parallel, as equal leakages and resistances share them."""
    made = circuit(
        {
            "V": voltage_source("a", "gnd"),
            "S1": switch("a", "b"),
            "S2": switch("b", "gnd"),
            "P1": switch("a", "c"),
            "P2": switch("a", "c"),
            "R": resistor("c", "gnd", 5.0),
        }
    ).at({"S1": False, "S2": False, "P1": True, "P2": True})
    x = made.state(inputs={"V": 10.0})
    v, i = made.voltages(x, {"V": 10.0}), made.currents(x, {"V": 10.0})
    assert (v["S1"], v["S2"]) == pytest.approx((5.0, 5.0))
    assert (i["P1"], i["P2"], i["V"]) == pytest.approx((1.0, 1.0, -2.0))


def test_positions_are_asked_for():
    made = circuit({"C": capacitor("a", "gnd", 1.0), "S": switch("a", "gnd"), "D": diode("a", "gnd")})
    with pytest.raises(ValueError, match=r"'S', 'D' must have positions"):
        made.phdae()
    with pytest.raises(ValueError, match="no switch or diode 'C': there are 'S', 'D'"):
        made.at({"C": True})
    assert made.at({"S": True}).at({"D": False}).at_text == "S closed, D open"


def test_a_pulse_repeats_after_its_period():
    pulse = Pulse(2.0, 0.25, start=1.0)
    assert [pulse(t) for t in (1.0, 1.49, 1.51, 2.99, 3.0, -0.9)] == [True, True, False, False, True, True]


# bad input


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ({}, "elements must be a dict"),
        ({"a.b": capacitor("a", "gnd", 1.0)}, "must not be empty, nor contain"),
        ({"C": 3.0}, "elements['C'] must be a Storage, a Resistor"),
        ({"C": capacitor("a", "b", 1.0), "R": resistor("a", "b", 1.0)}, "no element is at the ground 'gnd'"),
        (
            {
                "C1": capacitor("a", "gnd", 1.0),
                "R1": resistor("a", "gnd", 1.0),
                "C2": capacitor("x", "y", 1.0),
                "R2": resistor("x", "y", 1.0),
            },
            "'C2', 'R2' (nodes 'x', 'y') are not connected with the ground 'gnd'",
        ),
        (
            {"C": capacitor("a", "gnd", 1.0), "R": resistor("a", "gnd", 1.0), "L": inductor("a", "b", 1.0)},
            "elements must not end at a node without other elements, where no current can flow: 'L' at 'b'",
        ),
        (
            {"V1": voltage_source("a", "gnd"), "V2": voltage_source("a", "gnd")},
            "'V2', 'V1' form a loop in which nothing limits the current",
        ),
        (
            {"I": current_source("a", "gnd"), "J": current_source("a", "gnd")},
            "'I', 'J' alone join two parts of the circuit",
        ),
    ],
)
def test_bad_circuits_are_refused(elements, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        circuit(elements)


def test_a_switch_must_not_short_a_source():
    made = circuit({"V": voltage_source("a", "gnd"), "S": switch("a", "gnd"), "R": resistor("a", "gnd", 1.0)})
    with pytest.raises(ValueError, match=r"closed 'S', 'V' form.*loop.*nothing limits.*current"):
        made.at({"S": True})


def test_a_transformer_may_short_sources_too():
    made = {"V": voltage_source("a", "gnd"), "W": voltage_source("b", "gnd")}
    with pytest.raises(ValueError, match="loop in which nothing limits the current"):
        circuit(made | {"T": transformer(("a", "gnd"), ("b", "gnd"), 2.0)})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: capacitor("a", "a", 1.0), "must connect two different nodes, got 'a' twice"),
        (lambda: capacitor("a", 3, 1.0), "minus must be a text, got 3"),
        (lambda: capacitor("a", "b", -1.0), "capacitance must be positive, got -1.0 F"),
        (lambda: inductor("a", "b", 0.0), "inductance must be positive, got 0.0 H"),
        (lambda: resistor("a", "b", 0.0), "resistance must be positive"),
        (lambda: resistor("a", "b", 1.0, "voltage"), "a resistance needs none"),
        (lambda: resistor("a", "b", GROWING), "a relation needs control"),
        (lambda: resistor("a", "b", GROWING, "power"), "control must be one of 'voltage', 'current'"),
        (lambda: transformer(("a", "b"), ("c",), 1.0), "second must be a pair of names, got ('c',)"),
        (lambda: gyrator(("a", "b"), ("c", "d"), 0.0), "ratio of a gyrator must not be zero"),
        (lambda: switch("a", "b", lambda t: True), "closed must be a Pulse"),
        (lambda: Pulse(1.0, 1.0), "duty must be between 0 and 1, got 1.0"),
        (lambda: Energy(1.0, lambda q: q), "value must be a function, got 1.0"),
        (lambda: low_pass().state({"R": 1.0}), "no capacitor 'R': there are 'C'"),
        (lambda: low_pass().voltages(np.zeros(5)), "states must have shape (..., 2), got (5,)"),
        (lambda: low_pass().voltages(np.zeros(2), {"W": 1.0}), "no source 'W': there are 'V', 'out'"),
        (lambda: low_pass().phdae("loop"), "form must be one of 'tree', 'nodal'"),
        (lambda: bent().linear(), "nonlinear: 'L', 'C1', 'R0'"),
        (
            lambda: low_pass(C=capacitor("out", "gnd", Energy(lambda q: np.logaddexp(q, -q), np.tanh))).state(
                {"C": 2.0}
            ),
            "'C': no state within",
        ),
        (
            lambda: Energy(np.cosh, np.tanh),
            "slope of an energy must be H′: at 1 it is 0.761594, differences give 1.1752",
        ),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()
