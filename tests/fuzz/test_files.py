"""Damaged files of every format that is read: refused in a sentence that names the file, or what they were."""

import random

import pytest
from files import Sample, files
from formats import FORMATS
from hypothesis import given, settings
from hypothesis import strategies as st

SAFE = [name for name, form in FORMATS.items() if form.safe]


@pytest.mark.parametrize("name", SAFE)
def test_damage_is_refused(name, tmp_path):
    sample = Sample(name, tmp_path)

    @given(number=st.integers(0, 10**9))
    def is_refused(number):
        sample.broken(random.Random(number))

    is_refused()


def test_damage_does_not_end_the_process():
    """Formats with compiled parsers, in a process of its own."""
    names = [name for name in FORMATS if name not in SAFE]
    count = settings().max_examples // 2 * len(names)
    outcomes = files(min(count, 20_000), names=names)
    assert set(outcomes) <= {"refused", "unchanged", "another"}
    assert outcomes["refused"] > sum(outcomes.values()) // 2
