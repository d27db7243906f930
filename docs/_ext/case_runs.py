"""Runs of cases for the documentation: each is computed once, checked once, and kept in a folder."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import flexph
from flexph.case import Case, Cover, find_cases
from flexph.scenes.files import read_scene
from flexph.scenes.of_results import scene_files
from flexph.scenes.scene import Scene
from flexph.view.html import html_fragment
from flexph.view.looks import shown_field
from flexph.view.packing import telling_row, with_triangles
from flexph.view.pictures import write_film
from flexph.view.stage import still_image

LIMIT = 1200
"""Seconds after which a case is given up."""

KEPT = (".png", ".json")
"""Files of a run that its page shows."""
ACCOUNTS = ("ledger", "energy", "residual")
"""Words in the names of pictures of accounts."""

LAYOUT = 3
"""Version of the cache: runs of another one are computed again."""
DRAWN = 4
"""Version of covers, films and views: those of another one are drawn again, from the kept scenes."""
SCENE = "scene.vtkhdf"
"""The first scene of a run."""
COVER = (480, 300)
"""Pixels of a cover."""
NEAR = 0.45
"""Size of the bodies over that of all which is seen, below which these are left out of a cover."""
FAR = 0.1
"""The same size, below which signs of forces go, too, if they are longer than the bodies over ``NEAR``."""
FILM = 40
"""Frames of a film at most."""
LIBRARY = "../_static/flexph-view.js"
"""Address of the library of views from a page of the gallery."""

CHECKS = """
import dataclasses, json, sys
from flexph.case import find_cases
rows = [dataclasses.asdict(check) | {"difference": check.difference, "passed": check.passed}
        for check in find_cases()[sys.argv[1]].checks()]
print(json.dumps(rows, default=lambda value: value.item()))
"""


@dataclass(frozen=True)
class CaseRun:
    """A computed case for its page: pictures, figures, checks, and time and machine of the run."""

    name: str
    case: Case[Any]
    folder: Path
    record: dict[str, Any]

    @property
    def command(self) -> str:
        """The command that computes it."""
        return f"flexph run {self.name} --out out"

    @property
    def pictures(self) -> list[Path]:
        """Its pictures by name, those of energy last."""
        pictures = (self.folder / "results").rglob("*.png")
        return sorted(pictures, key=lambda path: (any(word in path.stem for word in ACCOUNTS), path))

    @property
    def cover(self) -> Path | None:
        """A picture of its motion at a telling moment, or else its first one."""
        cover = self.folder / "cover.png"
        return cover if cover.exists() else next(iter(self.pictures), None)

    @property
    def film(self) -> Path | None:
        """A short film of its motion, if it has one."""
        film = self.folder / "film.webp"
        return film if film.exists() else None

    @property
    def view(self) -> str:
        """HTML of its motion; empty without a motion."""
        view = self.folder / "view.html"
        return view.read_text(encoding="utf-8") if view.exists() else ""

    @property
    def figures(self) -> dict[str, Any]:
        """Numbers of its summary, without the record of the run."""
        summary = json.loads((self.folder / "results" / "summary.json").read_text(encoding="utf-8"))
        return {
            key: value for key, value in summary.items() if key not in ("case", "parameters", "versions", "started")
        }

    @property
    def checks(self) -> list[dict[str, Any]]:
        """Its checks, as mappings of the fields of :class:`flexph.case.Check`."""
        rows: list[dict[str, Any]] = json.loads((self.folder / "checks.json").read_text(encoding="utf-8"))
        return rows

    @property
    def told(self) -> str:
        """A sentence on version, date, time and machine."""
        return "Computed with flexph {version} on {date} in {seconds:.0f} s ({machine}).".format(**self.record)


def case_runs(cache: Path, names: Sequence[str] = ()) -> list[CaseRun]:
    """All cases, or those that are named, each from the cache or computed now; two at a time."""
    cases = find_cases()
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda name: _run(name, cases[name], cache), sorted(names or cases)))


def _run(name: str, case: Case[Any], cache: Path) -> CaseRun:
    folder = cache / f"{name}-{_key(case)}"
    if not (folder / "run.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        started = time.perf_counter()
        _python("-m", "flexph", "run", name, "--out", str(folder / "results"))
        seconds = time.perf_counter() - started
        (folder / "checks.json").write_text(_python("-c", CHECKS, name), encoding="utf-8")
        scenes = scene_files(folder / "results")
        if scenes:
            shutil.copyfile(next(iter(scenes.values())), folder / SCENE)
        for path in (folder / "results").rglob("*"):
            if path.is_file() and path.suffix not in KEPT:
                path.unlink()
        for path in (folder / "results").rglob("*.png"):
            shrink(path)
        today = datetime.now(UTC).date().isoformat()
        record = {"version": flexph.__version__, "date": today, "seconds": seconds, "machine": machine()}
        (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    keep_motion(name, folder, case.cover)
    return CaseRun(name, case, folder, json.loads((folder / "run.json").read_text(encoding="utf-8")))


def keep_motion(name: str, folder: Path, cover: Cover) -> None:
    """Draw the cover, the film and the view of the first scene of a run, if they are not there."""
    drawn_by, drawn = folder / "drawn.txt", f"{DRAWN} {cover}"
    if not (folder / SCENE).exists() or (drawn_by.exists() and drawn_by.read_text(encoding="utf-8") == drawn):
        return
    scene = read_scene(folder / SCENE)
    shown = with_triangles(scene)
    field = shown_field(shown, None)
    row = telling_row(shown) if cover.at is None else int(np.abs(scene.times - cover.at).argmin())
    (folder / "cover.png").write_bytes(still_image(near(shown, row), 0, field, size=COVER, towards=cover.towards))
    if len(scene.times) > 1:
        size = COVER[0] // 2, COVER[1] // 2
        options: dict[str, Any] = {"size": size, "background": "transparent", "towards": cover.towards, "title": ""}
        write_film(folder / "film.webp", shown, frames=FILM, **options)
    (folder / "view.html").write_text(html_fragment(scene, library=LIBRARY, title=name), encoding="utf-8")
    drawn_by.write_text(drawn, encoding="utf-8")


def shrink(path: Path) -> None:
    """Write a picture again with 256 colours, where that is smaller: of curves it looks the same."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    packed = BytesIO()
    small.save(packed, format="PNG", optimize=True)
    if len(packed.getvalue()) < path.stat().st_size:
        path.write_bytes(packed.getvalue())


