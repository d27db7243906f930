"""The nouns of a published case check themselves when they are made."""

import math
from importlib.metadata import EntryPoint
from typing import Annotated, Literal

import pytest

from flexph import case as module
from flexph.case import Case, Check, Cover, Option, Parameter, find_cases, written_summaries


def ladder(
    *,
    rungs: Annotated[int, Option("number of rungs")] = 8,
    height: Annotated[float, Option("height of the ladder", unit="m")] = 2,
    wood: Annotated[Literal["ash", "oak"], Option("kind of wood")] = "ash",
    label: Annotated[str, Option("label in the picture")] = "",
    steep: Annotated[bool, Option("lean it steeply")] = False,
) -> float:
    """Ladder against a wall.

    More about it.
    """
    return height / rungs


def undocumented(*, rungs: Annotated[int, Option("number of rungs")] = 8): ...


def positional(rungs: Annotated[int, Option("number of rungs")] = 8):
    """Not keyword-only."""


def without_default(*, rungs: Annotated[int, Option("number of rungs")]):
    """No default."""


def without_option(*, rungs: int = 8):
    """Nothing to tell about the rungs."""


def without_annotation(*, rungs=8):
    """Nothing to tell about the rungs, not even a type."""


def open_ended(**rungs: int):
    """Options that nobody can list."""


def write(result, folder):
    return {}


def no_checks():
    return []


def test_a_case_lists_the_parameters_of_its_function():
    case = Case(ladder, write, no_checks)
    assert case.summary == "Ladder against a wall."
    assert case.parameters == (
        Parameter("rungs", int, 8, Option("number of rungs")),
        Parameter("height", float, 2, Option("height of the ladder", "m")),
        Parameter("wood", Literal["ash", "oak"], "ash", Option("kind of wood")),
        Parameter("label", str, "", Option("label in the picture")),
        Parameter("steep", bool, False, Option("lean it steeply")),
    )
    assert case.parameters[0].choices == ()
    assert case.parameters[2].choices == ("ash", "oak")


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (undocumented, "docstring"),
        (positional, "'rungs' of a case must be keyword-only"),
        (without_default, "'rungs' of a case must be keyword-only and have a default"),
        (without_option, "'rungs' of a case must be annotated"),
        (without_annotation, "'rungs' of a case must be annotated"),
        (open_ended, "'rungs' of a case must be keyword-only"),
    ],
)
def test_a_function_that_cannot_become_a_command_is_refused(run, reason):
    with pytest.raises(ValueError, match=reason):
        Case(run, write, no_checks)


@pytest.mark.parametrize(
    ("name", "kind", "default", "reason"),
    [
        ("out", str, "", "command line reserves this name"),
        ("size", complex, 1j, "neither int"),
        ("size", list[int], [], "neither int"),
        ("size", int | None, None, "neither int"),
        ("size", Literal[1, 2], 1, "neither int"),
        ("size", Literal["s", "m"], "l", "default 'l'"),
        ("size", int, 1.5, "default 1.5"),
        ("size", int, True, "default True"),
        ("size", float, False, "default False"),
        ("size", bool, 1, "default 1"),
        ("size", str, None, "default None"),
    ],
)
def test_a_parameter_that_cannot_become_an_option_is_refused(name, kind, default, reason):
    with pytest.raises(ValueError, match=reason):
        Parameter(name, kind, default, Option("size of it"))


def test_a_relative_check_divides_by_the_magnitude_of_the_reference():
    check = Check("force", "[here]", -4.0, -4.5, kind="published", tolerance=0.125)
    assert check.difference == -0.125  # exact in binary
    assert check.passed
    assert not Check("force", "[here]", -4.0, -4.5, kind="published", tolerance=0.124).passed
    assert not Check("force", "[here]", -4.0, -3.5, kind="published", tolerance=0.124).passed


def test_an_absolute_check_may_compare_with_zero():
    check = Check("drift", "[here]", 0.0, -0.25, kind="published", tolerance=0.25, relative=False)
    assert check.difference == -0.25
    assert check.passed
    assert not Check("drift", "[here]", 0.0, -0.25, kind="published", tolerance=0.2, relative=False).passed


@pytest.mark.parametrize("computed", [math.nan, math.inf, -math.inf])
def test_no_number_does_not_pass(computed):
    assert not Check("force", "[here]", 1.0, computed, kind="published", tolerance=1e300).passed


