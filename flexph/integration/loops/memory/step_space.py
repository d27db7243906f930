"""Space for a compiled step: motion, unknowns, trial state, linear system, strain rows and contacts."""

from __future__ import annotations

from typing import NamedTuple

from .data import Index, IndexMatrix, Matrix, Tensor, Vector


class Motion(NamedTuple):
    """A configuration and what follows from it, overwritten step by step (see kernels.state)."""

    r: Matrix
    R: Tensor
    u: Vector
    v: Matrix
    w: Matrix
    du: Vector
    sigma: Vector
    spring: Vector
    Pu: Matrix  # (n, K)
    Pdu: Matrix  # (n, K)
    p_r: Matrix
    p_u: Vector
    arm: Matrix
    vector: Matrix
    place: Vector  # (c,), of points on their curves
    product: Vector


class Unknowns(NamedTuple):
    """Mean velocities and multipliers; also their defects, corrections, and the iterate with the smallest of these."""

    v: Matrix
    w: Matrix
    du: Vector
    lam: Vector


class Trial(NamedTuple):
    """What a residual leaves for the Jacobian and the accounts."""

    inverse: Tensor  # (b, d, d), R̄⁻¹
    Pmean: Matrix  # (n, K)
    rate: Matrix  # (n, K)
    c: Matrix  # (b, d), φ̄u̇̄ and work space
    u: Vector  # (n,), ū
    D: Vector  # entries of D̄
    stress: Vector  # (m,), σ̃
    jump: Vector  # (m,), Δσ
    local: Vector  # (m,), work space
    lever: Matrix  # (k, d)
    mean: Matrix  # (v, d), mean vectors
    force: Vector  # (p,), on products
    extension: Vector
    tension: Vector
    by_first: Vector  # (springs,), discrete gradients
    by_second: Vector
    on_node: Matrix  # (k, d)
    on_vector: Matrix  # (v, d)
    on_body: Matrix  # (b, d)
    torque: Matrix  # (b, s), world
    loads: Vector  # (i,)
    section: Matrix  # (t, s), world torques
    stuck: Vector  # (springs,), 1 where the tangent at rest stands for a relation
    before: Vector  # (springs,), extensions before a correction
    moved: Vector  # (springs,), how far the free measures move over the step
    time: Vector  # (1,), in the middle of the step [s]
    given: Vector  # (i,), inputs in the axes that they are given in
    rub: Vector  # (springs,), dry friction of joints along their measures


class System(NamedTuple):
    """The factored Jacobian of a step, and space for it."""

    left_D: Vector  # h D̄ᵀ(½h + β)C⁻¹, see Stiffness.left_mean
    entries: Vector  # of F on the pattern of the inertia: those of the inner coordinates in the rows of masters
    band: Vector  # inner matrices of all bodies, banded
    reduced: Vector  # F⁻¹ C of all bodies
    border: Matrix  # (N, stored width)
    D: Vector  # entries of D₁
    col: Matrix  # (n, s): ω̄ in the rows of u̇̄
    row_w: Matrix  # (n, s): u̇̄ in the rows of ω̄
    pivot: Index  # (n,)
    by_c: Tensor  # (b, d, d): φ̄u̇̄ and ṙ̄ act in the rows of u̇̄ by φ̄ᵀ times these
    by_v: Tensor
    left: Matrix  # rows of R F⁻¹ C, work space
    border_pivot: Index
    turn: Tensor  # (b, s, s), world rotation by ω̄
    inverse: Tensor  # (b, d, d), R̄⁻¹ where it was factored
    B: Matrix  # (columns of the vectors, and of those of one contact, d)
    W: Matrix
    through: Matrix  # (s, s), work space
    spin: Matrix
    tangent: Matrix  # (2, 2)
    moved: Vector  # (3,)
    torque: Vector
    turned: Vector
    x: Vector  # (N,)
    y: Vector  # (n,)
    python: Index  # (1,), address of what Python answers within a step (see loops.wide.factor)


class NodalSpace(NamedTuple):
    """What strain rows leave for the Jacobian: columns of frames, vectors and products at both ends, gradients, forces.

    The last matrices have a column for each unknown of an element.
    """

    column: Matrix  # (4b, 3)
    end_column: Matrix
    move: Matrix  # (4b, 3), their changes by a correction
    pull: Matrix  # (4b, 3), forces on them
    vector: Matrix  # (v, 3)
    end_vector: Matrix
    on_vector: Matrix
    product: Vector  # (p,)
    end_product: Vector
    on_product: Vector
    strain: Vector  # (e,)
    gradient: Matrix  # (e, 3), exact over the step, by the product and both squares
    end_gradient: Matrix
    stress: Vector  # (e,), σ̃
    ahead: Vector  # (e,), stresses of the mixed iteration
    torque: Matrix  # (b, 3)
    B: Tensor  # (3b, 3, 3), of each direction by the spins
    W: Tensor
    couple: Matrix  # (products of a point, the same)
    moved: Matrix  # (3 vectors of a point, unknowns)
    rows: Matrix  # (products of a point, unknowns)
    pulled: Matrix
    on: Matrix  # (3 vectors of a point, unknowns)
    columns: Matrix  # (12 frames, unknowns)
    force: Vector  # (unknowns,)


