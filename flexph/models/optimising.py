"""Optimisations of model files: measures of a run as functions of settings by path, with gradients if available.

The gradients are those of the measures that objective and constraints name, by :class:`flexph.gradients.Responses`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from flexph.gradients.functionals import Functional
from flexph.gradients.responses import Responses
from flexph.gradients.runs.problems import problem_of
from flexph.integration.methods.exact import Exact
from flexph.numerics.arrays import Array

from ..units.words import weighted_sum
from .loading import ModelFile, document_of, model_of_tree
from .measures import functional_of, quantity_of
from .reading.tree import Tree
from .running import times_of
from .sampling import ends_of, start_of
from .schema.runs import Integrate, Measure, Reading, inputs_of
from .schema.studies import Optimisation
from .settings import with_settings

STEP = 1e-2
"""Step of differences of masses, relative to a setting; of polynomials up to the fourth degree they are exact."""
UNRELATED = ("optimisations", "studies", "description")
"""Sections of a file on which a run does not depend."""


class Search(NamedTuple):
    """Optimisation of a model file, as arguments of :func:`flexph.studies.optimise`.

    ``obstacle`` is the reason why the function has no gradients, or an empty text if it has them.
    """

    function: FiguresOfRun
    objective: dict[str, float]
    bounds: dict[str, tuple[float, float]]
    constraints: dict[str, tuple[float | None, float | None]]
    start: dict[str, float]
    obstacle: str

    @property
    def words(self) -> str:
        """Text that describes the objective."""
        return weighted_sum(self.objective)


def search_of(model: ModelFile, name: str) -> Search:
    """Search for an optimisation of a file. Raises ModelError."""
    model.check()
    entry: Optimisation = model.document.optimisations[name]
    here = model.builder.at("optimisations", name)
    obstacle = model.located(lambda: _obstacle(model, entry))
    if obstacle and entry.step is None and entry.method not in ("auto", "COBYQA"):

        def refuse() -> None:
            raise here.at("method").misfit(f"{entry.method} needs derivatives, and {obstacle}: add a step, or omit it")

        model.located(refuse)
    settings = (str(Path(model.tree.name).resolve()), name, json.dumps(model.tree.data), model.builder.trust)
    kind = FiguresOfRun if obstacle else ResponsesOfRun
    return Search(
        kind(*settings),
        dict(entry.weights),
        {path: ends_of(ends) for path, ends in entry.parameters.items()},
        {key: (least, largest) for key, (least, largest) in entry.constraints.items()},
        start_of(entry, model.tree),
        obstacle,
    )


@dataclass(frozen=True)
class FiguresOfRun:
    """Function from settings by path to the summary numbers of a run.

    It holds the content of the file, so that worker processes do not read the file again.

    Attributes
    ----------
    path : str
        The file.
    name : str
        Optimisation of the file.
    data : str
        Data of the file as JSON, with the values that were set.
    trust : bool
        True to call Python functions that the file names.
    """

    path: str
    name: str
    data: str
    trust: bool

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """Method :meth:`__call__`: records of studies take signature and source code of the function from it."""
        return self.__call__

    @property
    def settings(self) -> tuple[Any, ...]:
        """Data that must be equal for results of an earlier optimisation to be used again: run, measures and mechanism.

        Bounds and limits may differ.
        """
        data = {key: value for key, value in json.loads(self.data).items() if key not in UNRELATED}
        return self.entry.run, self.entry.measures, json.dumps(data, sort_keys=True)

    @property
    def model(self) -> ModelFile:
        """Model of the file."""
        return _model_of(self.path, self.data, self.trust)

    @property
    def entry(self) -> Optimisation:
        """Entry of the optimisation."""
        optimisation: Optimisation = self.model.document.optimisations[self.name]
        return optimisation

    def __call__(self, **settings: float) -> dict[str, Any]:
        """Summary numbers, by name, of the run with ``settings``: values by path in the file."""
        return self.model.with_settings(settings).run(self.entry.run).figures()


@dataclass(frozen=True)
class ResponsesOfRun(FiguresOfRun):
    """Function from settings to the summary numbers of a run, with derivatives of the measures to be optimised."""

    def derivatives(self, **settings: float) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Values of the measures at the given settings, and derivatives of each measure with respect to each setting.

        Values are by name of the measure; derivatives are by name of the measure and then by path of the setting.
        """
        measures = _measures(self.model, self.entry)
        values: dict[str, Any] = {}
        by: dict[str, dict[str, Any]] = {}
        functionals = {name: functional for name, functional in measures.items() if isinstance(functional, Functional)}
        if functionals:
            values, by = Responses(self.made, _times(self.model, self.entry), functionals).derivatives(**settings)
        masses = {name: functional for name, functional in measures.items() if isinstance(functional, str)}
        if masses:
            functional, slopes = self._masses(masses, settings)
            values, by = {**values, **functional}, {**by, **slopes}
        return values, by

    def made(self, **settings: float) -> tuple[Any, Any, Any]:
        """Mechanism, initial state and inputs for the given settings."""
        return _made(self.model.with_settings(settings), self.entry.run)

    def _masses(self, bodies: Mapping[str, str], settings: Mapping[str, float]) -> tuple[dict[str, Any], Any]:
        """Masses [kg], for each measure that is the mass of a body, and their derivatives with respect to the settings.

        ``bodies``: name of the body by measure. Derivatives are finite differences of fourth order, by measure and
        path.
        """

        def masses(at: Mapping[str, float]) -> dict[str, float]:
            tree = with_settings(self.model.tree, at)
            document, builder = document_of(tree, self.model.builder.folder, trust=self.trust)
            return {
                name: float(builder.of(document.bodies[body], "bodies", body).mass) for name, body in bodies.items()
            }

        slopes: dict[str, dict[str, float]] = {name: {} for name in bodies}
        for path, value in settings.items():
            step = STEP * (abs(value) or 1.0)
            rows = {k: masses({**settings, path: value + k * step}) for k in (-2, -1, 1, 2)}
            for name in bodies:
                near, far = rows[1][name] - rows[-1][name], rows[2][name] - rows[-2][name]
                slopes[name][path] = (8.0 * near - far) / (12.0 * step)
        return masses(settings), slopes


