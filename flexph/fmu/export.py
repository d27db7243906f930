"""Functional mock-up units written by pythonfmu."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle

from ..files.durable import refuse_suffix, staged
from ..numerics import checks as check
from ..numerics.arguments import checked
from .co_simulation import CoSimulation

SCRIPT = '''"""A mechanism of flexph as a functional mock-up unit."""

from flexph.fmu.slave import MechanismSlave


class {name}(MechanismSlave):
    """The mechanism."""

    def __init__(self, **options):  # pythonfmu 0.7 loses the class, and the process, where it has none of its own
        super().__init__(**options)
'''


@checked
def write_fmu(
    path: str | Path, simulation: CoSimulation | Callable[..., CoSimulation], *, name: str | None = None
) -> Path:
    """Write a mechanism as a functional mock-up unit: FMI 2, co-simulation, with get, set and serialisation of states.

    The unit runs in the Python installation of flexph, which pythonfmu makes known to the simulator. A step of the
    simulation is a step of the method, with results identical to ``integrate`` over the same times.

    Parameters
    ----------
    path : path
        The file, ``NAME.fmu``.
    simulation : CoSimulation or function
        The co-simulation, or a function that returns it; its keyword arguments are numbers and become parameters of
        the unit.
    name : str, optional
        Name of the model, by default that of the file.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        For arguments of the function without a numerical default, and for another suffix.
    ImportError
        Without pythonfmu (extra ``fmi``).
    """
    target = Path(path)
    refuse_suffix("a unit", path, (".fmu",))
    builder = _builder()
    make, parameters = _made_of(simulation)
    plan = make(**parameters)
    if not isinstance(plan, CoSimulation):
        raise ValueError(f"simulation must return a CoSimulation, got {check.shown(plan)}")
    word = re.sub(r"\W", "_", name or target.stem, flags=re.ASCII)
    module = f"{word if word[:1].isalpha() else f'unit_{word}'}_of_flexph"
    with tempfile.TemporaryDirectory() as folder, staged(target) as part:
        script, held = Path(folder) / f"{module}.py", Path(folder) / "co_simulation.pkl"
        script.write_text(SCRIPT.format(name=module.removesuffix("_of_flexph")))
        held.write_bytes(cloudpickle.dumps((make, parameters, plan)))
        unit = Path(folder) / "unit.fmu"
        before = list(sys.path)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                builder.build_FMU(
                    script, unit, project_files=[held], canGetAndSetFMUstate=True, canSerializeFMUstate=True
                )
            finally:
                sys.path[:] = before
                sys.modules.pop(module, None)
        part.write_bytes(unit.read_bytes())
    return target


def _builder() -> Any:
    try:
        from pythonfmu import FmuBuilder
    except ImportError as error:
        raise ImportError("functional mock-up units need pythonfmu: pip install 'flexph[fmi]'") from error
    return FmuBuilder


def _made_of(simulation: Any) -> tuple[Callable[..., CoSimulation], dict[str, float]]:
    """Function that makes the co-simulation, and its parameters by name with their default values."""
    if isinstance(simulation, CoSimulation):
        return lambda: simulation, {}
    parameters = {}
    for name, parameter in inspect.signature(simulation).parameters.items():
        if isinstance(parameter.default, bool) or not isinstance(parameter.default, int | float):
            raise ValueError(f"argument {name!r} of the simulation must have a number as default to be a parameter")
        parameters[name] = float(parameter.default)
    return simulation, parameters
