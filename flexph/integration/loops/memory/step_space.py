"""Work space of a compiled step: motion, unknowns, trial state, linear system, strain rows and contacts."""

from __future__ import annotations

from typing import NamedTuple

from .data import Index, IndexMatrix, Matrix, Tensor, Vector


class Motion(NamedTuple):
    """State of a mechanism at one end of a step: positions, velocities, and quantities derived from them.

    Stresses, spring states, momenta, arms, vectors and products are included (see kernels.state).
    """

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
    """One number for each mean velocity and multiplier of a step.

    The numbers are the unknowns themselves, or their defects or corrections, or the best iterate of the unknowns.
    """

    v: Matrix
    w: Matrix
    du: Vector
    lam: Vector


class Trial(NamedTuple):
    """Intermediate results for the residual of a step at a trial, which the Jacobian and the ledger also use."""

    inverse: Tensor  # (b, d, d), R̄⁻¹
    Pmean: Matrix  # (n, K)
    rate: Matrix  # (n, K)
    c: Matrix  # (b, d), φ̄u̇̄ and work space
    u: Vector  # (n,), ū
    D: Vector  # entries of D̄
    stress: Vector  # (m,), σ̃
    jump: Vector  # (m,), Δσ
    local: Vector  # (m,), work space
    ahead: Vector  # (m,), stresses to first order after a correction (see steps.newton)
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
    stuck: Vector  # (springs,), 1 for relations replaced by their tangent at rest
    before: Vector  # (springs,), extensions before a correction
    moved: Vector  # (springs,), change of the free measures over the step; then factors of laws, see References
    time: Vector  # (1,), time at the middle of the step [s]
    given: Vector  # (i,), inputs in their given axes
    rub: Vector  # (springs,), dry friction of joints along their measures
    law: Vector  # (springs,), forces F(x, v, t) of a user


class System(NamedTuple):
    """Factored Jacobian of a step: its blocks, and work space to assemble and solve it."""

    left_D: Vector  # h D̄ᵀ(½h + β)C⁻¹, see Stiffness.left_mean
    entries: Vector  # entries of F of inner coordinates in the rows of masters, on the pattern of the inertia
    band: Vector  # inner matrices of all bodies, banded
    reduced: Vector  # F⁻¹ C of all bodies
    border: Matrix  # (N, stored width)
    D: Vector  # entries of D₁
    col: Matrix  # (n, s): ω̄ in the rows of u̇̄
    row_w: Matrix  # (n, s): u̇̄ in the rows of ω̄
    pivot: Index  # (n,)
    by_c: Tensor  # (b, d, d): φ̄ᵀ times these couple φ̄u̇̄ and ṙ̄ to the rows of u̇̄
    by_v: Tensor
    left: Matrix  # rows of R F⁻¹ C, work space
    border_pivot: Index
    turn: Tensor  # (b, s, s), world rotation by ω̄
    inverse: Tensor  # (b, d, d), R̄⁻¹ at the factored iterate
    couple: Tensor  # (b, d, d), sums of the products a fᵀ of arms and forces of nodes
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
    python: Index  # (1,), address of the callback of the loops within a step (see loops.wide.factor)