@pytest.mark.parametrize("tolerance", [0.0, -1e-3, math.nan, math.inf])
def test_a_check_that_always_fails_or_never_is_refused(tolerance):
    with pytest.raises(ValueError, match="force: the tolerance must be positive and finite"):
        Check("force", "[here]", 1.0, 1.0, kind="published", tolerance=tolerance)


def test_a_check_says_what_its_reference_is():
    with pytest.raises(TypeError, match="kind"):
        Check("force", "[here]", 1.0, 1.0, tolerance=1e-3)
    with pytest.raises(ValueError, match=r"force: the kind must be one of .*'theorem'.*, not 'textbook'"):
        Check("force", "[here]", 1.0, 1.0, kind="textbook", tolerance=1e-3)


@pytest.mark.parametrize(("computed", "verdict"), [(-5.0, "ok"), (1.0, "ok"), (1.1, "FAIL"), (math.nan, "FAIL")])
def test_a_bound_is_one_sided(computed, verdict):
    check = Check("ripple", "[here]", 1.0, computed, kind="bound", tolerance=1e-12, relative=False)
    assert (check.verdict, check.passed) == (verdict, verdict == "ok")


def test_numbers_for_other_data_neither_pass_nor_fail():
    for computed in (0.0355, 0.1, math.nan):
        check = Check("spin", "[here]", 0.1, computed, kind="not comparable", tolerance=None)
        assert (check.verdict, check.passed) == ("-", None)
    with pytest.raises(ValueError, match=r"spin: .* not comparable has no tolerance, got 0\.1"):
        Check("spin", "[here]", 0.1, 0.1, kind="not comparable", tolerance=0.1)
    with pytest.raises(ValueError, match="spin: the tolerance must be positive"):
        Check("spin", "[here]", 0.1, 0.1, kind="published", tolerance=None)


@pytest.mark.parametrize(("reference", "reason"), [(math.nan, "finite"), (math.inf, "finite"), (0.0, "relative")])
def test_a_reference_without_meaning_is_refused(reference, reason):
    with pytest.raises(ValueError, match=reason):
        Check("force", "[here]", reference, 1.0, kind="published", tolerance=1e-3)


# Targets of the entry points below. They lead to modules of the standard library, which is always there.
LADDER = Case(ladder, write, no_checks)
GOOD = EntryPoint("good", "json:ladder", module.GROUP)
MISTAKEN = EntryPoint("mistaken", "json:dumps", module.GROUP)
MISSING = EntryPoint("missing", "no_such_module_anywhere:case", module.GROUP)


@pytest.fixture
def installed(monkeypatch):
    """Make entry points appear installed."""

    def install(*entries):
        monkeypatch.setattr(module, "entry_points", lambda group: [e for e in entries if e.group == group])
        monkeypatch.setattr("json.ladder", LADDER, raising=False)

    return install


def test_cases_are_found_by_name_and_imported_one_by_one(installed):
    installed(GOOD, MISTAKEN, MISSING, EntryPoint("stranger", "json:ladder", "another.group"))
    cases = find_cases()
    assert sorted(cases) == ["good", "missing", "mistaken"]
    assert len(cases) == 3
    assert "missing" in cases
    assert "stranger" not in cases
    assert cases["good"] is LADDER
    with pytest.raises(TypeError, match="case 'mistaken': json:dumps is a function"):
        cases["mistaken"]
    with pytest.raises(ModuleNotFoundError):
        cases["missing"]
    with pytest.raises(KeyError):
        cases["stranger"]


def test_two_cases_of_one_name_are_refused(installed):
    installed(GOOD, GOOD)  # one distribution seen twice, as an installed one is from its own checkout
    assert list(find_cases()) == ["good"]
    installed(GOOD, EntryPoint("good", "json:dumps", module.GROUP))
    with pytest.raises(ValueError, match="two cases are named 'good': json:ladder and json:dumps"):
        find_cases()


def test_summaries_are_read_without_an_import(installed):
    """Of the package's own cases they are those of the cases; of others there may be none."""
    installed(GOOD, MISSING)
    assert written_summaries() == {}


def test_written_summaries_are_those_of_the_cases():
    assert written_summaries() == {name: case.summary for name, case in find_cases().items()}


@pytest.mark.parametrize(
    ("options", "words"),
    [({"at": float("nan")}, "at must be a finite time"), ({"towards": (0.0, 0.0, 0.0)}, "towards must be a direction")],
)
def test_covers_have_a_time_and_a_direction(options, words):
    with pytest.raises(ValueError, match=words):
        Cover(**options)
