"""Arrays of a run of particles: terms, data carried between steps, working space and rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....discretisation.iteration import NEWTON
from ....numerics.arrays import Array
from ....numerics.gauss_tableau import gauss_points
from ....systems.discrete_gradients import MEAN_POINTS
from ....systems.particle_terms import ParticleTerms

OWN_PAIR = 5
"""Number of the costates by secants of squared lengths (``rigid.point_masses``), after the kinds of pair_equations."""


class Space(NamedTuple):
    """All arrays of a run, in the order of ``arrays.pxd``, for n states, nv velocities v, and m unknowns v and λ.

    The Jacobian of a step is ``J₀ − h f gᵀ`` in the order (q, v, λ), with the part f gᵀ due to Gonzalez' correction.
    J₀ has a unit matrix for q: ``factors`` are the factors of J₀ for the m unknowns without q. ``gonzalez_column`` is
    J₀⁻¹ f, scaled, and ``gonzalez_row`` is g. Broyden's updates are stored as factors ``1 + c sᵀ`` of the inverse
    Jacobian, with c in ``update_columns`` and s in ``update_rows``.
    """

    descriptor: Array  # (n,), the diagonal of E
    differential: Array  # (n,), 1 for differential states, 0 for algebraic ones
    weight: Array  # (nv,), constant forces [N]
    spring_ends: Array  # (s, 2), points, −1 for fixed places
    spring_offsets: Array  # (s, dim), part of the line between the ends from fixed places [m]
    spring_kinds: Array  # (s,), LENGTH or SQUARE
    spring_laws: Array  # (s, 3), parameters of the laws
    rod_ends: Array  # (r, 2)
    rod_offsets: Array  # (r, dim)
    rod_lengths: Array  # (r,) [m]
    damper_ends: Array  # (c, 2)
    damper_offsets: Array  # (c, dim)
    damper_kinds: Array  # (c,), VISCOUS to DRAG
    damper_laws: Array  # (c, 5), parameters of the laws
    inputs: Array  # (inputs,), indices of the velocities on which they act
    nodes: Array  # nodes of the mean value
    weights: Array
    x: Array  # (n,), start of the next step
    size: Array  # (n,), largest values of the states so far
    energy: Array  # (3,), H, H by the account of work and dissipation, energy exchanged in the last step [J]
    last_rate: Array  # (n,), rate of the last step
    factors: Array  # (m, m), L and U of scaled and exchanged rows
    order: Array  # (m,), order of the rows
    row_scale: Array  # (m,)
    coupling: Array  # (m, nv), columns of q in the rows of v and λ
    position_share: Array  # (nv,), part of q driven by v
    gonzalez_column: Array  # (n,)
    gonzalez_row: Array  # (n,)
    update_scales: Array  # (n,), sizes by which updates are scaled
    update_columns: Array  # (updates, n), c
    update_rows: Array  # (updates, n), s
    factor_state: Array  # (3,), 1 if the factors hold, number of updates, 1 if Gonzalez' term is not zero
    trial: Array  # (n,), the iterate
    step: Array  # (n,), differential part of Δx
    middle: Array  # (n,)
    z: Array  # (n,), costates in the middle
    costate: Array  # (n,), z̄
    descriptor_step: Array  # (n,), E Δx
    resistive: Array  # (nv,), R z̄
    residual: Array  # (n,)
    correction: Array  # (n,), correction over the sizes
    next_correction: Array  # (n,), next correction
    right_side: Array  # (m,), right-hand side for the factors
    slope: Array  # (n,), a gradient
    work: Array  # (n,)
    spring_lines: Array  # (s, dim), lines in the middle
    rod_lines: Array  # (r, dim)
    damper_lines: Array  # (c, dim)
    rod_shares: Array  # (r,), coefficients of Δq in the discrete gradients of rods, beyond their lines [1/m]
    invariants_before: Array  # (s + 2,), invariants at the start of the step
    invariants_after: Array  # (s + 2,), and at its end
    times: Array  # (k + 1,)
    input_values: Array  # (k, inputs)
    states: Array  # (k, n)
    outputs: Array  # (k, inputs)
    energies: Array  # (k,)
    dissipated: Array  # (k,)
    iterations: Array  # (k,)
    outcome: Array  # (3,), end of the last step: steps done, status, iterations
    defect: Array  # (1,), last relative correction of a step that failed


ITERATION = (
    "factors", "order", "row_scale", "coupling", "position_share", "gonzalez_column", "gonzalez_row", "update_scales",
    "update_columns", "update_rows",
)  # fmt: skip
"""Arrays that the iteration carries from step to step, in addition to ``factor_state``."""


def space_of(terms: ParticleTerms) -> Space:
    """Arrays of a system of particles with given terms, without rows for results."""
    dim, n, nv = terms.dim, terms.size, terms.weight.size
    s, r, c = (lines.ends.shape[0] for lines in (terms.springs, terms.rods, terms.dampers))
    m, updates = nv + r, NEWTON.iterations
    nodes, weights = gauss_points(MEAN_POINTS)
    whole, none = np.zeros(0, dtype=np.int64), np.zeros(0)
    state = dict.fromkeys(
        ("x", "last_rate", "gonzalez_column", "gonzalez_row", "trial", "step", "middle", "z", "costate",
         "descriptor_step", "residual", "correction", "next_correction", "slope", "work"),
        n,
    )  # fmt: skip
    return Space(
        **{name: np.zeros(length) for name, length in state.items()},
        descriptor=terms.descriptor,
        differential=(terms.descriptor != 0.0).astype(float),
        weight=terms.weight,
        spring_ends=terms.springs.ends,
        spring_offsets=terms.springs.offsets,
        spring_kinds=terms.springs.kinds,
        spring_laws=terms.springs.laws,
        rod_ends=terms.rods.ends,
        rod_offsets=terms.rods.offsets,
        rod_lengths=terms.rods.laws[:, 0].copy(),
        damper_ends=terms.dampers.ends,
        damper_offsets=terms.dampers.offsets,
        damper_kinds=terms.dampers.kinds,
        damper_laws=terms.dampers.laws,
        inputs=terms.inputs,
        nodes=nodes,
        weights=weights,
        size=np.ones(n),
        energy=np.zeros(3),
        factors=np.zeros((m, m)),
        order=np.zeros(m, dtype=np.int64),
        row_scale=np.ones(m),
        coupling=np.zeros((m, nv)),
        position_share=np.zeros(nv),
        update_scales=np.ones(n),
        update_columns=np.zeros((updates, n)),
        update_rows=np.zeros((updates, n)),
        factor_state=np.zeros(3, dtype=np.int64),
        resistive=np.zeros(nv),
        right_side=np.zeros(m),
        spring_lines=np.zeros((s, dim)),
        rod_lines=np.zeros((r, dim)),
        damper_lines=np.zeros((c, dim)),
        rod_shares=np.zeros(r),
        invariants_before=np.zeros(s + 2),
        invariants_after=np.zeros(s + 2),
        times=none,
        input_values=np.zeros((0, 0)),
        states=np.zeros((0, 0)),
        outputs=np.zeros((0, 0)),
        energies=none,
        dissipated=none,
        iterations=whole,
        outcome=np.zeros(3, dtype=np.int64),
        defect=np.zeros(1),
    )


def table_of(space: Space) -> Array:
    """Address and shape of each array, (arrays, 4), from which the compiled loops make views of them."""
    for name, array in zip(Space._fields, space, strict=True):
        if not (array.flags.c_contiguous and array.itemsize == 8):
            raise TypeError(f"{name} must be an array of 8-byte numbers in C order, got {array.dtype}")
    rows = [(array.ctypes.data, *array.shape, *(1,) * (3 - array.ndim)) for array in space]
    return np.array(rows, dtype=np.int64)
