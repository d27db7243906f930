"""The Dirac structure of a circuit against its graph, its systems against each other, and what gyrators tie."""

import numpy as np
import pytest
from circuit_samples import circuits

from flexph import analyze, integrate
from flexph.circuits import (
    Pulse,
    capacitor,
    circuit,
    current_source,
    diode,
    gyrator,
    inductor,
    resistor,
    switch,
    transformer,
    voltage_source,
)
from flexph.consistency import consistent, inconsistency
from flexph.dirac import PortHamiltonian

FAST = 12
each = pytest.mark.parametrize(
    ("seed", "drawn", "made"),
    [
        pytest.param(*sample, id=str(place), marks=() if place < FAST else pytest.mark.slow)
        for place, sample in enumerate(circuits(40))
    ],
)


def inputs_of(made, seed):
    rng = np.random.default_rng(seed)
    return {name: float(rng.standard_normal()) for name in made.assembly.inputs}


def member(made, voltages, currents):
    """Flows and efforts by port of voltages and currents by element, from plus to minus."""
    flows, efforts = {}, {}
    for name in made.structure.ports:
        v, i = np.atleast_1d(voltages[name]), np.atleast_1d(currents[name])
        kind = made.elements[name].kind
        flows[name], efforts[name] = {"inductor": (-v, i), "voltage source": (v, -i)}.get(kind, (-i, v))
    return flows, efforts


@each
def test_voltages_and_currents_of_the_tree_are_members_of_the_composed_structure(seed, drawn, made):
    """Kirchhoff's laws and two-ports by composition, without the tree, at consistent states."""
    system, u = made.phdae(), inputs_of(made, seed)
    start = np.random.default_rng(seed).standard_normal(system.size)
    x = consistent(system, start, inputs=u)
    flows, efforts = member(made, made.voltages(x, u), made.currents(x, u))
    D = made.structure
    f, e = (np.concatenate([values[name] for name in D.ports]) for values in (flows, efforts))
    # J has entries up to a few, of ratios; algebraic states are solved for to about 1e-12
    assert np.abs(D.F @ f + D.E @ e).max() < 1e-10 * (np.abs(f).max() + np.abs(e).max())
    assert list(D.ports) == [n for n in made.elements if n not in ("T", "G")]


@each
def test_both_ways_have_one_index_and_all_constraints_are_listed(seed, drawn, made):
    """The analysis of both systems by ranks, against loops, cutsets and gyrators found in the graph."""
    u = inputs_of(made, seed)
    tree = analyze(made.phdae(), inputs=u).index
    composed = analyze(made.port_hamiltonian().phdae(), inputs=u).index
    assert sum(tree.constraints) == len(made.constraints)
    assert (tree.freedom, sum(tree.constraints)) == (composed.freedom, sum(composed.constraints))
    assert (tree.undetermined, composed.undetermined) == (0, 0)
    if made.constraints:
        assert (tree.index, composed.index) == (2, 2)


def test_runs_of_both_systems_are_the_same():
    made = circuit(
        {
            "V": voltage_source("in", "gnd", np.sin),
            "R": resistor("in", "a", 2.0),
            "L": inductor("a", "b", 0.5),
            "C": capacitor("b", "gnd", 0.3),
            "T": transformer(("b", "gnd"), ("c", "gnd"), 2.0),
            "RL": resistor("c", "gnd", 1.0),
        }
    )
    other = made.port_hamiltonian()
    assert isinstance(other, PortHamiltonian)
    times = np.linspace(0.0, 2.0, 101)
    one = integrate(made.phdae(), made.state(), times, inputs=made.inputs, progress=False)
    system = other.phdae()
    two = integrate(system, consistent(system, np.zeros(system.size), inputs=made.inputs), times,
                    inputs=made.inputs, progress=False)  # fmt: skip
    for name in ("L", "C"):
        np.testing.assert_allclose(one[name], two[name], atol=1e-12)
    assert np.abs(one["C"]).max() > 0.05


def test_switches_are_closed_and_open_ports():
    made = circuit(
        {
            "V": voltage_source("a", "gnd"),
            "S": switch("a", "b"),
            "D": diode("b", "c"),
            "C": capacitor("c", "gnd", 1.0),
        }
    )
    whole, broken = (made.at({"S": True, "D": on}).structure for on in (True, False))
    assert list(whole.ports) == list(broken.ports) == ["V", "C"]
    assert whole.contains({"V": 3.0, "C": -2.0}, {"V": 2.0, "C": 3.0})  # v_C = u, i_C = y
    assert not broken.contains({"V": 3.0, "C": -2.0}, {"V": 2.0, "C": 3.0})
    assert broken.contains({"V": 3.0, "C": 0.0}, {"V": 0.0, "C": 5.0})


