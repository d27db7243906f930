"""Damaged files and what becomes of them: each is refused in a sentence that names it, or is what it was.

``files(3000)`` counts them over all formats, in processes of their own, for a reader may end its process.
"""

import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from damage import OF_CONTENTS, OF_DATASETS, OF_RUNS, damage_hdf5, damaged
from formats import FORMATS
from patience import Hanging, patience

SAVED = {"solution": OF_RUNS, "trajectory": OF_RUNS, "switching": OF_RUNS, "reduced body": OF_DATASETS}
SAVED |= dict.fromkeys(("piece", "scene", "vtkhdf series", "mesh .med", "mesh .h5m"), OF_CONTENTS)
"""Formats that are damaged by the HDF5 library, too."""


class Sample:
    """A sound file of a format in a folder of its own, and what its reader gives."""

    def __init__(self, name, folder):
        self.name, self.format, self.folder = name, FORMATS[name], folder
        self.path = self.format.write(folder)
        self.expected = self.format.read(self.path)
        self.contents = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        self.elsewhere = folder.parent / f"{folder.name}-elsewhere.h5"
        if name in SAVED:
            shutil.copy(self.path, self.elsewhere)

    def broken(self, random):
        """What comes of one of its files with damage at any place."""
        file = random.choice(sorted(self.contents))
        file.write_bytes(damaged(self.contents[file], random))
        return self._outcome(file)

    def misled(self, random):
        """What comes of it where the HDF5 library itself has changed it."""
        damage_hdf5(self.path, random, elsewhere=self.elsewhere, kinds=SAVED[self.name])
        return self._outcome(self.path)

    def _outcome(self, file):
        """``refused``, ``unchanged`` or ``another``; AssertionError for any other way to end."""
        try:
            with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
                warnings.simplefilter("ignore")
                value = self.format.read(self.path)
        except (ValueError, OSError) as error:
            assert self.folder.name in str(error), f"the file is not named: {error}"
            return "refused"
        finally:
            damage = file.read_bytes()
            file.write_bytes(self.contents[file])
        if value == self.expected:
            return "unchanged"
        assert not self.format.checksummed, f"damage is taken for data: {damage!r}"
        return "another"


def survey(name, first, count):
    """Outcomes of damage by numbers, in this process; each number is printed before it is tried."""
    folder = Path(tempfile.mkdtemp(prefix="sample-"))
    outcomes = Counter()
    try:
        sample = Sample(name, folder)
        for number in range(first, first + count):
            chance = random.Random(number)
            print(number, flush=True)
            try:
                with patience():
                    outcomes[sample.misled(chance) if name in SAVED and number % 2 else sample.broken(chance)] += 1
            except (Exception, Hanging) as error:
                outcomes[f"{type(error).__name__} of number {number} of {name}: {error}"[:300]] += 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_name(f"{folder.name}-elsewhere.h5").unlink(missing_ok=True)
    return outcomes


def files(count, *, first=0, names=tuple(FORMATS)):
    """Counts of the outcomes of damaged files over formats.

    ``refused``, ``unchanged``, ``another`` where a format has no checksums; in words what must not be: errors and ends.
    """
    tasks = [(name, first, count // len(names) + (i < count % len(names))) for i, name in enumerate(names)]
    outcomes = Counter()
    while tasks:
        done = _in_a_process(tasks)
        if done.returncode > 0:
            raise RuntimeError(f"the samples cannot be written or read: {done.stderr[-2000:]}")
        words = done.stdout.split("\n")
        for line in (line for line in words if line.startswith("{")):
            outcomes += Counter(json.loads(line))
            tasks.pop(0)
        if done.returncode == 0:
            return outcomes
        name, begun, own = tasks.pop(0)
        reached = next((int(word) for word in reversed(words) if word.isdecimal()), begun)
        outcomes[f"crashed: number {reached} of {name}"] += 1
        tasks.insert(0, (name, reached + 1, begun + own - reached - 1))
    return outcomes


def _in_a_process(tasks):
    here = Path(__file__).parent
    paths = [str(here.parents[1]), str(here), str(here.parent / "samples")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    words = [sys.executable, __file__, json.dumps(tasks)]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    for task in json.loads(sys.argv[1]):
        print(json.dumps(survey(*task)), flush=True)