@lru_cache(maxsize=4)
def _model_of(path: str, data: str, trust: bool) -> ModelFile:
    """Model built from the recorded data of a file, so that later changes of the file have no effect."""
    return model_of_tree(Tree(path, json.loads(data)), Path(path).parent, trust=trust)


def _made(model: ModelFile, run: str) -> tuple[Any, Any, Any]:
    """Mechanism, initial state and inputs of a run in time."""
    start, _, _, entry = model.prepared(run)
    return model.mechanism, start, inputs_of(entry, model.builder.at("runs", run))


def _times(model: ModelFile, entry: Optimisation) -> Array:
    """Times (k,) [s] of the run that an optimisation repeats."""
    run: Any = model.document.runs[entry.run]
    start = model.document.start if run.start is None else run.start
    return times_of(run, start.time)


def _measures(model: ModelFile, entry: Optimisation) -> dict[str, Functional | str]:
    """Functional of each measure that an optimisation names, or the name of the body for a measure of mass.

    Raises ValueError for a measure without derivatives.
    """
    run: Any = model.document.runs[entry.run]
    return {name: _differentiable(name, run.outputs.measures[name]) for name in entry.measures}


def _differentiable(name: str, measure: Measure) -> Functional | str:
    """Functional of a measure, or the name of the body if the measure is its mass.

    Raises ValueError for a measure without derivatives.
    """
    if isinstance(measure.of, Reading) and measure.of.what == "mass":
        return measure.of.of
    quantity = quantity_of(measure.of)
    if quantity is None:
        raise ValueError(f"measure {name!r} must be of a sensor with derivatives")
    functional = functional_of(measure, quantity)
    if functional is None:
        raise ValueError(f"measure {name!r} takes the {measure.take} without a margin, which is not smooth")
    return functional


def _obstacle(model: ModelFile, entry: Optimisation) -> str:
    """Reason why a run has no gradients; empty if it has gradients. Raises Misfit."""
    run: Any = model.document.runs[entry.run]
    if not isinstance(run, Integrate):
        return f"a run of kind {run.kind} has no gradients"
    if run.controllers or run.changes:
        return f"runs with {'controllers' if run.controllers else 'changes'} have no gradients"
    chosen = model.builder.of(run.method, "method") or Exact()
    if chosen != Exact():
        return f"runs by {chosen} have no gradients here"
    for path in entry.parameters:
        if re.fullmatch(rf"(runs\.{re.escape(entry.run)}\.(end|times\b.*|start\.time)|start\.time)", path):
            return f"{path} changes the times of the run"
    try:
        _measures(model, entry)
        problem = problem_of(lambda: _made(model, entry.run), {}, _times(model, entry))
    except (ValueError, ImportError) as error:
        return str(error)
    if problem.kinds.friction:
        return "runs with dry friction of joints, which may stick, have no gradients here"
    return ""