class NodalSpace(NamedTuple):
    """Values of the strain rows of nodal bodies in a step, for its residual and Jacobian.

    Columns of frames, vectors and products are stored at both ends of the step, with the forces on them; strains have
    gradients and stresses. ``moved`` to ``columns`` are derivatives with a column for each unknown of an element.
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
    first: Vector  # (e,), strains at the start of the step
    slope: Vector  # (e,), of rows with a law, of the mean stress and of the stress at the end
    end_slope: Vector
    B: Tensor  # (3b, 3, 3), change of each direction by the spins
    W: Tensor
    couple: Matrix  # (products of a point, products of a point)
    moved: Matrix  # (3 vectors of a point, unknowns)
    rows: Matrix  # (products of a point, unknowns)
    pulled: Matrix
    on: Matrix  # (3 vectors of a point, unknowns)
    columns: Matrix  # (12 frames, unknowns)
    force: Vector  # (unknowns,)


class PathSpace(NamedTuple):
    """Points that slide on curves (c), over a step: coefficients of the curves' points (k), directions and forces.

    t = d − 1; see kernels.rates.on_curves.
    """

    used: IndexMatrix  # (c, 2), first and last point with coefficients that are not zero
    mean: Vector  # (k,), c̄
    last: Vector  # c₁ and its derivatives
    slope: Vector
    bend: Vector
    chord: Vector  # C
    change: Vector  # ∂C/∂s₁
    resting: Tensor  # (c, t, d), n at the start
    direction: Tensor  # (c, d, d), vectors n̄ across the curve, and last b (see mechanics.curves)
    along: Matrix  # (c, d), unit vector
    way: Matrix  # (c, d), τ
    by_place: Matrix  # (c, d), ∂τ/∂s₁ of C
    apart: Matrix  # (c, d), V₁
    tangent: Matrix  # (c, d), T₁
    rate: Matrix  # (c, d), Σ c̄ Π̇
    push: Matrix  # (c, d), force on the point
    size: Vector  # (c,), |τ|
    curved: Vector  # (c,), T·T + V·dT/ds
    slid: Vector  # (c,), rate-dependent friction along the curve
    rub: Vector  # (c,), dry friction under the joint force along the curve
    weight: Vector  # (degree + 1,), work space
    piece: Matrix  # (d, degree + 1)
    into: Vector  # (d,)
    out: Vector
    row: Vector
    turn: Matrix  # (d, d)


class SlideSpace(NamedTuple):
    """Slips in a step: mean rates and forces of their components, gains of their terms (w,), and loads by contacts."""

    rate: Vector
    force: Vector
    gain: Vector
    load: Vector


class RopeSpace(NamedTuple):
    """Discrete gradients of rope lengths with respect to the products of their spans (k,) and angles (w,)."""

    by_square: Vector
    by_sine: Vector
    by_cosine: Vector


class RowSpace(NamedTuple):
    """Rows of derivatives of products with respect to the N unknowns of the border (see terms.product_rows)."""

    acting: Matrix  # (d + 1, N)
    moved: Matrix  # (2d, N)
    act: Vector  # (d + 1,), gains of the added product
    move: Vector  # (2d,)
    column: Index  # (N,), listed unknowns
    listed: Index  # (N,), 1 for listed unknowns, else 0
    number: Index  # (1,), number of listed unknowns


class SolidSpace(NamedTuple):
    """Values of solids of finite strain in a step, at both ends and for the Jacobian."""

    at: Matrix  # (k, d), places
    end: Matrix
    on: Matrix  # (k, d), forces
    before: Tensor  # (p, d, d), columns of the deformation gradients
    after: Tensor
    first: Matrix  # (p, c), strains at the start, for laws
    strain: Matrix  # (p, c), at the end
    stress: Matrix  # (p, c), σ̃
    ahead: Matrix  # (p, c), stresses of the mixed iteration
    mean_slope: Tensor  # (p, c, c), ∂σ̃/∂ε of laws over the step,
    end_slope: Tensor  # and ∂σ/∂ε at its end
    energy: Vector  # (b,), energies of laws, each at the first frame of its body
    torque: Matrix  # (b, s), torques of the stresses ahead
    B: Tensor  # (k, s, d), change of places by the spins of their frames
    W: Tensor
    T: Matrix  # (d², d²), change of the forces on the columns by the columns
    pulled: Matrix  # (d n, d²), work space
    K: Vector  # (n, d, d, n), in rows of whole lanes
    row: Vector  # (d²,)
    tangents: Matrix  # (3, 3), tangents of a sample of a face, and its normal
    axes: Matrix  # (3, 3), forces of unit inputs
    by_tangents: Matrix  # (6, 3)


class TouchSpace(NamedTuple):
    """Values of contacts in a step, with t = d − 1 tangents each, and work space for one contact at a time.

    See kernels.contacts.gaps.
    """

    before: Vector  # (c,), gaps
    after: Vector
    force: Vector
    elastic: Vector
    slope: Vector
    mean: Tensor  # (c, 4, d), discrete gradients over the step, and gradients at its end
    end: Tensor
    tangent: Tensor  # (c, t, d)
    arm: Tensor  # (c, 2, d)
    slip: Matrix  # (c, t)
    friction: Matrix
    by_normal: Matrix
    by_slip: Tensor  # (c, t, t)
    carried: Matrix  # (c, t), velocity of a moving surface along the tangents
    way: Matrix  # (c, t), its direction along the tangents
    stored: Vector  # energies by connection
    first: Matrix  # (4, d), V, W, U, D at the start of the step
    last: Matrix
    turn: Matrix  # (2, d), world rotations of the bodies
    trial: Vector  # (t,), trial force of an anchor, and its force before the step
    held: Vector
    begin: Index  # (7,), where the entries of V, W, U, D and of spins begin, and the number of those of a partner
    part: Matrix  # (c, 4), parts of V, W and U in the vector along which bodies slip at faces
    partner: Index  # (c,), other face with which a face shares the force of a ball over the step, −1 for none,
    partner_slope: Vector  # change of the force by its gap,
    partner_column: Index  # (entries,), and columns and change of this gap
    partner_rate: Vector
    place: Matrix  # (2, 6), of a ball in the axes of a surface, or products of segments, at both ends of the step
    near: Matrix  # (2, entries), distance there, see kernels.surfaces.closest and kernels.surfaces.segments
    bent: Matrix  # (7, 6), discrete gradient of this distance, and its derivatives
    column: Index  # (entries,), in the border
    normal: Vector  # (entries,), change of the gap by the unknowns: discrete gradient over the step, and at its end
    rate: Vector
    along: Matrix  # (4, entries), change of V·W and of a direction that is not of length one
    slide: Matrix  # (t, entries), change of the slips
    watched: Index  # (k,), nodes of listed pairs (see loops.near_pairs), in the first entries, up to their count
    listed: Matrix  # (k, d), positions of these nodes when the list was made
    reach: Vector  # (3,): largest displacement [m] allowed, zero without lists; their count; 1 if a step exceeded it
    apart: Tensor  # (2 c, n, n), of a pile: coupling of each body of a pair to the other one
    krylov: Matrix  # (5, N), of a pile: work space of the iterative solution


class RubSpace(NamedTuple):
    """Dry friction of joints (see Bearings) along q = f t slips, and its coupling with the N unknowns of a step.

    With forces T the slip rates are s + D (T − T₀) and the pressing multipliers λ + E (T − T₀), where s, λ and T₀ are
    the present values. If slip settles at the end of a step, T are impulses and s slip rates at the end.
    """

    force: Vector  # (q,), T₀
    slip: Vector  # (q,), s
    base: Vector  # (k,), λ
    D: Matrix  # (q, q)
    E: Matrix  # (k, q)
    acting: Matrix  # (q, N), defects by unit forces
    answer: Matrix  # (q, N), corrections by unit forces
    row: Matrix  # (q, border), change of slip rates by the unknowns in the border
    terms: Vector  # (border,), absolute values of these unknowns
    scale: Vector  # (1,), scale of the defects of the law [m/s]
    found: Vector  # (q,), T on trial
    best: Vector  # (q,), T with the smallest defect
    swept: Vector  # (q,), T after sweeps
    missed: Vector  # (q,), defects of the law with T on trial
    slope: Matrix  # (q, q), their Jacobian
    pivot: Index  # (q,)
    rate: Vector  # (q,), slip rates with the forces on trial
    pressed: Vector  # (k,), multipliers
    size: Vector  # (f,), their size by bearing
    bound: Vector  # (f,), bounds of the forces of the solution
    defect: Vector  # (N,), copy of the defect during trials of forces
    forces: Vector  # on nodes, vectors and bodies
    on_product: Vector  # (p,)
    mu: Vector  # (g,), impulses of the joints
    settles: Vector  # (2,), 1 if slip is to settle at the end of a substep, 1 if it did in the step


class StrikeSpace(NamedTuple):
    """Rigid contacts in a step: each has r = d rates, the normal one first, of bodies with n = d + s velocities each.

    If bodies are coupled or flexible, with q flexible coordinates, responses of all bodies are stored for at most L
    impulses. The c contacts are followed by bearings, joints with dry friction; e is the number of both.
    """

    act: Tensor  # (2 c, r, n), action of unit impulses on the bodies of both sides
    rate: Tensor  # (2 c, r, n), change of the rates by the velocities of these bodies
    answer: Tensor  # (2 c, r, n), velocities by unit impulses
    inverse: Tensor  # (b, n, n), inverse masses, or inverse Jacobians of a step
    elimination: Matrix  # (n, 2 n), work space
    change: Matrix  # (b and means of points, n), changes of the velocities
    impulse: Matrix  # (r, e)
    given: Matrix  # (r, e), impulses before they settle
    rates: Matrix  # (r, e)
    ahead: Matrix  # (k, d), nodes at the end of a free step, minus the motion at their velocities at its start
    point: Matrix  # (k, d), expected positions of the nodes
    nowhere: Matrix  # (b, d), zeros
    taken: Vector  # (e,), energy dissipated by closing gaps and friction in the step [J]
    may_close: Index  # (e,), see strikes.marks
    opens: Index  # (c,), in a step 1 if the gap is open at its start, at impacts 1 if it may close in the step
    mark: Index  # (e,), 1 for members of the islands found so far; later their number within the island
    member: Index  # (e,), contacts of all islands, island by island
    begin: Index  # (e + 1,), first member of each island, and the end
    head: Index  # (b,), the first side of a contact at a body
    link: Index  # (2 e,), the next side at the same body
    bend_act: Matrix  # (c r, q), action of unit impulses on flexible coordinates
    bend_rate: Matrix  # (c r, q), change of the rates by those of flexible coordinates
    bend: Vector  # (q,), changes of the rates of flexible coordinates
    response: Matrix  # (L, entries of change, q, g and slips), responses to unit impulses of the members of islands
    own: Matrix  # (r, e), change of the rate of a contact by its own unit impulse
    held: Vector  # (g,), changes of multipliers, or impulses of joints
    slide: Vector  # changes of slip rates of bearings
    carried: Vector  # (2,): ratio of joint impulses to multipliers, and the length of the last part of a step [s]
    met: Index  # (c,), 1 if the gap closed between the ends of the step
    apart: Index  # (1,), 1 if each body responds to impulses independently of the others
    audit: Vector  # (8,), see strikes.records
