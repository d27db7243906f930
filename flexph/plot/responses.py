"""Pictures of linear systems: Bode, Nyquist, poles and zeros, and Campbell diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..linear.eigenmodes.modes import poles
from ..linear.responses.frequency import FrequencyResponse
from ..linear.responses.sweep import Sweep
from ..linear.responses.zeros import zeros
from ..numerics.arguments import checked
from ..systems.linear import LinearPHDAE
from .axes import STYLES as LINES
from .axes import axes_of, draw, legend_above
from .panels import Curve, Panel, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


STYLES: tuple[Style, ...] = ("line", "dashed", "dashdot", "dotted")
Responses = FrequencyResponse | Mapping[str, FrequencyResponse]


@checked
def bode(responses: Any, ax: Any = None, *, output: str | None = None, input: str | None = None, unit: str = "") -> Any:
    """Draw the Bode plot |H(iω)| and arg H(iω) [deg] of frequency responses from ``input`` to ``output``.

    A port name may be omitted if there is only one. The legend shows the error of responses of reduced models.

    Parameters
    ----------
    responses : FrequencyResponse or a mapping of them by name
        Responses from :func:`flexph.frequency_response`.
    ax : sequence of two Axes, optional
        Axes for magnitude and phase; by default those of a new figure.
    output, input : str, optional
        Names of ports.
    unit : str, optional
        Unit of H on the axis.

    Returns
    -------
    list of Axes

    Examples
    --------
    >>> from flexph import plot
    >>> size, phase = plot.bode({"full": full, "reduced": reduced}, unit="(m/s)/N")  # doctest: +SKIP
    """
    axes = draw(bode_panels(responses, output=output, input=input, unit=unit), ax, size=(7.5, 5.6))
    axes[1].yaxis.set_major_locator(_multiples(45.0, axes[1].get_ylim()))
    return axes


def bode_panels(
    responses: Responses, *, output: str | None = None, input: str | None = None, unit: str = ""
) -> list[Panel]:
    """Panels of magnitude and phase [deg] of frequency responses against the frequencies ω > 0.

    A response is from the port ``input`` to the port ``output``.
    """
    named = _all_of("responses", responses, FrequencyResponse)
    size, phase = [], []
    for k, (name, response) in enumerate(named.items()):
        moving, value = response.omega > 0.0, response.between(output, input)
        style, turn = STYLES[k % len(STYLES)], np.degrees(np.unwrap(np.angle(value)))
        size.append(Curve(response.omega[moving], np.abs(value)[moving], _label(name, response), style))
        phase.append(Curve(response.omega[moving], turn[moving], "", style))
    over = "ω [rad/s]"
    return [
        Panel(tuple(size), "|H(iω)|", unit, over=over, log="xy", height=3.0),
        Panel(tuple(phase), "phase", "deg", over=over, log="x", height=2.0),
    ]


@checked
def nyquist(
    responses: Any, ax: Any = None, *, output: str | None = None, input: str | None = None, unit: str = ""
) -> Any:
    """Draw the Nyquist plot of H(iω), ω ≥ 0, of one or several responses.

    The mirrored curve is that of ω < 0. For force and velocity of one port, the curve of a passive system is in the
    right half plane; the left half is shaded.

    Parameters
    ----------
    responses : FrequencyResponse or mapping
        One object, or several by name.
    ax : Axes, optional
        Axes to draw into; new ones by default.
    output : str, optional
        Output; may be omitted if there is only one.
    input : str, optional
        Input; may be omitted if there is only one.
    unit : str
        Unit of H.

    Returns
    -------
    Axes
        Axes with the plot.
    """
    named = _all_of("responses", responses, FrequencyResponse)
    (axes,) = axes_of(ax, 1, size=(6.4, 5.6))
    for k, (name, response) in enumerate(named.items()):
        value, style = response.between(output, input), {"color": f"C{k}", **LINES[STYLES[k % len(STYLES)]]}
        axes.plot(value.real, value.imag, label=_label(name, response), **style)
        axes.plot(value.real, -value.imag, **{**style, "alpha": 0.35})
    axes.set_aspect("equal", adjustable="box")
    left, right = axes.get_xlim()
    if _collocated(named, output, input):
        left = min(left, -0.08 * right)
        axes.axvspan(left, 0.0, color="0.92", zorder=0)
    axes.set_xlim(left, right)
    suffix = f" [{unit}]" if unit else ""
    _cross(axes, f"Re H(iω){suffix}", f"Im H(iω){suffix}")
    if len(named) > 1:
        legend_above(axes, 4)
    return axes


@checked
def poles_and_zeros(
    systems: Any,
    ax: Any = None,
    *,
    output: str | None = None,
    input: str | None = None,
    limit: float | None = None,
) -> Any:
    """Draw poles (×) and transmission zeros (○) of one or several systems, with |s| ≤ ``limit`` [rad/s].

    Parameters
    ----------
    systems : LinearPHDAE or mapping
        One object, or several by name.
    ax : Axes, optional
        Axes to draw into; new ones by default.
    output : str, optional
        Output of the zeros; by default all outputs.
    input : str, optional
        Input of the zeros; by default all inputs.
    limit : float, optional
        Largest |s| shown [rad/s].

    Returns
    -------
    Axes
        Axes with the plot.
    """
    named = _all_of("systems", systems, LinearPHDAE)
    (axes,) = axes_of(ax, 1, size=(6.4, 5.6))
    for k, (name, system) in enumerate(named.items()):
        color, word = f"C{k}", f"{name}: " if name else ""
        for values, marker, what in (
            (poles(system), "x", "poles"),
            (zeros(system, output=output, input=input), "o", "zeros"),
        ):
            shown = values if limit is None else values[np.abs(values) <= limit]
            axes.plot(shown.real, shown.imag, marker, color=color, markersize=6, fillstyle="none", label=word + what)
    _cross(axes, "Re s [1/s]", "Im s [1/s]")
    legend_above(axes, 4)
    return axes


def _cross(axes: Axes, real: str, imaginary: str) -> None:
    """Draw and label the real and the imaginary axis."""
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set(xlabel=real, ylabel=imaginary)
    axes.grid(alpha=0.3)


def _all_of(argument: str, given: Any, kind: type) -> dict[str, Any]:
    """Objects of the type ``kind`` by name, from a single one, which is named "", or a mapping of several.

    Raises ValueError, with the name of the argument, for any other value.
    """
    if isinstance(given, kind):
        return {"": given}
    if not isinstance(given, Mapping) or not given:
        description = type(given).__name__ if not isinstance(given, Mapping) else "an empty dict"
        raise ValueError(f"{argument} must be a {kind.__name__}, or a dict of several by name, got {description}")
    for name, each in given.items():
        if not isinstance(each, kind):
            raise ValueError(f"{argument}[{name!r}] must be a {kind.__name__}, got {type(each).__name__}")
    return dict(given)


def _collocated(named: Mapping[str, FrequencyResponse], output: str | None, input: str | None) -> bool:
    return all((output or r.outputs[0]) == (input or r.inputs[0]) for r in named.values())


def _label(name: str, response: FrequencyResponse) -> str:
    error = response.describe_error()
    return " ".join(part for part in (name, f"({error})" if error else "") if part)


def _multiples(step: float, limits: tuple[float, float]) -> Any:
    """Locator of matplotlib for ticks at multiples of ``step``, which is doubled until at most 8 intervals are shown.

    ``limits``: lower and upper end of the axis.
    """
    from matplotlib.ticker import MultipleLocator

    while (limits[1] - limits[0]) / step > 8.0:
        step *= 2.0
    return MultipleLocator(step)


@checked
def campbell(sweep: Sweep, ax: Any = None, *, orders: Sequence[float] = (), label: str = "") -> Any:
    """Draw natural frequencies against a parameter, a curve for each mode, and lines ω = nΩ of rotating excitations.

    Parameters
    ----------
    sweep : Sweep
        Frequencies from :func:`flexph.linear.sweep` or ``mechanism.sweep``.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.
    orders : sequence of float, optional
        Orders n of the lines, if the parameter is a speed Ω [rad/s].
    label : str, optional
        Label of the parameter with its unit; by default its name.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from flexph import plot
    >>> axes = plot.campbell(mechanism.sweep(poses, angles, name="angle"))  # doctest: +SKIP
    """
    return draw([campbell_panel(sweep, orders=orders, label=label)], ax, size=(7.0, 4.5))[0]


def campbell_panel(sweep: Sweep, *, orders: Sequence[float] = (), label: str = "") -> Panel:
    """Panel of natural frequencies against a parameter: a curve for each mode, and a line ω = nΩ for each order n.

    The lines end at the highest frequency.
    """
    modes = [Curve(sweep.values, omega, f"mode {k}") for k, omega in enumerate(sweep.frequencies.T, 1)]
    top = float(sweep.frequencies.max())
    lines = []
    for order in orders:
        shown = sweep.values[order * sweep.values <= top]
        lines.append(Curve(shown, order * shown, f"order {order:g}", "dotted", "gray"))
    return Panel((*modes, *lines), "frequency", "rad/s", over=label or sweep.name)
