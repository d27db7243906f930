"""Views of states by part name, for events and observers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..mechanisms.model.model import Model
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.memo import read_only
from ..sensors.panel import Panel
from ..sensors.quantities import Quantity
from .contact_history import contact_gaps
from .motion import MotionByName


class StateView(NDArrayOperatorsMixin):
    """State of a system with named parts, ``state["q"]``, that behaves like the flat array (n,), ``state.x``.

    Indices, slices, operators and NumPy functions act on the flat array.
    """

    __slots__ = ("parts", "x")

    def __init__(self, parts: Mapping[str, slice], x: Array) -> None:
        self.parts, self.x = parts, x

    def __getitem__(self, part: Any) -> Any:
        return self.x[check.lookup("part", part, self.parts) if isinstance(part, str) else part]

    def __contains__(self, part: object) -> bool:
        return part in self.parts if isinstance(part, str) else part in self.x

    def __len__(self) -> int:
        return len(self.x)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.x, dtype=dtype) if copy else np.asarray(self.x, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        flat = (given.x if isinstance(given, StateView) else given for given in inputs)
        return getattr(ufunc, method)(*flat, **options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(self.parts)}>"


class MechanismView(MotionByName, StateView):
    """State of a mechanism with the motion of its bodies and ports by name, such as ``state.position("rod.tip")``.

    Parts are ``state["crank.spin"]``; ``state.x`` is the flat array (n,).
    """

    __slots__ = ("mechanism",)

    def __init__(self, mechanism: Model, x: Array) -> None:
        StateView.__init__(self, mechanism.once(state_parts), x)
        self.mechanism = mechanism

    __getitem__ = StateView.__getitem__

    def measured(self, quantity: Quantity) -> Any:
        """Reading of a sensor at this state, a number or an array, for events and observers."""
        readings, _ = self.mechanism.once(_Panels).of(quantity).read(self.x)
        (value,) = readings.values()
        return value

    def gaps(self, contact: str) -> Array:
        """Gaps of a contact or stop by its name, (c,) [m, rad]; see :func:`flexph.sensors.gap`."""
        return contact_gaps(self.mechanism, contact, self.x[None])[0][0]


class _Panels:
    """Cache of panels that read single sensors, by identity of the sensor: equal sensors can have different axes."""

    def __init__(self, mechanism: Model) -> None:
        self._mechanism = mechanism
        self._known: dict[int, tuple[Quantity, Panel]] = {}

    def of(self, quantity: Quantity) -> Panel:
        """Panel that reads a sensor, created at the first call; raises ValueError for anything else."""
        if id(quantity) not in self._known:
            if not isinstance(quantity, Quantity):
                raise ValueError(f"quantity must be one of flexph.sensors, such as joint_angle(…), got {quantity!r}")
            self._known[id(quantity)] = quantity, Panel(self._mechanism, {str(quantity): quantity})
        return self._known[id(quantity)][1]


def state_parts(mechanism: Model) -> Mapping[str, slice]:
    """Slices of a mechanism's state by name of its parts, without those of the multipliers."""
    layout = mechanism.layout
    return read_only({name: part for name, part in layout.parts.items() if part.start < layout.size})
