"""Reports of results, of cases and of studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..linear.responses.sweep import Sweep
from ..numerics.arguments import checked
from ..plot.responses import campbell_panel
from ..plot.studies import varied
from ..results.result import Result
from ..scenes.of_results import values_of
from .page import Block, Chart, Picture, Section, Table, Text, write_page
from .runs import scene_view, sections_of

REPORT, LEDGER = "report.html", "ledger"
UNITS = {
    **{"rad_s": "rad/s", "hz": "Hz", "rad": "rad", "deg": "°", "rpm": "1/min", "rad_s2": "rad/s²"},
    **{"m": "m", "mm": "mm", "um": "µm", "m_s": "m/s", "m_s2": "m/s²", "s": "s", "ms": "ms"},
    **{"kg": "kg", "n": "N", "kn": "kN", "nm": "N m", "n_m": "N m", "pa": "Pa", "mpa": "MPa"},
    **{"j": "J", "w": "W", "v": "V", "a": "A", "rel": "relative", "percent": "%"},
}
"""Units by the endings of names of summary numbers."""
RUNS, VIEWS, PICTURES, MANY = 4, 1, 12, 5
"""Largest numbers of fully described runs, of runs with a 3-D view, of pictures and of files listed per folder."""


@checked
def write_report(path: str | Path, result: Any, *, title: str = "") -> Path:
    """Write a report of a run, or of all runs in a dataclass, a dict or a list; return the path.

    The report is one self-contained HTML file with model, steps, energy, motions, forces and stresses with their
    maxima, and a 3-D view.

    Parameters
    ----------
    path : str or Path
        Path of the file, which is written atomically.
    result : Result
        A :class:`flexph.Solution`, another result of a run, or a container of results.
    title : str, optional
        Heading of the page.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    ValueError
        If the result contains no run.

    Examples
    --------
    >>> from flexph.report import write_report
    >>> write_report("report.html", solution)  # doctest: +SKIP
    """
    sections = _of_parts(result)
    if not sections:
        raise ValueError(f"result must be a run, or hold some, got {type(result).__name__}")
    return write_page(path, title or Path(path).stem, sections)


def write_case_report(
    folder: Path, record: Mapping[str, Any], figures: Mapping[str, Any], result: Any, about: Mapping[str, Any]
) -> Path:
    """Write the report of a case into the folder of its files; return the path.

    ``record`` has name, parameters, start, computing time and versions of the case, as in its summary; ``figures`` are
    its summary numbers, ``result`` what it returned. ``about`` contains ``summary``, ``command``, ``warnings``, further
    ``scenes`` by name, which are not scenes of runs, and ``checks``, None if not requested.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    runs = _of_parts(result)
    pictures = [path for path in files if path.suffix in (".png", ".svg", ".jpg")]
    pictures = [
        path for path in pictures if not runs or LEDGER not in path.stem
    ]  # the report draws their ledgers as charts
    parameters: list[Block] = [Table(("parameter", "value"), list(record["parameters"].items()))]
    command: list[Block] = [Text(about["command"], "code")] if about["command"] else []
    warned: list[Block] = [Text(text, "warning") for text in about["warnings"]]
    time = Text(f"Started {record['started']}, computed in {record['wall_s']:.3g} s.")
    moving = list(about["scenes"].items())[:VIEWS]
    sections = [
        *([Section("Warnings", warned)] if warned else []),
        *(Section(f"{name} in motion", [scene_view(view, name)]) for name, view in moving),
        *runs,
        Section("Pictures", [Picture(path) for path in pictures[:PICTURES]]),
        Section(
            "Result", [Table(("figure", "value"), [(figure_words(name), v) for name, v in flat(figures)])], folded=True
        ),
        Section("Validation", _validation(record["case"], about["checks"])),
        Section("Parameters", [*command, time, *parameters], folded=True),
        Section("Files", [Table(("file", "bytes"), _listed(folder, files))], folded=True),
        Section("Versions", [Table(("package", "version"), list(record["versions"].items()))], folded=True),
    ]
    shown = [section for section in sections if section.blocks or section.title != "Pictures"]
    return write_page(folder / REPORT, record["case"], shown, subtitle=about["summary"])


