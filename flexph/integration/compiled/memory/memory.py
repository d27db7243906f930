"""All arrays of the compiled kernels in two flat ones, so that functions take one small argument.

A compiler that is handed two hundred arrays spends minutes on passing them on, and so does the run. Here functions
take a :class:`Memory` and name what they need, ``m.at_v[b, i]``, in Python as in compiled code. There it is a pointer
to a table of addresses and shapes that never changes, and a field costs the few instructions that look it up.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numba.core import cgutils, types
from numba.core.cgutils import ir  # that of llvmlite
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import make_array

from ....numerics.arrays import Array
from .constants import Constants
from .data import Entries, Index
from .workspace import SPANS, Workspace

FIELDS: dict[str, Entries] = {
    f"{group}_{field}": hint.__metadata__[0]
    for base in (Constants, Workspace)
    for group, owner in get_type_hints(base).items()
    for field, hint in get_type_hints(owner, include_extras=True).items()
}
"""All fields by the names of their group and their own, in the order of the table."""
CONSTANT = {f"{group}_{field}" for group, owner in get_type_hints(Constants).items() for field in get_type_hints(owner)}
"""Those that no function writes to."""
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


class Memory:
    """Floats and whole numbers of all fields, and where each stands: its first entry and its shape, (fields, 4).

    Copies share the ``places`` of the fields that were asked for by name.
    """

    def __init__(self, reals: Array, wholes: Index, table: Index, places: dict[str, Place] | None = None) -> None:
        self.reals, self.wholes, self.table = reals, wholes, table
        self.places: dict[str, Place] = {} if places is None else places
        self.addresses = table.copy()
        starts = self.addresses[:, 0]
        starts *= 8
        starts += np.where(REAL, address_of(reals), address_of(wholes))
        self.address = address_of(self.addresses)

    def copy(self) -> Memory:
        """A memory of its own for a run."""
        return Memory(self.reals.copy(), self.wholes.copy(), self.table, self.places)

    def span(self, first: str, last: str) -> slice:
        """Where the floats of a field and of all up to another one are."""
        ends = self.table[ROW[last]]
        return slice(int(self.table[ROW[first], 0]), int(ends[0] + ends[1] * ends[2] * ends[3]))

    def __getattr__(self, name: str) -> Any:
        """A field as a view."""
        place = self.places.get(name) or self._place(name)
        flat = (self.reals if place.real else self.wholes)[place.span]
        return flat.reshape(place.shape) if place.shape else int(flat[0])

    def _place(self, name: str) -> Place:
        if name not in ROW:
            raise AttributeError(f"no field {name!r} in the memory of the compiled kernels")
        entries, (first, *shape) = FIELDS[name], self.table[ROW[name]].tolist()
        span = slice(first, first + math.prod(shape))
        place = self.places[name] = Place(entries.kind == "float64", span, tuple(shape[: entries.axes]))
        return place


class MemoryType(types.Type):
    """The type of a memory in compiled code: a pointer to its table.

    In one of complex systems the fields of :data:`SYSTEMS` are complex, at places of two floats an entry.
    """

    def __init__(self, *, is_complex: bool = False) -> None:
        super().__init__("flexph.ComplexMemory" if is_complex else "flexph.Memory")
        self.is_complex = is_complex


MEMORY, COMPLEX = MemoryType(), MemoryType(is_complex=True)
register_model(MemoryType)(models.OpaqueModel)


@typeof_impl.register(Memory)
def _type_of(value: Any, context: Any) -> MemoryType:
    return MEMORY


@unbox(MemoryType)
def _unbox(kind: Any, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(pointer, is_error=c.pyapi.c_api_error())


def _field_type(memory: Any, name: str) -> Any:
    entries = Entries("float64", 1) if name in SPANS else FIELDS[name]
    is_complex = memory.is_complex and entries.kind == "float64" and f"{name}_".startswith(SYSTEMS)
    kind = types.complex128 if is_complex else getattr(types, entries.kind)
    return types.Array(kind, entries.axes, "C", readonly=name in CONSTANT) if entries.axes else kind


@infer_getattr
class _Fields(AttributeTemplate):
    """Types of the fields."""

    key = MemoryType

    def generic_resolve(self, memory: Any, name: str) -> Any:
        return _field_type(memory, name) if name in FIELDS or name in SPANS else None


class _Table:
    """Code that looks up the table of a memory; as it never changes, a compiler looks once, before loops."""

    def __init__(self, target: Any, builder: Any, memory: Any) -> None:
        self.builder = builder
        self.intp = lambda i: target.get_constant(types.intp, i)
        self.rows = builder.bitcast(memory, target.get_value_type(types.intp).as_pointer())

    def entry(self, name: str, column: int) -> Any:
        """A number of the row of a field."""
        load = self.builder.load(self.builder.gep(self.rows, [self.intp(4 * ROW[name] + column)]))
        load.set_metadata("invariant.load", self.builder.module.add_metadata([]))
        return load

    def span(self, first: str, last: str, item: int) -> Any:
        """Number of entries, of so many bytes, from the first field to the end of the last one."""
        b = self.builder
        size = b.mul(b.mul(self.entry(last, 1), self.entry(last, 2)), self.entry(last, 3))
        away = b.sub(self.entry(last, 0), self.entry(first, 0))
        return b.add(size, b.ashr(away, self.intp(item.bit_length() - 1)))


@lower_getattr_generic(MemoryType)
def _field(target: Any, builder: Any, kind: Any, memory: Any, name: str) -> Any:
    field, table = _field_type(kind, name), _Table(target, builder, memory)
    first, last = SPANS.get(name, (name, name))
    entry = field.dtype if isinstance(field, types.Array) else field
    source = builder.inttoptr(table.entry(first, 0), target.get_data_type(entry).as_pointer())
    if not isinstance(field, types.Array):
        return builder.load(source)
    shape = (
        [table.span(first, last, item_size(field))]
        if name in SPANS
        else [table.entry(name, 1 + i) for i in range(field.ndim)]
    )
    return _view(target, builder, field, source, shape)


def item_size(kind: Any) -> int:
    """Bytes of an entry of an array."""
    return kind.dtype.bitwidth // 8 if kind.dtype != types.complex128 else 16


def _view(target: Any, builder: Any, kind: Any, source: Any, shape: list[Any]) -> Any:
    """Code for an array at an address, neither copied nor counted."""
    item = target.get_constant(types.intp, item_size(kind))
    strides = [item]
    for size in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    parts = {
        "nitems": reduce(builder.mul, shape),
        "itemsize": item,
        "data": source,
        "shape": cgutils.pack_array(builder, shape),
        "strides": cgutils.pack_array(builder, strides),
    }
    model = target.data_model_manager[kind]
    array = ir.Constant(target.get_value_type(kind), None)  # with no owner and no parent
    for name, value in parts.items():
        array = builder.insert_value(array, value, model.get_field_position(name))
    return array


@intrinsic
def block(context: Any, field: Any, first: Any, rows: Any, columns: Any) -> Any:
    """A matrix within a vector."""
    kind = types.Array(field.dtype, 2, "C")

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = make_array(signature.args[0])(target, builder, args[0])
        return _view(target, builder, kind, builder.gep(source.data, [args[1]]), [args[2], args[3]])

    return kind(field, types.intp, types.intp, types.intp), build
