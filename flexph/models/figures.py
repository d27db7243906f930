"""Numbers of a run of a model file as a function of settings, for studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from .loading import ModelFile, load_model


def figures_of_file(path: str, run: str, *, digest: str, trust: bool, **settings: Any) -> Mapping[str, Any]:
    """The figures of a run with other values at some paths: ``**{"bodies.rod.elements": 8}``.

    ``digest`` is the sum of what the file says; it makes studies of a file that changed others. Raises ModelError.
    """
    return load_model(path, trust=trust, settings=settings).run(run).figures()


def figures_of_run(model: ModelFile, run: str) -> Callable[..., Mapping[str, Any]]:
    """The figures of a run as a function of settings by path, which other processes can be sent. Raises ModelError."""
    model.refuse_unknown([run])
    path = str(Path(model.tree.name).resolve())
    return partial(figures_of_file, path, run, digest=model.digest, trust=model.builder.trust)
