"""Model files changed at random: read, or refused with a line; never a traceback."""

import random
import re
import shutil
import warnings
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flexph.models import ModelError, load_model
from flexph.models.commands import EXAMPLES, FOLDER

TEXTS = {name: (FOLDER / f"{name}.yaml").read_text(encoding="utf-8") for name in EXAMPLES if name != "solid-bar"}
"""Examples that are built quickly; the mesh of the other one is read in the test of broken files."""
TOKENS = {name: re.findall(r"[\w.]+|\s+|[^\w\s]", text) for name, text in TEXTS.items()}
VALUES = (
    *("0", "-1", "1e308", "1e-308", "nan", ".inf", "99999999999999999999", "-0.0", "0x10", "1_0", "'8'", "true", "no"),
    *("null", "~", "[]", "{}", "[1, 2, 3]", "{a: 1}", "[[1, 0], [0, 1]]", "&a x", "*a", "!!int 3", "? x", "<<", "''"),
    *(
        "30 mm",
        "3 kg",
        "2 rad/s",
        "1 m^9",
        "t",
        "sin(t)",
        "1/t",
        "2**t",
        "t.x",
        "os.system('true')",
        "ground",
        "rod.tip",
    ),
    *(
        "{ground: [0, 0]}",
        "{ground: 3}",
        "{table: a.csv, value: b}",
        "{function: os:system}",
        "beam",
        "hinge",
        "§",
        "\u0000",
    ),
    *("{expression: t, unit: deg}", "\t", "---", "...", "#", "%", "@", "`", "|", ">", "- ", ": ", "é" * 50, "9" * 5000),
)


def changed(source: random.Random) -> str:
    """An example with a few of its words replaced, removed, doubled or exchanged; or with lines moved or cut."""
    name = source.choice(sorted(TOKENS))
    tokens = list(TOKENS[name])
    for _ in range(source.choice((1, 1, 1, 2, 3, 8))):
        i, j = source.randrange(len(tokens)), source.randrange(len(tokens))
        match source.randrange(7):
            case 0 | 1:
                tokens[i] = source.choice(VALUES)
            case 2:
                tokens[i] = tokens[j]
            case 3:
                del tokens[i]
            case 4:
                tokens.insert(i, tokens[i])
            case 5:
                word = tokens[i]
                tokens[i] = word[: len(word) // 2] + source.choice("abcxyz_.- \n:") + word[len(word) // 2 :]
            case _:
                a, b = sorted((i, min(j, i + 30)))
                tokens[a:b] = []
    return "".join(tokens)


BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n" for before, after in pairwise("abcdefghi")
)
"""Nine to the ninth values by anchors."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("changed")
    shutil.copy(FOLDER / "bar.msh", place)
    return place


def refused(path) -> bool:
    """Whether a file is refused; what is said has a line. Anything but ModelError is raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load_model(path).check()
    except ModelError as error:
        assert re.match(r".*?:\d+:\d+: \S", str(error)), str(error)
        return True
    return False


def outcomes(count: int, folder, first: int = 0) -> int:
    """How many of so many changed files are refused."""
    path, number = folder / "model.yaml", 0
    for seed in range(first, first + count):
        path.write_text(changed(random.Random(seed)), encoding="utf-8")
        try:
            number += refused(path)
        except Exception as error:
            raise AssertionError(f"file {seed} ended in {type(error).__name__}: {error}") from error
    return number


def test_changed_files_are_read_or_refused(folder):
    assert outcomes(100, folder) > 60


@pytest.mark.slow
def test_two_thousand_changed_files_are_read_or_refused(folder):
    assert outcomes(2000, folder, 100) > 1200


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=80))
def test_any_text_is_refused(text, folder):
    (folder / "model.yaml").write_text(text, encoding="utf-8", errors="replace")
    assert refused(folder / "model.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "more than"),
        ("a: " + "[" * 500, "deeper than"),
        ("a: " + "[" * 60 + "]" * 60, "deeper than"),
        ("#" + "x" * 600_000, "letters"),
        ("a: " + "9" * 5000, "no number"),
    ],
    ids=["bomb", "nested", "deep", "large", "digits"],
)
def test_hostile_files_are_refused_at_once(text, words, folder):
    (folder / "model.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=words):
        load_model(folder / "model.yaml")


def test_bytes_that_are_no_text_are_refused(folder):
    (folder / "model.yaml").write_bytes(b"a: 1\nb: \xff\xfe")
    with pytest.raises(ModelError, match=r":2:1: not a text in UTF-8"):
        load_model(folder / "model.yaml")
