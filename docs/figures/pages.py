"""Draw the pictures of the guides from the programs of their pages: ``python docs/figures/pages.py [NAME …]``.

Each function draws one picture from the names of its page. Run it again after a change of a page.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from scipy.special import mathieu_a, mathieu_b

from flexph.methods import Decaying, Exact, Exact4, ExactGauss

DOCS = Path(__file__).parents[1]
STYLE = {
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
}
Names = dict[str, Any]
PICTURES: dict[str, tuple[str, Callable[[Names], None]]] = {}


def picture(name: str, page: str) -> Callable[[Callable[[Names], None]], Callable[[Names], None]]:
    """Register a function that draws the picture NAME.png of a page."""

    def register(draw: Callable[[Names], None]) -> Callable[[Names], None]:
        PICTURES[name] = (page, draw)
        return draw

    return register


def run(page: str) -> Names:
    """Run the programs of a page in a temporary folder and return their names."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    names: Names = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            for block in re.findall(r"^```python\n(.*?)^```", text, re.S | re.M):
                exec(compile(block, page, "exec"), names)
    return names


def axes(count: int = 1, height: float = 2.6) -> list[Axes]:
    """Axes side by side, of one width together."""
    _, grid = plt.subplots(1, count, figsize=(7.2, height), squeeze=False, layout="constrained")
    return list(grid[0])


def legend_above(own: Axes, columns: int) -> None:
    """Legend above the axes, where it lies over no curve."""
    own.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, columnspacing=1.0, handlelength=1.4)


@picture("contact-laws", "guide/contact")
def contact_laws(names: Names) -> None:
    """Heights over three floors."""
    times = np.linspace(0.0, 0.3, 1201)
    laws = {"Rigid, e = 0.5": names["Rigid"](restitution=0.5), "Hertz, loss 1 s/m": names["Hertz"](1e7, loss=1.0)}
    (left,) = axes()
    for label, law in (laws | {"Hertz, no loss": names["Hertz"](1e7)}).items():
        left.plot(times, 1e3 * (names["fall"](law, times)["ball.centre"][:, 1] - 0.1), label=label)
    left.set(xlabel="t [s]", ylabel="height over the floor [mm]")
    legend_above(left, 3)


@picture("control-servo", "guide/control")
def servo(names: Names) -> None:
    """Angle, reference and power of the reference."""
    mechanism, start = names["mechanism"], names["start"]
    turned = names["integrate"](mechanism, start, np.linspace(0.0, 6.0, 601))
    left, right = axes(2)
    left.plot(turned.times, 0.5 * np.sin(turned.times), "k--", label="reference")
    left.plot(turned.times, turned.measured(names["joint_angle"]("arm.root")), label="arm")
    left.set(xlabel="t [s]", ylabel="angle [rad]")
    legend_above(left, 2)
    ledger = turned.ledger
    right.plot(turned.times[1:], np.cumsum(ledger.work["servo"]), label="work of reference")
    right.plot(turned.times[1:], np.cumsum(sum(ledger.dissipation.values())), label="dissipated")
    right.plot(turned.times, ledger.total_energy - ledger.total_energy[0], label="stored")
    right.set(xlabel="t [s]", ylabel="energy [J]")
    legend_above(right, 3)


@picture("time-integration-error", "guide/time-integration")
def error_over_time(names: Names) -> None:
    """Error of the state over the steps and over the time of the run."""
    four_bar, start, integrate = names["four_bar"], names["start"], names["integrate"]
    fine = integrate(four_bar, start, np.linspace(0.0, 0.6, 481), method=ExactGauss()).states[-1]
    methods = {"Exact()": (Exact(), (75, 150, 300, 600, 1200, 2400)), "Exact4()": (Exact4(), (20, 40, 60, 120, 240)),
               "ExactGauss()": (ExactGauss(), (15, 20, 30, 60, 120))}  # fmt: skip
    left, right = axes(2)
    for label, (method, counts) in methods.items():
        errors, seconds = [], []
        for count in counts:
            times = np.linspace(0.0, 0.6, count + 1)
            took = []
            for _ in range(5):
                begin = names["time"].process_time()
                states = integrate(four_bar, start, times, method=method).states
                took.append(names["time"].process_time() - begin)
            errors.append(np.abs(states[-1] - fine).max())
            seconds.append(min(took))
        left.loglog(counts, errors, ".-", label=label)
        right.loglog(1e3 * np.array(seconds), errors, ".-", label=label)
    left.set(xlabel="steps", ylabel="largest error of the state")
    right.set(xlabel="process time of the run [ms]", xlim=(1.0, 30.0), xticks=(1.0, 3.0, 10.0, 30.0))
    right.xaxis.set_major_formatter("{x:.0f}")
    right.minorticks_off()
    left.legend(loc="lower right", fontsize=8)
    left.set_xlim(10, 2e4)


