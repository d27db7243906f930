"""Loops over a few numbers at a time, in the vector registers of the processor.

Compilers prepare loops for thousands of entries; those of a body have five to ten. Here arrays are padded with zeros to
whole lanes, and what is done with a lane is said directly. Indices count from the first entry of an array of any
dimension; they are not checked, and never negative.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.cgutils import ir  # that of llvmlite
from numba.extending import intrinsic, register_jitable
from numba.np.arrayobj import make_array

from .lowering import tell_of_access

LANE = 4
"""Numbers that are handled at once."""
LINE = 64
"""Bytes that come into the cache at once."""
_FUSED = ("contract",)


@register_jitable
def padded(count: Any) -> Any:
    """The next multiple of a lane."""
    return -(-count // LANE) * LANE


def address(target: Any, builder: Any, kind: Any, value: Any, index: Any) -> Any:
    """The address of an entry."""
    return builder.gep(make_array(kind)(target, builder, value).data, [index])


def load(builder: Any, at: Any, lane: Any) -> Any:
    """A lane of an address on."""
    value = builder.load(builder.bitcast(at, lane.as_pointer()))
    value.align = 8
    return value


def store(builder: Any, value: Any, at: Any) -> None:
    """Write a lane from an address on."""
    builder.store(value, builder.bitcast(at, value.type.as_pointer())).align = 8


def filled(builder: Any, value: Any, lane: Any) -> Any:
    """A lane of equal numbers."""
    index = ir.Constant(ir.IntType(32), 0)
    one = builder.insert_element(ir.Constant(lane, ir.Undefined), value, index)
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), lane.count), None))


def _added(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """Total + a b."""
    return builder.fadd(total, builder.fmul(a, b, flags=_FUSED), flags=_FUSED)


@intrinsic
def brief(context: Any) -> Any:
    """Says that the loops of a function are short: compiled for long ones, they would spend their time preparing."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("optsize")
        return target.get_dummy_value()

    return types.void(), build


@intrinsic
def get(context: Any, A: Any, i: Any) -> Any:
    """An entry."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        entry = builder.load(address(target, builder, signature.args[0], args[0], args[1]))
        tell_of_access(builder, entry, A)
        return entry

    return A.dtype(A, types.intp), build


@intrinsic
def put(context: Any, A: Any, i: Any, value: Any) -> Any:
    """Set an entry."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored = builder.store(args[2], address(target, builder, signature.args[0], args[0], args[1]))
        tell_of_access(builder, stored, A)
        return target.get_dummy_value()

    return types.void(A, types.intp, A.dtype), build


