"""JSON output of commands, with the keys of docs/how-to/machine-output.md."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click
import numpy as np

OWED = "flexph.console.machine.owed"
"""Key of the click context that is True while requested JSON has not been printed."""


def _note(ctx: click.Context, _: click.Parameter, given: bool) -> bool:
    ctx.meta[OWED] = given
    return given


AS_JSON = click.option("--json", "as_json", is_flag=True, callback=_note, help="print one JSON object, for programs")


def print_json(value: Mapping[str, Any]) -> None:
    """Print a mapping of plain values as JSON."""
    if ctx := click.get_current_context(silent=True):
        ctx.meta[OWED] = False
    click.echo(json_text(value))


@contextmanager
def errors_as_json(ctx: click.Context) -> Iterator[None]:
    """Context manager that prints ``{"error": …}`` if a command fails before it has printed the requested JSON."""
    try:
        yield
    except click.ClickException as error:
        if ctx.meta.get(OWED):
            ctx.meta[OWED] = False
            click.echo(json_text({"error": error.format_message()}))
        raise


def json_text(value: Mapping[str, Any]) -> str:
    """JSON text of a mapping."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """Value with JSON types only: arrays become lists, complex numbers pairs, numbers that are not finite null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def verdict_values(
    checks: Sequence[tuple[str, Any]], kinds: Sequence[str], missing: Sequence[str] = ()
) -> dict[str, Any]:
    """Comparisons of cases with references, and counts of these by kind, as values for JSON.

    ``checks``: pairs of the name of a case and a :class:`flexph.case.Check`; ``kinds``: kinds of references to be
    counted; ``missing``: names of the cases whose comparison did not finish.
    """
    keys = ("quantity", "kind", "source", "reference", "computed", "difference", "tolerance", "relative", "passed")
    by_kind = {kind: [check.passed for _, check in checks if check.kind == kind] for kind in kinds}
    return {
        "checks": [{"case": name, **{key: getattr(check, key) for key in keys}} for name, check in checks],
        "kinds": {kind: {"checks": len(passed), "passed": passed.count(True)} for kind, passed in by_kind.items()},
        "failed": sum(check.passed is False for _, check in checks),
        "complete": not missing,
        "missing": list(missing),
    }


def analysis_values(analysis: Any) -> dict[str, Any]:
    """JSON values of an :class:`flexph.analysis.Analysis`: its numbers, and its properties as true or false."""
    casimirs, given = analysis.casimirs, analysis.given
    index = ("differential", "algebraic", "index", "index_eliminated", "constraints", "redundant", "undetermined")
    passivity = ("passive", "skew_defect", "lowest_resistance", "dissipative", "bounded", "bounded_on_constraints")
    stability = ("verdict", "is_equilibrium", "rest", "growth", "eigenvalues")
    return {
        "state": analysis.state,
        "constant": analysis.constant,
        "algebraic_equations": analysis.equations,
        "note": analysis.note,
        "given_state": None if given is None else {"consistent": not given, "relative_defect": given.relative},
        "index": _picked(analysis.index, (*index, "freedom", "exceeded")),
        "relations": analysis.well_posed,
        "casimirs": {
            "count": casimirs.count,
            "complete": casimirs.complete,
            "linear": casimirs.expressions,
            "quadratic": [one.words(casimirs.names) for one in casimirs.quadratic],
        },
        "passivity": _picked(analysis.passivity, (*passivity, "reason")),
        "stability": _picked(analysis.stability, stability),
        "ports": {name: span.stop - span.start for name, span in analysis.whole.ports.items()},
    }


def _picked(report: Any, keys: Sequence[str]) -> dict[str, Any]:
    return {key: getattr(report, key) for key in keys}
