"""Summary numbers of a run of a model file as a function of settings, for studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from .loading import ModelFile, load_model


def figures_of_file(path: str, run: str, *, digest: str, trust: bool, **settings: Any) -> Mapping[str, Any]:
    """Summary numbers of a run with changed settings by path: ``**{"bodies.rod.elements": 8}``. Raises ModelError.

    ``digest`` is a checksum of the file's content, so that studies of a changed file do not reuse old results.
    """
    return load_model(path, trust=trust, settings=settings).run(run).figures()


def figures_of_run(model: ModelFile, run: str) -> Callable[..., Mapping[str, Any]]:
    """Function from settings by path to the summary numbers of a run, which other processes can receive.

    Raises ModelError for an unknown run.
    """
    model.refuse_unknown([run])
    path = str(Path(model.tree.name).resolve())
    return partial(figures_of_file, path, run, digest=model.digest, trust=model.builder.trust)