def _validation(name: str, checks: Sequence[Any] | None) -> list[Block]:
    if checks is None:
        return [Text(f"Not compared with references in this run: add --checks, or flexph validate {name}.")]
    if not checks:
        return [Text("There are no references.")]
    head = ("verdict", "quantity", "reference", "computed", "difference", "tolerance", "kind", "source")
    rows = [
        (
            *(c.verdict, c.quantity, float(c.reference), float(c.computed)),
            *(f"{c.difference:.3g}", _tolerance(c), c.kind, c.source),
        )
        for c in checks
    ]
    passed = [c.passed for c in checks if c.passed is not None]
    return [Text(f"{sum(passed)} of {len(passed)} checks passed."), Table(head, rows)]


def _tolerance(check: Any) -> str:
    return "" if check.tolerance is None else f"{check.tolerance:.3g}{' relative' if check.relative else ''}"


def _listed(folder: Path, files: Sequence[Path]) -> list[tuple[str, int]]:
    """Names of files with their sizes in bytes.

    A folder of many files is one entry.
    """
    by_folder = {parent: [p for p in files if p.parent == parent] for parent in {p.parent for p in files}}
    rows = []
    for parent, inside in sorted(by_folder.items()):
        name = parent.relative_to(folder).as_posix()
        if len(inside) > MANY and parent != folder:
            rows.append((f"{name}/ ({len(inside)} files)", sum(p.stat().st_size for p in inside)))
        else:
            rows += [(p.relative_to(folder).as_posix(), p.stat().st_size) for p in inside]
    return rows


def write_study_report(folder: Path, name: str, results: Any, about: Mapping[str, Any]) -> Path:
    """Write the page of a study into its folder, see :func:`write_study_page`."""
    return write_study_page(folder / REPORT, name, results, about)


def write_study_page(path: Path, name: str, results: Any, about: Mapping[str, Any]) -> Path:
    """Write the page of a study; return its path.

    ``about`` contains the ``command`` of the study, ``lines`` of text on its samples, and its ``pictures``.
    """
    table = results.to_dataframe().reset_index()
    columns = [c for c in table.columns if table[c].dtype.kind in "fiuO" or table[c].dtype.kind == "U"]
    rows = [[_plain(v) for v in row] for row in table[columns].itertuples(index=False)]
    command = [Text(about["command"], "code")] if about["command"] else []
    sections = [
        Section("Samples", [*command, *(Text(line) for line in about["lines"])]),
        Section("Pictures", [Picture(picture) for picture in about["pictures"][:PICTURES]]),
        Section("Values", [Text(f"Varied: {', '.join(varied(results)) or 'nothing'}."), Table(tuple(columns), rows)]),
    ]
    return write_page(path, name, [s for s in sections if s.blocks], subtitle="A study.")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _of_parts(result: Any) -> list[Section]:
    parts = list(values_of(result, (Result, Sweep)))
    runs = [(name, run) for name, run in parts if isinstance(run, Result)]
    sections = [
        section
        for k, (name, run) in enumerate(runs[:RUNS])
        for section in sections_of(run, name if len(parts) > 1 else "", view=k < VIEWS)
    ]
    if len(runs) > RUNS:
        rest: list[Block] = [Table(("run", ""), [(name, repr(run)[1:-1]) for name, run in runs[RUNS:]])]
        sections.append(Section("More runs", rest))
    sweeps = [(name, one) for name, one in parts if isinstance(one, Sweep)]
    return sections + [Section(f"{name} frequencies".strip(), [Chart([campbell_panel(one)])]) for name, one in sweeps]


def figure_words(name: str) -> str:
    """Readable name of a number with its unit: ``omega_min_rad_s`` becomes "omega min [rad/s]"."""
    ending = max((unit for unit in UNITS if name.endswith(f"_{unit}")), key=len, default="")
    words = name.removesuffix(f"_{ending}").replace("_", " ")
    return f"{words} [{UNITS[ending]}]" if ending and words else name.replace("_", " ")


def flat(figures: Mapping[str, Any], name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield pairs of a name and a value from nested summary numbers.

    A list becomes text.
    """
    for key, value in figures.items():
        path = f"{name} {key}".strip()
        if isinstance(value, Mapping):
            yield from flat(value, path)
        elif isinstance(value, np.ndarray | list | tuple):
            entries = np.asarray(value).ravel()[:12].tolist()
            yield path, ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in entries)
        else:
            yield path, _plain(value)
