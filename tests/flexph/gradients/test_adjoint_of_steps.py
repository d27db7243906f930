"""Adjoint of one step by recorded loops against complex steps of the oracle (tests/samples/exact_scheme).

At a random state and a random iterate y, with r and X of the oracle, δy = −r_y⁻¹ r_x δx and δX = X_x δx + X_y δy, the
adjoint a₀ of covectors a of the end fulfils ⟨a₀, δx⟩ = ⟨a, δX⟩.
"""

import numpy as np
import pytest
from exact_scheme.kinematics import cayley
from exact_scheme.numbers import add_up
from exact_scheme.step import slips_of_bearings, step
from oracle_kinds import (
    BODIES,
    FLEXIBLE_SHAPES,
    PLANE,
    RELATIONS,
    RIGID_SHAPES,
    ROUGH,
    SLIPPERY,
    SPACE,
    beam,
    block,
    joined,
    touching,
)
from oracle_steps import COMPLEX_STEP, random_step
from step_of_loops import StepOfLoops

from flexph import spring_damper
from flexph.integration.loops.memory.memory import address_of
from flexph.integration.loops.memory.structures import Table
from flexph.integration.loops.recorded.backward import BACK, BACK_DECAYING, backward_of
from flexph.integration.loops.recorded.decayed import decayed_of, matrices_of
from flexph.integration.loops.recorded.entry import forget, sweep

pytestmark = pytest.mark.filterwarnings("ignore:.* free to move:UserWarning")
KINDS = {f"plane: {name}": (2, dict, make) for name, make in PLANE.items()}
KINDS |= {f"space: {name}": (3, dict, make) for name, make in SPACE.items()}
KINDS |= BODIES
REFUSED = {
    "space: slipping tyre without limit": "a force over an infinite limit",
    "cable with a law": "no stiffness at the random step",
    "plane: point on a curve with a motor": "no number at the random step",
    "rigid body of the plane whose mass changes": "a factor in Python",
    "rigid body whose mass changes": "a factor in Python",
    "rubber": "a law in Python",
    "rubber of space": "a law in Python",
}
"""Kinds without an adjoint at the random step; a run with such a step is refused."""
KINDS = {name: kind for name, kind in KINDS.items() if name not in REFUSED}
CONTACTS = {
    f"{name}: {law}": (dim, lambda dim=dim: {"c": block(dim)}, lambda own=own, law=law: touching(own, LAWS[law]))
    for laws, shapes in ((SLIPPERY, RIGID_SHAPES | FLEXIBLE_SHAPES), (ROUGH, RIGID_SHAPES))
    for name, (dim, own) in shapes.items()
    for law in laws
}
LAWS = SLIPPERY | ROUGH
UNSOLVED = {"polygon: smooth friction", "folded sheet: smooth friction", "tetrahedron: anchored friction"}
"""Random steps on meshes at which the search or the corrections of the oracle do not converge along complex steps."""
KINDS |= {name: kind for name, kind in CONTACTS.items() if name not in UNSOLVED}
FAST = list(KINDS)[::4]
SLIDING = {name: (dim, dict, make) for name, (dim, make) in RELATIONS.items()}
NONE = np.zeros(0, dtype=np.int64)
AGREEMENT = 1e-8
"""Round-off of solutions with Jacobians of condition up to 1e5, whose defect is at most 1e-9, over the largest term."""

CORRECTIONS, LEFT = 100, 1e-13
"""Corrections of a linear system of the oracle, and its defect, relative to the right side, after which they end."""


def agree(dim, bodies, connections, contact, friction=0):
    """The adjoint of a random step agrees with the tangent of the oracle along a random direction."""
    own, y = random_step(joined(dim, *connections(), **bodies()), size=0.05, radius=1.0)
    own.given = rubbed(own, own.start, y)
    covector, change = directions(own)
    adjoint = adjoint_of(own, y, covector, contact=contact, friction=friction)
    place, residual, end = along(own, y, change)
    ends = end + along(own, y + 1j * COMPLEX_STEP * change_of_iterate(own, y, residual, contact), None)[2]
    assert_paired(adjoint, place, covector, ends)


def assert_paired(adjoint, place, covector, ends):
    """⟨a₀, δx⟩ = ⟨a, δX⟩."""
    terms = flat(adjoint) * place
    assert abs(terms.sum() - flat(covector) @ ends) < AGREEMENT * max(np.abs(terms).max(), np.abs(ends).max())


def directions(own):
    """A covector of the end of a step, and a change of its start."""
    rng = np.random.default_rng(2)
    covector = own.start._replace(**{name: rng.standard_normal(np.shape(part)) for name, part in fields(own.start)})
    turning = (own.start.omega != 0.0).any(axis=1)  # frames of nodes do not
    turned = {
        name: getattr(covector, name) * turning.reshape(-1, *[1] * axes) for name, axes in (("omega", 1), ("R", 2))
    }
    covector = covector._replace(**turned)
    turns = rng.standard_normal(own.start.omega.shape) * (own.start.omega != 0.0)
    change = own.start._replace(
        **{name: 0.1 * rng.standard_normal(np.shape(part)) for name, part in fields(own.start) if name != "R"}
    )
    return covector, change._replace(omega=change.omega * (own.start.omega != 0.0), R=turns)


