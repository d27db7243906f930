"""Loops over a few numbers at a time, in the vector registers of the processor.

Compilers prepare loops for thousands of entries; those of a body have five to ten. Here arrays are padded with zeros to
whole lanes, and what is done with a lane is said directly. Indices count from the first entry of an array of any
dimension; they are not checked, and never negative.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.cgutils import ir  # that of llvmlite
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

LANE = 4
"""Numbers that are handled at once."""
_FUSED = ("contract",)


def padded(count: Any) -> Any:
    """The next multiple of a lane."""
    return -(-count // LANE) * LANE


def kinds(dim: int) -> int:
    """Inertia products of a coordinate, 1 + s + s², padded."""
    return LANE if dim == 2 else 4 * LANE


def _entry(target: Any, builder: Any, kind: Any, value: Any, index: Any) -> Any:
    """The address of an entry."""
    return builder.gep(make_array(kind)(target, builder, value).data, [index])


def _load(builder: Any, at: Any, lane: Any) -> Any:
    found = builder.load(builder.bitcast(at, lane.as_pointer()))
    found.align = 8
    return found


def _store(builder: Any, value: Any, at: Any) -> None:
    builder.store(value, builder.bitcast(at, value.type.as_pointer())).align = 8


def _filled(builder: Any, value: Any, lane: Any) -> Any:
    """A lane of equal numbers."""
    index = ir.Constant(ir.IntType(32), 0)
    one = builder.insert_element(ir.Constant(lane, ir.Undefined), value, index)
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), lane.count), None))


def _added(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """Total + a b."""
    return builder.fadd(total, builder.fmul(a, b, flags=_FUSED), flags=_FUSED)


@intrinsic
def brief(context: Any) -> Any:
    """Says that the loops of a function are short: made for long ones, they spend their time on preparations."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("optsize")
        return target.get_dummy_value()

    return types.void(), build


@intrinsic
def get(context: Any, A: Any, i: Any) -> Any:
    """An entry."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_entry(target, builder, signature.args[0], args[0], args[1]))

    return types.float64(A, types.intp), build


@intrinsic
def put(context: Any, A: Any, i: Any, value: Any) -> Any:
    """Set an entry."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _entry(target, builder, signature.args[0], args[0], args[1]))
        return target.get_dummy_value()

    return types.void(A, types.intp, types.float64), build


def _over(builder: Any, count: Any) -> Any:
    """A loop over the lanes of some entries."""
    intp = lambda i: ir.Constant(count.type, i)  # noqa: E731
    return cgutils.for_range_slice(builder, intp(0), count, intp(LANE))


@intrinsic
def take(context: Any, A: Any, i: Any, B: Any, j: Any, factor: Any, count: Any) -> Any:
    """A[i:] −= factor · B[j:], for as many entries, up to a whole lane."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane = ir.VectorType(ir.DoubleType(), LANE)
        factor = _filled(builder, builder.fneg(args[4]), lane)
        mine, other = (_entry(target, builder, signature.args[k], args[k], args[k + 1]) for k in (0, 2))
        with _over(builder, args[5]) as (k, _):
            here, there = builder.gep(mine, [k]), builder.gep(other, [k])
            _store(builder, _added(builder, _load(builder, here, lane), factor, _load(builder, there, lane)), here)
        return target.get_dummy_value()

    return types.void(A, types.intp, B, types.intp, types.float64, types.intp), build


@intrinsic
def mix(context: Any, out: Any, i: Any, x: Any, A: Any, y: Any, B: Any, count: Any) -> Any:
    """out[i:] = x A[i:] + y B[i:], for as many entries, up to a whole lane."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane = ir.VectorType(ir.DoubleType(), LANE)
        made, first, second = (_entry(target, builder, signature.args[k], args[k], args[1]) for k in (0, 3, 5))
        x, y = _filled(builder, args[2], lane), _filled(builder, args[4], lane)
        with _over(builder, args[6]) as (k, _):
            value = builder.fmul(x, _load(builder, builder.gep(first, [k]), lane))
            value = _added(builder, value, y, _load(builder, builder.gep(second, [k]), lane))
            _store(builder, value, builder.gep(made, [k]))
        return target.get_dummy_value()

    given = (out, types.intp, types.float64, A, types.float64, B, types.intp)
    return types.void(*given), build


@intrinsic
def combine(
    context: Any, axes: Any, out: Any, i: Any, mean: Any, form: Any, val: Any, first: Any, last: Any, x: Any, col: Any
) -> Any:
    """out[i] = Σ_j mean[i, j] form[j] + Σ_e val[e] x[col[e]], all rows of :func:`kinds` numbers."""
    dim = len(axes)

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        width = kinds(dim)
        lane = ir.VectorType(ir.DoubleType(), width)
        at = lambda k, index: _entry(target, builder, signature.args[k], args[k], index)  # noqa: E731
        times = lambda index, size: builder.mul(index, target.get_constant(types.intp, size))  # noqa: E731
        total = cgutils.alloca_once_value(builder, ir.Constant(lane, [0.0] * width))

        def add(weight: Any, row: Any) -> None:
            # never fused: where a run goes on, the same sums are made elsewhere, and must be the same to the last bit
            product = builder.fmul(_filled(builder, builder.load(weight), lane), _load(builder, row, lane))
            builder.store(builder.fadd(builder.load(total), product), total)

        for j in range(dim):
            own = builder.add(times(args[2], dim), target.get_constant(types.intp, j))
            add(at(3, own), at(4, target.get_constant(types.intp, j * width)))
        with cgutils.for_range_slice(builder, args[6], args[7], target.get_constant(types.intp, 1)) as (e, _):
            add(at(8, builder.load(at(9, e))), at(5, times(e, width)))
        _store(builder, builder.load(total), at(1, times(args[2], width)))
        return target.get_dummy_value()

    return types.void(axes, out, types.intp, mean, form, val, types.intp, types.intp, x, col), build
