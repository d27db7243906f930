"""Pictures of studies of one or two parameters: curves, bars and maps of each value that is a number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.durable import staged
from .dataset import SECONDS
from .samples import SAMPLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES = 6
"""Values of a second parameter up to which each of them has a curve; more are a map."""


def draw(results: Any, folder: Path) -> list[Path]:
    """One picture for each value that is a number, if one or two parameters vary; their paths.

    A parameter of texts has bars, or a curve for each; two of numbers have curves or a map. Parameters with one value
    do not vary.
    """
    varied = [name for name in results.coords if len(np.unique(results[name].values)) > 1]
    for old in folder.glob("*.png"):  # of other samples
        old.unlink()
    if not 1 <= len(varied) <= 2:
        return []
    folder.mkdir(exist_ok=True)
    values = {
        _file_name(name): value for name, value in results.data_vars.items() if _is_drawn(value, results[SECONDS])
    }
    return [_saved(_figure(value, varied), folder / name) for name, value in values.items()]


def _is_drawn(value: Any, one: Any) -> bool:
    """Whether a value is one number of a sample, and there is such a sample."""
    return value.name != one.name and value.dims == one.dims and _is_number(value) and bool(np.isfinite(value).any())


def _file_name(value: Any) -> str:
    return re.sub(r"[^\w.-]+", "-", str(value)) + ".png"


def _saved(figure: Figure, path: Path) -> Path:
    with staged(path) as part:
        figure.savefig(part)
    return path


def _figure(value: Any, varied: list[str]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.2), layout="constrained", dpi=150)
    axes = figure.subplots()
    if SAMPLE in value.dims:
        _scattered(axes, value, varied)
    else:
        own = value.squeeze([dim for dim in value.dims if dim not in varied], drop=True)
        _curves_or_map(axes, own)
    return figure


def _scattered(axes: Axes, value: Any, varied: list[str]) -> None:
    """Points of a table: over one parameter, or coloured over two."""
    first = value[varied[0]]
    if len(varied) == 1:
        axes.plot(first.values, value.values, "o")
        axes.set(xlabel=_label(first), ylabel=_label(value))
        return
    second = value[varied[1]]
    points = axes.scatter(first.values, second.values, c=value.values)
    axes.figure.colorbar(points, ax=axes, label=_label(value))
    axes.set(xlabel=_label(first), ylabel=_label(second))


def _curves_or_map(axes: Axes, value: Any) -> None:
    """Curves over the parameter of numbers with the most values; a map where there would be too many of them."""
    over = max(value.dims, key=lambda dim: (_is_number(value[dim]), value.sizes[dim]))
    others = [dim for dim in value.dims if dim != over]
    if others and _is_number(value[others[0]]) and value.sizes[others[0]] > CURVES:
        mesh = axes.pcolormesh(value[over], value[others[0]], value.transpose(others[0], over), shading="nearest")
        axes.figure.colorbar(mesh, ax=axes, label=_label(value))
        axes.set(xlabel=_label(value[over]), ylabel=_label(value[others[0]]))
        return
    curves = {"": value}
    if others:
        curves = {f"{others[0]} = {entry}": value.sel({others[0]: entry}) for entry in value[others[0]].values}
    (_lines if _is_number(value[over]) else _bars)(axes, curves, over)
    axes.set(xlabel=_label(value[over]), ylabel=_label(value))
    if others:
        axes.legend(fontsize="small")


def _lines(axes: Axes, curves: Mapping[str, Any], over: str) -> None:
    for label, curve in curves.items():
        ordered = curve.sortby(over)
        axes.plot(ordered[over], ordered, "o-", markersize=3, label=label)
    axes.grid(alpha=0.3)


def _bars(axes: Axes, curves: Mapping[str, Any], over: str) -> None:
    width = 0.8 / len(curves)
    for k, (label, curve) in enumerate(curves.items()):
        axes.bar(np.arange(curve.size) + (k - 0.5 * (len(curves) - 1)) * width, curve, width, label=label)
    axes.set_xticks(np.arange(curve.size), [str(text) for text in curve[over].values])


def _is_number(values: Any) -> bool:
    return values.dtype.kind in "fi"


def _label(values: Any) -> str:
    unit = values.attrs.get("units", "")
    return f"{values.name} [{unit}]" if unit else str(values.name)
