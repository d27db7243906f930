"""Runs of cases by the command line, and the tables that they write."""

import csv

import numpy as np
from click.testing import CliRunner

from flexph.cli import main


def run_case(*words: str, code: int = 0):
    """What ``flexph run`` with these words answers, with the exit status that is expected."""
    result = CliRunner().invoke(main, ["run", *words])
    assert result.exit_code == code, result.output
    return result


def read_table(path) -> tuple[list[str], np.ndarray]:
    """The header and the numbers of a table in a file."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=float)
