"""Results as comma-separated tables."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..files.durable import refuse_suffix, staged
from ..results.result import Result


def write_table(path: str | Path, columns: Mapping[str, Any]) -> Path:
    """Write columns of equal length (k,) with their names in the first row, and all digits; return the path.

    The file is written atomically. Raises ValueError for a suffix other than ``.csv`` or ``.txt``.
    """
    refuse_suffix("a table", path, (".csv", ".txt"))
    with staged(path) as part, open(part, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True))
    return Path(path)


def write_ledger(path: str | Path, run: Result) -> Path:
    """Write the energy ledger of a run as a table with a row for each interval between saved times; return the path.

    A row has the energies at the end of the interval, works and losses in it, and residuals.
    """
    ledger = run.ledger
    columns: dict[str, Any] = {"t_s": run.times[1:], "total energy [J]": ledger.total_energy[1:]}
    columns |= {f"{name} [J]": values[1:] for name, values in ledger.energy.items()}
    columns |= {f"work of {name} [J]": values for name, values in {**ledger.work, **ledger.joint_work}.items()}
    columns |= {f"dissipated in {name} [J]": values for name, values in ledger.dissipation.items()}
    columns["balance residual [J]"] = ledger.residual
    if ledger.position_residual.size:  # of mechanisms
        columns["position residual [m]"] = ledger.position_residual
        columns["velocity residual [m/s]"] = ledger.velocity_residual
    columns["Newton iterations"] = ledger.iterations
    if ledger.nonholonomic_residual.any():
        columns["nonholonomic residual [m/s]"] = ledger.nonholonomic_residual
    if ledger.complementarity_residual.size:
        columns["complementarity residual"] = ledger.complementarity_residual
    return write_table(path, columns)
