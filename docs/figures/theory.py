"""Draw the figures of the theory: ``python docs/figures/theory.py [NAME …]`` writes docs/theory/figures/NAME.svg."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

FOLDER = Path(__file__).parents[1] / "theory" / "figures"
GREY, BLUE, RED, GREEN = "0.55", "C0", "C3", "C2"
Point = Sequence[float] | np.ndarray


def canvas(width: float, height: float, x: Point, y: Point) -> Axes:
    """Axes without a frame, of equal scale."""
    axes = plt.figure(figsize=(width, height)).add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=x, ylim=y, aspect="equal")
    axes.axis("off")
    return axes


def arrow(axes: Axes, start: Point, end: Point, color: str = "k", text: str = "", at: Point = (0.0, 0.0)) -> None:
    """An arrow, with a text near its end."""
    axes.annotate(
        "", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    )
    if text:
        axes.text(end[0] + at[0], end[1] + at[1], text, color=color, ha="center", va="center")


def triad(axes: Axes, origin: Point, angle: float, size: float, color: str, names: Sequence[str]) -> None:
    """An origin with two axes."""
    for k, name in enumerate(names):
        along = np.array([np.cos(angle + k * np.pi / 2), np.sin(angle + k * np.pi / 2)])
        arrow(axes, origin, np.asarray(origin) + size * along, color, name, 0.12 * along)
    axes.plot(*origin, "o", color=color, markersize=3)


def turn(angle: float) -> np.ndarray:
    """The rotation of the plane by an angle."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def frames() -> None:
    """A flexible body: world axes, body axes, a point before and after its deformation."""
    axes = canvas(6.4, 3.2, (-0.3, 5.9), (-0.35, 2.75))
    origin, angle = np.array([1.6, 0.55]), 0.35
    rotation = turn(angle)
    s = np.linspace(0.0, 3.0, 60)
    straight = origin[:, None] + rotation @ np.stack([s, 0 * s])
    bent = origin[:, None] + rotation @ np.stack([s - 0.008 * s**2, 0.07 * s**2])
    axes.plot(*straight, color=GREY, lw=6, alpha=0.4, solid_capstyle="round")
    axes.plot(*bent, color=BLUE, lw=6, alpha=0.6, solid_capstyle="round")
    triad(axes, (0.0, 0.0), 0.0, 0.7, "k", ("$x$", "$y$"))
    axes.text(-0.12, -0.16, "W", ha="center")
    triad(axes, origin, angle, 0.8, GREEN, ("", ""))
    axes.text(origin[0], origin[1] - 0.24, "P", color=GREEN, ha="center")
    axes.text(*(origin + rotation @ (0.0, 1.0)), "$R$: body axes", color=GREEN, ha="center")
    arrow(axes, (0.0, 0.0), origin, "k", "$r_P$", (-0.85, -0.18))
    k = 44
    axes.plot(*straight[:, k], "ko", markersize=4)
    axes.plot(*bent[:, k], "ko", markersize=4)
    arrow(axes, straight[:, k], bent[:, k], RED, r"$u_f = \varphi(x)\,u$", (-0.62, 0.06))
    axes.text(*(origin + rotation @ (1.2, -0.22)), "$x$, undeformed", color=GREY, rotation=np.degrees(angle))
    tip = bent[:, -1]
    axes.plot(*tip, "s", color=RED, markersize=6)
    axes.text(tip[0] + 0.12, tip[1] + 0.1, "port: force $f$,\nvelocity $y$", color=RED, va="center")


def box(axes: Axes, centre: Point, text: str, size: Point = (1.5, 0.8), color: str = BLUE) -> None:
    """A box with a text."""
    corner = np.asarray(centre) - 0.5 * np.asarray(size)
    style = {"boxstyle": "round,pad=0.02", "facecolor": color, "alpha": 0.15, "edgecolor": color}
    axes.add_patch(FancyBboxPatch(tuple(corner), *size, **style))
    axes.text(*centre, text, ha="center", va="center")


