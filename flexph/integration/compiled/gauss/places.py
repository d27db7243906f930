"""Places, rates and forces at the nodes of a step in loops (see kernels.gauss.collocation)."""

from __future__ import annotations

from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import brief
from ..loops.forces import forces, turn_loads
from ..loops.motion import copy, copy_field, inertia_products, product_rate, vectors
from ..memory.memory import Memory
from ..terms.nodes import cross_product
from .field import add_field
from .prescribed import Prescribed, row_of
from .rotations import drive_arm, factor_rotations, turn
from .scheme import Scheme, stage
from .springs import stretch
from .stresses import strain


@kernel
def places(m: Memory, axes: tuple[int, ...], g: Scheme, h: float, given: Prescribed, begins: bool) -> bool:
    """All that follows from the rates of motion and the multipliers at the nodes, but for the momenta.

    False where there is no rotation. Stress rates are those of the strains where they begin (see stresses).
    """
    _translate(m, axes, g, h)
    if not factor_rotations(axes, g, h):
        return False
    turn(m, axes, g)
    _move_arms(m, axes, g, h)
    _multiply(m, axes, g, h)
    strain(m, g, h, begins)
    stretch(m, g, h, given)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        turn_loads(s, axes, given.inputs[row_of(given.inputs, given, i)])
        forces(s, axes, ())
    if len(axes) == 3:
        _collect_torques(m, g, h)
    return True


@kernel
def _translate(m: Memory, axes: tuple[int, ...], g: Scheme, h: float) -> None:
    """Centres of mass, flexible coordinates and their inertia products; φ̄u̇ stays in ``trial.c``."""
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        inertia_products(s, axes, s.x_du, s.trial_c, s.end_Pdu)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        copy_field(m.at_r, s.end_r)
        copy(m.at_u, s.end_u)
        copy_field(m.at_Pu, s.end_Pu)
        for j in range(g.stages.size):
            t, factor = stage(g.stages, j), h * g.a[i, j]
            add_field(factor, t.x_v, s.end_r)
            add_field(factor, t.x_du, s.end_u)
            add_field(factor, t.end_Pdu, s.end_Pu)


@kernel
def _move_arms(m: Memory, axes: tuple[int, ...], g: Scheme, h: float) -> None:
    """Arms of the nodes, and their speeds into ``run.moved``."""
    d = len(axes)
    for i in range(g.stages.size):
        _push(stage(g.stages, i), axes)
    for n in range(m.nodes_body.size):
        for i in range(g.stages.size):
            for k in range(d):
                total = 0.0
                for j in range(g.stages.size):
                    total += g.a[i, j] * stage(g.stages, j).stage_pushed[n, k]
                g.driven[i * d + k] = m.at_arm[n, k] + h * total
        drive_arm(m, axes, g, n)
    for i in range(g.stages.size):
        _speed_up(stage(g.stages, i), axes)


@kernel
def _push(s: Memory, axes: tuple[int, ...]) -> None:
    """R⁻ᵀφu̇ of the nodes."""
    brief()
    d = len(axes)
    for n in range(s.nodes_body.size):
        b = s.nodes_body[n]
        for k in range(d):
            s.stage_pushed[n, k] = 0.0
        for j in range(d):
            local = -s.nodes_moves[n] * s.trial_c[b, j]
            for e in range(s.nodes_ptr[n], s.nodes_ptr[n + 1]):
                local += s.nodes_val[e, j] * s.x_du[s.nodes_col[e]]
            for k in range(d):
                s.stage_pushed[n, k] += s.trial_inverse[b, j, k] * local


@kernel
def _speed_up(s: Memory, axes: tuple[int, ...]) -> None:
    """Speeds of the nodes, ṙ + Ω × a + R⁻ᵀφu̇."""
    brief()
    d, swept = len(axes), s.run_space[0]
    for n in range(s.nodes_body.size):
        b, arm = s.nodes_body[n], s.end_arm[n]
        if d == 2:
            swept[0], swept[1] = -s.stage_spin[b, 0] * arm[1], s.stage_spin[b, 0] * arm[0]
        else:
            cross_product(s.stage_spin[b], arm, swept)
        for k in range(d):
            s.run_moved[n, k] = s.nodes_moves[n] * s.x_v[b, k] + swept[k] + s.stage_pushed[n, k]


@kernel
def _multiply(m: Memory, axes: tuple[int, ...], g: Scheme, h: float) -> None:
    """Vectors between nodes, and the collocated products with their rates."""
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        vectors(s, axes, s.end_r, s.end_arm, s.end_vector, s.end_product)
        for p in range(s.stage_product_rate.size):
            s.stage_product_rate[p] = product_rate(s, axes, p, s.end_vector)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        copy(m.at_product, s.end_product)
        for j in range(g.stages.size):
            add_field(h * g.a[i, j], stage(g.stages, j).stage_product_rate, s.end_product)


@kernel
def _collect_torques(m: Memory, g: Scheme, h: float) -> None:
    """Angular momenta in the world, collocated by the torques."""
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        copy_field(m.stage_momentum, s.stage_momentum)
        for j in range(g.stages.size):
            add_field(h * g.a[i, j], stage(g.stages, j).trial_torque, s.stage_momentum)
