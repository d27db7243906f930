"""Reductions that keep rigid velocities and multipliers ([flex] eq. (46)): structure, moments, bad input."""

import re
from functools import cache

import numpy as np
import pytest
from scipy import sparse

import fem
from flexph import (
    GROUND,
    LinearPHDAE,
    connect,
    eigenfrequencies,
    eliminate,
    force,
    hinge,
    reduce,
    spherical,
    spring_damper,
    torque,
    weld,
)
from flexph.bodies import linear_body
from flexph.interconnection import constrain
from flexph.linear import ReductionWarning, assess, certify
from flexph.linear.shifted import Shifted

pytestmark = pytest.mark.processor

STEEL = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
STRIP = fem.Section(width=0.02, height=0.005)
BAND = (10.0, 2000.0)
RIGID = ["crank.velocity", "crank.spin", "coupler.velocity", "coupler.spin", "follower.velocity", "follower.spin"]


def link(length, elements=4, **options):
    return fem.beam(length, STEEL, STRIP, elements=elements, damping=fem.Damping(stiffness=1e-6), **options)


@cache
def four_bar():
    """A closed chain of three flexible links with a spring and a damper, and two ports."""
    mechanism = connect(
        {"crank": link(0.2), "coupler": link(0.5), "follower": link(0.4)},
        [
            weld("crank.root", GROUND.at(0.0, 0.0)),
            hinge("crank.tip", "coupler.root"),
            hinge("coupler.tip", "follower.root"),
            hinge("follower.tip", GROUND.at(0.45, 0.0)),
            spring_damper("coupler.root", GROUND.at(0.3, 0.3), stiffness=200.0, damping=0.3),
            force("coupler.tip"),
            torque("follower.tip"),
        ],
    )
    return mechanism.linearize(mechanism.assemble({"crank": (0.0, 0.0, 1.0)}, guess={"coupler": 0.3, "follower": -1.4}))


@cache
def arm():
    """Two links in space on spherical joints, one of them about mean axes, held by springs."""
    mechanism = connect(
        {"upper": link(0.3, 2, dim=3), "lower": link(0.2, 2, dim=3, reference="mean_axis")},
        [
            spherical("upper.root", GROUND.at(0.0, 0.0, 0.0)),
            spherical("upper.tip", "lower.root"),
            spring_damper("lower.tip", GROUND.at(0.4, 0.2, 0.3), stiffness=30.0, damping=0.2),
            spring_damper("upper.tip", GROUND.at(0.2, -0.3, 0.1), stiffness=50.0),
            force("lower.tip"),
        ],
    )
    return mechanism.linearize(mechanism.assemble({"upper": (0.0, 0.0, 0.0)}, guess={"lower": (0.3, 0.0, 0.0)}))


@cache
def doubly_welded():
    """One beam, held at both ends: three of its six constraint forces act on the deformation alone."""
    mechanism = connect(
        {"beam": link(0.5, stations={"middle": 0.2})},
        [weld("beam.root", GROUND.at(0.0, 0.0)), weld("beam.tip", GROUND.at(0.5, 0.0)), force("beam.middle")],
    )
    return mechanism.linearize(mechanism.assemble({"beam": (0.0, 0.0, 0.0)}))


@cache
def chain():
    """More than 500 states: sparse."""
    bodies = {f"link{i}": link(0.1, 35) for i in range(3)}
    joints = [weld("link0.root", GROUND.at(0.0, 0.0)), force("link2.tip")]
    joints += [hinge(f"link{i}.tip", f"link{i + 1}.root") for i in range(2)]
    mechanism = connect(bodies, joints)
    return mechanism.linearize(mechanism.assemble({"link0": (0.0, 0.0, 0.0)}, guess={"link1": 0.2, "link2": -0.3}))


SYSTEMS = {"four-bar": (four_bar, 40), "arm": (arm, 40), "doubly welded": (doubly_welded, 26)}
all_systems = pytest.mark.parametrize("name", SYSTEMS)
ignored = pytest.mark.filterwarnings("ignore::flexph.linear.ReductionWarning")


def full(a):
    return a.toarray() if sparse.issparse(a) else np.asarray(a)


def flexible(system):
    """Which states are deformation rates and stresses."""
    places = np.zeros(system.size, dtype=bool)
    for name, part in system.parts.items():
        places[part] = name.endswith((".deformation_rate", ".stress"))
    return places


def multipliers(system, s):
    """Of unit inputs at s, (g, m)."""
    shifted = Shifted(system)
    return shifted.factor(s)(shifted.load)[system.size :]


def transfer(system, s):
    shifted = Shifted(system)
    return shifted.transfer(s, shifted.factor(s)(shifted.load))