def pair(axes: Axes, left: Point, right: Point, above: str, below: str) -> None:
    """Two opposite arrows: an effort and a flow."""
    up = np.array([0.0, 0.12])
    arrow(axes, np.asarray(left) + up, np.asarray(right) + up, RED)
    arrow(axes, np.asarray(right) - up, np.asarray(left) - up, GREEN)
    middle = 0.5 * (np.asarray(left) + np.asarray(right))
    axes.text(*(middle + 2.2 * up), above, color=RED, ha="center", va="center")
    axes.text(*(middle - 2.2 * up), below, color=GREEN, ha="center", va="center")


def ports() -> None:
    """Two bodies, a joint between their ports, a load and a damper."""
    axes = canvas(6.8, 2.4, (-0.6, 8.0), (-0.5, 2.6))
    box(axes, (1.9, 1.9), "body 1\n$\\frac{1}{2}w^\\top M w + \\frac{1}{2}\\sigma^\\top C\\sigma$", (2.0, 0.9))
    box(axes, (6.3, 1.9), "body 2", (2.0, 0.9))
    box(axes, (4.1, 1.9), "joint\n$0 = G v$", (1.2, 0.9), GREY)
    pair(axes, (3.45, 1.9), (2.95, 1.9), r"$G_1^\top\lambda$", "$v_1$")
    pair(axes, (4.75, 1.9), (5.25, 1.9), r"$G_2^\top\lambda$", "$v_2$")
    pair(axes, (-0.3, 1.9), (0.85, 1.9), "input $u$", "output $y$")
    box(axes, (6.3, 0.1), "damper: $v^\\top R v \\geq 0$", (2.3, 0.6), GREEN)
    arrow(axes, (6.3, 1.4), (6.3, 0.45), GREEN)
    axes.text(0.25, 0.75, "$y^\\top u$: power into\nthe mechanism", ha="center", va="center")
    axes.text(4.1, 0.75, "takes no power:\n$\\lambda^\\top G v = 0$", ha="center", va="center")
    axes.text(1.9, 0.05, "ledger: $\\Delta H = \\Sigma\\,$work $- \\Sigma\\,$dissipation", ha="center", va="center")


def steps() -> None:
    """Instants at which three schemes evaluate forces."""
    axes = canvas(6.6, 2.1, (-3.6, 7.1), (-0.7, 2.4))
    gamma = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
    rows = (("Exact", 1.8), ("Exact4", 0.9), ("ExactGauss", 0.0))
    for name, y in rows:
        axes.plot([0.0, 5.0], [y, y], color=GREY, lw=1, zorder=0)
        axes.text(-2.0, y, name, ha="right", va="center", family="monospace")
        for x in (0.0, 5.0):
            axes.plot([x, x], [y - 0.14, y + 0.14], "k", lw=1.5)
    axes.plot(2.5, 1.8, "o", color=BLUE)
    edges = 5.0 * np.cumsum([0.0, gamma / 2, gamma / 2, 0.5 - gamma, 0.5 - gamma, gamma / 2, gamma / 2])
    for k, (a, b) in enumerate(pairwise(edges)):
        backwards = b < a
        y = 0.9 + (0.2, 0.2, 0.0, 0.0, -0.2, -0.2)[k]
        arrow(axes, (a, y), (b, y), RED if backwards else "k")
        axes.plot(0.5 * (a + b), y, "o", color=RED if backwards else BLUE, markersize=4)
    axes.text(2.5, 1.35, "two substeps go back in time", color=RED, ha="center", fontsize=8)
    for node in 0.5 + np.array([-1.0, 0.0, 1.0]) * np.sqrt(0.15):
        axes.plot(5.0 * node, 0.0, "o", color=BLUE)
    axes.text(0.0, -0.42, "$t_0$", ha="center")
    axes.text(5.0, -0.42, "$t_1$", ha="center")
    axes.text(2.5, 2.1, "forces act at the dots", color=BLUE, ha="center", fontsize=8)


