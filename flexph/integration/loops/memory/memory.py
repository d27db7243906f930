"""Memory of the loops: the fields of a mechanism in one flat array, so that functions take one small argument.

Functions take a memory ``m`` and access its fields by name, ``m.at_v[b][i]``. In compiled loops ``m`` points to the
table of addresses and shapes, which has the layout of the structure in memory.pxd; in uncompiled ones it is the
:class:`Fields` of that table.
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
"""All fields by the names ``group_field``, in the order of the table."""
ROW = {name: row for row, name in enumerate(FIELDS)}
REAL = np.array([entries.kind == "float64" for entries in FIELDS.values()])
SYSTEMS = ("system_", "rows_", "defect_", "correction_")
"""Prefixes of the fields of linear systems, with rows that they are made of, right-hand sides and solutions."""


CONSTANTS = sum(name.startswith(tuple(f"{group}_" for group in Constants._fields)) for name in FIELDS)
"""Number of fields that are constant during runs; they come first."""
IS_CONSTANT = np.arange(len(FIELDS)) < CONSTANTS


class FieldLocation(NamedTuple):
    """Location of a field in a memory.

    It tells whether the field is constant, whether it holds floats or whole numbers, its span among the numbers of this
    type, and its shape.
    """

    constant: bool
    real: bool
    span: slice
    shape: tuple[int, ...]


def address_of(array: Array | Index) -> int:
    """Address of the first entry of an array."""
    address: int = array.__array_interface__["data"][0]
    return address


_FIRST, _LAST = (np.array([ROW[pair[k]] for pair in SPANS.values()]) for k in range(2))
_OF_SYSTEM = np.array([f"{name}_".startswith(SYSTEMS) for name in SPANS])
_STAGES: WeakValueDictionary[int, Memory] = WeakValueDictionary()
"""Memories of stages by their addresses, for uncompiled loops."""


class Cells:
    """Array of 8-byte cells with floats first and whole numbers after them; ``begin`` is its address."""

    def __init__(self, cells: Index, reals: int) -> None:
        self.cells, self.begin = cells, address_of(cells)
        self.reals, self.wholes = cells[:reals].view(np.float64), cells[reals:]

    def copy(self, into: Index | None = None) -> Cells:
        """Copy of the cells in a new array, or in the array ``into``."""
        cells = np.empty_like(self.cells) if into is None else into
        cells[:] = self.cells
        return Cells(cells, self.reals.size)

    @staticmethod
    def of_zeros(reals: int, wholes: int) -> Cells:
        """Cells of zeros for ``reals`` floats and ``wholes`` whole numbers."""
        return Cells(np.zeros(reals + wholes, dtype=np.int64), reals)


class Memory:
    """Memory of a mechanism: cells of constants and of work space, and a table of the fields in them.

    ``table`` (fields, 4) has the first entry and the shape of each field. Copies share the constants, unless
    made ``with_constants``, and the ``places`` of fields, which are found at their first access by name.
    """

    def __init__(
        self, constants: Cells, space: Cells, table: Index, places: dict[str, FieldLocation] | None = None
    ) -> None:
        self.constants, self.table = constants, table
        self.places: dict[str, FieldLocation] = {} if places is None else places
        self._set_space(space)
        addresses = np.empty((len(FIELDS) + len(SPANS), 4), dtype=np.int64)
        of_fields = addresses[: len(FIELDS)]
        of_fields[:] = table
        of_fields[:, 0] += np.where(REAL, 0, np.where(IS_CONSTANT, constants.reals.size, space.reals.size))
        of_fields[:, 0] *= 8
        of_fields[:, 0] += np.where(IS_CONSTANT, constants.begin, space.begin)
        self._address(addresses)
        self.span_fields()

    def _set_space(self, space: Cells) -> None:
        self.space, self.reals, self.wholes = space, space.reals, space.wholes

    def _address(self, addresses: Index) -> None:
        """Make the array ``addresses`` (fields and spans, 4) the table of addresses and shapes of the memory."""
        self.addresses, self.address = addresses, address_of(addresses)

    def span_fields(self, *, is_complex: bool = False) -> None:
        """Compute the table rows of spans, which are vectors over consecutive fields, from their first and last field.

        If ``is_complex``, the fields of linear systems hold complex numbers.
        """
        self.is_complex = is_complex
        first, last = self.addresses[_FIRST], self.addresses[_LAST]
        size = np.where(_OF_SYSTEM & is_complex, 16, 8)
        spans = self.addresses[len(FIELDS) :]
        spans[:, 0], spans[:, 2:] = first[:, 0], 1
        spans[:, 1] = (last[:, 0] - first[:, 0]) // size + last[:, 1:].prod(axis=1)

    @property
    def fields(self) -> Fields:
        """Fields of the memory as arrays, for uncompiled loops."""
        known: Fields | None = self.__dict__.get("_fields")
        if known is None:
            known = self.__dict__["_fields"] = Fields(self)
        return known

    def copy(self, *, with_constants: bool = False, cells: Index | None = None) -> Memory:
        """Copy of the memory, with its work space in new cells or in the given ones.

        It shares the constants, or copies them, too, so that they may be changed.
        """
        one = Memory.__new__(Memory)
        one.constants, one.table, one.places, one.is_complex = self.constants, self.table, self.places, self.is_complex
        one._set_space(self.space.copy(cells))
        addresses = self.addresses.copy()
        addresses[CONSTANTS:, 0] += one.space.begin - self.space.begin
        if with_constants:
            one.constants = self.constants.copy()
            addresses[:CONSTANTS, 0] += one.constants.begin - self.constants.begin
        one._address(addresses)
        return one

    def constant_spans(self) -> list[slice]:
        """Slices of the constant floats, one for each field of constant floats that is not empty."""
        fields = self.table[:CONSTANTS][REAL[:CONSTANTS]]
        firsts, sizes = fields[:, 0].tolist(), fields[:, 1:].prod(axis=1).tolist()
        return [slice(first, first + size) for first, size in zip(firsts, sizes, strict=True) if size]

    def span(self, first: str, last: str) -> slice:
        """Slice of the floats of the work space from the field ``first`` to the field ``last``, both included."""
        ends = self.table[ROW[last]]
        return slice(int(self.table[ROW[first], 0]), int(ends[0] + ends[1] * ends[2] * ends[3]))

    def __getattr__(self, name: str) -> Any:
        """View of the field with the given name."""
        return self._view(name)

    def views(self, names: Iterable[str]) -> list[Array]:
        """Views of the named fields of floats; quicker than by attributes."""
        return [self._view(name) for name in names]

    def _view(self, name: str) -> Any:
        constant, real, span, shape = self.places.get(name) or self._place(name)
        cells = self.constants if constant else self.space
        flat = cells.reals[span] if real else cells.wholes[span]
        if len(shape) == 1:
            return flat
        return flat.reshape(shape) if shape else int(flat[0])

    def _place(self, name: str) -> FieldLocation:
        if name not in ROW:
            raise AttributeError(f"no field {name!r} in the memory of the compiled kernels")
        entries, row = FIELDS[name], ROW[name]
        first, *shape = self.table[row].tolist()
        span = slice(first, first + math.prod(shape))
        constant, real = row < CONSTANTS, entries.kind == "float64"
        location = self.places[name] = FieldLocation(constant, real, span, tuple(shape[: entries.axes]))
        return location


class Fields:
    """Fields and spans of a memory as NumPy arrays at their addresses; numbers are arrays of one entry."""

    def __init__(self, memory: Memory) -> None:
        names = [*FIELDS, *SPANS]
        for name, (address, *shape) in zip(names, memory.addresses.tolist(), strict=True):
            entries = FIELDS.get(name, Entries("float64", 1))
            is_real = entries.kind == "float64"
            is_complex = is_real and memory.is_complex and f"{name}_".startswith(SYSTEMS)
            kind = np.dtype(np.complex128 if is_complex else np.float64 if is_real else np.int64)
            used = shape[: max(entries.axes, 1)]
            raw: Any = (ctypes.c_char * (math.prod(used) * kind.itemsize)).from_address(address)
            setattr(self, name, np.frombuffer(raw, kind).reshape(used))


def addresses_of(stages: Sequence[Memory]) -> Index:
    """Addresses of the memories of stages, by which loops find them."""
    _STAGES.update((memory.address, memory) for memory in stages)
    return np.array([memory.address for memory in stages])


def stage(addresses: Index, k: int) -> Any:
    """Fields of the memory at the k-th of the addresses, as :func:`addresses_of` returns them."""
    return _STAGES[int(addresses[k])].fields


paired = stage
"""Fields of the memory of a complex system."""