@picture("time-integration-decaying", "guide/time-integration")
def ringing(names: Names) -> None:
    """Joint force with and without the axial vibration."""
    left, right = axes(2)
    for panel, method in ((left, Exact()), (right, Decaying(0.5))):
        result = names["integrate"](names["crank_slider"], names["undeformed"], names["times"], method=method)
        panel.plot(1e3 * result.multiplier_times, result["hinge rod.tip–slider.point: x"] / 1e3)
        panel.set(xlabel="t [ms]", title=repr(method).split("(")[0] + ("(0.5)" if method != Exact() else "()"))
    low, high = left.get_ylim()
    right.set_ylim(low, high)
    left.set(ylabel="force of the hinge at the slider [kN]")


@picture("spatial-crane", "guide/spatial")
def crane(names: Names) -> None:
    """The mechanism in its first and last pose, and the torques of its drives."""
    arm, pose = names["arm"], names["pose"]
    start = arm.consistent_state(pose, joints="at rest")
    solution = names["integrate"](arm, start, np.linspace(0.0, 4.0, 2001))
    figure = plt.figure(figsize=(7.2, 3.0), layout="constrained")
    left, right = figure.add_subplot(121, projection="3d"), figure.add_subplot(122)
    for k, style in ((0, "0.6"), (-1, "C0")):
        root, tip = solution.position("boom.root")[k], solution.position("boom.tip")[k]
        base, load = solution.position("hub.root")[k], solution["load.centre"][k]
        left.plot(*np.array([base, root, tip, load]).T, "o-", color=style, markersize=3)
    left.plot(*solution.position("boom.tip").T, ":", color="C1", label="path of the tip")
    left.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", zlim=(0.4, 2.4))
    left.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(1, 2))
    left.set_box_aspect((2.6, 2.6, 2.0), zoom=0.9)
    left.legend(loc="upper left", bbox_to_anchor=(-0.1, 1.05))
    slew = solution.reaction("drive hub.root–GROUND", frame="first").torque[:, 0]
    luff = solution.reaction("drive boom.root–hub.tip", frame="first").torque[:, 1]
    right.plot(solution.multiplier_times, slew, label="slewing drive")
    right.plot(solution.multiplier_times, luff, label="luffing drive")
    right.set(xlabel="t [s]", ylabel="torque [N m]", ylim=(None, 70.0))
    right.legend(loc="upper right", ncols=2, fontsize=8)


@picture("model-file-pendulum", "guide/model-files")
def pendulum_of_a_file(names: Names) -> None:
    """The push and the deflection."""
    result = names["run"].solution
    (left,) = axes()
    left.plot(result.times, 1e3 * result.displacement("arm.tip")[:, 1])
    left.axvspan(0.0, 0.1, color="C1", alpha=0.15, lw=0, label="push 0.5 N")
    left.legend(loc="upper right")
    left.set(xlabel="t [s]", ylabel="deflection of the tip [mm]")


@picture("solid-door", "guide/solids")
def door(names: Names) -> None:
    """Peaks of stress over time, and over the cells."""
    run_, peaks = names["run"], names["peaks"]
    left, right = axes(2)
    left.plot(run_.times, peaks.max(axis=1) / 1e6)
    left.set(xlabel="t [s]", ylabel="largest von Mises stress [MPa]")
    body = names["small"].view
    at = np.asarray(body.tensors["stress"].positions).reshape(peaks.shape[1], -1, 3).mean(axis=1)
    right.plot(at[:, 0], peaks.max(axis=0) / 1e6, ".")
    right.set(xlabel="x of the cell [m]", ylabel="its peak over the run [MPa]")


