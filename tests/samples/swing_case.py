"""A toy case, and the command line driven with it in place of the installed ones."""

import math
import os
from typing import Annotated, Literal
from unittest.mock import patch

import numpy as np
from click.testing import CliRunner

from flexph import cli
from flexph.case import Case, Check, Option


def swing(
    *,
    length: Annotated[float, Option("length of the rope", unit="m")] = 1,
    swings: Annotated[int, Option("number of swings")] = 3,
    start: Annotated[Literal["rest", "push"], Option("how it starts")] = "rest",
    label: Annotated[str, Option("label of the table")] = "",
    air_drag: Annotated[bool, Option("with resistance of the air")] = True,
):
    """Swing in a garden.

    What follows the first line is for readers of the code.
    """
    if length <= 0:
        raise ValueError(f"the rope must have a length,\nnot {length}")
    if label == "interrupt":
        raise KeyboardInterrupt
    return {
        "period": 2 * math.pi * math.sqrt(length / 9.81),
        "swings": swings,
        "start": start,
        "drag": air_drag,
    }


def write(result, folder):
    """Write a table and, in a subfolder, a picture."""
    (folder / "table.csv").write_text(f"{result['period']}\n")
    (folder / "pictures").mkdir()
    (folder / "pictures" / "swing.svg").write_text("<svg/>")
    return {
        "period_s": np.float64(result["period"]),
        "count": np.int64(result["swings"]),
        "drag": result["drag"],
        "amplitudes": np.array([1.0, 0.5]),
        "lost": math.nan,
    }


def checks_with(computed):
    """Return a checks function whose second check passes if `computed` is 3.32 within a per cent."""

    def checks():
        yield Check("period of 1 m", "[swing] table 1", 2.006, 2.00607, kind="published", tolerance=1e-3)
        yield Check(
            "period of 2.74 m",
            "[swing] table 1, a source of a rather long name",
            3.32,
            computed,
            kind="closed form",
            tolerance=1e-2,
        )
        yield Check("drift", "[swing] sec. 2", 0.0, 1e-9, kind="published", tolerance=1e-6, relative=False)

    return checks


GOOD = Case(swing, write, checks_with(3.321))
BAD = Case(swing, write, checks_with(3.5))
UNCHECKED = Case(swing, write, list)


def flexph(*args, cases=None):
    """Run a command line with the cases given, by default one named `swing` whose checks pass."""
    cases = {"swing": GOOD} if cases is None else cases
    # The command line sets variables for the cases; they shall not outlive it here.
    with patch.object(cli, "find_cases", lambda: cases), patch.dict(os.environ):
        return CliRunner().invoke(cli.main, [str(arg) for arg in args])


def rows(output):
    """Return the cells of a printed table, a list per row without the header."""
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in output.splitlines() if line[:1] == "│"]
