"""The tutorial from a drawing to its motion: four commands make a film with stresses, in two minutes of a processor.

A minute, as each command is a process of its own; it needs gmsh.
"""

import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from flexph.models import load_model

PAGE = Path(__file__).parents[3] / "docs" / "tutorials" / "from-a-drawing.md"


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)


def flexph(folder, line):
    words = shlex.split(line)
    assert words[0] == "flexph"
    subprocess.run([sys.executable, "-m", *words], cwd=folder, check=True, capture_output=True, timeout=600)


@pytest.mark.slow
def test_four_commands_lead_from_a_drawing_to_a_film(tmp_path, monkeypatch):
    pytest.importorskip("gmsh", exc_type=ImportError)
    image = pytest.importorskip("PIL.Image")
    monkeypatch.chdir(tmp_path)
    exec(blocks(r"\{code-cell\} ipython3")[0], {})
    own, driven = (block.splitlines() for block in blocks("sh"))
    assert len(own) == 4
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    for line in own:
        flexph(tmp_path, line)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert end.ru_utime - begin.ru_utime < 120.0
    film = image.open(tmp_path / "motion.gif")
    assert film.n_frames == 40
    film.seek(20)
    yellow_to_violet = np.asarray(film.convert("RGB"))[395:420, 410:780].reshape(-1, 3)
    assert len(np.unique(yellow_to_violet, axis=0)) > 5  # the scale of the stresses
    text, (drive,) = Path("motion.yaml").read_text(), blocks("yaml")
    Path("motion.yaml").write_text(text.replace("\nstart:", f"{drive}\nstart:", 1))
    model = load_model("motion.yaml")
    model.check()
    assert any(connection.is_driven for connection in model.mechanism.connections)
    assert driven == ["flexph run motion.yaml --out driven", "flexph view driven --png motion.png"]
