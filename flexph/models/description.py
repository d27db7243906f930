"""Description of a model file as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .loading import ModelFile
from .mechanism import pose_of
from .schema.studies import Study


def describe(model: ModelFile, *, details: bool = False) -> str:
    """Text on bodies, connections, degrees of freedom and redundancies at the start, mass, runs and studies.

    ``details`` adds what :meth:`flexph.Mechanism.describe` adds.
    """
    document, mechanism = model.document, model.mechanism
    pose = model.located(lambda: pose_of(mechanism, document.start, model.builder.at("start"), document.start.time))
    heading = [document.description] if document.description else []
    lines = [*heading, mechanism.describe(pose, details=details)]
    runs: Mapping[str, Any] = document.runs
    lines += [f"run {name}: {run.kind}" for name, run in runs.items()]
    for name, study in document.studies.items():
        lines.append(f"study {name}: run {study.run} {_samples(study)}")
    return "\n".join(lines)


def _samples(study: Study) -> str:
    """Text on the samples of a study."""
    if study.vary is not None:
        return "with " + ", ".join(f"{path} at {len(values)} values" for path, values in study.vary.items())
    if study.samples is not None:
        return f"at {len(study.samples)} samples"
    if study.table is not None:
        return f"at the rows of {study.table.name}"
    drawn, kind = (study.sobol, "Sobol") if study.sobol else (study.latin_hypercube, "Latin hypercube")
    return f"at {drawn.count} samples ({kind}) of {', '.join(drawn.bounds)}"
