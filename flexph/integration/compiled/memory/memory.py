"""All arrays of the compiled kernels in two flat ones, so that functions take one small argument.

A compiler that is handed two hundred arrays spends minutes on passing them on, and so does the run. Here functions
take a :class:`Memory` and name what they need: ``at_v = matrix(m, REAL.at_v)``. Such views cost a few instructions.
"""

from __future__ import annotations

import hashlib
from collections import namedtuple
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from ....numerics.arrays import Array
from .data import Carried, Constants, Index, Motion, Workspace


class Memory(NamedTuple):
    """Addresses of :class:`Held`: arrays are handed on with all that describes them, which small functions feel."""

    reals: int
    real: int
    wholes: int
    whole: int


class Held(NamedTuple):
    """Floats and whole numbers of all fields, and where each of them stands: first entry and shape, (fields, 4)."""

    reals: Array
    real: Index
    wholes: Index
    whole: Index


# numba keeps compiled functions by the file of the caller: it does not see that a callee or a constant has changed. All
# functions here take a Memory, so its name tells the sources apart.
_PACKAGE = Path(__file__).parents[3]
_SHARED = ("kernels/tolerances.py", "kernels/resolution.py", "numerics/compiling.py", "systems/resistive_relations.py")
_SOURCES = (*sorted((_PACKAGE / "integration" / "compiled").rglob("*.py")), *(_PACKAGE / name for name in _SHARED))
_DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()[:16]
Memory.__name__ = Memory.__qualname__ = f"Memory_{_DIGEST}"
globals()[Memory.__name__] = Memory