class PathSpace(NamedTuple):
    """Points on curves (c) over a step, t = d − 1, by the points (k) of the curves (see kernels.rates.on_curves)."""

    used: IndexMatrix  # (c, 2), from which point to which one coefficients are not zero
    mean: Vector  # (k,), c̄
    last: Vector  # c₁ and its derivatives
    slope: Vector
    bend: Vector
    chord: Vector  # C
    change: Vector  # ∂C/∂s₁
    resting: Tensor  # (c, t, d), n at the start
    direction: Tensor  # (c, d, d), n̄ and last b
    along: Matrix  # (c, d), unit vector
    way: Matrix  # (c, d), τ
    by_place: Matrix  # (c, d), ∂τ/∂s₁ of C
    apart: Matrix  # (c, d), V₁
    tangent: Matrix  # (c, d), T₁
    rate: Matrix  # (c, d), Σ c̄ Π̇
    push: Matrix  # (c, d), what acts on the point
    size: Vector  # (c,), |τ|
    curved: Vector  # (c,), T·T + V·dT/ds
    slid: Vector  # (c,), forces along the curve, of friction
    rub: Vector  # (c,), of dry friction under the joint force
    weight: Vector  # (degree + 1,), work space
    piece: Matrix  # (d, degree + 1)
    into: Vector  # (d,)
    out: Vector
    row: Vector
    turn: Matrix  # (d, d)


class SlideSpace(NamedTuple):
    """Slips of a step: rates and forces of their components, gains of the terms (w,)."""

    rate: Vector
    force: Vector
    gain: Vector


class RowSpace(NamedTuple):
    """Rows of products over the N unknowns of the border (see terms.product_rows)."""

    acting: Matrix  # (d + 1, N)
    moved: Matrix  # (2d, N)
    act: Vector  # (d + 1,), gains of the product that is added
    move: Vector  # (2d,)
    column: Index  # (N,), those that are listed
    listed: Index  # (N,), 0 or 1
    number: Index  # (1,), of these


class SolidSpace(NamedTuple):
    """Solids of finite strain at both ends of a step, and what they leave for the Jacobian."""

    at: Matrix  # (k, d), places
    end: Matrix
    on: Matrix  # (k, d), forces
    before: Tensor  # (p, d, d), columns of the deformation gradients
    after: Tensor
    first: Matrix  # (p, c), strains at the start, of laws
    strain: Matrix  # (p, c), at the end
    stress: Matrix  # (p, c), σ̃
    ahead: Matrix  # (p, c), stresses of the mixed iteration
    mean_slope: Tensor  # (p, c, c), ∂σ̃/∂ε of laws over the step,
    end_slope: Tensor  # and ∂σ/∂ε at its end
    energy: Vector  # (b,), of laws by the frames that bodies begin with
    torque: Matrix  # (b, s), of stresses ahead
    B: Tensor  # (k, s, d), of places by the spins of their frames
    W: Tensor
    T: Matrix  # (d², d²), forces on the columns by these
    pulled: Matrix  # (d n, d²), work space
    K: Vector  # (n, d, d, n), in rows of whole lanes
    row: Vector  # (d²,)
    tangents: Matrix  # (3, 3), of a sample of a face, and its normal
    axes: Matrix  # (3, 3), forces of unit inputs
    by_tangents: Matrix  # (6, 3)


class TouchSpace(NamedTuple):
    """Contacts in a step (see kernels.contacts.gaps.Touch), t = d − 1 tangents each, and space for one of them."""

    before: Vector  # (c,), gaps
    after: Vector
    force: Vector
    elastic: Vector
    slope: Vector
    mean: Tensor  # (c, 3, d), gradients: exact over the step, and at its end
    end: Tensor
    tangent: Tensor  # (c, t, d)
    arm: Tensor  # (c, 2, d)
    slip: Matrix  # (c, t)
    friction: Matrix
    by_normal: Matrix
    by_slip: Tensor  # (c, t, t)
    stored: Vector  # energies by connection
    first: Matrix  # (3, d), V, W, U where the step starts
    last: Matrix
    turn: Matrix  # (2, d), world rotations of the bodies
    trial: Vector  # (t,), force of an anchor on trial, and before the step
    held: Vector
    begin: Index  # (5,), where the entries of V, W, U and of spins begin
    column: Index  # (entries,), in the border
    normal: Vector  # (entries,), how the gap goes with the unknowns: exact over the step, and at its end
    rate: Vector
    along: Matrix  # (4, entries), of V·W and of a direction that is not of length one
    slide: Matrix  # (t, entries), and of the slips
    watched: Index  # (k,), nodes of listed pairs (see integration.loops.near), the first ones that are counted
    listed: Matrix  # (k, d), where they were
    reach: Vector  # (3,): how far they may go [m], zero without lists, their count, and whether a step went further
    keeps_open: Vector  # (1,), whether steps are only those in which rigid contacts are open
    apart: Tensor  # (2 c, n, n), of a pile: what each body of a pair changes with the other one
    krylov: Matrix  # (5, N), of a pile: work space of the solution