def contact_step() -> None:
    """Gap and its rate over the three parts of a step with a rigid contact."""
    _, (left, right) = plt.subplots(1, 2, figsize=(6.8, 2.4), layout="constrained")
    for panel in (left, right):
        panel.spines[["top", "right"]].set_visible(False)
        panel.set(xticks=[0.0, 1.0], xticklabels=["$t_0$", "$t_1$"], yticks=[0.0], xlim=(-0.25, 1.3))
        panel.axhline(0.0, color="k", lw=0.8)
    left.plot([-0.25, 0.0], [0.95, 0.6], color=BLUE)
    left.plot([0.0, 1.0], [0.6, 0.0], color=BLUE, marker="o")
    left.plot([0.0, 1.0], [0.6, -0.8], ":", color=GREY)
    left.plot([1.0, 1.3], [0.0, 0.0], color=BLUE)
    left.text(0.72, -0.6, "without contact", color=GREY, ha="right")
    left.text(0.5, 0.42, r"$\Phi$: $0 \leq g(q_1) \perp \Lambda_\Phi \geq 0$", color=BLUE)
    left.set(ylabel="gap $g$", ylim=(-0.9, 1.1))
    right.plot([-0.25, 0.0], [-1.4, -1.4], color=RED)
    right.plot([0.0, 1.0], [-0.6, -0.6], "--", color=BLUE)
    right.plot([0.0, 1.0], [-1.4, 0.2], color=RED)
    right.plot([1.0, 1.0], [0.2, 0.0], color=GREEN, lw=3)
    right.plot([1.0, 1.3], [0.0, 0.0], color=RED)
    right.text(0.08, -1.45, "J: no impact, as $e = 0$", color=GREEN)
    right.text(0.5, -0.52, r"mean $\bar\gamma = \Delta g/h$", color=BLUE, ha="right")
    right.text(0.9, 0.2, "S: settles", color=GREEN, ha="right")
    right.set(ylabel=r"rate $\gamma$ of the gap", ylim=(-1.6, 0.5))


def discrete_gradient() -> None:
    """A discrete gradient is the slope of the secant."""
    _, axes = plt.subplots(figsize=(4.6, 2.5), layout="constrained")
    energy, slope = lambda x: 0.25 * x**4 + 0.15 * x, lambda x: x**3 + 0.15
    x = np.linspace(-0.3, 2.0, 200)
    a, b = 0.2, 1.7
    axes.plot(x, energy(x), color=BLUE)
    axes.plot([a, b], [energy(a), energy(b)], "o-", color=RED)
    m = 0.5 * (a + b)
    near = np.array([m - 0.55, m + 0.75])
    axes.plot(near, energy(m) + slope(m) * (near - m), "--", color=GREY)
    axes.text(1.02, 1.45, r"secant: $\bar\nabla H^\top\Delta x = \Delta H$", color=RED, ha="right")
    axes.text(1.75, 0.6, "tangent at\nthe midpoint", color=GREY, va="center")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set(xticks=[a, m, b], xticklabels=["$x_0$", "$m$", "$x_1$"], yticks=[], ylabel="$H$", xlim=(-0.3, 2.3))


def dirac() -> None:
    """A port-Hamiltonian system: storage, resistance and external ports at a Dirac structure."""
    axes = canvas(6.2, 2.7, (-0.2, 7.6), (-0.2, 3.2))
    box(axes, (3.7, 1.6), "Dirac structure $\\mathcal{D}$\n$\\Sigma\\, e^\\top f = 0$", (1.9, 1.0), GREY)
    box(axes, (0.9, 1.6), "storage $H(x)$", (1.6, 0.8))
    box(axes, (6.5, 1.6), "resistance\n$e_R^\\top f_R \\leq 0$", (1.6, 0.8), GREEN)
    box(axes, (3.7, 0.05), "external ports", (1.7, 0.4), RED)
    pair(axes, (1.75, 1.6), (2.7, 1.6), "$e_S = \\nabla H$", "$f_S = -\\dot x$")
    pair(axes, (4.7, 1.6), (5.65, 1.6), "$e_R$", "$f_R$")
    arrow(axes, (3.58, 0.32), (3.58, 1.05), RED)
    arrow(axes, (3.82, 1.05), (3.82, 0.32), GREEN)
    axes.text(3.3, 0.7, "$u$", color=RED, va="center")
    axes.text(3.98, 0.7, "$y$", color=GREEN, va="center")
    axes.text(3.7, 2.75, "$\\dot H = y^\\top u + e_R^\\top f_R \\leq y^\\top u$", ha="center")


