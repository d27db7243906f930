"""Output of ``flexph analyze``: reports on the modes of a system, as text, pictures and JSON."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click


def analyses(given: Any) -> dict[str, Any]:
    """Reports of :func:`flexph.analyze` on a system, or on a pair (system, inputs by port).

    A switching system has a report for each of its modes, by the name of the mode; otherwise the key is "".
    """
    from flexph.analysis import analyze
    from flexph.switching import SwitchingPHDAE

    system, inputs = given if isinstance(given, tuple) else (given, None)
    modes = {m: system.system(m) for m in system.modes} if isinstance(system, SwitchingPHDAE) else {"": system}
    reports = {}
    for mode, one in modes.items():
        inputs_of_mode = None if inputs is None else {p: u for p, u in inputs.items() if not mode or p in one.ports}
        try:
            reports[mode] = analyze(one, inputs=inputs_of_mode)
        except (ValueError, ArithmeticError) as error:
            raise click.ClickException(" ".join(f"{mode} {error}".split())) from error
    return reports


def text(mode: str, analysis: Any) -> str:
    """Text of the report on a system in a mode, with the sparsity pattern of its Dirac structure.

    ``mode`` is the name of the mode, "" for a system without modes.
    """
    heading, after = (f"mode {mode!r}\n\n", "\n") if mode else ("", "")
    return f"{heading}{analysis}\n\nDirac structure\n{analysis.picture()}{after}"


def draw(reports: Mapping[str, Any], picture: Path) -> list[Path]:
    """Draw the Dirac structure of each report into a file; return the paths.

    The mode of a switching system is added to the name ``picture``.
    """
    from flexph import plot

    drawn = []
    for mode, analysis in reports.items():
        file = picture.with_stem(f"{picture.stem}-{re.sub(r'[^0-9A-Za-z]+', '-', mode)}") if mode else picture
        drawn.append(plot.save(plot.structure(analysis.whole), file))
    return drawn


def refuse_format(picture: Path) -> None:
    """End the command with an error if matplotlib is missing or the ending of the picture is unknown."""
    if importlib.util.find_spec("matplotlib") is None:
        raise click.ClickException('--picture needs matplotlib, which is not installed: pip install "flexph[plot]"')
    from flexph.plot.axes import ENDINGS

    if picture.suffix not in ENDINGS:
        raise click.ClickException(f"--picture {picture} must end in {', '.join(ENDINGS)}")
