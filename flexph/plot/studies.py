"""Pictures of studies with one or two parameters: curves, bars and maps of a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from .axes import axes_of, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVES = 6
"""Number of values of a second parameter up to which each has a curve; more are drawn as a map."""


@checked
def study(results: Any, name: str, ax: Any = None) -> Any:
    """Plot a value of a study against the one or two parameters that vary.

    A text parameter gives bars or one curve for each value, two numerical parameters give curves or a map, samples
    of a table give points.

    Parameters
    ----------
    results : xarray.Dataset
        Results of :func:`flexph.study`.
    name : str
        Name of a value that is one number for each sample.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from flexph import plot
    >>> axes = plot.study(results, "frequency")  # doctest: +SKIP
    """
    value, names = check.lookup("value", name, dict(results.data_vars)), varied(results)
    if not _is_number(value):
        raise ValueError(f"name must be that of a number, got {name!r}")
    if not 1 <= len(names) <= 2:
        raise ValueError(f"results must have one or two parameters that vary, got {len(names)}: {', '.join(names)}")
    (axes,) = axes_of(ax, 1, size=(6.0, 4.2))
    if not {*names} <= {*value.dims}:  # samples of a table
        _scattered(axes, value, names)
    else:
        _curves_or_map(axes, value.squeeze([dim for dim in value.dims if dim not in names], drop=True))
    return axes


def varied(results: Any) -> list[str]:
    """Names of the parameters of a study that have more than one value."""
    return [str(name) for name in results.coords if len(np.unique(results[name].values)) > 1]


def _scattered(axes: Axes, value: Any, varied: list[str]) -> None:
    """Draw samples of a table as points: against one parameter, or in the plane of two, coloured by the value."""
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
    """Draw curves against the numerical parameter with the most values, or a map if there would be too many curves.

    Bars are drawn if no parameter is numerical.
    """
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
        legend_above(axes, 3)


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
