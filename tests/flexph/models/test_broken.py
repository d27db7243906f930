"""Broken model files: every mistake is answered with its line and a remedy, and none with a traceback."""

import shutil

import pytest
from broken_models import MISTAKES
from click.testing import CliRunner

from flexph.cli import main
from flexph.models.commands import FOLDER


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("broken")
    shutil.copy(FOLDER / "bar.msh", place)
    return place


def checked(path):
    """What ``flexph check`` says of a file; any exception but those that end a command is raised."""
    result = CliRunner().invoke(main, ["check", str(path)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_answered_with_its_line(name, folder):
    mistake = MISTAKES[name]
    text = (FOLDER / f"{mistake.like}.yaml").read_text(encoding="utf-8")
    assert mistake.of in text
    path = folder / "model.yaml"
    path.write_text(text.replace(mistake.of, mistake.instead, 1), encoding="utf-8")
    result = checked(path)
    line = text[: text.index(mistake.of)].count("\n") + 1 + mistake.below
    print(result.output)
    assert result.exit_code == 1
    assert f"model.yaml:{line}:" in result.output
    for words in mistake.words:
        assert words in result.output
