"""Reading, checking and building of model files, their runs, and results as a function of settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from flexph.changes.plan import with_changes
from flexph.control.control_loops import ControlLoops
from flexph.integration.controllers import loops_of
from flexph.integration.methods.exact import Exact
from flexph.integration.methods.method import MechanismMethod
from flexph.mechanisms.mechanism import Mechanism
from flexph.mechanisms.model.state import Pose, State
from flexph.numerics.arguments import checked

from ..units.words import nearest
from .mechanism import build_mechanism, check_motions, pose_of, state_of
from .outputs import check_outputs
from .reading.tree import Misfit, ModelError, Tree, read_file
from .running import (
    RunOfFile,
    check_begin,
    check_inputs,
    check_motion,
    equilibrium_run,
    frequencies_of,
    integrate_run,
    invert_run,
    times_of,
)
from .sampling import check_optimisation, check_study
from .schema.controllers import check_driven_ports, check_references
from .schema.document import Document
from .schema.entry import Builder
from .schema.runs import Equilibrium, Frequencies, Integrate, InverseDynamicsRun, TimedRun
from .settings import with_settings
from .validation import validated

_Value = TypeVar("_Value")
OF_MECHANISM = ("gravity", "dials", "materials", "sections", "bodies", "connections")
"""Sections of which the mechanism is built."""


@dataclass(frozen=True)
class ModelFile:
    """Model file with the ``mechanism`` built from it; :meth:`run` computes a run by name.

    Attributes
    ----------
    tree : Tree
        Parsed data with line numbers.
    document : Document
        Validated sections.
    builder : Builder
        Builder of the entries.
    mechanism : Mechanism
        Mechanism of the file.
    """

    tree: Tree
    document: Document
    builder: Builder
    mechanism: Mechanism

    @property
    def digest(self) -> str:
        """Checksum of the file's content, in which settings have replaced values."""
        text = json.dumps(self.tree.data, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the file's runs."""
        return tuple(self.document.runs)

    def start(self) -> State:
        """Initial state of the mechanism from the entry ``start`` of the file. Raises ModelError."""

        def compute() -> State:
            check_motions(self.document, self.builder, self.document.start.time)
            return state_of(self.mechanism, self.document.start, self.builder.at("start"))

        return self.located(compute)

    def refuse_unknown(self, runs: Iterable[str]) -> None:
        """Raise ModelError for names of runs that the file does not contain."""
        for name in runs:
            if name not in self.runs:
                text = f"no run {name!r}: {nearest(name, self.runs)}"
                raise ModelError(self.tree.name, [self.tree.problem(("runs",), text)])

    def check(self) -> None:
        """Check, without a run, that starts are consistent and that methods, inputs and outputs exist.

        Raises ModelError.
        """
        self.located(self._check)

    def _check(self) -> None:
        if not self.document.runs:
            check_motions(self.document, self.builder, self.document.start.time)
            state_of(self.mechanism, self.document.start, self.builder.at("start"))
        for name, entry in self.document.runs.items():
            here = self.builder.at("runs", name)
            if isinstance(entry, Frequencies):
                self._poses(entry, here)
            else:
                self._check_names(entry, here)
                start, place = self._start(entry, here)
                state = state_of(self.mechanism, start, place)
                check_inputs(self.mechanism, entry, start.time, here)
                if isinstance(entry, TimedRun):
                    last = float(times_of(entry, start.time)[-1])
                    check_motions(self.document, self.builder, last, "the end")
                if isinstance(entry, InverseDynamicsRun):
                    check_motion(self.mechanism, entry, pose_of(self.mechanism, start, place, start.time), here)
                if isinstance(entry, Integrate):
                    self._check_controllers(entry, state, here)
                    check_begin(self.mechanism, entry, state, here, place)
        for name, study in self.document.studies.items():
            check_study(study, self.tree, self.runs, self.builder.at("studies", name))
        for name, optimisation in self.document.optimisations.items():
            check_optimisation(optimisation, self.tree, self.document.runs, self.builder.at("optimisations", name))

    def _check_names(self, entry: Any, here: Builder) -> None:
        """Raise Misfit unless the inputs, motions, changes of joints, outputs and method that a run names exist."""
        known = [c.name for c in self.mechanism.connections if c.input is not None]
        sections = ("inputs", "motion") if isinstance(entry, InverseDynamicsRun) else ("inputs",)
        for section in sections:
            given = getattr(entry, section)
            for name in given:
                if name not in known:
                    raise here.at(section, name).misfit(f"no force, torque or load {name!r}: {nearest(name, known)}")
            here.of(given, section)
        mechanism = self.mechanism
        if isinstance(entry, Integrate) and entry.changes:
            with here.at("changes").refusals():
                mechanism = with_changes(mechanism, here.of(entry.changes, "changes"))
        check_outputs(entry.outputs, mechanism, here.at("outputs"))
        if isinstance(entry, TimedRun):
            here.of(entry.method, "method")

    def _check_controllers(self, entry: Integrate, state: State, here: Builder) -> None:
        """Raise Misfit unless sensors and ports exist, each port is set once, and the method supports controllers."""
        for name, given in entry.controllers.items():
            controller = here.of(given, "controllers", name)
            with here.at("controllers", name).refusals():
                ControlLoops(self.mechanism, {name: controller}, state)
        method, controllers = here.of(entry.method, "method") or Exact(), here.of(entry.controllers, "controllers")
        check_driven_ports(self.mechanism.network.input_slices, entry.controllers, controllers, here)
        check_references(entry.controllers, here, times_of(entry, state.time))
        with here.at("controllers").refusals():
            if isinstance(method, MechanismMethod):
                loops_of(self.mechanism, state, method, controllers)
            else:
                ControlLoops(self.mechanism, controllers, state)

    def _poses(self, entry: Frequencies, here: Builder) -> list[Pose]:
        check_motions(self.document, self.builder, 0.0)
        if entry.poses is None:
            return [pose_of(self.mechanism, self.document.start, self.builder.at("start"))]
        return [pose_of(self.mechanism, pose, here.at("poses", i)) for i, pose in enumerate(entry.poses)]

    def _start(self, entry: Any, here: Builder) -> tuple[Any, Builder]:
        """Start entry of a run, by default the start entry of the file, and the Builder at the position of this entry.

        Raises Misfit for drives that are undefined at the start.
        """
        start, place = (self.document.start, self.builder) if entry.start is None else (entry.start, here)
        check_motions(self.document, self.builder, start.time)
        return start, place.at("start")

    @checked
    def run(self, name: str, *, progress: bool = False, live: bool = False) -> RunOfFile:
        """Compute a run. Raises ModelError, and the errors of runs.

        Parameters
        ----------
        name : str
            Name of a run.
        progress : bool
            True to show a progress bar in a terminal.
        live : bool
            True to show a run in time in a page of the browser while it runs, with the options of its entry ``live``.

        Returns
        -------
        RunOfFile
            Results, with a method that writes them to files.

        Raises
        ------
        ModelError
            If there is no such run or it cannot be built.
        """
        self.refuse_unknown([name])
        entry, here = self.document.runs[name], self.builder.at("runs", name)

        def compute() -> RunOfFile:
            if isinstance(entry, Frequencies):
                return frequencies_of(self.mechanism, entry, self._poses(entry, here), here)
            self._check_names(entry, here)
            begin, place = self._start(entry, here)
            if isinstance(entry, Equilibrium | InverseDynamicsRun):
                pose = pose_of(self.mechanism, begin, place, begin.time)
                if isinstance(entry, Equilibrium):
                    return equilibrium_run(self.mechanism, entry, pose, here)
                return invert_run(self.mechanism, entry, pose, here, begin)
            at = state_of(self.mechanism, begin, place)
            return integrate_run(self.mechanism, entry, at, here, progress=progress, live=live)

        return self.located(compute)

    @checked
    def prepared(self, name: str) -> tuple[State, Any, dict[str, Any], Integrate]:
        """Initial state, method, controllers by name, and entry of the run in time ``name``. Raises ModelError."""
        self.refuse_unknown([name])
        entry: Any = self.document.runs[name]
        here = self.builder.at("runs", name)

        def compute() -> tuple[State, Any, dict[str, Any], Integrate]:
            if not isinstance(entry, Integrate):
                raise here.misfit(f"{name!r} is no run in time: name one of kind integrate")
            self._check_names(entry, here)
            start = state_of(self.mechanism, *self._start(entry, here))
            return start, here.of(entry.method, "method"), here.of(entry.controllers, "controllers"), entry

        return self.located(compute)

    @checked
    def with_settings(self, settings: Mapping[str, Any]) -> ModelFile:
        """Model with changed values at some paths, for example ``{"bodies.rod.elements": 8}``. Raises ModelError.

        Parameters
        ----------
        settings : mapping
            Values by path, for example ``{"bodies.rod.elements": 8}``.

        Returns
        -------
        ModelFile
            The changed model.

        Raises
        ------
        ModelError
            If a path does not exist or a value does not fit.
        """
        tree = with_settings(self.tree, settings)
        same = all(self.tree.data.get(name) == tree.data.get(name) for name in OF_MECHANISM)
        mechanism = self.mechanism if same else None
        return model_of_tree(tree, self.builder.folder, trust=self.builder.trust, mechanism=mechanism)

    def located(self, compute: Callable[[], _Value]) -> _Value:
        """Result of ``compute()``.

        If it raises Misfit, a ModelError with the line in the file is raised instead.
        """
        return located(self.tree, compute)


def located(tree: Tree, compute: Callable[[], _Value]) -> _Value:
    """Result of ``compute()``.

    If it raises Misfit, a ModelError with the line in the parsed file ``tree`` is raised instead.
    """
    try:
        return compute()
    except Misfit as error:
        raise ModelError(tree.name, [tree.problem(error.path, error.text)]) from error


@checked
def load_model(path: str | Path, *, trust: bool = False, settings: Mapping[str, Any] | None = None) -> ModelFile:
    """Read and build a model file (YAML); see docs/guide/model-files.md.

    Parameters
    ----------
    path : path
        The file; files that it refers to are relative to its folder.
    trust : bool, optional
        True to import and call Python functions that the file names by import path.
    settings : mapping, optional
        Values that replace those of the file, by path: ``{"bodies.rod.elements": 8}``.

    Returns
    -------
    ModelFile
        Model with its ``mechanism`` and its runs by name.

    Raises
    ------
    ModelError
        A ValueError that lists the errors of the file: line, column, wrong value and remedy.
    OSError
        If the file cannot be read.
    """
    file = Path(path)
    return model_of_tree(with_settings(read_file(file), settings or {}), file.parent, trust=trust)


def model_of_tree(tree: Tree, folder: Path, *, trust: bool, mechanism: Mechanism | None = None) -> ModelFile:
    """Model of the parsed file ``tree`` in a folder. Raises ModelError.

    A given ``mechanism`` is used instead of a new one; it must have been built from a file with the same bodies and
    connections.
    """
    document, builder = document_of(tree, folder, trust=trust)
    built = mechanism or located(tree, lambda: build_mechanism(document, builder))
    return ModelFile(tree, document, builder, built)


def document_of(tree: Tree, folder: Path, *, trust: bool) -> tuple[Any, Builder]:
    """Sections of a parsed file as checked entries, and the Builder of the entries. Raises ModelError.

    ``folder`` is that of the file; ``trust``: True if Python functions that the file names may be imported.
    """
    document: Any = validated(tree)
    named = {name: getattr(document, name) for name in ("materials", "sections", "dials")}
    return document, Builder(folder, trust, named)


def figures_of_file(path: str, run: str, *, digest: str, trust: bool, **settings: Any) -> Mapping[str, Any]:
    """Summary numbers, by name, of a run of a model file with changed settings. Raises ModelError.

    Settings are keywords that are paths, given as ``**{"bodies.rod.elements": 8}``. ``digest`` is not used here: as a
    checksum of the file's content it is part of the arguments that studies record, so that they do not reuse results of
    an older file.
    """
    return load_model(path, trust=trust, settings=settings).run(run).figures()


def figures_of_run(model: ModelFile, run: str) -> Callable[..., Mapping[str, Any]]:
    """Picklable function from settings by path to the summary numbers of a run of a model file.

    Raises ModelError for an unknown run.
    """
    model.refuse_unknown([run])
    path = str(Path(model.tree.name).resolve())
    return partial(figures_of_file, path, run, digest=model.digest, trust=model.builder.trust)
