"""Studies described in model files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..models.commands import loaded, refusals
from ..models.figures import figures_of_run
from ..models.loading import ModelFile
from ..models.sampling import check_grid, ends_of, rows_of
from ..models.schema.studies import Study
from ..models.settings import parse_setting
from ..units.words import nearest
from .samples import Samples, grid, latin_hypercube, sobol, table


def study_of_file(
    file: str, given: Sequence[str], *, name: str | None = None, trust: bool
) -> tuple[Callable[..., Mapping[str, Any]], Samples]:
    """Function and samples of the study ``name`` of a model file, by default of its first study.

    If the file has no study, its first run is used. ``given`` are ``PATH=A,B,…``, which add settings or replace their
    values. Raises click's exceptions.
    """
    model = loaded(Path(file), trust=trust)
    with refusals():
        model.check()
        entry = _study(model, name)
        if entry is not None and entry.vary is None:
            if given:
                raise ValueError("--set is for studies that vary settings: this one lists its samples")
            samples = _samples(model, entry)
        else:
            samples = _grid(model, entry, given)
        return figures_of_run(model, model.runs[0] if entry is None else entry.run), samples


def _study(model: ModelFile, name: str | None) -> Study | None:
    studies = model.document.studies
    if name is None:
        return next(iter(studies.values()), None)
    if name not in studies:
        raise ValueError(f"no study {name!r}: {nearest(name, studies)}")
    return studies[name]


def _grid(model: ModelFile, entry: Study | None, given: Sequence[str]) -> Samples:
    values = ({} if entry is None else dict(entry.vary)) | dict(map(_values, given))
    if not (values and model.runs):
        raise ValueError(f"{model.tree.name} has no study: write a section 'studies', or --set PATH=A,B")
    check_grid(values, model.tree)
    return grid(values)


def _samples(model: ModelFile, entry: Study) -> Samples:
    """Samples of a study that lists them or draws them at random."""
    name = next(name for name, study in model.document.studies.items() if study is entry)
    bounds = {path: ends_of(ends) for path, ends in entry.bounds.items()}
    if entry.sobol is not None:
        return sobol(entry.sobol.count, bounds, seed=entry.sobol.seed)
    if entry.latin_hypercube is not None:
        return latin_hypercube(entry.latin_hypercube.count, bounds, seed=entry.latin_hypercube.seed)
    return table(rows_of(entry, model.builder.at("studies", name)))


def _values(text: str) -> tuple[str, list[Any]]:
    path, _ = parse_setting(text)
    return path, parse_setting(f"{path}=[{text.partition('=')[2]}]")[1]
