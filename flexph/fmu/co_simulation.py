"""Data of a functional mock-up unit: mechanism, initial state, method, inputs and outputs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..control.control_loops import Controller, check_known
from ..integration.controllers import loops_of
from ..integration.methods.exact import Exact
from ..integration.methods.method import MechanismMethod
from ..integration.simulator import Simulator
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import State
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.memo import read_only
from ..sensors.panel import StepPanel
from ..sensors.quantities import LastStep, Quantity

Entry = tuple[str, int]
"""A name of a port or sensor, and the index of one of its components."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class CoSimulation:
    """Mechanism for co-simulation: another program requests its steps and sets the inputs at external ports.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    start : State
        Consistent initial state, also for a unit that is started at another time.
    method : MechanismMethod, optional
        Method without a tolerance: a step of the simulation is a step of the method.
    inputs : sequence of str, optional
        External ports that the other program sets, by default all; inputs at other ports are zero.
    outputs : dict, optional
        Sensors of :mod:`flexph.sensors` by name.
    controllers : dict, optional
        Controllers within the unit by name, as in :func:`flexph.integrate`, in addition to the inputs. Saved states of
        the unit contain their memory.
    step, end : float, optional
        Length of a step and end of the run [s] in the default experiment of the unit.

    Raises
    ------
    ValueError
        For ports and sensors that the mechanism does not have, for two variables of one name, and for controllers that
        the method does not support.
    """

    mechanism: Mechanism
    start: State
    method: MechanismMethod = field(default_factory=Exact)
    inputs: Sequence[str] | None = None
    outputs: Mapping[str, Quantity] = field(default_factory=dict)
    controllers: Mapping[str, Controller] = field(default_factory=dict)
    step: float = 1e-3
    end: float = 1.0

    def __post_init__(self) -> None:
        known = self.mechanism.network.input_slices
        ports = tuple(known) if self.inputs is None else tuple(self.inputs)
        for port in ports:
            check.lookup("external port", port, known, "the mechanism")
        check.positive("step", self.step, "s")
        object.__setattr__(self, "inputs", ports)
        object.__setattr__(self, "outputs", read_only(self.outputs))
        check_known(self.start, self.controllers)
        loops_of(self.mechanism, self.start, self.method, self.controllers)
        object.__setattr__(self, "controllers", read_only(self.controllers))
        names = [*self.input_variables, *self.output_variables]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            rule = "inputs (by default all external ports) and outputs must have different names"
            raise ValueError(f"{rule}, got {twice!r} twice")

    @property
    def input_variables(self) -> dict[str, Entry]:
        """External port, and index of a component of its input, for each input variable by name."""
        slices = self.mechanism.network.input_slices
        return _variables({port: slices[port].stop - slices[port].start for port in self.inputs or ()})

    @property
    def output_variables(self) -> dict[str, Entry]:
        """Sensor, and index of a component of its reading, for each output variable by name."""
        start = self.start
        sensors = StepPanel(self.mechanism, self.outputs, start.anchors)
        readings, _ = sensors.read(start.time, start.x, LastStep.none(start.multipliers, start.x), None)
        return _variables({name: 1 if isinstance(value, float) else len(value) for name, value in readings.items()})

    def simulator(self) -> Simulator:
        """Simulator of the mechanism at its initial state."""
        return Simulator(
            self.mechanism, self.start, method=self.method, sensors=self.outputs, controllers=self.controllers
        )


def _variables(sizes: Mapping[str, int]) -> dict[str, Entry]:
    """Port or sensor, and index of a component, for each variable by name.

    ``sizes``: number of components by port or sensor. Names have letters, digits and underscores, which every simulator
    accepts. They end in ``_x``, ``_y`` or ``_z`` for two or three components, in the index for more.
    """
    names: dict[str, Entry] = {}
    for name, size in sizes.items():
        legal = re.sub(r"\W", "_", name, flags=re.ASCII)
        legal = legal if legal[:1].isalpha() else f"v_{legal}"
        for i in range(size):
            letter = "xyz"[i] if size <= 3 else str(i)
            names[legal if size == 1 else f"{legal}_{letter}"] = name, i
    return names