def __getattr__(name: str) -> Any:
    """What kernels of earlier sources, still on disk, were compiled for: never the present one."""
    if not name.startswith("Memory_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (Memory,), {})


def _fields(real: bool) -> list[tuple[str, str]]:
    """Group and name of all fields of floats, or of all those of whole numbers."""
    return [
        (group, field)
        for base in (Constants, Workspace)
        for group, owner in get_type_hints(base).items()
        for field, kind in get_type_hints(owner).items()
        if (kind == Array) == real
    ]


def _numbers(fields: list[tuple[str, str]]) -> Any:
    """Numbers of fields, by the name of their group and their own."""
    names = [f"{group}_{field}" for group, field in fields]
    return namedtuple("Numbers", names)(*range(len(names)))


REAL_FIELDS, WHOLE_FIELDS = _fields(True), _fields(False)
REAL, WHOLE = _numbers(REAL_FIELDS), _numbers(WHOLE_FIELDS)


class Packed(NamedTuple):
    """The arrays of a mechanism before a run, in one memory and, those that are overwritten, by name."""

    held: Held
    work: Workspace


def pack(constants: Constants, workspace: Workspace) -> Packed:
    """Both in one memory."""
    groups = {**constants._asdict(), **workspace._asdict()}
    of = lambda fields: [getattr(groups[group], field) for group, field in fields]  # noqa: E731
    return Packed(Held(*_flat(of(REAL_FIELDS), float), *_flat(of(WHOLE_FIELDS), np.int64)), workspace)


def _flat(given: list[Any], kind: Any) -> tuple[Array, Index]:
    parts = [np.asarray(part, dtype=kind) for part in given]
    sizes = np.cumsum([0, *(p.size for p in parts)])[:-1].tolist()
    table = [(first, *p.shape, 1, 1, 1)[:4] for first, p in zip(sizes, parts, strict=True)]
    return np.concatenate([p.ravel() for p in parts]), np.array(table, dtype=np.int64)


def copied(packed: Packed) -> tuple[Memory, Held, Motion, Carried]:
    """A memory for a run, which lasts as long as what is held; the start of a step and what is carried as its views."""
    held = packed.held._replace(reals=packed.held.reals.copy(), wholes=packed.held.wholes.copy())
    at, carried = (_views(held, group, getattr(packed.work, group)) for group in ("at", "carried"))
    return Memory(*(part.ctypes.data for part in held)), held, at, carried


def _views(held: Held, group: str, part: Any) -> Any:
    """A group of floats as views of the memory."""
    first = held.real[getattr(REAL, f"{group}_{part._fields[0]}") :, 0].tolist()  # its fields follow each other
    made = (held.reals[at : at + value.size].reshape(value.shape) for at, value in zip(first, part, strict=False))
    return part.__class__(*made)


def _array(target: Any, builder: Any, kind: Any, source: Any, first: Any, sizes: list[Any]) -> Any:
    """Code for the entries of a flat array from ``first`` on in some shape, not copied and not counted."""
    item = target.get_constant(types.intp, 8)
    strides = [item]
    for size in reversed(sizes[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    made = make_array(kind)(target, builder)
    data = builder.gep(source, [first])
    populate_array(made, data=data, shape=sizes, strides=strides, itemsize=item, meminfo=None)
    return made._getvalue()


def _parts(target: Any, builder: Any, memory: Any, entry: Any) -> tuple[Any, Any]:
    """Pointers to the numbers of a kind and to the table of their fields."""
    parts = cgutils.unpack_tuple(builder, memory)
    first = 0 if entry == types.float64 else 2
    at = lambda k, kind: builder.inttoptr(parts[k], target.get_data_type(kind).as_pointer())  # noqa: E731
    return at(first, entry), at(first + 1, types.int64)


def _getter(dimensions: int, entry: Any) -> Any:
    """The function (memory, field) ↦ view of the field as entries of some type."""

    @intrinsic
    def get(context: Any, m: Any, k: Any) -> Any:
        kind = types.Array(entry, dimensions, "C") if dimensions else entry

        def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
            source, table = _parts(target, builder, args[0], entry)
            index = target.cast(builder, args[1], signature.args[1], types.intp)
            row = builder.gep(table, [builder.mul(index, target.get_constant(types.intp, 4))])
            at = lambda i: builder.load(builder.gep(row, [target.get_constant(types.intp, i)]))  # noqa: E731
            if not dimensions:
                return builder.load(builder.gep(source, [at(0)]))
            return _array(target, builder, kind, source, at(0), [at(1 + i) for i in range(dimensions)])

        return kind(m, k), build

    return get


vector, matrix, tensor = (_getter(dimensions, types.float64) for dimensions in (1, 2, 3))
number, indices, index_matrix = (_getter(dimensions, types.int64) for dimensions in (0, 1, 2))
# Whole numbers that are never negative: indexing with them needs no look at the sign, which costs a tenth of a step.
places = _getter(1, types.uint64)


@intrinsic
def span(context: Any, m: Any, first: Any, last: Any) -> Any:
    """All numbers of fields that follow each other, from the first to the last one."""
    kind = types.Array(types.float64, 1, "C")

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, table = _parts(target, builder, args[0], types.float64)
        intp = lambda i: target.get_constant(types.intp, i)  # noqa: E731
        entry = lambda row, i: builder.load(  # noqa: E731
            builder.gep(table, [builder.add(builder.mul(row, intp(4)), intp(i))])
        )
        start, end = (target.cast(builder, args[k], signature.args[k], types.intp) for k in (1, 2))
        size = builder.mul(builder.mul(entry(end, 1), entry(end, 2)), entry(end, 3))
        first_entry = entry(start, 0)
        size = builder.sub(builder.add(entry(end, 0), size), first_entry)
        return _array(target, builder, kind, source, first_entry, [size])

    return kind(m, first, last), build


@intrinsic
def block(context: Any, field: Any, first: Any, rows: Any, columns: Any) -> Any:
    """A matrix within a vector."""
    kind = types.Array(types.float64, 2, "C")

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = make_array(signature.args[0])(target, builder, args[0])
        return _array(target, builder, kind, source.data, args[1], [args[2], args[3]])

    return kind(field, types.intp, types.intp, types.intp), build