def change_of_iterate(own, y, residual, contact):
    """δy of the oracle, r_y δy = −r_x δx, corrected by the factors of the loops until nothing is left."""
    loops = StepOfLoops(own.mechanism, own.start, own.given, contact=contact)
    loops.residual(y)
    dy = np.zeros(y.size)
    for _ in range(CORRECTIONS):
        missed = residual + along(own, y + 1j * COMPLEX_STEP * dy, None)[1]
        if np.abs(missed).max() <= LEFT * np.abs(residual).max():
            return dy
        dy -= loops.solved(missed[:, None])[:, 0]
    raise AssertionError(f"r_y δy misses r_x δx by {np.abs(missed).max() / np.abs(residual).max():.1e}")


def rubbed(own, start, y):
    """What is given to a step, with the dry friction of bearings that slide, T = −μ|λ| s/|s|."""
    bearings, slips = own.system.bearings, slips_of_bearings(own.system, start, own.given, y)
    if not slips.size:
        return own.given
    pressed = np.sqrt(add_up(bearings.owner, y[own.system.velocities :][bearings.row] ** 2, slips.shape[1]))
    size = np.sqrt((slips * slips).sum(axis=0))
    return own.given._replace(friction=-bearings.friction * pressed / size * slips)


def fields(state):
    """Names and arrays of a state."""
    return state._asdict().items()


def flat(state):
    """A state as a vector."""
    return np.concatenate([np.ravel(part) for part in state])


def along(own, y, change):
    """Derivatives of start, residual and end by complex steps: along a change of the start, or those of y."""
    start = own.start
    if change is not None:
        size = 1j * COMPLEX_STEP
        start = start._replace(**{n: part + size * getattr(change, n) for n, part in fields(start) if n != "R"})
        start = start._replace(R=np.array([R @ cayley(size * a) for R, a in zip(own.start.R, change.R, strict=True)]))
    residual, end = step(own.system, start, rubbed(own, start, y + 0j), y + 0j)
    return flat(start).imag / COMPLEX_STEP, residual.imag / COMPLEX_STEP, flat(end).imag / COMPLEX_STEP


def adjoint_of(own, y, covector, **kinds):
    """Adjoint of a step by the loops, as a state."""
    loops = StepOfLoops(own.mechanism, own.start, own.given, **kinds)
    loops.residual(y)
    of, addresses = backward_of(loops.m, loops.kinds, *table_and_run(loops, own, covector), NONE)
    return swept(loops, own, (addresses, BACK, of, of))


def table_and_run(loops, own, covector):
    """Table of one step, and its states, iterate and covectors."""
    m, given, time = loops.m, loops.over, own.given.time
    rows = [np.array([given.before, given.after]), np.array([given.last_offset, given.offset])]
    zero = [np.zeros((1, part.shape[1])) for part in rows]
    moved = m.trial_moved.copy()[None]
    table = Table(time + given.h * np.array([-0.5, 0.5]), *rows, *zero, np.array([given.inputs]), moved)
    states = np.array([flat(own.start)] * 2)
    means = np.concatenate([np.ravel(getattr(m, f"x_{name}")) for name in ("v", "w", "du", "lam")])[None]
    return table, (states, means, np.array([flat(covector) * 0.0, flat(covector)]))


def swept(loops, own, given):
    """Adjoint of the start of a step, as a state."""
    addresses, kind, arrays, of = given
    forget()
    assert sweep(loops.m.address, address_of(addresses), loops.dim, kind, arrays, (0, 1)) == -1
    assert of.audit[0] < 1e-9
    ends = np.cumsum([0, *(np.size(part) for part in own.start)])
    parts = [of.carried[i:j].reshape(np.shape(p)) for i, j, p in zip(ends[:-1], ends[1:], own.start, strict=True)]
    return type(own.start)(*parts)


@pytest.mark.parametrize("kind", FAST)
def test_the_adjoint_of_a_step_is_that_of_the_oracle(kind):
    agree(*KINDS[kind], contact=int(kind in CONTACTS))


@pytest.mark.parametrize("kind", SLIDING)
def test_the_adjoint_with_dry_friction_of_joints_that_slide_is_that_of_the_oracle(kind):
    agree(*SLIDING[kind], contact=0, friction=1)


@pytest.mark.parametrize("dim, strain", [(2, "linear"), (2, "von_karman"), (3, "linear"), (3, "von_karman")])
def test_the_adjoint_of_a_step_that_loses_energy_is_that_of_the_oracle(dim, strain):
    """Of bodies on a spring: without joints no impulse follows a step. It is taken at the solution of the loops."""
    spring = spring_damper("a.tip", "b.pin", stiffness=3.0, damping=0.2, length=0.4)
    own, y = random_step(joined(dim, spring, a=beam(dim, strain=strain)), size=0.05, radius=0.6)
    covector, change = directions(own)
    loops = StepOfLoops(own.mechanism, own.start, own.given)
    loops.residual(0.0 * y)
    table, run = table_and_run(loops, own, covector)
    matrices = matrices_of(own.mechanism.network.arrays, own.given.h, own.given.radius)
    of, addresses = decayed_of(loops.m, table, run, NONE, matrices)
    adjoint = swept(loops, own, (addresses, BACK_DECAYING, of, of.run))
    y = np.concatenate([np.ravel(getattr(loops.m, f"x_{name}")) for name in ("v", "w", "du", "lam")])
    assert np.abs(own.residual(y)).max() < 1e-10
    place, residual, end = along(own, y, change)
    dy = -np.linalg.solve(own.jacobian(y), residual)
    assert_paired(adjoint, place, covector, end + along(own, y + 1j * COMPLEX_STEP * dy, None)[2])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in FAST])
def test_the_adjoint_of_every_kind_is_that_of_the_oracle(kind):
    agree(*KINDS[kind], contact=int(kind in CONTACTS))
