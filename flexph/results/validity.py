"""Warnings about runs and equilibria outside of the valid range of their models or steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..bodies.ports import find_port
from ..joints.rows.laws import Alignment, Angle, Law
from ..joints.rows.vectors import Ground
from ..kernels.state import derive
from ..mechanisms.model.model import extent
from ..mechanisms.model.range_of_validity import warn_of_range
from ..mechanisms.model.state import configuration
from ..mechanisms.model.time_table import Anchors, TimeTable, law_products, law_values, laws, table_of
from ..numerics.arguments import warn
from ..numerics.arrays import Array
from ..systems.nonlinear import ValidityWarning

if TYPE_CHECKING:
    from ..mechanisms.mechanism import Mechanism
    from .solution import Solution

HANGS = 0.1
"""Depth of a centre of mass below a plane, relative to its distance from the touching port, at which a body hangs."""
UNBALANCED = 1e-9
"""Balance residual, relative to the energy, above which a run warns, far above round-off."""
RESTING = 1e-9
"""Travel at the largest speed, relative to the size of the mechanism, up to which a run counts as at rest."""
LONG_TURN = 1.0
"""Turn of a body in a (sub)step [rad] above which a run warns: the phase of ``exact`` is then off by 8 %."""
UNBOUNCED, SMALL = 0.1, 1e-3
"""Shares above which a run warns that contacts closed without restitution: of the energy taken by contacts with
restitution, and of all energies; the tail of decaying bounces stays below."""
UNMET = 1e-8
"""Defect of the laws of rigid contacts above which a run warns: ten times the tolerance of a step."""
SAMPLES = 50
HELD = 0.9
"""s² + c² of a driven angle below which its axis is not held: a tilt of 0.3 rad, as flexible sections may have."""
ELSEWHERE = 0.02
"""Travel relative to the size of the mechanism, or turn [rad], above which a run from rest has moved."""
JUMP = 0.1
"""Velocity defect, relative to the largest speed, above which a run warns: a resolved motion has the square of hω."""

LOOKED_AT = 20
"""Number of steps of a run whose drives are checked."""


def warn_of_doubts(solution: Solution, h: float) -> None:
    """Warn (ValidityWarning) of all signs that results of a run are doubtful; h is its longest step [s]."""
    warn_of_range(solution.mechanism, solution.times, solution.states)
    for doubt in (
        *_defects(solution),
        *_long_steps(solution, h),
        *_axes(solution),
        *_missed_rebounds(solution),
        *_inaccurate_impacts(solution),
        *_hanging_bodies(solution),
    ):
        warn(doubt, ValidityWarning)


def moves_from_rest(solution: Solution) -> bool:
    """True if a run starts at rest and ends elsewhere: its first state has no speed from which to choose steps."""
    layout, (first, last) = solution.mechanism.layout, solution.states[[0, -1]]
    if first[layout.parts_of_motion].any():
        return False
    c = configuration(solution.mechanism, first)
    centres, entries, _ = layout.position_sizes
    travel = np.abs(last - first)[: centres + entries]
    travel[:centres] /= extent(solution.mechanism, c.r, c.R)
    return bool(travel.max(initial=0.0) > ELSEWHERE)


def _long_steps(solution: Solution, h: float) -> list[str]:
    """Warning about a body that turns so far in a step that its phase is inaccurate, though energy is conserved.

    h is the longest step [s]. For a vibration of frequency ω, a step of ``Exact`` changes the phase by 2 atan(½ωh), a
    step of ``Exact4`` consists of six such steps of which h is the longest, and a step of ``ExactGauss`` has the phase
    of the Padé approximation (3, 3) of the exponential.
    """
    every = solution.states[:, solution.mechanism.layout.spins]
    if h * max(every.max(initial=0.0), -every.min(initial=0.0)) <= LONG_TURN:
        return []
    spins = {n: np.abs(solution[f"{n}.spin"]).max() for n, b in solution.mechanism.bodies.items() if b.frames[0].turns}
    name = max(spins, key=lambda n: spins[n], default=None)
    if name is None or h * spins[name] <= LONG_TURN:
        return []
    return [
        f"{name!r} turns by up to {h * spins[name]:.2g} rad in a step of {h:.3g} s: energy and constraints are "
        "kept, but the phase is not accurate: it is off by (ωh)²/12, with Exact4() by (ωh)⁴/127, with "
        "ExactGauss() by (ωh)⁶/100800; use shorter steps"
    ]


def _missed_rebounds(solution: Solution) -> list[str]:
    """Warning about contacts with restitution that closed without a rebound, as steps were too long for them."""
    ledger, names = solution.ledger, solution.mechanism.once(_contacts_with_restitution)
    if not names:
        return []
    taken = {
        kind: np.array([float(ledger.dissipation[f"{name}: {kind}"].sum()) for name in names])
        for kind in ("impact", "arrival", "settling")
    }
    without = taken["arrival"] + taken["settling"]
    lost, struck = float(without.sum()), float(taken["impact"].sum())
    if lost <= max(UNBOUNCED * (lost + max(struck, 0.0)), SMALL * ledger.scale):
        return []
    return [
        f"contacts with restitution, above all {names[int(np.argmax(without))]!r}, closed inelastically and dissipated "
        f"{lost:.3g} J, their impacts {struck:.3g} J: bounces are too short or too many for the steps; "
        "use shorter steps"
    ]


def _contacts_with_restitution(mechanism: Mechanism) -> list[str]:
    """Names of the contacts with restitution."""
    laws = mechanism.network.arrays.contacts.laws
    touching = [c.name for c in mechanism.connections if c.touches]
    return [touching[owner] for owner in np.unique(laws.owner[laws.restitution > 0.0])]


def _inaccurate_impacts(solution: Solution) -> list[str]:
    """Warning about laws of rigid contacts that were solved inaccurately, as in impacts of many contacts."""
    missed = solution.ledger.complementarity_residual
    worst = int(np.argmax(missed)) if len(missed) else -1
    if worst < 0 or missed[worst] <= UNMET:
        return []
    return [
        f"the laws of rigid contacts have a residual of {missed[worst]:.1g} of the contact velocities in a step up to "
        f"t = {solution.times[worst + 1]:.6g} s (ledger.complementarity_residual): an impact of many contacts, or the "
        "end of a step, did not converge further; use shorter steps, less friction, or a compliant law"
    ]


class _Foot(NamedTuple):
    """Port of a rigid body that touches a plane, and its distance ``reach`` [m] from the centre of mass."""

    contact: str
    body: str
    normal: Array
    ground: Array
    reach: float


def _contact_ports(mechanism: Mechanism) -> list[_Foot]:
    """Ports of rigid bodies, other than at centres of mass, that are in contact with planes."""
    feet = []
    for connection in mechanism.connections:
        for gap in connection.form.gaps if connection.touches else ():
            point, ground = gap.sides or (None, None)
            if gap.kind != "offset" or not isinstance(ground, Ground) or isinstance(point, Ground):
                continue
            name, (_, port) = str(point).partition(".")[0], find_port(str(point), mechanism.bodies)
            if len(mechanism.bodies[name].frames) > 1:
                continue
            reach = float(np.linalg.norm(port.position - mechanism.bodies[name].centre))
            normal, place = np.array(gap.vectors[1].fixed), np.array(ground.position)
            feet += [_Foot(connection.name, name, normal, place, reach)] if reach > 0.0 else []
    return feet


def _hanging_bodies(solution: Solution) -> list[str]:
    """Warning about bodies that fall through the ground, because only their ports, not their corners, touch it."""
    for foot in solution.mechanism.once(_contact_ports):
        height = (solution[f"{foot.body}.centre"] - foot.ground) @ foot.normal
        if height[0] > 0.0 and -height.min() > HANGS * foot.reach:
            since = solution.times[np.argmax(height < 0.0)]
            return [
                f"the centre of mass of {foot.body!r} comes below the plane of {foot.contact!r} from t = "
                f"{since:.4g} s on, by up to {-height.min():.3g} m, as only its ports touch it: give contacts to "
                "the ports of all its corners"
            ]
    return []


def _axes(solution: Solution) -> list[str]:
    """Warning about a driven angle in space whose axis no joint fixes.

    A tilt of the axis is detected by s² + c² < 1, where s and c are the sine and cosine evaluated as products of
    vectors of both bodies.
    """
    m = solution.mechanism
    angles = m.once(_driven_angles)
    if not angles:
        return []
    pairs = np.array([law_products(m)[i] for i in angles])
    pick = np.unique(np.linspace(0, len(solution.states) - 1, SAMPLES).round().astype(int))
    products = [derive(m.network.arrays, configuration(m, x)).product[pairs] for x in solution.states[pick]]
    short = (np.array(products) ** 2).sum(axis=2).min(axis=0)
    worst = int(np.argmin(short))
    if short[worst] >= HELD:
        return []
    tilt = np.arccos(np.sqrt(max(short[worst], 0.0)))
    return [
        f"{m.constraint_names[angles[worst]]}: no joint holds its axis, which tilted by up to {tilt:.2g} rad: the "
        "angle has no meaning there; add a revolute joint"
    ]


def _driven_angles(m: Mechanism) -> list[int]:
    """Indices of the laws of a mechanism that drive angles in space; none in the plane, where axes are fixed."""
    return [] if m.layout.dim == 2 else [i for i, law in enumerate(laws(m)) if isinstance(law, Angle)]


def _defects(solution: Solution) -> list[str]:
    """Warnings about a large energy residual, and about velocities that leave the constraints at the ends of steps."""
    ledger, motion = solution.ledger, solution.states[:, solution.mechanism.layout.parts_of_motion]
    missed = float(ledger.residual.max(initial=0.0))
    balanced = missed <= UNBALANCED * ledger.exchanged  # part of the scale, as is what is stored at the end
    balanced = balanced or missed <= UNBALANCED * sum(abs(float(energy[-1])) for energy in ledger.energy.values())
    balanced = balanced or ledger.largest_residual <= UNBALANCED
    jump = float(ledger.velocity_residual.max(initial=0.0))
    if balanced and jump <= JUMP * np.abs(motion[-SAMPLES:]).max(initial=0.0):  # the last states suffice for long runs
        return []
    speed = float(max(motion.max(initial=0.0), -motion.min(initial=0.0)))
    c = configuration(solution.mechanism, solution.states[0])
    if speed * (solution.times[-1] - solution.times[0]) <= RESTING * extent(solution.mechanism, c.r, c.R):
        return []
    doubts = []
    if not balanced:
        worst = int(np.argmax(ledger.relative_residual))
        doubts.append(
            f"the energy balance is off by {ledger.residual[worst]:.2g} J, {ledger.largest_residual:.0e} of the "
            f"energies, in a step up to t = {solution.times[worst + 1]:.6g} s: its iteration ended above round-off; "
            "use shorter steps"
        )
    if jump > JUMP * speed:
        cause = "a drive changes its rate abruptly, or steps are too long; smooth the drive or use shorter steps"
        if not any(c.is_driven for c in solution.mechanism.connections):
            cause = "steps are too long, or forces change abruptly; use shorter steps"
        doubts.append(
            f"velocities leave the constraints by up to {jump:.2g} at the ends of steps, of speeds up to {speed:.2g}: "
            f"{cause}"
        )
    return doubts


def long_drive_warning(
    mechanism: Mechanism, table: TimeTable, span: tuple[float, float], *, solved: bool = False
) -> str:
    """Text on a drive that moves too far in a step ``span``, with a step size that suffices; empty if there is none.

    A step only evaluates sine and cosine of an angle: more than half a turn cannot be distinguished from less in the
    other direction, and with more than a quarter the iteration may fail. For a step that was ``solved`` the limit of
    angles is therefore half a turn, that of driven rotations in space a quarter; displacements are unlimited.
    """
    try:
        before, after = (table.values(t) for t in span)
    except ValueError:
        return ""
    for k, (law, value) in enumerate(zip(laws(mechanism), law_values(mechanism), strict=True)):
        moved, most, unit = _moved(mechanism, law, before[value], after[value], solved=solved)
        if callable(law.value) and moved > most and not (solved and unit == "m"):
            name, moves = mechanism.constraint_names[k], "turns" if unit == "rad" else "moves"
            return (
                f"{name} {moves} by {moved:.3g} {unit} from t = {span[0]:.6g} s to {span[1]:.6g} s, and a step follows "
                f"less than {most:.3g} {unit}: use steps shorter than {abs(span[1] - span[0]) * most / moved:.2g} s"
            )
    return ""


def long_drives(mechanism: Mechanism, anchors: Anchors, grid: Array) -> str:
    """Text of :func:`long_drive_warning` on the first drive that moves too far, for some steps of a grid."""
    table, steps = table_of(mechanism, anchors), len(grid) - 1
    if not table.varies or steps < 1:
        return ""
    some = np.unique(np.linspace(0, steps - 1, LOOKED_AT).astype(int)).tolist()
    spans = ((float(grid[k]), float(grid[k + 1])) for k in some)
    return next((warning for span in spans if (warning := long_drive_warning(mechanism, table, span, solved=True))), "")


def _moved(mechanism: Mechanism, law: Law, before: Array, after: Array, *, solved: bool) -> tuple[float, float, str]:
    """Distance that a drive moves in a step, the limit of this distance, and the unit of both ("rad" or "m").

    ``before`` and ``after`` are the values of the drive at both ends of the step; for ``solved`` see
    :func:`long_drive_warning`.
    """
    if isinstance(law, Alignment):
        cosine = 0.5 * (np.sum(before * after) - 1.0)
        return float(np.arccos(np.clip(cosine, -1.0, 1.0))), 0.5 * np.pi, "rad"
    moved = float(np.abs(after - before).max(initial=0.0))
    if isinstance(law, Angle):
        return moved, np.pi if solved else 0.5 * np.pi, "rad"
    return moved, float(mechanism.network.arrays.lengths[1]), "m"