@ignored
@pytest.mark.parametrize("name, method", [*((name, "krylov") for name in SYSTEMS), ("four-bar", "modal")])
def test_the_blocks_of_equation_46(name, method):
    """V = diag(1, V_f): the rigid blocks M_rr, R_rr, G_r, B_r are those of the system, and so are all names."""
    make, order = SYSTEMS[name]
    system = make()
    reduced = reduce(system, order, method=method, keep="rigid", band=BAND if method == "krylov" else None)
    V, f = reduced.lift, flexible(system)
    own = np.flatnonzero(np.abs(V[~f]).any(axis=0))
    np.testing.assert_array_equal(np.sort(np.argmax(V[np.ix_(~f, own)], axis=0)), np.arange((~f).sum()))
    rigid = np.flatnonzero(~f)[np.argmax(V[np.ix_(~f, own)], axis=0)]
    assert not V[f][:, own].any() and own.size == rigid.size and np.all(V[rigid, own] == 1.0)
    for matrix in "EJR":
        block = full(getattr(system, matrix))[np.ix_(rigid, rigid)]
        round_off = 1e-14 * np.abs(block).max() if matrix == "R" else 0.0  # R is made semi-definite to the last digit
        np.testing.assert_allclose(getattr(reduced, matrix)[np.ix_(own, own)], block, rtol=0.0, atol=round_off)
        expected = V.T @ full(getattr(system, matrix)) @ V
        np.testing.assert_allclose(getattr(reduced, matrix), expected, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_array_equal(reduced.G[:, own], full(system.G)[:, rigid])
    np.testing.assert_array_equal(reduced.B[own], full(system.B)[rigid])
    np.testing.assert_allclose(reduced.G, full(system.G) @ V, atol=1e-13 * np.abs(full(system.G)).max())
    assert reduced.constraints == system.constraints
    assert np.linalg.matrix_rank(reduced.G) == np.linalg.matrix_rank(full(system.G)) == len(system.constraints)
    assert dict(reduced.ports) == dict(system.ports)
    assert reduced.size <= order
    x = np.random.default_rng(0).standard_normal(reduced.size)
    for part, where in system.parts.items():
        if not part.endswith((".deformation_rate", ".stress")):
            at = [own[np.flatnonzero(rigid == i)[0]] for i in range(where.start, where.stop)]
            np.testing.assert_array_equal(reduced.part(part, x), x[at])
    assert certify(reduced, np.geomspace(*BAND, 5), full=system).holds


@pytest.mark.parametrize("make", [four_bar, arm, doubly_welded, chain])
def test_moments_and_multipliers_are_matched(make):
    """H, and the multipliers of unit inputs, at the points by independent solutions of both systems."""
    system = make()
    assert system.is_sparse == (make is chain)
    points = [(40.0, 2), 700j, (0.0 if make in (four_bar, doubly_welded) else 1.0, 2)]  # the others swing freely
    reduced = reduce(system, points=points, keep="rigid")
    for point in points:
        s = point[0] if isinstance(point, tuple) else point
        expected = multipliers(system, s)
        np.testing.assert_allclose(multipliers(reduced, s), expected, atol=1e-6 * np.abs(expected).max())
        if s:
            expected = transfer(system, s)
            np.testing.assert_allclose(transfer(reduced, s), expected, atol=1e-7 * np.abs(expected).max())


def test_a_tolerance_ends_the_search_early():
    system = four_bar()
    reduced = reduce(system, 80, band=BAND, tolerance=1e-4, keep="rigid")
    omega = np.geomspace(*BAND, 40)
    seen = assess(system, reduced, omega, times=np.linspace(0.0, 1e-2, 3))
    assert reduced.size < 70 and seen.hinf < 1e-4 and seen.certificate.holds


def test_all_flexible_vectors_give_the_system_itself():
    system = doubly_welded()
    reduced = reduce(system, system.size - 1, method="modal", keep="rigid")
    exact = eigenfrequencies(
        eliminate(LinearPHDAE(E=system.E, J=system.J, G=system.G, kinetic=system.kinetic)), count=4
    )
    found = eigenfrequencies(
        eliminate(LinearPHDAE(E=reduced.E, J=reduced.J, G=reduced.G, kinetic=reduced.kinetic)), count=4
    )
    np.testing.assert_allclose(found, exact, rtol=1e-9)


def test_lowest_modes_are_kept_and_none_lies_below():
    """Rayleigh-Ritz, with a larger space than that of the modes alone."""
    system = four_bar()
    bare = LinearPHDAE(E=system.E, J=system.J, G=system.G, kinetic=system.kinetic, parts=system.parts)
    exact = eigenfrequencies(bare, count=12)
    reduced = reduce(bare, 30, method="modal", keep="rigid")
    found = eigenfrequencies(reduced, count=9)
    np.testing.assert_allclose(found[:5], exact[:5], rtol=1e-8)
    assert np.all(found >= exact[:9] * (1.0 - 1e-9))


def test_it_can_be_constrained_further():
    """Locking the coupler's spin afterwards is locking it before: its velocities are still there."""
    system = four_bar()
    reduced = reduce(system, points=[(50.0, 4), 300j], keep="rigid")
    rows = np.zeros((1, system.size))
    rows[0, system.parts["coupler.spin"]] = 1.0
    locked, small = constrain(system, rows), constrain(reduced, rows @ reduced.lift)
    expected = transfer(locked, 5.0)
    np.testing.assert_allclose(transfer(small, 5.0), expected, atol=1e-3 * np.abs(expected).max())


def test_parts_kept_by_name_stay():
    """Velocities of one link alone, which stays as it is; the other links are reduced with their rigid motion."""
    system = four_bar()
    keep = ["crank.velocity", "crank.spin", "crank.deformation_rate", "crank.stress"]
    reduced = reduce(system, points=[(50.0, 3)], keep=[*RIGID, *keep[2:]])
    x = np.random.default_rng(1).standard_normal(reduced.size)
    crank = np.concatenate([reduced.part(name, x) for name in keep])
    assert np.all(np.isin(crank, x))
    expected = transfer(system, 50.0)
    np.testing.assert_allclose(transfer(reduced, 50.0), expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(2))
def test_systems_that_do_not_split(seed):
    """States of no kind, with and without losses: some are kept, one constraint of two acts on the others alone."""
    rng = np.random.default_rng(seed)
    draw, n = rng.standard_normal, 20
    E, J, R = draw((n, n)), draw((n, n)), draw((n, n))
    G = draw((2, n))
    G[1, :4] = 0.0
    system = LinearPHDAE(
        E=E @ E.T / n + np.eye(n),
        J=J - J.T,
        R=seed * (R @ R.T / n + 0.1 * np.eye(n)),
        B=draw((n, 1)),
        G=G,
        parts={"own": slice(0, 4), "rest": slice(4, n)},
    )
    reduced = reduce(system, points=[(1.0, 2), 3j], keep=["own"])
    assert reduced.size == 4 + 1 + 4
    np.testing.assert_array_equal(reduced.E[:4, :4], system.E[:4, :4])
    assert np.linalg.matrix_rank(reduced.G) == 2
    for s in (1.0, 3j):
        np.testing.assert_allclose(transfer(reduced, s), transfer(system, s), rtol=1e-8)
        np.testing.assert_allclose(multipliers(reduced, s), multipliers(system, s), rtol=1e-6)


def test_a_floating_body_without_constraints():
    """[flex] eq. (45) of one body alone: there is nothing but p_r to keep."""
    body = linear_body(link(0.3), "rod")
    B = np.zeros((body.size, 1))
    B[body.parts["rod.velocity"].start + 1] = 1.0
    system = LinearPHDAE(*(full(a) for a in (body.E, body.J, body.R)), B=B, parts=body.parts, kinetic=body.kinetic)
    reduced = reduce(system, points=[(200.0, 2)], keep="rigid")
    np.testing.assert_array_equal(reduced.E[:3, :3], system.E[:3, :3])
    np.testing.assert_allclose(transfer(reduced, 200.0), transfer(system, 200.0), rtol=1e-8)


@ignored
@pytest.mark.parametrize(
    "options, message",
    [
        ({"keep": ["crank.speed"]}, "no part 'crank.speed': there are 'crank.velocity'"),
        ({"keep": "crank.spin"}, "keep must be 'rigid' or a list of names, got 'crank.spin'"),
        ({"keep": 3}, "keep must be 'rigid' or a list of names, got 3"),
        ({"keep": "rigid", "order": 10}, "order must be above 10, the 10 states that are kept"),
        ({"keep": "rigid", "order": 1000}, "states of the system, got 1000"),
        ({"keep": "rigid", "method": "irka"}, "keep cannot be given along with band to method 'irka'"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        reduce(four_bar(), **{"order": 30, "band": BAND} | options)


def test_systems_without_such_parts_are_refused():
    system = four_bar()
    with pytest.raises(ValueError, match="keep needs the states that parts names"):
        reduce(eliminate(system), 20, band=BAND, keep="rigid")
    with pytest.raises(ValueError, match="keep must leave states to reduce"):
        reduce(system, 20, band=BAND, keep=list(system.parts))
    beam = fem.bending(1.0, STEEL, STRIP, elements=4)
    with pytest.raises(ValueError, match=re.escape("keep='rigid' needs parts of flexible bodies")):
        reduce(beam, 6, band=BAND, keep="rigid")
    free = constrain(beam, sparse.csr_array(np.eye(1, beam.size)))
    with pytest.raises(ValueError, match="keep must name all parts that move rigidly"):
        reduce(free, 14, band=BAND, keep=["moment"])


def test_a_small_order_warns_with_the_error_found():
    with pytest.warns(ReductionWarning, match="order 14 is too small"):
        reduce(four_bar(), 14, band=BAND, keep="rigid")