@picture("dirac-pendulum", "guide/dirac-structures")
def dirac_pendulum(names: Names) -> None:
    """Angle by canonical coordinates and by a multiplier."""
    integrate, times = names["integrate"], np.linspace(0.0, 3.0, 151)
    swinging, other = names["swinging"], names["other"]
    one = integrate(swinging, swinging.sample, times)
    same = integrate(other, names["consistent"](other, other.sample), times)
    left, right = axes(2)
    left.plot(*same["q"].T)
    left.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="path with a multiplier", ylim=(-1.7, 0.1))
    right.plot(times, same["q"][:, 0], label="x with a multiplier")
    right.plot(times, one["q"][:, 0], "k:", label="q of canonical coordinates")
    right.set(xlabel="t [s]", ylabel="[m]", ylim=(-0.7, 1.1))
    right.legend(loc="upper right")


@picture("discrete-gradient-balance", "guide/discrete-gradients")
def balance(names: Names) -> None:
    """Energy and its balance."""
    charged = names["charged"]
    books = charged.ledger
    left, right = axes(2)
    left.plot(charged.times, books.total_energy, label="stored")
    left.plot(charged.times[1:], np.cumsum(books.work["source"]), label="work of source")
    left.plot(charged.times[1:], np.cumsum(books.total_dissipation), label="dissipated")
    left.set(xlabel="t [s]", ylabel="energy [J]")
    legend_above(left, 3)
    right.plot(charged.times[1:], np.abs(books.residual), ".")
    right.set(xlabel="t [s]", ylabel="residual of the balance of a step [J]")
    right.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))


@picture("reduced-rod", "guide/reduced-bodies")
def reduced_rod(names: Names) -> None:
    """Shortening of the full and of the reduced rod, and their difference."""
    runs = {}
    for label, body in (("full, 48 coordinates", names["rod"]), ("reduced, 6 coordinates", names["few"])):
        body = names["connect"]({"rod": body}, [names["hinge"]("rod.root", names["GROUND"])], gravity=(0.0, -9.81))
        start = body.consistent_state(body.assemble({"rod": 0.0}))
        runs[label] = names["integrate"](body, start, np.linspace(0.0, 1.0, 2001))
    shapes = {label: 1e3 * result.displacement("rod.tip")[:, 0] for label, result in runs.items()}
    left, right = axes(2)
    for (label, value), style in zip(shapes.items(), ("-", "k:"), strict=True):
        left.plot(runs[label].times, value, style, label=label)
    left.set(xlabel="t [s]", ylabel="axial displacement of the tip [mm]", ylim=(None, 0.035))
    left.legend(loc="upper left")
    full, small = shapes.values()
    right.plot(next(iter(runs.values())).times, 1e3 * (small - full))
    right.set(xlabel="t [s]", ylabel="difference [µm]")


@picture("rod-rolled", "guide/rods")
def rolled(names: Names) -> None:
    """Shapes of the cantilever under a moment at its tip."""
    cantilever, pose = names["cantilever"], names["pose"]
    (left,) = axes(height=3.0)
    for share in (0.25, 0.5, 0.75, 1.0):
        moment = 2.0 * np.pi * names["bending"] * share
        bent = cantilever.equilibrium(pose, inputs={"moment": [0.0, 0.0, moment]})
        x, y, _ = bent.x[cantilever.layout.parts["strip.centre"]].reshape(-1, 3).T
        left.plot(x, y, ".-", label=f"{share:.2g} of 2πEI/L")
    left.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", xlim=(-0.3, 1.6))
    left.legend(loc="upper right")


@picture("friction-block", "guide/friction")
def friction_block(names: Names) -> None:
    """Velocity of a block, and losses."""
    block = names["solution"]
    left, right = axes(2)
    left.plot(block.times, block["block.velocity"][:, 0])
    left.set(xlabel="t [s]", ylabel="velocity [m/s]")
    for name, lost in block.ledger.dissipation.items():
        right.plot(block.times[1:], np.cumsum(lost), label=name.partition(" ")[0])
    right.set(xlabel="t [s]", ylabel="dissipated [J]")
    right.legend()


