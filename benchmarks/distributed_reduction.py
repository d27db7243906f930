"""Reductions of a bar under MPI: seconds of each stage, peak memory of each rank, and what larger ones would take.

    mpiexec -n 2 python benchmarks/distributed_reduction.py --across 8 --solver factor --keep rows.jsonl
    python benchmarks/distributed_reduction.py --table rows.jsonl

The first prints one row and adds it to a file; the second prints the rows of a file, with exponents between the two
largest meshes and 1e7 coordinates by them. The bar is that of benchmarks/large_body.py: 1 × 0.1 × 0.1 m, tetrahedra
with ten nodes, held at one end; 12 modes and the six static responses of the other end. Set OMP_NUM_THREADS=1. Seconds
of stages are wall time; "busy" is the process time of the busiest rank, with what it waits for others.
"""

import argparse
import json
import math
import os
import resource
import time
from itertools import groupby
from pathlib import Path
from typing import Any

import fem
from cases.solid_cantilever import LENGTH, MATERIAL, SIDE

WANTED = 10_000_000


def measured(count: int, solver: str, modes: int) -> dict[str, Any] | None:
    """The row of a reduction on these ranks, None beyond rank 0."""
    from fem.distributed.ranks import ending_all, world
    from fem.distributed.reduction import ReductionOptions, reduce_distributed

    comm = world()
    with ending_all(comm):
        shape = {"reference": "root", "degree": 2, "plane": None, "thickness": None}
        mesh = fem.box_mesh((LENGTH, SIDE, SIDE), (10 * count, count, count), simplices=True) if not comm.rank else None
        choices = ReductionOptions(modes, ("tip",), solver=solver)
        clock, ports = time.process_time(), {"root": "left", "tip": "right"}
        result = reduce_distributed(comm, mesh, MATERIAL, ports=ports, choices=choices, **shape)
        peaks = comm.gather(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        busy = comm.gather(round(time.process_time() - clock, 1))
        if result is None:
            return None
        stages = {stage: round(seconds, 1) for stage, seconds in result.stages.items()}
        row = {"coordinates": result.size, "ranks": comm.size, "solver": solver, "memory": peaks, "busy": busy}
        return {**row, "stages": stages, "load": round(os.getloadavg()[0], 1)}


def words(row: dict[str, Any]) -> str:
    """A row as a sentence."""
    stages = ", ".join(f"{stage} {seconds}" for stage, seconds in row["stages"].items())
    return (
        f"{row['coordinates']} coordinates, {row['ranks']} ranks, {row['solver']}: {row['memory']} MB, busy "
        f"{max(row['busy'])} s, load {row['load']}; {stages} s"
    )


def print_table(rows: list[dict[str, Any]]) -> None:
    """All rows, and after those of a solver on so many ranks what 1e7 coordinates would take."""
    kind = lambda row: (row["solver"], row["ranks"])  # noqa: E731
    for (solver, ranks), given in groupby(sorted(rows, key=lambda row: (*kind(row), row["coordinates"])), kind):
        own = list(given)
        print(*map(words, own), sep="\n")
        if len(own) > 1:
            print(f"1e7 coordinates, {ranks} ranks, {solver}: {', '.join(extrapolated(*own[-2:]))}")


def extrapolated(small: dict[str, Any], large: dict[str, Any]) -> list[str]:
    """Memory of a rank and seconds at 1e7 coordinates by the exponents between two rows."""
    n, result = large["coordinates"], []
    for name, unit, scale in (("memory", "GB a rank", 1e-3), ("busy", "h busy", 1.0 / 3600.0)):
        power = math.log(max(large[name]) / max(small[name])) / math.log(n / small["coordinates"])
        result.append(f"{scale * max(large[name]) * (WANTED / n) ** power:.3g} {unit} (exponent {power:.2f})")
    return result


def main() -> None:
    """Print one row, or the table of those that were kept."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--across", type=int, default=5, help="cells over the height, ten times as many along the bar")
    options.add_argument("--solver", choices=["factor", "multigrid"], default="factor")
    options.add_argument("--modes", type=int, default=12)
    options.add_argument("--keep", type=Path, help="file that the row is added to")
    options.add_argument("--table", type=Path, help="file of rows that are printed")
    given = options.parse_args()
    if given.table:
        return print_table([json.loads(line) for line in given.table.read_text(encoding="utf-8").splitlines()])
    row = measured(given.across, given.solver, given.modes)
    if row and given.keep:
        with given.keep.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    if row:
        print(words(row), flush=True)
    return None


if __name__ == "__main__":
    main()