@intrinsic
def prefetch(context: Any, A: Any, i: Any, count: Any) -> Any:
    """Have entries from one on brought into the cache, to be written: processors do not foresee rows of a band."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        call = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        first = address(target, builder, signature.args[0], args[0], args[1])
        step = target.get_constant(types.intp, LINE * 8 // A.dtype.bitwidth)
        with cgutils.for_range_slice(builder, target.get_constant(types.intp, 0), args[2], step) as (k, _):
            at = builder.bitcast(builder.gep(first, [k]), byte)
            builder.call(call, [at, *(ir.Constant(whole, flag) for flag in (1, 3, 1))])
        return target.get_dummy_value()

    return types.void(A, types.intp, types.intp), build


def _over(builder: Any, count: Any) -> Any:
    """A loop over the lanes of some entries."""
    intp = lambda i: ir.Constant(count.type, i)  # noqa: E731
    return cgutils.for_range_slice(builder, intp(0), count, intp(LANE))


class _Factor:
    """A number that lanes are multiplied by; where it is complex they are too, real and imaginary parts in turn."""

    def __init__(self, builder: Any, kind: Any, value: Any) -> None:
        self.builder, self.is_complex = builder, isinstance(kind, types.Complex)
        self.lane = ir.VectorType(ir.DoubleType(), 2 * LANE if self.is_complex else LANE)
        if not self.is_complex:
            self.real = filled(builder, value, self.lane)
            return
        self.real, imaginary = (filled(builder, builder.extract_value(value, k), self.lane) for k in range(2))
        signs = ir.Constant(self.lane, [-1.0, 1.0] * LANE)
        self.imaginary = builder.fmul(signs, imaginary)

    def load(self, at: Any) -> Any:
        """A lane."""
        return load(self.builder, at, self.lane)

    def times(self, lane: Any) -> Any:
        """Its product with a lane."""
        product = self.builder.fmul(self.real, lane)
        return _added(self.builder, product, self.imaginary, self._swapped(lane)) if self.is_complex else product

    def added(self, total: Any, lane: Any) -> Any:
        """A total and its product with a lane."""
        total = _added(self.builder, total, self.real, lane)
        return _added(self.builder, total, self.imaginary, self._swapped(lane)) if self.is_complex else total

    def _swapped(self, lane: Any) -> Any:
        """Real and imaginary parts exchanged."""
        order = ir.Constant(ir.VectorType(ir.IntType(32), 2 * LANE), [k ^ 1 for k in range(2 * LANE)])
        return self.builder.shuffle_vector(lane, ir.Constant(self.lane, ir.Undefined), order)


def _negative(builder: Any, kind: Any, value: Any) -> Any:
    if not isinstance(kind, types.Complex):
        return builder.fneg(value)
    for k in range(2):
        value = builder.insert_value(value, builder.fneg(builder.extract_value(value, k)), k)
    return value


@intrinsic
def take(context: Any, A: Any, i: Any, B: Any, j: Any, factor: Any, count: Any) -> Any:
    """A[i:] −= factor · B[j:], for as many entries, up to a whole lane."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        factor = _Factor(builder, A.dtype, _negative(builder, A.dtype, args[4]))
        mine, other = (address(target, builder, signature.args[k], args[k], args[k + 1]) for k in (0, 2))
        with _over(builder, args[5]) as (k, _):
            here, there = builder.gep(mine, [k]), builder.gep(other, [k])
            store(builder, factor.added(factor.load(here), factor.load(there)), here)
        return target.get_dummy_value()

    return types.void(A, types.intp, B, types.intp, A.dtype, types.intp), build


@intrinsic
def take_rows(context: Any, A: Any, i: Any, f: Any, j: Any, step: Any, count: Any) -> Any:
    """A[i:] −= Σ A[f + k] A[j + k step:] over the k of a lane, for as many entries, up to a whole lane."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, (value, i, f, j, step, count) = signature.args[0], args
        at = lambda index: address(target, builder, kind, value, index)  # noqa: E731
        number = lambda k: ir.Constant(step.type, k)  # noqa: E731
        own = [builder.load(at(builder.add(f, number(k)))) for k in range(LANE)]
        factors = [_Factor(builder, A.dtype, _negative(builder, A.dtype, factor)) for factor in own]
        rows = [at(builder.add(j, builder.mul(step, number(k)))) for k in range(LANE)]
        mine = at(i)
        with _over(builder, count) as (k, _):
            here = builder.gep(mine, [k])
            total = factors[0].load(here)
            for factor, row in zip(factors, rows, strict=True):
                total = factor.added(total, factor.load(builder.gep(row, [k])))
            store(builder, total, here)
        return target.get_dummy_value()

    return types.void(A, types.intp, types.intp, types.intp, types.intp, types.intp), build


@intrinsic
def mix(context: Any, out: Any, i: Any, x: Any, A: Any, y: Any, B: Any, count: Any) -> Any:
    """out[i:] = x A[i:] + y B[i:], for as many entries, up to a whole lane."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        target_entry, first, second = (address(target, builder, signature.args[k], args[k], args[1]) for k in (0, 3, 5))
        x, y = (_Factor(builder, A.dtype, args[k]) for k in (2, 4))
        with _over(builder, args[6]) as (k, _):
            value = x.times(x.load(builder.gep(first, [k])))
            store(builder, y.added(value, y.load(builder.gep(second, [k]))), builder.gep(target_entry, [k]))
        return target.get_dummy_value()

    given = (out, types.intp, A.dtype, A, A.dtype, B, types.intp)
    return types.void(*given), build
