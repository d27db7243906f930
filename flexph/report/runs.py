"""Report sections of a run: model, steps, energy, motions, forces, stresses, and the 3-D view."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..bodies.nodal_body import AnyBody
from ..bodies.stresses import times_to_look_at
from ..linear.elimination import explain_redundant, null_space
from ..mechanisms.model.constraints import constraint_rates
from ..mechanisms.model.state import configuration
from ..mechanisms.model.time_table import table_of
from ..plot.panels import PREFIXES, Curve, Panel, largest_of, prefix_of
from ..plot.stress_extremes import StressExtremes, reported_quantities, stress_extremes
from ..plot.time_histories import ledger_panels, motion_panels
from ..results.result import Result
from ..results.solution import Solution
from ..scenes.of_results import run_scene
from ..scenes.scene import Scene
from ..view.html import html_fragment
from .page import Block, Chart, Section, Table, Text, View
from .summaries import LargestForce, controllers_of, rubbing_of, summary_of

JOINTS, BODIES = 12, 12
"""Numbers of joints whose forces, and of bodies whose stresses are reported."""
INSTANTS = 20_000
"""Largest product of the numbers of instants, joints and bodies for which forces are computed."""
WHERE = (
    "The largest stress of a cell is over all points at which its stresses are computed, of beams and rods over both "
    "ends of a drawn piece; all else is that in the middle of a drawn cell, or at an end of a beam or cable."
)
SURFACE = 100_000
"""Largest number of triangles of a 3-D view in the page."""


def sections_of(run: Result, name: str = "", *, view: bool = True) -> list[Section]:
    """Report sections of a run, whose headings start with ``name``.

    ``view``: False to leave out the 3-D view.
    """
    prefix = f"{name}: " if name else ""
    charts = [Section("Energy", [Chart(ledger_panels(run))], level=3)]
    if len(run.times) > 1:
        title = "Motion" if isinstance(run, Solution) else "States"
        charts.append(Section(title, [Chart(motion_panels(run))], level=3))
    steps = Section("Run", _steps(run), level=3, folded=True)
    if not isinstance(run, Solution):
        return [Section(f"{prefix}{repr(run)[1:-1]}", [Text(summary_of(run))]), *charts, steps]
    extremes = _extremes(run)
    forces = _forces(run)
    sections = [
        Section("3-D view", _view(run, name) if view else [], level=3),
        *charts,
        Section("Controllers", controllers_of(run), level=3),
        Section("Forces of joints", forces, level=3),
        Section("Dry friction of joints", rubbing_of(run), level=3),
        Section("Stresses", _stresses(run, extremes), level=3),
        Section("Model", _model(run), level=3, folded=True),
        steps,
    ]
    summary = Text(summary_of(run, _largest_forces(forces), extremes))
    return [Section(f"{prefix}{repr(run)[1:-1]}", [summary]), *(section for section in sections if section.blocks)]


def _largest_forces(blocks: list[Block]) -> list[LargestForce]:
    """Largest force of each joint, read from the table among the report blocks on forces."""
    rows = next((block.rows for block in blocks if isinstance(block, Table)), ())
    return [LargestForce(row[0], row[2], row[3]) for row in rows if row[2]]


def _model(run: Solution) -> list[Block]:
    mechanism = run.mechanism
    bodies = Table(
        ("body", "mass [kg]", "kind", "ports"),
        [
            (
                name,
                float(body.mass),
                f"flexible: {body.size} coordinates, {body.stress_size} stresses" if body.size else "rigid",
                ", ".join([*body.ports, *body.loads]),
            )
            for name, body in mechanism.bodies.items()
        ],
    )
    connections = Table(
        ("connection", "constraints"),
        [
            (c.name, ", ".join([*(r.name for r in c.rows), *["external port"] * bool(c.input)]) or "force element")
            for c in mechanism.connections
        ],
    )
    x, table = run.states[0], table_of(mechanism, run.anchors)
    rows, velocities = mechanism.layout.multipliers, mechanism.layout.velocities
    G = constraint_rates(mechanism, configuration(mechanism, x), table, float(run.times[0]))[0]
    redundant = null_space(G, mechanism.constraint_names)[1] if rows else []
    gravity = ", ".join(f"{g:g}" for g in mechanism.gravity)
    freedoms = (
        f"{velocities - rows + len(redundant)} freedoms: {velocities} velocities under {rows} constraints, "
        f"{len(redundant)} of them redundant; gravity ({gravity}) m/s²."
    )
    doubts = [Text(explain_redundant(names), "warning") for names in redundant[:BODIES]]
    return [Text(freedoms), *doubts, bodies, connections]


def _view(run: Solution, name: str) -> list[Block]:
    """3-D view of a run, or a text with the reason if there is none."""
    if all(body.view is None for body in run.mechanism.bodies.values()):
        return [Text("No body has a view.")]
    return [scene_view(run.once(run_scene), name or "motion")]


def scene_view(scene: Scene, title: str = "") -> Block:
    """3-D view of a scene, or a text with the reason why it is left out."""
    cells = sum(len(part.cells) for part in scene.parts)
    if cells > SURFACE:
        return Text(f"The 3-D view of {cells} triangles is left out: more than {SURFACE} make a page slow.")
    return View(html_fragment(scene, frames=len(scene.times), library=False, title=title))


def _steps(run: Result) -> list[Block]:
    account = run.ledger
    rows: list[tuple[str, object]] = [("times", f"{len(run.times)}, {run.times[0]:.6g} to {run.times[-1]:.6g} s")]
    if len(run.times) > 1:
        gaps = np.diff(run.times)
        rows.append(("between saved times", f"{gaps.min():.4g} to {gaps.max():.4g} s"))
        rows.append(("Newton iterations", int(account.iterations.sum())))
    if account.steps.size:
        rows += [("steps", int(account.steps.sum())), ("rejected steps", int(account.rejected.sum()))]
    rows += [("largest balance residual / energy", account.largest_residual), ("energy drift", run.energy_drift())]
    if account.position_residual.size:
        rows.append(("largest constraint defect [m, rad]", float(account.position_residual.max())))
    if account.complementarity_residual.size:
        rows.append(("largest complementarity defect / scale", float(account.complementarity_residual.max())))
    rows += [(f"event {name}", ", ".join(f"{t:.6g} s" for t in event.times[:8])) for name, event in run.events.items()]
    return [Table(("", ""), rows)]


def _forces(run: Solution) -> list[Block]:
    """Table of the largest forces and torques of joints and drives, and charts of them against time."""
    joints = [c.name for c in run.mechanism.connections if c.rows]
    if not joints or len(run.times) < 2:
        return []
    some = fewer_steps(run, max(200, INSTANTS // (min(len(joints), JOINTS) * len(run.mechanism.bodies))))
    rows = []
    forces: list[Curve] = []
    torques: list[Curve] = []
    for name in joints[:JOINTS]:
        reaction = some.reaction(name)
        sizes = [np.linalg.norm(values, axis=1) for values in (reaction.force, reaction.torque)]
        at = [float(reaction.times[size.argmax()]) if size.any() else "" for size in sizes]
        rows.append((name, reaction.on, float(sizes[0].max()), at[0], float(sizes[1].max()), at[1]))
        for curves, size in zip((forces, torques), sizes, strict=True):
            curves += [Curve(reaction.times, size, name)] if size.any() else []
    head = ("joint", "on", "largest force [N]", "at t [s]", "largest torque [N m]", "at t [s]")
    both = ((forces, "force", "N"), (torques, "torque", "N m"))
    panels = [Panel(largest_of(curves), quantity, unit) for curves, quantity, unit in both if curves]
    note = [Text(f"{len(joints) - JOINTS} more joints are left out.")] if len(joints) > JOINTS else []
    return [Table(head, rows), *note, *_of_fewer(run, len(some.times)), *([Chart(panels)] if panels else [])]


def fewer_steps(run: Solution, most: int) -> Solution:
    """Run with ``most`` of its saved steps, equally spaced, and its initial state.

    A run with fewer steps is returned unchanged.
    """
    steps = len(run.times) - 1
    if steps <= most:
        return run
    pick = np.unique(np.linspace(0, steps - 1, most).round().astype(int))
    states = np.concatenate([[0], pick + 1])
    return replace(
        run,
        times=run.times[states],
        states=run.states[states],
        multiplier_times=run.multiplier_times[pick],
        multipliers=run.multipliers[pick],
    )


def _extremes(run: Solution) -> list[StressExtremes]:
    """Largest stresses over time, of each stress quantity, for the first BODIES bodies that have stresses."""
    stressed = _stressed(run)
    times = times_to_look_at(run.mechanism.bodies.values(), len(run.times)) if stressed else np.zeros(0, dtype=int)
    return [
        stress_extremes(run, name, quantity, times=times)
        for name, body in list(stressed.items())[:BODIES]
        for quantity in reported_quantities(body)
    ]


def _stressed(run: Solution) -> dict[str, AnyBody]:
    return {name: body for name, body in run.mechanism.bodies.items() if reported_quantities(body)}


def _stresses(run: Solution, extremes: list[StressExtremes]) -> list[Block]:
    """Table of the largest stresses of bodies with position and time, and charts against time."""
    if not extremes:
        return []
    stressed = _stressed(run)
    head = ("body", "stress", "largest", "unit", "where in the body [m]", "at t [s]")
    rows = [
        (e.body, words_of(e.quantity), *prefixed(e), ", ".join(f"{x:.4g}" for x in e.places[e.worst]), e.time)
        for e in extremes
    ]
    units = dict.fromkeys(e.unit for e in extremes)
    curves = {
        u: [Curve(e.times, e.largest, f"{e.body}, {words_of(e.quantity)}") for e in extremes if e.unit == u]
        for u in units
    }
    panels = [Panel(largest_of(own_curves), "largest", unit) for unit, own_curves in curves.items()]
    charts = [Chart(panels)] if len(run.times) > 1 else []
    left = [Text(WHERE)]
    left += [Text(f"{len(stressed) - BODIES} more bodies are left out.")] if len(stressed) > BODIES else []
    return [Table(head, rows), *left, *_of_fewer(run, min(len(e.times) for e in extremes)), *charts]


def prefixed(extremes: StressExtremes) -> tuple[float, str]:
    """Largest stress over the run as a number, and its unit with a prefix, such as MPa, that makes the number short."""
    prefix = prefix_of([extremes.largest], extremes.unit)
    return float(extremes.largest.max()) / PREFIXES[prefix], prefix + extremes.unit


def words_of(quantity: str) -> str:
    """Name of a stress quantity with spaces between its words."""
    return quantity.replace("_", " ")


def _of_fewer(run: Result, count: int) -> list[Block]:
    if count >= len(run.times):
        return []
    return [Text(f"Looked at {count} of the {len(run.times)} saved times, evenly spread.")]
