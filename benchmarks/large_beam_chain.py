"""Times and memory of the linear chain of case ``large-beam-chain`` against the number of beams.

Each size runs in a process of its own, since the peak memory is that of a process.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from cost_per_step import exponent

from cases import large_beam_chain as case

SIZES = [25, 50, 100]
STAGES = ("assembly", "elimination", "frequencies", "reduction")


def measure(beams: int, elements: int) -> dict[str, Any]:
    """The figures of one run."""
    return case.figures(case.run(beams=beams, elements=elements))


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--elements", type=int, default=100, help="of each beam")
    elements = words.parse_args().elements
    print(f"chain of beams of {elements} elements on elastic hinges; seconds, and peak memory of the process")
    heads = "".join(f"{stage:>13s}" for stage in STAGES)
    print(f"beams   states  constraints{heads}{'total':>9s}{'MB':>7s}{'ω off exact':>13s}")
    totals, grown = [], []
    for beams in SIZES:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            found = pool.submit(measure, beams, elements).result()
        seconds = [found[f"{stage}_s"] for stage in STAGES]
        totals.append(sum(seconds))
        grown.append(found["peak_memory_mb"])
        size = f"{beams:5d}  {found['states']:7d}  {found['constraints']:11d}"
        row = "".join(f"{value:13.2f}" for value in seconds)
        print(f"{size}{row}{totals[-1]:9.2f}{grown[-1]:7.0f}{found['omega_exact_deviation']:13.0e}", flush=True)
    print(f"exponent of the time {exponent(SIZES, totals):.2f}, of the memory {exponent(SIZES, grown):.2f}")


if __name__ == "__main__":
    main()
