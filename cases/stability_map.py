"""Stability map: growth of the small motions of a rotor over its speed and a second parameter."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure


def draw_stability_map(path: Path, speeds: Array, others: Array, growth: Array, *, other: str, title: str) -> None:
    """Draw growth rates over the ``speeds`` (k,) [rad/s] and the values ``others`` (r,) of a second parameter.

    ``growth`` (k, r) [1/s] is shown in colours, symmetric about zero, with a line where it is zero. ``other`` is the
    name of the second parameter.
    """
    figure = new_figure(6.0, 4.0)
    axes = figure.add_subplot()
    largest = float(np.abs(growth).max())
    field = axes.pcolormesh(speeds, others, growth.T, cmap="coolwarm", vmin=-largest, vmax=largest, shading="gouraud")
    if min(growth.shape) > 1:
        axes.contour(speeds, others, growth.T, levels=[0.0], colors="k", linewidths=1.0)
    axes.set(xlabel="speed [rad/s]", ylabel=other, title=title)
    figure.colorbar(field)
    figure.savefig(path)