@picture("circuit-boost", "guide/circuits")
def boost(names: Names) -> None:
    """Output voltage and current of the inductor."""
    times, voltages, currents = names["run"].times, names["voltages"], names["currents"]
    left, right = axes(2)
    left.plot(1e3 * times, voltages["C"])
    left.set(xlabel="t [ms]", ylabel="voltage of C [V]")
    right.plot(1e3 * times, currents["L"])
    right.set(xlabel="t [ms]", ylabel="current of L [A]")


@picture("switching-ball", "guide/switching")
def switching_ball(names: Names) -> None:
    """Height and energy of the ball."""
    ball = names["run"]
    left, right = axes(2)
    left.plot(ball.times, ball["height"][:, 0])
    for switch in ball.switches:
        left.axvline(switch.time, color="0.7", lw=0.8, zorder=0)
    left.set(xlabel="t [s]", ylabel="height [m]")
    right.plot(ball.times, ball.ledger.total_energy)
    right.set(xlabel="t [s]", ylabel="energy [J]", ylim=(0.0, None))


@picture("study-blades", "guide/studies")
def blades(names: Names) -> None:
    """Frequencies of a study over its parameters."""
    results = names["study"](names["figures"], {"thickness": np.linspace(1e-3, 3e-3, 5), "elements": [2, 4]}, jobs=1)
    (left,) = axes()
    for count, mark in ((2, "o"), (4, "x")):
        left.plot(1e3 * results["thickness"], results["first"].sel(elements=count), mark, label=f"{count} elements")
    thickness = np.linspace(1e-3, 3e-3)
    closed = 1.8751**2 * np.sqrt(70e9 * thickness**2 / 12.0 / 2700.0) / 0.3**2 / (2.0 * np.pi)
    left.plot(1e3 * thickness, closed, "0.6", label="closed form", zorder=0)
    left.set(xlabel="thickness [mm]", ylabel="first frequency [Hz]")
    left.legend()


@picture("refined-meshes", "how-to/refined-meshes")
def refined_meshes(names: Names) -> None:
    """The last mesh, and estimated errors over unknowns."""
    view, rounds = names["bracket"].view, names["rounds"]
    left, right = axes(2)
    left.triplot(view.points[:, 0], view.points[:, 1], view.cells[:, :3], linewidth=0.5, color="0.3")
    left.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    left.grid(visible=False)
    unknowns = [r.unknowns for r in rounds]
    for k, name in enumerate(rounds[-1].names):
        right.loglog(unknowns, [100.0 * r.errors[k] for r in rounds], "o-", markersize=3, label=name)
    right.set(xlabel="unknowns", ylabel="estimated error [%]")
    legend_above(right, 2)


@picture("periodic-motions-chart", "how-to/periodic-motions")
def stability_chart(names: Names) -> None:
    """Growth of the rod over the frequency of its pivot, with the bands of Mathieu's equation."""
    grid = {"frequency": np.linspace(3.0, 10.5, 121)}
    results = names["study"](names["largest_growth"], grid, jobs=1)
    (left,) = axes()
    square, q = 1.5 * 9.81, 2.0 * 0.1 * 1.5
    for order in (1, 2):
        edges = [2.0 * np.sqrt(square / value(order, q)) for value in (mathieu_a, mathieu_b)]
        left.axvspan(*edges, color="0.88", zorder=0, label="Mathieu" if order == 1 else None)
    left.plot(results["frequency"], np.maximum(results["growth"], 0.0), "C0.-", label="Floquet multipliers")
    left.set(xlabel="frequency of the pivot [rad/s]", ylabel="growth [1/s]")
    left.legend()


def main(wanted: list[str]) -> None:
    """Draw the pictures that are named, or all."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    plt.rcParams.update(STYLE)
    for name, (page, draw) in PICTURES.items():
        if wanted and name not in wanted:
            continue
        names = run(page)
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            draw(names)
        path = DOCS / Path(page).parent / f"{name}.png"
        plt.gcf().savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
        plt.close("all")
        print(path.relative_to(DOCS), f"{path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
