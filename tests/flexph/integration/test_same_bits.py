"""The same run has the same bits: again, in blocks of any size, beside another thread, and by uncompiled loops.

Ten seconds, as each sample runs several times, and once more in a process of its own.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Barrier

import pytest
from bit_samples import SAMPLES, bits, run

from flexph.integration.blocks import block_stepper

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
TESTS = Path(__file__).parents[2]
ELSEWHERE = """
import json, sys, warnings
sys.path[:0] = {paths}
from bit_samples import bits, run
warnings.simplefilter("ignore")
print(json.dumps({{name: bits(run(name, steps={steps})) for name in {names}}}))
import flexph.integration.loops.mechanics.residual as loops
print(loops.__file__)
"""
FEW = 3
"""Steps of uncompiled loops, which take some 10 ms each."""


@cache
def sample(name):
    """A mechanism with its start, and the bits of its run."""
    made = SAMPLES[name].make()
    return made, bits(run(name, made=made))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_run_has_the_same_bits_again(name):
    """Of the same mechanism and of another one that is made in the same way, whatever ran before."""
    made, first = sample(name)
    assert bits(run(name, made=made)) == first
    assert bits(run(name)) == first


@pytest.mark.parametrize("name", SAMPLES)
def test_bits_do_not_depend_on_where_blocks_end(name, monkeypatch):
    made, whole = sample(name)
    for steps in (1, 7):
        monkeypatch.setattr(block_stepper, "largest_size", lambda numbers, steps=steps: steps)
        assert bits(run(name, made=made)) == whole


@pytest.mark.parametrize("name", SAMPLES)
def test_two_threads_at_once_have_the_bits_of_one(name):
    """Of one mechanism and of two; loops let the lock of Python go, so that they do run at once."""
    (made, alone), together = sample(name), Barrier(3)

    def beside(own):
        together.wait()
        return bits(run(name, made=own))

    with ThreadPoolExecutor(3) as threads:
        assert set(threads.map(beside, [made, made, SAMPLES[name].make()])) == {alone}


@pytest.mark.parametrize("loops", ["baseline", pytest.param("none", marks=pytest.mark.slow)])  # 80 sources
def test_loops_for_every_processor_and_uncompiled_ones_have_the_same_bits(loops):
    paths = [str(TESTS.parent), str(TESTS / "samples")]
    program = ELSEWHERE.format(paths=paths, steps=FEW, names=list(SAMPLES))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"FLEXPH_LOOPS": loops},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *said, place = done.stdout.splitlines()
    assert (Path(place).suffix == ".py") == (loops == "none") and "avx2" not in place
    assert json.loads(said[0]) == {name: bits(run(name, steps=FEW)) for name in SAMPLES}