def near(scene: Scene, row: int) -> Scene:
    """A scene at one of its times, without signs of joints, forces and of the ground that are far from the bodies."""
    own = scene.picked([row])
    bodies = own.without("ground", "joint", "force", "contact", "arrow")
    sizes = [float(np.linalg.norm(np.ptp(part.bounds, axis=0))) for part in (bodies, own.without("arrow"))]
    if not bodies.parts or sizes[0] >= NEAR * sizes[1]:
        return own
    kept = own.without("ground", "joint")
    if sizes[0] >= FAR * sizes[1]:
        return kept
    lengths = [np.linalg.norm(np.ptp(part.at(0), axis=0)) for part in kept.parts]
    parts = zip(kept.parts, lengths, strict=True)
    return replace(kept, parts=tuple(part for part, length in parts if NEAR * length < sizes[0]))


def _key(case: Case[Any]) -> str:
    """Name of a run: digest of version, parameters and source of the case."""
    parameters = [(parameter.name, parameter.default) for parameter in case.parameters]
    told = (LAYOUT, flexph.__version__, parameters, Path(inspect.getfile(case.run)).read_text(encoding="utf-8"))
    return hashlib.sha256(repr(told).encode()).hexdigest()[:12]


def _python(*arguments: str) -> str:
    """Output of a Python program, run with one thread of linear algebra."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    run = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        env={**os.environ, **threads, "MPLBACKEND": "Agg"},
    )
    if run.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {run.stderr[-2000:]}")
    return run.stdout


def machine() -> str:
    """Processor and system, in a few words."""
    cpus = Path("/proc/cpuinfo")
    names = (
        [line.partition(":")[2].strip() for line in cpus.read_text().splitlines() if "model name" in line]
        if (cpus.exists())
        else []
    )
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
