"""Sums of inertia products, K = 1 + s + s² numbers each, in lanes (see numerics.compiled.lanes)."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.cgutils import ir  # that of llvmlite
from numba.extending import intrinsic

from ....numerics.compiled.lanes import LANE, address, filled, load, store


def kinds(dim: int) -> int:
    """Inertia products of a coordinate, 1 + s + s², padded."""
    return LANE if dim == 2 else 4 * LANE


@intrinsic
def combine(
    context: Any, axes: Any, outs: Any, i: Any, mean: Any, form: Any, val: Any, ends: Any, xs: Any, col: Any
) -> Any:
    """out[i] = Σ_j mean[i, j] form[j] + Σ_e val[e + k] x[col[e]], rows of :func:`kinds` numbers, e between the ends.

    For each x of some and its out; ``form`` has their rows over each other. ``ends`` are both and k.
    """
    dim, count = len(axes), len(xs)

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        width, given = kinds(dim), signature.args
        lane = ir.VectorType(ir.DoubleType(), width)
        group = {k: cgutils.unpack_tuple(builder, args[k]) for k in (1, 6, 7)}
        at = lambda k, index: address(target, builder, given[k], args[k], index)  # noqa: E731
        of = lambda k, which, index: address(target, builder, given[k][which], group[k][which], index)  # noqa: E731
        whole = lambda size: target.get_constant(types.intp, size)  # noqa: E731
        times = lambda index, size: builder.mul(index, whole(size))  # noqa: E731
        totals = [cgutils.alloca_once_value(builder, ir.Constant(lane, [0.0] * width)) for _ in range(count)]

        def add(total: Any, weight: Any, row: Any) -> None:
            # never fused: where a run goes on, the same sums are made elsewhere, and must be the same to the last bit
            product = builder.fmul(filled(builder, builder.load(weight), lane), row)
            builder.store(builder.fadd(builder.load(total), product), total)

        for j in range(dim):
            own = at(3, builder.add(times(args[2], dim), whole(j)))
            for k, total in enumerate(totals):
                add(total, own, load(builder, at(4, whole((k * dim + j) * width)), lane))
        with cgutils.for_range_slice(builder, *group[6][:2], whole(1)) as (e, _):
            row, place = load(builder, at(5, times(builder.add(e, group[6][2]), width)), lane), builder.load(at(8, e))
            for k, total in enumerate(totals):
                add(total, of(7, k, place), row)
        for k, total in enumerate(totals):
            store(builder, builder.load(total), of(1, k, times(args[2], width)))
        return target.get_dummy_value()

    return types.void(axes, outs, types.intp, mean, form, val, ends, xs, col), build
