"""Writing of functional mock-up units by pythonfmu and pythonfmu3."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import cloudpickle

from ..files.durable import refuse_suffix, staged
from ..numerics import checks as check
from ..numerics.arguments import checked
from .co_simulation import CoSimulation

SCRIPTS = {
    2: '''"""A mechanism of flexph as a functional mock-up unit."""

from flexph.fmu.fmi2 import Fmi2Mechanism


class {name}(Fmi2Mechanism):
    """The mechanism."""

    def __init__(self, **options):  # pythonfmu 0.7 loses the class, and the process, where it has none of its own
        super().__init__(**options)
''',
    3: '''"""A mechanism of flexph as a functional mock-up unit."""

from flexph.fmu.fmi3 import Fmi3Mechanism
from pythonfmu3 import Fmi3Slave


class {name}(Fmi3Mechanism, Fmi3Slave):
    """The mechanism."""

    def __init__(self, **options):
        super().__init__(**options)
''',
}
"""Programs of units, by the version of the standard."""
STATES = {
    2: {"canGetAndSetFMUstate": True, "canSerializeFMUstate": True},
    3: {"canGetAndSetFMUState": True, "canSerializeFMUState": True},
}
"""Options of the FMU builders that permit a state to be saved and restored; the two standards spell them differently.
"""


@checked
def write_fmu(
    path: str | Path,
    simulation: CoSimulation | Callable[..., CoSimulation],
    *,
    name: str | None = None,
    version: Literal[2, 3] = 2,
) -> Path:
    """Write a mechanism as a functional mock-up unit for co-simulation, with get, set and serialisation of states.

    The unit runs in the Python installation of flexph, to which pythonfmu refers. A step of the simulation is a step of
    the method, with results identical to those of ``integrate`` over the same times.

    Parameters
    ----------
    path : path
        Path of the file, ``NAME.fmu``.
    simulation : CoSimulation or function
        Co-simulation, or a function that returns it; the keyword arguments of the function are numbers and become
        parameters of the unit.
    name : str, optional
        Name of the model, by default the name of the file.
    version : {2, 3}
        Version of the standard: FMI 2 (pythonfmu) or 3 (pythonfmu3); units of different versions must run in separate
        processes.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    ValueError
        For arguments of the function without a numerical default, for another suffix, and for two variables of one
        name; in FMI 3 the name ``time`` is reserved.
    ImportError
        If pythonfmu or pythonfmu3 (extra ``fmi``) is missing.
    """
    target = Path(path)
    refuse_suffix("a unit", path, (".fmu",))
    builder = _builder(version)
    make, parameters = _made_of(simulation)
    plan = make(**parameters)
    if not isinstance(plan, CoSimulation):
        raise ValueError(f"simulation must return a CoSimulation, got {check.shown(plan)}")
    names = [*parameters, *plan.input_variables, *plan.output_variables, *(["time"] if version == 3 else [])]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"a unit must not have two variables named {twice!r} ('time' is reserved in FMI 3)")
    word = re.sub(r"\W", "_", name or target.stem, flags=re.ASCII)
    module = f"{word if word[:1].isalpha() else f'unit_{word}'}_of_flexph"
    with tempfile.TemporaryDirectory() as folder, staged(target) as part:
        script, held = Path(folder) / f"{module}.py", Path(folder) / "co_simulation.pkl"
        script.write_text(SCRIPTS[version].format(name=module.removesuffix("_of_flexph")))
        held.write_bytes(cloudpickle.dumps((make, parameters, plan)))
        units = Path(folder) / "units"
        before = list(sys.path)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                unit = builder.build_FMU(script, units, project_files=[held], **STATES[version])
            finally:
                sys.path[:] = before
                sys.modules.pop(module, None)
        part.write_bytes(Path(unit).read_bytes())
    return target


def _builder(version: int) -> Any:
    library = "pythonfmu" if version == 2 else "pythonfmu3"
    try:
        return import_module(library).FmuBuilder
    except ImportError as error:
        raise ImportError(f"functional mock-up units need {library}: pip install 'flexph[fmi]'") from error


def _made_of(simulation: Any) -> tuple[Callable[..., CoSimulation], dict[str, float]]:
    """Function that returns the co-simulation, and the default values of its arguments, by name.

    Raises ValueError for an argument without a number as default.
    """
    if isinstance(simulation, CoSimulation):
        return lambda: simulation, {}
    parameters = {}
    for name, parameter in inspect.signature(simulation).parameters.items():
        if isinstance(parameter.default, bool) or not isinstance(parameter.default, int | float):
            raise ValueError(f"argument {name!r} of the simulation must have a number as default to be a parameter")
        parameters[name] = float(parameter.default)
    return simulation, parameters
