"""Entries of arrays compiled to a few instructions each, without the general look-up of numba; needs numba.

numba looks every entry up by way of what arrays can be in general: for each it writes thirty lines of intermediate
code, which are read, checked and thrown away again. That is a tenth of the time of compiling loops over entries.

Compilers are told what numba does not say: whole numbers and floats share no place, and what can only be read does not
change while a function runs. Indices and constants then stay in registers where results are written.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.cgutils import ir  # that of llvmlite
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering
from numba.core.types.containers import BaseTuple

NUMBERS = types.Float, types.Integer, types.Complex


class _Entries(Lower):
    """From typed to intermediate code, with short ways for single entries of contiguous arrays."""

    def lower_getitem(self, result: Any, expression: Any, value: Any, index: Any, signature: Any) -> Any:
        """The value of an entry, or what else an index may be."""
        kind = self.typeof(value.name)
        address = self._address(kind, value, index)
        if address is None:
            return super().lower_getitem(result, expression, value, index, signature)
        entry = self.context.unpack_value(self.builder, kind.dtype, address)
        tell_of_access(self.builder, entry, kind)
        return self.context.cast(self.builder, entry, kind.dtype, result)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        """Set an entry, or what else an index may be."""
        kind = self.typeof(target.name)
        address = self._address(kind, target, index)
        if address is None:
            return super().lower_setitem(target, index, value, signature)
        entry = self.context.cast(self.builder, self.loadvar(value.name), self.typeof(value.name), kind.dtype)
        self.context.pack_value(self.builder, kind.dtype, entry, address)
        tell_of_access(self.builder, self.builder.block.instructions[-1], kind)

    def _address(self, kind: Any, array: Any, index: Any) -> Any:
        """The address of one entry; None where the index is that of anything else."""
        by = self.typeof(index.name)
        axes = by.types if isinstance(by, BaseTuple) else (by,)
        if not _is_plain(kind) or len(axes) != kind.ndim or self.context.enable_boundscheck:
            return None
        if not all(isinstance(axis, types.Integer) for axis in axes):
            return None
        place, given = self.context.data_model_manager[kind].get_field_position, self.loadvar(index.name)
        data, shape = (self.builder.extract_value(self.loadvar(array.name), place(name)) for name in ("data", "shape"))
        offset = None
        for k, axis in enumerate(axes):
            own = self.builder.extract_value(given, k) if by is not axis else given
            own = self._from_the_front(own, axis, self.builder.extract_value(shape, k))
            before = offset and self.builder.mul(offset, self.builder.extract_value(shape, k))
            offset = self.builder.add(before, own) if before else own
        return self.builder.gep(data, [offset])

    def _from_the_front(self, index: Any, kind: Any, size: Any) -> Any:
        """An index counted from the first entry; negative ones count from the end."""
        if not kind.signed:
            return self.context.cast(self.builder, index, kind, types.uintp)
        index = self.context.cast(self.builder, index, kind, types.intp)
        is_negative = self.builder.icmp_signed("<", index, index.type(0))
        return self.builder.select(is_negative, self.builder.add(index, size), index)


def tell_of_access(builder: Any, access: Any, kind: Any) -> None:
    """Say of a load or store of an entry which kind of numbers it is of, and of constants that they stay."""
    if access.opname not in ("load", "store") or not isinstance(kind.dtype, types.Integer | types.Float):
        return  # a complex number is two loads
    add, zero = builder.module.add_metadata, ir.Constant(ir.IntType(64), 0)
    scalar = add(["whole" if isinstance(kind.dtype, types.Integer) else "real", add(["flexph"]), zero])
    access.set_metadata("tbaa", add([scalar, scalar, zero]))
    if access.opname == "load" and not kind.mutable:
        access.set_metadata("invariant.load", add([]))


def _is_plain(kind: Any) -> bool:
    return isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned and isinstance(kind.dtype, NUMBERS)


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(BaseNativeLowering):
    """The pass that writes intermediate code."""

    _name = "flexph_entry_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """What writes it."""
        return _Entries
