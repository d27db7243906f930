"""Random wrong arguments to every public function: how many are refused in a sentence, and what else comes of them.

python benchmarks/fuzz_calls.py [CALLS] [SEED]
"""

import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "tests" / "fuzz")]

from hostile import PATIENCE, fuzz  # noqa: E402

WORDS = {
    "refused": "refused in a sentence",
    "accepted": "accepted, without NaN",
    "raw": "errors of Python or numpy",
    "silent": "silent NaN",
    "hangs": f"hangs over {PATIENCE} s",
}


def main(count: int = 10_000, seed: int = 0) -> int:
    """Print the counts; the number of calls that came to no good."""
    with TemporaryDirectory() as folder, chdir(folder):  # what accepts a path writes there
        outcomes = fuzz(count, seed)
    for kind, words in WORDS.items():
        print(f"{sum(outcomes.get(kind, {}).values()):7d}  {words}")
    bad = [
        f"{said} ({times} times)"
        for kind in ("raw", "silent", "hangs")
        for said, times in outcomes.get(kind, {}).items()
    ]
    print(*bad, sep="\n")
    return len(bad)


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
