"""Springs with hysteresis: closed forms of loops, passivity at random slips, stick-slip, and the balance."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, Solution, connect, drive, hinge, integrate, slider, spring_damper, torsion_spring
from flexph.laws import backlash, bouc_wen, bristle, force_law
from flexph.laws.resistive_relations import Relation
from flexph.methods import Decaying, Exact, Exact4

LAWS = {
    "Bouc-Wen": bouc_wen(200.0, yield_force=20.0),
    "softer unloading": bouc_wen(200.0, yield_force=20.0, shape=0.8),
    "sharp": bouc_wen(200.0, yield_force=20.0, exponent=2.5, shape=0.7),
    "bristle": bristle(20.0, stiffness=2e3, damping=5.0, static=30.0, stribeck=0.05, viscous=0.3),
}
NAME = "spring mass.point–GROUND at (0.0, 0.0)"


def moved(law, place, times):
    """A mass that follows a place x(t), and its run."""
    ground = GROUND.at(0.0, 0.0)
    mechanism = connect(
        {"mass": rigid.point(1.0)},
        [
            slider("mass.point", ground, turning=True),
            drive("mass.point", ground, displacement=place, direction=(1.0, 0.0), name="shaker"),
            spring_damper("mass.point", ground, law=law, direction=(1.0, 0.0), length=0.0),
        ],
    )
    start = mechanism.consistent_state(mechanism.assemble({"mass": (float(place(0.0)), 0.0, 0.0)}))
    return integrate(mechanism, start, times)


def inner(run):
    """The inner extension z of the spring."""
    return run[NAME][:, 0]


@pytest.mark.parametrize("law", [v for v in LAWS.values() if v.kind == "bouc_wen"], ids=["plain", "soft", "sharp"])
def test_the_inner_extension_follows_its_equation(law):
    """Against the equation dz/ds solved step by step by SciPy."""
    times = np.linspace(0.0, 3.0, 301)
    run = moved(law, lambda t: 0.3 * np.sin(4.0 * t), times)
    expected = law.along(np.diff(0.3 * np.sin(4.0 * times)))
    tolerance = 1e-8 if law.parameters[3] == 1.0 else 1e-4  # eight parts of the midpoint rule
    np.testing.assert_allclose(inner(run), expected, atol=tolerance * 0.1)


def test_the_loop_has_its_closed_area():
    """n = 1, β = γ: loading z = (1 − e^(−cs))/c, unloading with dz/ds = 1: the loss of a slip there and back."""
    k, force, slip = 200.0, 20.0, 0.25
    c = k / force
    run = moved(bouc_wen(k, yield_force=force), lambda t: slip * np.sin(np.pi * t), np.linspace(0.0, 0.5, 101))
    end = (1.0 - np.exp(-c * slip)) / c
    work = k * (slip - end) / c  # ∫k z ds of the loading
    assert inner(run)[-1] == pytest.approx(end, rel=1e-12)
    assert run.ledger.dissipation[NAME].sum() == pytest.approx(work - 0.5 * k * end**2, rel=1e-11)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_random_slips_lose_energy_and_stay_within_bounds(law):
    rng = np.random.default_rng(4)
    times = np.linspace(0.0, 1.0, 401)
    places = np.concatenate([[0.0], np.cumsum(rng.standard_normal(400) * 10.0 ** rng.uniform(-6.0, 0.0, 400))])
    run = moved(law, lambda t: np.interp(t, times, places), times)
    assert np.all(run.ledger.dissipation[NAME] >= -1e-12)  # of joules
    k = law.stiffness
    bound = (
        law.parameters[3] / k
        if law.kind == "bristle"
        else (law.parameters[1] + law.parameters[2]) ** (-1.0 / law.parameters[3])
    )
    slack = 1e-12 if law.kind == "bristle" or law.parameters[3] == 1.0 else 0.3  # parts of a long slip overshoot
    assert np.abs(inner(run)).max() <= bound * (1.0 + slack)


@pytest.mark.parametrize("method", [Exact(), Exact4(), Decaying(radius=0.5)], ids=["exact", "exact4", "decaying"])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_balance_holds(law, method):
    mechanism = connect(
        {"bar": rigid.bar(0.5, 2.0)},
        [hinge("bar.root", GROUND.at(0.0, 0.0)), torsion_spring("bar.root", GROUND.at(0.0, 0.0), law=law)],
        gravity=(0.0, -9.81),
    )
    if isinstance(method, Exact4):
        with pytest.raises(ValueError, match=r"Exact4.*torsion spring bar"):
            integrate(
                mechanism,
                mechanism.consistent_state(mechanism.assemble({"bar": (0, 0, 0.3)})),
                [0.0, 1.0],
                method=method,
            )
        return
    start = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.3)}))
    run = integrate(mechanism, start, np.linspace(0.0, 4.0, 401), method=method)
    assert run.ledger.largest_residual <= 1e-12
    stored = run.ledger.energy["stored torsion spring bar.root–GROUND at (0.0, 0.0)"]
    assert stored[0] == 0.0 and stored.max() > 0.0


def test_stick_slip_is_that_of_an_independent_prototype():
    """A mass pulled over a rough ground by a spring whose end moves slowly, data of Canudas de Wit et al. (1995)."""
    law = bristle(1.0, stiffness=1e5, damping=np.sqrt(1e5), static=1.5, stribeck=0.001, viscous=0.4)
    ground = GROUND.at(0.0, 0.0)
    mechanism = connect(
        {"mass": rigid.point(1.0)},
        [
            slider("mass.point", ground, turning=True),
            spring_damper("mass.point", ground, law=law, direction=(1.0, 0.0), length=0.0, name="rough"),
            spring_damper(
                "mass.point", ground, stiffness=2.0, direction=(1.0, 0.0), length=lambda t: 0.1 * t, name="puller"
            ),
        ],
    )
    start = mechanism.consistent_state(mechanism.assemble({"mass": (0.0, 0.0, 0.0)}))
    places = []
    for h in (2e-3, 1e-3):
        run = integrate(mechanism, start, np.linspace(0.0, 20.0, round(20.0 / h) + 1))
        assert run.ledger.largest_residual <= 1e-13
        places.append(run.position("mass.point")[-1, 0])
    # computed by an independent prototype in NumPy: 1.272592 at half of the second step
    np.testing.assert_allclose(places, [1.272505, 1.272575], atol=5e-6)


WRONG = {
    "shape": (lambda: bouc_wen(1.0, yield_force=1.0, shape=0.4), "at least 0.5"),
    "exponent": (lambda: bouc_wen(1.0, yield_force=1.0, exponent=0.5), "at least 1"),
    "force": (lambda: bouc_wen(1.0, yield_force=0.0), "yield_force must be positive"),
    "stribeck": (lambda: bristle(1.0, stiffness=1.0, static=2.0), "stribeck is needed"),
    "slips": (lambda: bouc_wen(1.0, yield_force=1.0).along([[0.1, 0.2]]), "slips must have shape"),
    "relation": (lambda: Relation(lambda rate: rate), r"of a function write resistive\(function\)"),
}


@pytest.mark.parametrize(("call", "words"), WRONG.values(), ids=WRONG)
def test_bad_laws_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("ask", ["equilibrium", "phdae", "linearize"])
def test_equations_refuse_hysteresis(ask):
    mechanism = connect(
        {"bar": rigid.bar(0.5, 2.0)},
        [
            hinge("bar.root", GROUND.at(0.0, 0.0)),
            torsion_spring("bar.root", GROUND.at(0.0, 0.0), law=LAWS["Bouc-Wen"]),
        ],
    )
    pose = mechanism.assemble({"bar": (0.0, 0.0, 0.3)})
    about = pose if ask == "equilibrium" else mechanism.consistent_state(pose)
    with pytest.raises(ValueError, match=rf"mechanism\.{ask} .*bouc_wen.*torsion spring bar"):
        getattr(mechanism, ask)(about)


def test_runs_with_any_law_are_saved(tmp_path):
    laws = {"bristle": LAWS["bristle"], "force": force_law(lambda x, v, t: 3.0 * v), "play": backlash(9.0, play=0.1)}
    for name, law in laws.items():
        run = moved(law, lambda t: 0.2 * np.sin(3.0 * t), np.linspace(0.0, 1.0, 51))
        run.save(tmp_path / f"{name}.h5")
        again = Solution.load(tmp_path / f"{name}.h5", run.mechanism)
        np.testing.assert_array_equal(again.states, run.states)
