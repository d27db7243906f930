"""A model file in words."""

from __future__ import annotations

from .loading import ModelFile
from .mechanism_of import pose_of


def words(model: ModelFile) -> str:
    """Bodies, connections, freedoms and redundancies at the start, mass, runs and studies."""
    document, mechanism = model.document, model.mechanism
    pose = model.located(lambda: pose_of(mechanism, document.start, model.builder.at("start"), document.start.time))
    heading = [document.description] if document.description else []
    lines = [*heading, mechanism.describe(pose)]
    lines.append(f"mass {sum(body.mass for body in mechanism.bodies.values()):.6g} kg")
    lines += [f"run {name}: {run.kind}" for name, run in document.runs.items()]
    for name, study in document.studies.items():
        varied = ", ".join(f"{path} at {len(values)} values" for path, values in study.vary.items())
        lines.append(f"study {name}: run {study.run} with {varied}")
    return "\n".join(lines)
