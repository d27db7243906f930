"""A long chain of flexible beams on elastic hinges as a linear system: assembly, elimination, frequencies, reduction.

Equal steel beams along x, the first clamped, each hinged to the tip of the one before, with a rotary spring of
stiffness EI/L in the hinge. A beam is a floating body ([flex] eq. (36)) with forces and torques at its ends as ports;
hinges tie velocities ([flex] sec. 5.1), springs are blocks of one stress each with rotation rates as inputs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import factorial, pi
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from scipy.optimize import brentq
from tqdm import tqdm

import fem
from flexph import LinearPHDAE, connect, eigenfrequencies, eliminate, force, torque
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.interconnection import clamp, couple, substructure, tie
from flexph.linear import reduce
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import vanishes

LENGTH = 1.0  # of a beam [m]
MATERIAL = fem.Material(young=2.1e11, density=7800.0)
SECTION = fem.Section(width=0.02, height=0.01)
RIGIDITY = MATERIAL.young * SECTION.second_moment  # EI [N m²]
LINE_DENSITY = MATERIAL.density * SECTION.area  # [kg/m]
STIFFNESS = RIGIDITY / LENGTH  # of a hinge [N m]
COUNT, ORDER = 10, 40
_Made = TypeVar("_Made")


def beam_block(elements: int) -> LinearPHDAE:
    """Linear system of a free flexible beam with loads at both ends as ports.

    The ports are ``root`` and ``tip`` for forces along x and y, ``root turn`` and ``tip turn`` for torques.
    """
    body = fem.beam(LENGTH, MATERIAL, SECTION, elements=elements)
    loads = [
        make(f"beam.{end}", name=end + word)
        for end in ("root", "tip")
        for make, word in ((force, ""), (torque, " turn"))
    ]
    mechanism = connect({"beam": body}, loads)
    return mechanism.linearize(mechanism.assemble({"beam": (0.0, 0.0, 0.0)}))


def spring_block() -> LinearPHDAE:
    """Linear system of a rotary spring, Ṁ/k = ω_b − ω_a, between its ports ``a`` and ``b``.

    Its inputs are the rotation rates ω, its outputs the torques.
    """
    return LinearPHDAE(
        E=np.array([[1.0 / STIFFNESS]]),
        J=np.zeros((1, 1)),
        B=np.array([[-1.0, 1.0]]),
        ports={"a": slice(0, 1), "b": slice(1, 2)},
        causality={"a": "velocity", "b": "velocity"},
        kinetic=np.array([False]),
    )


def chain(beams: int, elements: int) -> LinearPHDAE:
    """Linear system of the whole chain, with the constraints of its clamp and its hinges.

    The ports ``tip`` and ``tip turn`` of each beam have its name in front, as in ``beam 3.tip``; only those of the last
    beam are free.
    """
    beam, spring = beam_block(elements), spring_block()
    names = [f"beam {i}" for i in range(1, beams + 1)]
    blocks = dict.fromkeys(names, beam) | {f"spring {i}": spring for i in range(1, beams)}
    links: list[Any] = [clamp("beam 1.root"), clamp("beam 1.root turn")]
    for i, (before, after) in enumerate(pairwise(names), start=1):
        links += [
            tie(f"{before}.tip", f"{after}.root"),
            couple(f"{before}.tip turn", f"spring {i}.a"),
            couple(f"{after}.root turn", f"spring {i}.b"),
        ]
    return substructure(blocks, links)


@dataclass(frozen=True)
class Result:
    """Results for the chain: its sizes, lowest frequencies and reduced system.

    ``omega`` are computed and ``exact`` exact frequencies [rad/s], ``seconds`` the times of the stages.
    """

    states: int
    constraints: int
    omega: Array
    exact: Array
    reduced: LinearPHDAE
    seconds: dict[str, float]
    peak_memory_mb: float


def run(
    *,
    beams: Annotated[int, Option("beams in the chain")] = 100,
    elements: Annotated[int, Option("elements of each beam")] = 100,
) -> Result:
    """A chain of 100 beams of 100 elements: elimination, ten lowest frequencies, reduction to 40 states."""
    for name, value in (("beams", beams), ("elements", elements)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    if (6 * elements + 1) * beams - 1 <= ORDER:
        raise ValueError(f"the chain must have more than {ORDER} states to be reduced: use more beams or elements")
    seconds: dict[str, float] = {}
    with tqdm(total=4, desc="large-beam-chain", delay=1.0, disable=None) as bar:

        def timed(stage: str, work: Callable[[], _Made]) -> _Made:
            clock = time.perf_counter()
            outcome = work()
            seconds[stage] = time.perf_counter() - clock
            bar.update()
            return outcome

        whole = timed("assembly", lambda: chain(beams, elements))
        free = timed("elimination", lambda: eliminate(whole))
        omega = timed("frequencies", lambda: eigenfrequencies(free, COUNT))
        reduced = timed("reduction", lambda: reduce(free, ORDER, method="modal"))
    exact = exact_frequencies(beams, COUNT)
    return Result(whole.size, whole.G.shape[0], omega, exact, reduced, seconds, peak_memory())


def peak_memory() -> float:
    """Peak memory of this process [MB]; NaN if the system does not report it."""
    try:
        import resource
    except ImportError:  # not on Windows
        return float("nan")
    held = float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return held / (1024.0**2 if sys.platform == "darwin" else 1024.0)


def exact_frequencies(beams: int, count: int) -> Array:
    """Lowest frequencies (count,) [rad/s] of the chain of exact beams.

    In bending they are from transfer matrices, along x in closed form. The two motions that the clamp permits are
    transferred from beam to beam and made orthonormal at each, so that the growing one does not dominate. At a
    frequency, bending moment and shear force of a combination of both vanish at the free end.
    """
    frequencies: list[float] = []
    time_unit = LENGTH**2 * np.sqrt(LINE_DENSITY / RIGIDITY)
    step, low = 0.05 / beams, 0.0  # the waves βL of neighbours are about π/beams apart
    while len(frequencies) < count:
        beta = low + step * np.arange(1, 401)
        values = _end_loads(beta, beams)
        for k in np.flatnonzero(values[1:] * values[:-1] < 0.0):
            root = brentq(lambda b: _end_loads(np.array([b]), beams)[0], beta[k], beta[k + 1], xtol=1e-15, rtol=1e-14)
            frequencies.append(float(root) ** 2 / time_unit)
        low = beta[-1] - step  # chunks overlap
    along = (np.arange(1, count + 1) - 0.5) * pi / (beams * LENGTH) * np.sqrt(MATERIAL.young / MATERIAL.density)
    return np.sort(np.unique(np.concatenate([frequencies, along])))[:count]


def _end_loads(beta: Array, beams: int) -> Array:
    """Determinant (k,) of bending moments and shear forces at the free end, for wave numbers βL (k,).

    Its columns are for the two motions that the clamp permits, made orthonormal from beam to beam. At a frequency of
    the chain it is zero.
    """
    quartic = beta**4
    pieces = max(1, 16 // beams)  # of each beam: the series of a piece converges if it holds less than a wave
    wave = [sum(quartic**j / (factorial(4 * j + k) * pieces ** (4 * j + k)) for j in range(9)) for k in range(4)]
    place = [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]  # of (w, w', M, V) without units
    factor = [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]  # powers of β⁴
    beam = np.stack(
        [np.stack([wave[place[i][j]] * quartic ** factor[i][j] for j in range(4)], -1) for i in range(4)], -2
    )
    hinge = np.eye(4)
    hinge[1, 2] = RIGIDITY / (STIFFNESS * LENGTH)  # the spring turns by M/k
    motions = np.broadcast_to(np.eye(4)[:, 2:], (beta.size, 4, 2))
    sign = np.ones(beta.size)
    for i in range(beams * pieces):
        motions, r = np.linalg.qr(beam @ (hinge @ motions if i and i % pieces == 0 else motions))
        sign *= np.sign(r[:, 0, 0] * r[:, 1, 1])
    return sign * np.linalg.det(motions[:, 2:])


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: sizes of the systems, times of the stages, peak memory, frequencies."""
    again = eigenfrequencies(result.reduced, COUNT)
    return {
        "states": result.states,
        "constraints": result.constraints,
        **{f"{stage}_s": value for stage, value in result.seconds.items()},
        "peak_memory_mb": result.peak_memory_mb,
        "omega": result.omega.tolist(),
        "omega_exact_deviation": float(np.abs(result.omega / result.exact - 1.0).max()),
        "reduced_states": result.reduced.size,
        "omega_reduced_deviation": float(np.abs(again / result.omega - 1.0).max()),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table and picture of the frequencies; return the summary numbers."""
    reduced = eigenfrequencies(result.reduced, COUNT)
    columns = {"omega_rad_s": result.omega, "exact_rad_s": result.exact, "reduced_rad_s": reduced}
    write_table(folder / "frequencies.csv", columns)
    draw_frequencies(result, reduced, folder / "frequencies.png")
    return figures(result)


def draw_frequencies(result: Result, reduced: Array, path: Path) -> None:
    """Draw the lowest frequencies of the chain, their deviations from exact beams, and the time of each stage."""
    figure = new_figure(11.0, 4.0)
    above, apart, stages = figure.subplots(1, 3, width_ratios=(3, 3, 2))
    number = np.arange(1, COUNT + 1)
    above.semilogy(number, result.exact, "o", color="0.7", markersize=9, label="exact beams")
    above.semilogy(number, result.omega, "C0.", label=f"{result.states} states")
    above.semilogy(number, reduced, "C1+", markersize=9, label=f"{result.reduced.size} states")
    above.set_ylabel("frequency [rad/s]")
    least = np.finfo(float).eps
    for values, other, style, label in (
        (result.omega, result.exact, "C0.-", "whole chain from exact beams"),
        (reduced, result.omega, "C1+-", "reduced from whole chain"),
    ):
        apart.semilogy(number, np.maximum(np.abs(values / other - 1.0), least), style, linewidth=0.8, label=label)
    apart.set_ylabel("relative difference")
    for axes in (above, apart):
        legend_above(axes, 1)
        axes.set(xlabel="mode", xticks=number)
        axes.grid(alpha=0.3)
    stages.barh(list(result.seconds), list(result.seconds.values()))
    stages.set(xlabel="time on this machine [s]")
    stages.invert_yaxis()
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: frequencies of a chain of 10 beams against exact beams, and those of the reduced system against them."""
    result = run(beams=10, elements=20)
    for k, (computed, exact) in enumerate(zip(result.omega, result.exact, strict=True), start=1):
        # cubic elements are too stiff by (βh)⁴/1440 at βh = 0.16
        yield Check(
            f"ω{k} [rad/s]",
            "transfer matrices of exact beams",
            float(exact),
            float(computed),
            kind="closed form",
            tolerance=1e-6,
        )
    again = figures(result)["omega_reduced_deviation"]
    yield vanishes("reduced ω over full ω − 1", again, 1e-8)


case = Case(run, write, checks, needs=("matplotlib",))
