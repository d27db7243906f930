"""All arrays that loops work on in two flat ones, so that functions take one small argument.

Functions take a memory and name what they need, ``m.at_v[b][i]``. In compiled loops ``m`` points to the table of
addresses and shapes, which is laid out as the structure of memory.pxd; where loops run uncompiled it is the
:class:`Fields` of the table.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_type_hints
from weakref import WeakValueDictionary

import numpy as np

from ....numerics.arrays import Array
from . import data
from .constants import Constants
from .data import Entries, Index
from .workspace import SPANS, Workspace

FIELDS: dict[str, Entries] = {
    f"{group}_{field}": vars(data)[getattr(annotation, "__forward_arg__", annotation)].__metadata__[0]
    for base in (Constants, Workspace)
    for group, owner in get_type_hints(base).items()
    for field, annotation in owner.__annotations__.items()
}
"""All fields by the names of their group and their own, in the order of the table."""
ROW = {name: row for row, name in enumerate(FIELDS)}
REAL = np.array([entries.kind == "float64" for entries in FIELDS.values()])
SYSTEMS = ("system_", "defect_", "correction_")
"""How fields of linear systems begin, right-hand sides and solutions among them."""


class Place(NamedTuple):
    """Where a field stands: whether among the floats, from where to where, and its shape."""

    real: bool
    span: slice
    shape: tuple[int, ...]


def address_of(array: Array | Index) -> int:
    """The address of the first entry of an array."""
    address: int = array.__array_interface__["data"][0]
    return address


_FIRST, _LAST = (np.array([ROW[pair[k]] for pair in SPANS.values()]) for k in range(2))
_OF_SYSTEM = np.array([f"{name}_".startswith(SYSTEMS) for name in SPANS])
_STAGES: WeakValueDictionary[int, Memory] = WeakValueDictionary()
"""Memories of stages by their addresses, for loops that run uncompiled."""


class Memory:
    """Floats and whole numbers of all fields, and where each stands: its first entry and its shape, (fields, 4).

    Both stand in one array of ``cells``, floats first, and are copied at once. Copies share the ``places`` of the
    fields that were asked for by name.
    """

    def __init__(
        self,
        reals: Array,
        wholes: Index,
        table: Index,
        places: dict[str, Place] | None = None,
    ) -> None:
        self.table = table
        self.places: dict[str, Place] = {} if places is None else places
        self._divide(np.concatenate([reals.view(np.int64), wholes]), reals.size)
        addresses = np.empty((len(FIELDS) + len(SPANS), 4), dtype=np.int64)
        own = addresses[: len(FIELDS)]
        own[:] = table
        own[:, 0] += np.where(REAL, 0, reals.size)
        own[:, 0] *= 8
        own[:, 0] += self._begin
        self._address(addresses)
        self.span_fields()

    def _divide(self, cells: Index, reals: int) -> None:
        """Take the floats and whole numbers of an array."""
        self._cells, self._begin = cells, address_of(cells)
        self.reals, self.wholes = cells[:reals].view(np.float64), cells[reals:]

    def _address(self, addresses: Index) -> None:
        """Take a table of addresses and shapes, which may be written to."""
        self.addresses, self.address = addresses, address_of(addresses)

    def span_fields(self, *, is_complex: bool = False) -> None:
        """Set the rows of fields that are seen as one vector from those of their first and last one."""
        self.is_complex = is_complex
        first, last = self.addresses[_FIRST], self.addresses[_LAST]
        size = np.where(_OF_SYSTEM & is_complex, 16, 8)
        spans = self.addresses[len(FIELDS) :]
        spans[:, 0], spans[:, 2:] = first[:, 0], 1
        spans[:, 1] = (last[:, 0] - first[:, 0]) // size + last[:, 1:].prod(axis=1)

    @property
    def fields(self) -> Fields:
        """The fields as loops that run uncompiled see them."""
        known: Fields | None = self.__dict__.get("_fields")
        if known is None:
            known = self.__dict__["_fields"] = Fields(self)
        return known

    def copy(self) -> Memory:
        """A memory of its own for a run."""
        one = Memory.__new__(Memory)
        one.table, one.places, one.is_complex = self.table, self.places, self.is_complex
        one._divide(self._cells.copy(), self.reals.size)
        addresses = self.addresses.copy()
        addresses[:, 0] += one._begin - self._begin
        one._address(addresses)
        return one

    def span(self, first: str, last: str) -> slice:
        """Where the floats of a field and of all up to another one are."""
        ends = self.table[ROW[last]]
        return slice(int(self.table[ROW[first], 0]), int(ends[0] + ends[1] * ends[2] * ends[3]))

    def __getattr__(self, name: str) -> Any:
        """A field as a view."""
        return self._view(name)

    def views(self, names: Iterable[str]) -> list[Array]:
        """Fields of floats as views: faster than one by one."""
        return [self._view(name) for name in names]

    def _view(self, name: str) -> Any:
        real, span, shape = self.places.get(name) or self._place(name)
        flat = self.reals[span] if real else self.wholes[span]
        return flat.reshape(shape) if shape else int(flat[0])

    def _place(self, name: str) -> Place:
        if name not in ROW:
            raise AttributeError(f"no field {name!r} in the memory of the compiled kernels")
        entries, (first, *shape) = FIELDS[name], self.table[ROW[name]].tolist()
        span = slice(first, first + math.prod(shape))
        place = self.places[name] = Place(entries.kind == "float64", span, tuple(shape[: entries.axes]))
        return place


class Fields:
    """All fields and spans of a memory as NumPy arrays by their addresses, numbers as arrays of one."""

    def __init__(self, memory: Memory) -> None:
        names = [*FIELDS, *SPANS]
        for name, (address, *shape) in zip(names, memory.addresses.tolist(), strict=True):
            entries = FIELDS.get(name, Entries("float64", 1))
            is_real = entries.kind == "float64"
            is_complex = is_real and memory.is_complex and f"{name}_".startswith(SYSTEMS)
            kind = np.dtype(np.complex128 if is_complex else np.float64 if is_real else np.int64)
            own = shape[: max(entries.axes, 1)]
            raw: Any = (ctypes.c_char * (math.prod(own) * kind.itemsize)).from_address(address)
            setattr(self, name, np.frombuffer(raw, kind).reshape(own))


def addresses_of(stages: Sequence[Memory]) -> Index:
    """Where loops find the memories of stages."""
    _STAGES.update((memory.address, memory) for memory in stages)
    return np.array([memory.address for memory in stages])


def stage(addresses: Index, k: int) -> Any:
    """The fields of the memory at an address."""
    return _STAGES[int(addresses[k])].fields


paired = stage
"""Of a complex system."""