# what gyrators tie


def gyrated(**elements):
    return circuit({"G": gyrator(("a", "gnd"), ("b", "gnd"), 2.0), **elements})


def test_a_capacitor_behind_a_gyrator_is_an_inductor():
    """v₁ = −r i₂ ties the charge of C to the flux of L on the other side: index 2, listed, kept by starts."""
    made = gyrated(C=capacitor("a", "gnd", 0.5), L=inductor("b", "gnd", 3.0))
    (tie,) = made.constraints
    assert (tie.kind, set(tie.elements), tie.gyrators) == ("gyrator", {"C", "L"}, ("G",))
    assert "constraint: gyrator G: charges and fluxes of C, L are dependent" in made.describe()
    system = made.phdae()
    x = made.state({"C": 4.0})
    currents = made.currents(x)
    assert made.voltages(x)["C"] == pytest.approx(4.0)
    assert abs(currents["L"]) == pytest.approx(2.0)  # v / r
    assert not inconsistency(system, x)
    with pytest.raises(ValueError, match="'C', 'L' are related by 'G', whose law is violated by"):
        made.state({"C": 4.0}, {"L": 1.0})
    assert analyze(system, x).index.constraints == (1, 0)


def test_gyrators_in_a_row_tie_capacitors():
    made = gyrated(C1=capacitor("a", "gnd", 1.0), G2=gyrator(("b", "gnd"), ("c", "gnd"), 3.0),
                   C2=capacitor("c", "gnd", 1.0))  # fmt: skip
    (tie,) = made.constraints
    assert (set(tie.elements), tie.gyrators) == ({"C1", "C2"}, ("G", "G2"))
    v = made.voltages(made.state({"C1": 2.0}))
    assert abs(v["C2"]) == pytest.approx(3.0)  # two gyrators are a transformer of ratio 2/3


def test_sources_that_gyrators_give_are_named():
    given = gyrated(V=voltage_source("a", "gnd", 1.0), L=inductor("b", "gnd", 1.0))
    assert "given by V" in str(given.constraints[0])
    assert abs(given.currents(given.state(), {"V": 1.0})["L"]) == pytest.approx(0.5)
    both = gyrated(V=voltage_source("a", "gnd", 1.0), I=current_source("b", "gnd", 1.0))
    with pytest.raises(ValueError, match=r"no unique solution:.*gyrator 'G' inputs.*'V', 'I'.*tied"):
        _ = both.constraints


# switches side by side


def side_by_side(**more):
    return circuit(
        {
            "V": voltage_source("a", "gnd", 1.0),
            "S1": switch("a", "b", Pulse(4e-3, 0.5)),
            "S2": switch("a", "b", Pulse(2e-3, 0.5)),
            "R": resistor("b", "c", 1.0),
            "C": capacitor("c", "gnd", 1e-3),
            **more,
        }
    )


def test_closed_switches_side_by_side_share_their_current():
    """What nothing determines is of least norm, in states and in runs; the rest is that of one switch."""
    made = side_by_side()
    system = made.switching()
    run = integrate(system, made.stored(system), np.linspace(0.0, 4e-3, 41), inputs=made.inputs, progress=False)
    _, currents = made.along(run)
    both = run.modes == "S1 closed, S2 closed"
    assert both.any() and (run.modes == "S1 closed, S2 open").any() and (run.modes == "S1 open, S2 closed").any()
    np.testing.assert_allclose(currents["S1"][both], currents["S2"][both], rtol=1e-12)
    np.testing.assert_allclose(currents["S1"] + currents["S2"], currents["R"], atol=1e-12)
    closed = made.at({"S1": True, "S2": True})
    found = closed.currents(closed.state({"C": 0.25}), {"V": 1.0})
    assert (found["S1"], found["S2"]) == pytest.approx((0.375, 0.375))


def test_the_nodal_form_names_loops_and_cutsets_of_switches():
    made = side_by_side(Rn=resistor("d", "b", 1.0), S3=switch("b", "d"), S4=switch("d", "gnd"))
    with pytest.raises(ValueError, match=r"'S2', 'S1' form.*loop.*closed switches: its current.*divides this current"):
        made.at({"S1": True, "S2": True, "S3": False, "S4": True}).phdae("nodal")
    apart = circuit({"V": voltage_source("a", "gnd"), "R": resistor("a", "gnd", 1.0),
                     "S1": switch("a", "b"), "S2": switch("b", "gnd")}).at({"S1": False, "S2": False})  # fmt: skip
    with pytest.raises(ValueError, match=r"'S1', 'S2' form.*cutset.*open switches: the voltage.*divides this voltage"):
        apart.phdae("nodal")
    assert apart.phdae().size == 1
