"""Draw the pictures of cases that pages show: ``python docs/figures/case_pictures.py [NAME …]`` runs these cases.

Runs with default parameters are those of the gallery (docs/_cache); the others are computed each time.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[1]
sys.path.insert(0, str(DOCS / "_ext"))

from case_runs import case_runs, shrink  # noqa: E402

PICTURES = {
    "cases/bicycle-exponents": "bicycle: exponents",
    "cases/crank-slider-ledger": "crank-slider --strain von_karman: ledger",
    "cases/crank-slider-midpoint": "crank-slider --strain von_karman: midpoint",
    "cases/four-particle-convergence": "four-particle: convergence",
    "cases/four-particle-energy": "four-particle: energy",
    "cases/free-flight-chain": "free-flight --bodies 5: tumbling",
    "cases/free-flight-handle": "free-flight: tumbling",
    "cases/ground-resonance-stability": "ground-resonance: stability",
    "cases/hinged-beam-history": "hinged-beam: history",
    "cases/hinged-beam-stresses": "hinged-beam: stresses",
    "cases/rotating-beam-frequencies": "rotating-beam: frequencies",
    "cases/rotor-in-bearings-campbell": "rotor-in-bearings: campbell",
    "cases/slider-crank-3d": "slider-crank-3d: motion",
    "cases/solid-crank-slider-midpoint": "solid-crank-slider: midpoint",
    "cases/solid-crank-slider-peaks": "solid-crank-slider: peaks",
    "cases/solid-crank-slider-rod": "solid-crank-slider: rod",
    "cases/spin-up-tip": "spin-up: tip",
    "cases/wheelset-hunting": "wheelset: hunting",
    "guide/beam-reduction": "beam-reduction: responses",
    "guide/differential-drive": "differential-drive: path",
    "guide/flying-rod": "flying-rod: motion",
    "guide/four-bar-bode": "four-bar-control: bode",
    "guide/plate-errors": "plate-modes: errors",
    "guide/rolling-coin-wobble": "rolling-coin: wobble",
    "guide/swinging-plate": "swinging-plate: swing",
}
"""Picture in docs: case with its options, and the name of the picture among its results."""


def main(wanted: list[str]) -> None:
    """Copy the pictures that are named, or all."""
    for name, told in PICTURES.items():
        if wanted and name not in wanted and Path(name).name not in wanted:
            continue
        (case, *options), picture = told.split(": ")[0].split(), told.split(": ")[1]
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder)
            if options:
                command = [sys.executable, "-m", "flexph", "run", case, *options, "--out", folder]
                subprocess.run(command, check=True, capture_output=True)
            else:
                (run,) = case_runs(DOCS / "_cache" / "cases", [case])
                results = run.folder / "results"
            target = DOCS / f"{name}.png"
            shutil.copyfile(results / f"{picture}.png", target)
            shrink(target)
        print(f"{name}.png {target.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
