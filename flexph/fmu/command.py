"""Command ``flexph fmu``: write a model file or a Python file as a functional mock-up unit."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import click

from ..console.options import print_lines
from ..models.commands import SETTINGS, TRUST, loaded, refusals

if TYPE_CHECKING:
    from .co_simulation import CoSimulation

FUNCTION = "co_simulation"
"""Function of a Python file that returns the co-simulation."""
NAMES = ("mechanism", "start", "method", "inputs", "outputs", "controllers", "step", "end")
"""Names that a Python file may define instead of the function."""


@click.command("fmu")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="the unit, NAME.fmu")
@click.option("--run", "run", metavar="NAME", help="the run of a model file whose start and method it takes")
@click.option("--fmi", type=click.IntRange(2, 3), default=2, show_default=True, help="version of the standard")
@SETTINGS
@TRUST
def command(file: Path, out: Path, run: str | None, fmi: Literal[2, 3], settings: Sequence[str], trust: bool) -> None:
    """Write FILE as a functional mock-up unit (FMI 2 or 3, co-simulation).

    FILE is a model file, or a Python file, which is executed. It must define a function co_simulation(**numbers) that
    returns a flexph.fmu.CoSimulation, or the names mechanism, start, method, inputs, outputs and controllers.
    """
    with refusals():
        is_python = file.suffix == ".py"
        simulation = of_python(file) if is_python else of_model(loaded(file, settings, trust=trust), run)
        from .export import write_fmu

        written = write_fmu(out, simulation, version=fmi)
    print_lines([f"{written}: a unit of {file}"])


def of_python(file: Path) -> CoSimulation | Callable[..., CoSimulation]:
    """Co-simulation that a Python file defines, or its function ``co_simulation``; raises ValueError without both."""
    from .co_simulation import CoSimulation

    module = _imported(file)
    function = getattr(module, FUNCTION, None)
    if callable(function):
        return function
    given = {name: getattr(module, name) for name in NAMES if hasattr(module, name)}
    if not {"mechanism", "start"} <= set(given):
        raise ValueError(f"{file} must define a function {FUNCTION}, or mechanism and start")
    return CoSimulation(**given)


def _imported(file: Path) -> ModuleType:
    """Module of a Python file, imported through its package if it is in one.

    A file outside of packages is imported as a single module, and pickled with its source.
    """
    import cloudpickle

    folder, names = file.resolve().parent, [file.stem]
    while (folder / "__init__.py").is_file():
        folder, names = folder.parent, [folder.name, *names]
    if len(names) == 1:
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
        cloudpickle.register_pickle_by_value(module)
        return module
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(".".join(names))
    finally:
        sys.path.remove(str(folder))


def of_model(model: Any, run: str | None) -> CoSimulation:
    """Co-simulation of a run in time of a model file: start, method, controllers, and sensors that the run records."""
    from ..models.schema.entry import Builder, Entry
    from ..models.schema.runs import Reading
    from ..models.schema.sensors import OF_JOINTS
    from ..sensors.quantities import position, velocity
    from .co_simulation import CoSimulation

    names = [name for name, entry in model.document.runs.items() if entry.kind == "integrate"]
    if run is None and not names:
        raise ValueError(f"{model.tree.name} has no run in time: add one of kind integrate")
    start, method, controllers, entry = model.prepared(run or names[0])
    measures = {name: measure.of for name, measure in entry.outputs.measures.items()}
    columns = {name: reading for table in entry.outputs.tables.values() for name, reading in table.items()}
    kinds = {"position": position, "velocity": velocity, **{name: OF_JOINTS[name] for name in ("place", "place_rate")}}
    entries = (measures | columns).items()
    outputs = {n: kinds[r.what](r.of) for n, r in entries if isinstance(r, Reading) and r.what in kinds}
    outputs |= {n: r.build(Builder(Path())) for n, r in entries if isinstance(r, Entry)}
    end = float(entry.end if entry.times is None else entry.times[-1])
    step = (end - start.time) / entry.steps if entry.times is None else float(entry.times[1] - entry.times[0])
    options: dict[str, Any] = {} if method is None else {"method": method}
    options |= {"outputs": outputs, "controllers": controllers, "end": end, "step": step}
    return CoSimulation(mechanism=model.mechanism, start=start, **options)
