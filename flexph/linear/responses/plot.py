"""Pictures of linear systems: Bode, Nyquist, poles and zeros (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...files.durable import staged
from ...numerics import checks as check
from ...systems.linear import LinearPHDAE
from ..eigenmodes.modes import poles
from .frequency import FrequencyResponse
from .zeros import zeros

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = ("-", "--", "-.", ":")
Responses = FrequencyResponse | Mapping[str, FrequencyResponse]


def bode_figure(
    responses: Responses,
    path: str | Path,
    *,
    output: str | None = None,
    input: str | None = None,
    unit: str = "",
    title: str = "",
) -> Path:
    """|H(iω)| and arg H(iω) [deg] of one response or of several by name, from ``input`` to ``output``, as one picture.

    A name may be left out where there is only one. The legend says the error of what went through a reduced model.
    ``unit`` is that of H, for the axis. Returns the path.
    """
    named = _all_of("responses", responses, FrequencyResponse)
    figure, (size, turn) = _new(7.5, 2, sharex=True, height_ratios=(3, 2))
    for k, (name, response) in enumerate(named.items()):
        value, style = response.between(output, input), _style(k)
        moving = response.omega > 0.0
        size.loglog(response.omega[moving], np.abs(value)[moving], label=_label(name, response), **style)
        turn.semilogx(response.omega[moving], np.degrees(np.unwrap(np.angle(value)))[moving], **style)
    size.set_ylabel(f"$|H(i\\omega)|$ [{unit}]" if unit else "$|H(i\\omega)|$")
    turn.set_ylabel("phase [deg]")
    turn.set_xlabel("$\\omega$ [rad/s]")
    turn.yaxis.set_major_locator(_multiples(45.0, turn.get_ylim()))
    _finish(size, title, legend=len(named) > 1 or any(r.error is not None for r in named.values()))
    _finish(turn, "", legend=False)
    return _save(figure, path)


def nyquist_figure(
    responses: Responses, path: str | Path, *, output: str | None = None, input: str | None = None, unit: str = ""
) -> Path:
    """H(iω) in the complex plane, for ω ≥ 0, of one response or of several by name; mirrored for ω < 0.

    Between force and velocity of one port the curve of a passive system stays in the right half plane, the shaded half
    is out of reach.
    """
    named = _all_of("responses", responses, FrequencyResponse)
    figure, (axes,) = _new(6.4, 1)
    for k, (name, response) in enumerate(named.items()):
        value, style = response.between(output, input), _style(k)
        axes.plot(value.real, value.imag, label=_label(name, response), **style)
        axes.plot(value.real, -value.imag, **{**style, "alpha": 0.35})
    axes.set_aspect("equal", adjustable="box")
    left, right = axes.get_xlim()
    if _collocated(named, output, input):
        left = min(left, -0.08 * right)
        axes.axvspan(left, 0.0, color="0.92", zorder=0)
    axes.set_xlim(left, right)
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    suffix = f" [{unit}]" if unit else ""
    axes.set_xlabel(f"Re $H(i\\omega)${suffix}")
    axes.set_ylabel(f"Im $H(i\\omega)${suffix}")
    _finish(axes, "", legend=len(named) > 1)
    return _save(figure, path)


def pole_zero_figure(
    systems: LinearPHDAE | Mapping[str, LinearPHDAE],
    path: str | Path,
    *,
    output: str | None = None,
    input: str | None = None,
    limit: float | None = None,
) -> Path:
    """Poles (×) and transmission zeros (○) of one system or of several by name, with |s| ≤ ``limit`` [rad/s]."""
    named = _all_of("systems", systems, LinearPHDAE)
    figure, (axes,) = _new(6.4, 1)
    for k, (name, system) in enumerate(named.items()):
        color, word = f"C{k}", f"{name}: " if name else ""
        for values, marker, what in (
            (poles(system), "x", "poles"),
            (zeros(system, output=output, input=input), "o", "zeros"),
        ):
            shown = values if limit is None else values[np.abs(values) <= limit]
            axes.plot(shown.real, shown.imag, marker, color=color, markersize=6, fillstyle="none", label=word + what)
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set_xlabel("Re s [1/s]")
    axes.set_ylabel("Im s [1/s]")
    _finish(axes, "", legend=True)
    return _save(figure, path)


def _all_of(argument: str, given: Any, kind: type) -> dict[str, Any]:
    """One thing of a kind, or several by name."""
    if isinstance(given, kind):
        return {"": given}
    if not isinstance(given, Mapping) or not given:
        told = type(given).__name__ if not isinstance(given, Mapping) else "an empty dict"
        raise ValueError(f"{argument} must be a {kind.__name__}, or a dict of several by name, got {told}")
    for name, each in given.items():
        if not isinstance(each, kind):
            raise ValueError(f"{argument}[{name!r}] must be a {kind.__name__}, got {type(each).__name__}")
    return dict(given)


def _collocated(named: Mapping[str, FrequencyResponse], output: str | None, input: str | None) -> bool:
    return all((output or r.outputs[0]) == (input or r.inputs[0]) for r in named.values())


def _label(name: str, response: FrequencyResponse) -> str:
    error = response.describe_error()
    return " ".join(part for part in (name, f"({error})" if error else "") if part)


def _style(k: int) -> dict[str, Any]:
    return {"color": f"C{k}", "linestyle": STYLES[k % len(STYLES)], "linewidth": 1.4}


def _multiples(step: float, limits: tuple[float, float]) -> Any:
    """Ticks at multiples of 45 degrees, or of 90, 180, … where these would crowd."""
    from matplotlib.ticker import MultipleLocator

    while (limits[1] - limits[0]) / step > 8.0:
        step *= 2.0
    return MultipleLocator(step)


def _new(width: float, rows: int, **options: Any) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 5.6), layout="constrained")
    return figure, figure.subplots(rows, 1, squeeze=False, **options)[:, 0]


def _finish(axes: Axes, title: str, *, legend: bool) -> None:
    if legend:  # above the curves, which may fill the whole frame
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize="small", ncols=4, frameon=False)
    if title:
        axes.set_title(title, loc="right", fontsize="medium")
    axes.grid(alpha=0.3)


def _save(figure: Figure, path: str | Path) -> Path:
    check.choice("the ending of path", Path(path).suffix, (".png", ".pdf", ".svg"))
    with staged(path) as part:
        figure.savefig(part, dpi=150)
    return Path(path)