def rod() -> None:
    """Nodes of a rod with their directors, and the strains at a point of Gauss."""
    axes = canvas(6.2, 2.6, (-0.5, 6.4), (-0.6, 2.3))
    s = np.linspace(0.0, 1.0, 80)

    def place(s: float) -> np.ndarray:
        return np.array([5.2 * s, 1.5 * np.sin(1.7 * s) ** 2])

    def tangent(s: float) -> np.ndarray:
        return (place(s + 1e-5) - place(s - 1e-5)) / 2e-5

    axes.plot(*np.array([place(v) for v in s]).T, color=BLUE, lw=5, alpha=0.35)
    for k, v in enumerate((0.0, 0.5, 1.0)):
        here, along = place(v), tangent(v) / np.linalg.norm(tangent(v))
        along = turn(-0.14) @ along  # shear: the director is not along the axis
        for d, name in ((along, "$d_1$"), (turn(np.pi / 2) @ along, "$d_2$")):
            arrow(axes, here, here + 0.6 * d, GREEN, name if k == 1 else "", 0.17 * d)
        axes.plot(*here, "ko", markersize=4)
        axes.text(here[0], here[1] - 0.26, f"$r_{k}, R_{k}$", ha="center")
    gauss = place(0.79)
    axes.plot(*gauss, "s", color=RED, markersize=5)
    arrow(axes, gauss, gauss + 0.75 * tangent(0.79) / np.linalg.norm(tangent(0.79)), RED, "$r'$", (0.14, -0.05))
    axes.text(
        2.75,
        0.0,
        "at a point of Gauss: $\\Gamma_i = d_i\\cdot r'/|d_i|$,\n$K_i = d_j'\\cdot d_k/(|d_j||d_k|)$",
        color=RED,
    )


def robot() -> None:
    """Redundant coordinates of a robot: positions in the world, velocities in body axes."""
    axes = canvas(4.8, 2.6, (-0.3, 4.6), (-0.3, 2.4))
    origin, angle = np.array([1.8, 0.8]), 0.5
    rotation = turn(angle)
    outline = np.array([[-0.3, -0.45], [1.0, -0.45], [1.0, 0.45], [-0.3, 0.45], [-0.3, -0.45]])
    axes.fill(*(origin[:, None] + rotation @ outline.T), color=BLUE, alpha=0.15, lw=0)
    for y in (-0.5, 0.5):
        axes.plot(*(origin[:, None] + rotation @ np.array([[-0.2, 0.2], [y, y]])), color="k", lw=4)
    triad(axes, (0.0, 0.0), 0.0, 0.6, "k", ("$x$", "$y$"))
    arrow(axes, (0.0, 0.0), origin, "k", "$(x, y)$", (-1.1, -0.25))
    arrow(axes, origin, origin + rotation @ (1.6, 0.0), GREEN, "$v_x$", (0.15, 0.1))
    arrow(axes, origin, origin + rotation @ (0.0, 0.95), RED, "$v_y = 0$", (0.1, 0.14))
    axes.plot([origin[0], origin[0] + 1.2], [origin[1]] * 2, ":", color=GREY)
    axes.text(origin[0] + 0.75, origin[1] + 0.14, r"$\phi$")
    axes.text(3.3, 0.35, r"$\zeta = (x, y, \phi)$" + "\n" + r"$\varpi = (v_x, v_y, \omega)$", ha="left")


FIGURES: dict[str, Callable[[], None]] = {
    "frames": frames, "ports": ports, "steps": steps, "contact-step": contact_step,
    "discrete-gradient": discrete_gradient, "dirac": dirac, "rod": rod, "robot": robot,
}  # fmt: skip


def main(wanted: list[str]) -> None:
    """Draw the figures that are named, or all."""
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "flexph", "mathtext.fontset": "cm"})
    FOLDER.mkdir(exist_ok=True)
    for name, draw in FIGURES.items():
        if wanted and name not in wanted:
            continue
        draw()
        path = FOLDER / f"{name}.svg"
        plt.gcf().savefig(path, facecolor="white", metadata={"Date": None})
        plt.close("all")
        print(path.name, f"{path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
