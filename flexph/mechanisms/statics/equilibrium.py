"""Static equilibrium and steady rotation of mechanisms, with the joint forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...kernels.arrays import Arrays, total
from ...kernels.constraint_sizes import displacement_sizes, lever
from ...kernels.continuous import elastic_stress, mass_matrix, strain_operator, strain_rates
from ...kernels.frame_motion import frame_motion, frame_rows, from_frames, is_parted, weight_stiffness
from ...kernels.rolling import add_forces, gains
from ...kernels.state import Configuration, derive
from ...kernels.stiffness.tangent import Forces, generalised_force, inertia_force, tangent
from ...kernels.strains import strain_stresses
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.corrections import Corrected, Corrections
from ...numerics.factors.positive_definite import MANY
from ...numerics.factors.singular_systems import solve_saddle
from ...numerics.rotations import spin_map
from ...systems.inputs import Forcing, Input
from ..model.consistency import check_consistent, explain_redundancy
from ..model.constraints import constraint_gap, constraint_rates, extent, move, spring_forces
from ..model.range_of_validity import warn_of_range
from ..model.redundancy import independent
from ..model.state import Pose, State, at_rest, flat
from ..model.time_table import Anchors, TimeTable, laws
from .load_steps import follow_loads
from .steady_rotation import Steady, refuse_supports, steady_rotation

if TYPE_CHECKING:
    from ..model.model import Model

SEARCH = Corrections(most=100, settled=1e-13, stagnated=1e-9)
"""Corrections over the size of the mechanism: round-off of the positions, or, ill-conditioned but at rest, no smaller
than the one before."""
STEP = Corrections(most=15, settled=1e-13, stagnated=1e-9, diverged=1e3)
"""The same of a step of the loads."""
NEAR = 1e-6
"""Correction over the size from which on its direction is judged: below, it is round-off."""
AGAINST = 1e-3
"""Cosine of a step with the acceleration, in the metric of the mass, from which on it goes against it."""
RAISES = 12
ROUND_OFF = 1e-14
BALANCED = 1e-6
"""Unbalanced force over the largest force up to which a given state counts as an equilibrium."""


class Problem(NamedTuple):
    """What is to balance: a mechanism under inputs at a time, in a steady motion, and a ``share`` of its weight."""

    mechanism: Model
    table: TimeTable
    time: float
    applied: Array
    steady: Steady
    share: float = 1.0

    def under(self, share: float) -> Problem:
        """The problem with a share of all loads: weight, inputs and centrifugal forces."""
        root = np.sqrt(share)
        steady = Steady(root * self.steady.spin, root * self.steady.velocity)
        return self._replace(applied=share * self.applied, steady=steady, share=share)

    def forces(self, c: Configuration, lam: Array) -> Forces:
        """What multipliers, springs and inputs do at a configuration."""
        a: Arrays = self.mechanism.network.arrays
        coefficient, _ = self.table.at(self.time)
        on_product = total(a.term_product, lam[a.term_row] * coefficient, a.first.size)
        if a.rolling.row.size:
            product = derive(a, c).product
            add_forces(a, lam, gains(a, product, product), on_product)
        return Forces(on_product, spring_forces(self.mechanism, c, self.table.anchors), self.applied, lam)

    def unbalanced(self, c: Configuration, lam: Array) -> Array:
        """Inertia forces of the steady motion less all forces, on (ṙ, ω, u̇)."""
        a = self.mechanism.network.arrays
        a = a if self.share == 1.0 else a._replace(weight=self.share * a.weight)
        inertia = inertia_force(a, c, self.steady.centripetal(c.r))
        return inertia - generalised_force(a, c, derive(a, c), self.forces(c, lam))

    def constraints(self, c: Configuration) -> Any:
        """G of all constraints."""
        return constraint_rates(self.mechanism, c, self.table, self.time)[0]


def problem(mechanism: Model, anchors: Anchors, time: float, *, inputs: Mapping[str, Input], steady: Steady) -> Problem:
    """The problem of a mechanism with the anchors of a pose."""
    applied = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim).at(time)
    return Problem(mechanism, TimeTable(mechanism, anchors), time, applied, steady)


def equilibrium(
    mechanism: Model,
    pose: Pose,
    inputs: Mapping[str, Input],
    *,
    spin: Any,
    about: Any,
    time: float,
    redundant: str,
) -> State:
    """See :meth:`flexph.Mechanism.equilibrium`."""
    check.number("time", time)
    check.choice("redundant", redundant, ("refuse", "least_norm"))
    steady = steady_rotation(mechanism, spin, about)
    if np.any(steady.spin):
        refuse_nonholonomic(mechanism, "a steady rotation")
    given = problem(mechanism, pose.anchors, time, inputs=inputs, steady=steady)
    start = _turning(mechanism, at_rest(mechanism, pose.centres, pose.rotations), steady)
    refuse_supports(mechanism, given.constraints(start), start, steady.spin)
    size = extent(mechanism, start.r, start.R)
    sizes = displacement_sizes(mechanism.network.arrays, size)

    def corrected(c: Configuration, judged: bool, of: Problem = given) -> tuple[Configuration, float]:
        held = of.mechanism.rigid_motion is not None and not judged
        correction = _newton(of, c) if held else _correction(of, c, size, judged)
        return _moved(mechanism, c, correction, of.steady), float(np.abs(correction / sizes).max(initial=0.0))

    def under(share: float, c: Configuration) -> Corrected[Configuration]:
        limits = STEP if share == 1.0 else replace(STEP, settled=NEAR)
        return limits.run(c, partial(corrected, judged=False, of=given.under(share)))

    searches = [partial(SEARCH.run, start, partial(corrected, judged=judged)) for judged in (True, False)]
    if mechanism.rigid_motion is not None:
        searches[1:] = []  # without a potential or with one, loads are followed from nothing
        searches.insert(0, partial(follow_loads, start, under))
    for search in searches:  # loads without a potential may lead a judged search in circles
        end = search()
        if end.settled:
            state = _finished(given, end.value, redundant)
            warn_of_range(mechanism, np.array([time]), state.x[None], level=3)
            return state
    raise ArithmeticError(
        f"no equilibrium was found in {SEARCH.most} iterations (last correction {end.defect:.1e} of the size of the "
        "mechanism): start from a pose nearer to it, or check that one exists under these loads"
    )


def refuse_nonholonomic(mechanism: Model, what: str) -> None:
    """Raise ValueError where a constraint on velocities fixes no position."""
    for name, law in zip(mechanism.constraint_names, laws(mechanism), strict=True):
        if not law.holonomic:
            raise ValueError(f"{what} is not known of mechanisms with nonholonomic joints, and {name!r} is one")


def _turning(mechanism: Model, c: Configuration, steady: Steady) -> Configuration:
    """The configuration with the velocities of the steady motion."""
    own = np.einsum("bji,j->bi", spin_map(c.R), steady.spin)
    turns = np.array([b.turns for b in mechanism.frames.values()])
    return c._replace(v=steady.field(c.r), omega=np.where(turns[:, None], own, 0.0))


def _correction(given: Problem, c: Configuration, size: float, judged: bool) -> Array:
    """A Newton step towards balance, held back by the inertia where the forces are still large.

        (K + μM) ξ − Gᵀλ = −ρ,   G ξ = −g,

    μ the acceleration over the size, which fades with it; larger where the step would go against the acceleration,
    towards an equilibrium that is not a minimum.
    """
    a, T = _coordinates(given, c)
    M, whole = mass_matrix(a, c.u), given.mechanism.network.arrays
    G, spread = _independent(given, c, T)
    force = T.T @ given.unbalanced(c, np.zeros(spread.shape[0]))
    solution = _saddle(whole, M, G, np.concatenate([-force, np.zeros(G.shape[0])]))
    acceleration, own = solution[: force.size], solution[force.size :]
    sizes = displacement_sizes(whole, size)
    weight = np.sqrt(max(float(acceleration @ (M @ acceleration)) / float(a.mass.sum()), 0.0)) / size
    K = _stiffness(given, c, a, spread @ own)
    gap = constraint_gap(given.mechanism, c, given.table, given.time)
    rhs = np.concatenate([G.T @ own - force, -(spread.T @ gap)])
    for _ in range(RAISES):
        step = _saddle(whole, K + weight * M, G, rhs)[: force.size]
        forward, length = float(step @ (M @ acceleration)), float(step @ (M @ step))
        far = np.abs((T @ step) / sizes).max(initial=0.0) > NEAR
        if not judged or not far or forward >= -AGAINST * np.sqrt(length * float(acceleration @ (M @ acceleration))):
            break
        weight *= 4.0
    return T @ step


def _newton(given: Problem, c: Configuration) -> Array:
    """A Newton step towards balance: K ξ − Gᵀλ = −ρ, G ξ = −g.

    Strain rows take it in the mixed form: forces by their strains, the stiffness with their stresses σ, which are
    known to first order after each correction.
    """
    a, T = _coordinates(given, c)
    G, spread = _independent(given, c, T)
    force = T.T @ given.unbalanced(c, np.zeros(spread.shape[0]))
    M, n = mass_matrix(a, c.u), force.size
    own = _saddle(a, M, G, np.concatenate([-force, np.zeros(G.shape[0])]))[n:]
    K = _stiffness(given, c, a, spread @ own)
    gap = constraint_gap(given.mechanism, c, given.table, given.time)
    return T @ _saddle(a, K, G, np.concatenate([G.T @ own - force, -(spread.T @ gap)]))[:n]


def _coordinates(given: Problem, c: Configuration) -> tuple[Arrays, Any]:
    """The arrays and the map T of the displacements that a step is solved over: at rest large bodies stay sparse."""
    a = given.mechanism.network.arrays
    if is_parted(a, given.steady.spin):
        return from_frames(a), frame_motion(a, c)
    return a, sparse.eye_array(given.mechanism.layout.velocities, format="csr")


def _stiffness(given: Problem, c: Configuration, a: Arrays, lam: Array) -> Any:
    """The tangent stiffness over the displacements of these arrays."""
    whole = given.mechanism.network.arrays
    stiffness = tangent(a, c, derive(whole, c), given.forces(c, lam), spin=given.steady.spin).stiffness
    return stiffness + weight_stiffness(whole, c) if is_parted(whole, given.steady.spin) else stiffness


def _independent(given: Problem, c: Configuration, T: Any) -> tuple[Any, Any]:
    """Independent combinations of the constraints over ξ' (ξ = T ξ'), and the map of their multipliers to all."""
    G = given.constraints(c)
    G = frame_rows(G, T) if is_parted(given.mechanism.network.arrays, given.steady.spin) else G
    own = independent(given.mechanism, G)
    return (G, sparse.eye_array(G.shape[0], format="csr")) if own is None else (own.spread.T @ G, own.spread)


def _is_meshed(a: Arrays) -> bool:
    """Whether large bodies are solids and plates, with many stresses for each coordinate, not chains of beams."""
    stresses, coordinates = a.strain.shape
    return a.mean is not None and bool(stresses >= MANY * coordinates)


def _saddle(a: Arrays, block: Any, G: Any, rhs: Array) -> Array:
    """Solve [[A, −Gᵀ], [G, 0]] for (ξ, λ), in the least-norm sense where it is singular.

    Displacements and constraints are first brought to one unit, of the arrays a of the mechanism: else it would depend
    on the units what is singular, and which solution is least.
    """
    length = lever(a)
    sizes, n = displacement_sizes(a, length), block.shape[0]
    rows = np.where(a.holds_points > 0.0, length, 1.0) if G.shape[0] == a.holds_points.size else length
    S = sparse.diags_array(sizes)
    scaled = S @ block @ S
    unit = np.concatenate([sizes, np.broadcast_to(float(abs(scaled).max()) / rows, G.shape[:1])])
    off = sparse.diags_array(unit[n:]) @ G @ S
    matrix = sparse.block_array([[scaled, -off.T], [off, None]]).tocsr()
    return unit * solve_saddle(matrix, unit * rhs, meshed=_is_meshed(a))


def _moved(mechanism: Model, c: Configuration, correction: Array, steady: Steady) -> Configuration:
    rigid = mechanism.layout.velocities - mechanism.layout.flexible
    largest = float(np.abs(correction[mechanism.network.arrays.columns[1].ravel()]).max(initial=0.0))
    correction = correction * min(1.0, 0.5 / largest) if largest > 0.0 else correction
    centres, rotations = move(mechanism, c.r, c.R, correction[:rigid])
    u = c.u + correction[rigid:]
    sigma = elastic_stress(mechanism.network.arrays, u)
    a, own = mechanism.network.arrays, mechanism.network.arrays.strains.stress
    if own.size:
        d = derive(a, c)
        strained = a.strains.stiffness @ (strain_rates(a, c, d) @ correction)
        sigma[own] = strain_stresses(a.strains, d.product) + strained
    return _turning(mechanism, c._replace(r=centres, R=rotations, u=u, sigma=sigma), steady)


def _finished(given: Problem, c: Configuration, redundant: str) -> State:
    """The state with the joint forces that balance it; raises unless they do."""
    mechanism, steady, anchors = given.mechanism, given.steady, given.table.anchors
    a = mechanism.network.arrays
    sigma = c.sigma.copy()
    sigma[a.strains.stress] = strain_stresses(a.strains, derive(a, c).product)
    c = c._replace(spring=spring_forces(mechanism, c, anchors)[a.springs.state >= 0], sigma=sigma)
    G = given.constraints(c)
    names = explain_redundancy(mechanism, G)
    if names and redundant == "refuse":
        raise ValueError(f"{names}. The joint forces are not unique: redundant='least_norm' takes the smallest")
    force = given.unbalanced(c, np.zeros(G.shape[0]))
    solved_in, T = _coordinates(given, c)
    own, spread = _independent(given, c, T)
    rhs = np.concatenate([-(T.T @ force), np.zeros(own.shape[0])])
    solution = _saddle(a, mass_matrix(solved_in, c.u), own, rhs)
    lam = spread @ solution[force.size :]
    left = force - G.T @ lam
    if not is_balanced(mechanism, c, left, force, spin=steady.spin):
        raise ArithmeticError(f"the iteration settled where forces do not balance: {np.abs(left).max():.1e} is left")
    state = State(given.time, flat(mechanism, c), lam, anchors)
    turning = bool(np.any(steady.spin))
    try:
        check_consistent(mechanism, state, velocities=turning)  # at rest drives stand where they are
    except ValueError as error:
        if not turning:
            raise
        raise ValueError(
            f"the joints do not turn with the spin {steady.spin} rad/s: hold the body by a revolute joint about that "
            f"axis and a drive of that rate ({error})"
        ) from None
    return state


def is_balanced(mechanism: Model, c: Configuration, left: Array, forces: Array, *, spin: Array) -> bool:
    """Whether forces that are left on (ṙ, ω, u̇) are round-off of these forces and the weights.

    All are compared by their work along displacements of the size of the mechanism: forces, torques and what acts on
    flexible coordinates have no unit in common.
    """
    a, size = mechanism.network.arrays, extent(mechanism, c.r, c.R)
    sizes = displacement_sizes(a, size)
    largest = max(np.abs(forces * sizes).max(initial=0.0), size * np.abs(a.weight).max(initial=0.0))
    return bool(np.abs(left * sizes).max(initial=0.0) <= BALANCED * largest + _noise(a, c, size, spin))


def _noise(a: Arrays, c: Configuration, size: float, spin: Array) -> float:
    """Work that round-off of the positions makes: of stiffness, and of the inertia of a steady rotation [J]."""
    D = strain_operator(a, c.u) @ sparse.diags_array(displacement_sizes(a, size)[a.columns.u])
    moved = a.springs.length_product.size + a.springs.component_product.size
    turning, own = float(a.springs.stiffness[moved:].sum()), float(a.springs.stiffness[:moved].sum())
    elastic = float(abs(D.T @ sparse.csr_array(a.stiffness) @ D).max()) if D.nnz else 0.0
    if a.strains.stress.size:
        S = strain_rates(a, c, derive(a, c)) @ sparse.diags_array(displacement_sizes(a, size))
        elastic += float(abs(S.T @ sparse.csr_array(a.strains.stiffness) @ S).max())
    return ROUND_OFF * (elastic + turning + size**2 * (own + float(a.mass.sum() * (spin @ spin))))