class RubSpace(NamedTuple):
    """Dry friction of joints (see Bearings) along q = f t slips, and how N unknowns of a step and it change each other.

    With forces T the slip rates are s + D (T − T₀), multipliers that press λ + E (T − T₀), where s, λ and T₀ are those
    now. Where slip settles at the end of a step, T are impulses and s rates of the velocities there.
    """

    force: Vector  # (q,), T₀
    slip: Vector  # (q,), s
    base: Vector  # (k,), λ
    D: Matrix  # (q, q)
    E: Matrix  # (k, q)
    acting: Matrix  # (q, N), defects by unit forces
    answer: Matrix  # (q, N), corrections that these take
    row: Matrix  # (q, border), how slip rates change with the unknowns in the border
    terms: Vector  # (border,), sizes of these
    scale: Vector  # (1,), what defects of the law are relative to [m/s]
    found: Vector  # (q,), T that is tried,
    best: Vector  # the best one,
    swept: Vector  # and that of sweeps
    missed: Vector  # (q,), defects of the law there
    slope: Matrix  # (q, q), their Jacobian
    pivot: Index  # (q,)
    rate: Vector  # (q,), slip rates with the forces that are tried
    pressed: Vector  # (k,), multipliers
    size: Vector  # (f,), their size by bearing
    bound: Vector  # (f,), bounds of the forces that were found
    defect: Vector  # (N,), kept while forces are tried
    forces: Vector  # on nodes, vectors and bodies
    on_product: Vector  # (p,)
    mu: Vector  # (g,), impulses of the joints
    settles: Vector  # (2,), whether slip is to settle at the end of a substep, and whether it did in the step


class StrikeSpace(NamedTuple):
    """Rigid contacts in a step, r = d rates each, normal ones first, of n = d + s velocities of bodies.

    Where bodies are coupled or bend, by q flexible coordinates, at most L impulses have the responses of all. Behind
    the c contacts are bearings, joints with dry friction: e of both have impulses.
    """

    act: Tensor  # (2 c, r, n), how impulses act on the bodies of both sides
    rate: Tensor  # (2 c, r, n), how rates change with their velocities
    answer: Tensor  # (2 c, r, n), the velocities by unit impulses
    inverse: Tensor  # (b, n, n), of masses, or of the Jacobian of a step
    elimination: Matrix  # (n, 2 n), work space
    change: Matrix  # (b and means of points, n), of the velocities
    impulse: Matrix  # (r, e)
    given: Matrix  # (r, e), impulses before they settle
    rates: Matrix  # (r, e)
    ahead: Matrix  # (k, d), nodes at the end of a free step, without what their velocities at its start do
    point: Matrix  # (k, d), where they are expected
    nowhere: Matrix  # (b, d), zeros
    taken: Vector  # (e,), what closing gaps and friction took in the step [J]
    may_close: Index  # (e,), see strikes.marks
    opens: Index  # (c,), of a step whether its gap is open at the start, of impacts whether it may close in the step
    mark: Index  # (e,), 1 where a contact begins an island, 2 where it is in one
    member: Index  # (e,), contacts of the islands, one island behind the other
    begin: Index  # (e + 1,), where they begin
    head: Index  # (b,), the first side of a contact at a body
    link: Index  # (2 e,), the next one
    bend_act: Matrix  # (c r, q), how impulses act on flexible coordinates
    bend_rate: Matrix  # (c r, q)
    bend: Vector  # (q,), changes of their rates
    response: Matrix  # (L, all these, q, g and slips): what unit impulses of members of islands change of all
    own: Matrix  # (r, e): and of their own rates
    held: Vector  # (g,), changes of multipliers, or impulses of joints
    slide: Vector  # changes of slip rates of bearings
    carried: Vector  # (2,): what impulses of joints are over multipliers, and the length of the last way [s]
    met: Index  # (c,), 1 where a gap closed between the ends of the step
    apart: Index  # (1,), 1 where each body answers impulses by itself
    audit: Vector  # (8,), see strikes.records
