"""The compiled twin of the kernels (extra ``fast``): loops on flat arrays and a block-arrow solve of linear cost.

All arrays of a mechanism lie in one memory, and kernels look its fields up where they name them, ``m.at_v[b, i]``.
numba optimises what a function calls again with every caller, so that functions which only order others (``newton``,
``residual``, …) are merged into theirs, and kernels are compiled without wrappers for calls from Python. One plane
mechanism, in seconds of a busy processor: 61 with views fetched at the head of each function and all wrappers, 47 with
fields and no wrappers, 38 with functions merged, 41 with long ones split; its steps took no longer.

Imports: bodies, integration.compiled.loops, integration.compiled.memory, joints.rows, kernels, mechanisms.model,
numerics.
"""
