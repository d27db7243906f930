"""Removal of feed-through, and the causality of a port, the choice of its input variable ([flex] sec. 5.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..discretisation.own_pair import View
from ..numerics import spans
from ..numerics.arguments import checked
from ..numerics.arrays import Array, block_diag, dense
from ..numerics.differences import FORWARD
from ..systems.discrete_gradients import padded
from ..systems.nonlinear import FEEDTHROUGH, PHDAE, Constant
from .assembled import Assembled, PartDerivatives, slope_of, with_structure

PART = "feedthrough"
"""Name of the part of the states (w, λ) of a system without feed-through: inputs w = u and multipliers λ = y."""


@checked
def without_feedthrough(system: PHDAE) -> PHDAE:
    """Equivalent system without feed-through, with the states (x, w, λ), w = u and λ = y.

        E ẋ = (J − R) z + (B − P) w,   0 = −(B + P)ᵀz − (S − N) w + λ,   0 = −w + u,   y = λ

    J and R become ``[[J, B, 0], [−Bᵀ, N, 1], [0, −1, 0]]`` and [[R, P], [Pᵀ, S]]; means are carried over. Discrete
    gradient pairs and Gauss methods give the same steps. Interconnections and the analysis use this form.

    Parameters
    ----------
    system : PHDAE
        The system.

    Returns
    -------
    PHDAE
        System without P, S and N; the given one if it has no feed-through.
    """
    if not system.has_feedthrough:
        return system
    n, m = system.size, system.inputs_size
    x, w, y = slice(0, n), slice(n, n + m), slice(n + m, n + 2 * m)

    def matrix(name: str, views: Sequence[View], additional: Array) -> Array:
        (view,) = views
        if name in ("z", "gradient"):
            return np.concatenate([view(name), additional if name == "z" else np.zeros(2 * m)])
        blocks = np.zeros((n + 2 * m,) * 2)
        blocks[x, x] = view(name)
        if name == "J":
            B = view("B")
            blocks[x, w], blocks[w, x], blocks[w, w] = B, -B.T, view("N")
            blocks[w, y], blocks[y, w] = np.eye(m), -np.eye(m)
        if name == "R":
            P = view("P")
            blocks[x, w], blocks[w, x], blocks[w, w] = P, P.T, view("S")
        return blocks

    of_parts, given = PartDerivatives((system,), 2 * m), system.derivatives
    constant = {name: isinstance(getattr(system, name), Constant) for name in FEEDTHROUGH}
    passed_on = constant["S"] and constant["N"]
    seen = given is not None and (given.outputs is not None or constant["P"])

    def rows_of_inputs(at: Array, whole: Array) -> Array:
        """Terms (N − S) w − (B + P)ᵀz of the equations of the inputs at a state, with ``whole`` = (z, w, λ) constant.

        Only terms that have to be differentiated by differences are included.
        """
        row = np.zeros(m) if passed_on else system.N(at) @ whole[w] - system.S(at) @ whole[w]
        return row if seen else row - (dense(system.B(at)) + dense(system.P(at))).T @ whole[x]

    def structure(state: Array, whole: Array) -> Array:
        slope, every = of_parts.structure(state, whole), slice(None)
        slope[x, x] += of_parts.inputs(0, state, every, whole[w])
        if seen:
            slope[w, x] -= of_parts.outputs(0, state, every, whole)
        if not (seen and passed_on):
            slope[w, x] += slope_of(lambda at: rows_of_inputs(at, whole), state[x], system)
        return slope

    spread = {"B", *FEEDTHROUGH} & set(system.means)  # blocks of J and R
    return Assembled((system,), matrix).phdae(
        np.concatenate([np.zeros(m), system.output(system.sample, np.zeros(m))]),
        ({*system.means} - {"B", *FEEDTHROUGH}) | ({"J", "R"} if spread else set()),
        {**system.parts, PART: slice(n, n + 2 * m)},
        B=np.vstack([np.zeros((n + m, m)), np.eye(m)]),
        ports=system.ports,
        derivatives=of_parts.whole(structure, accuracy=0.0 if seen and passed_on else FORWARD),
        invariants=None if system.invariants is None else padded(system.invariants, n, 2 * m),
    )


@checked
def interchange(system: PHDAE, port: str) -> PHDAE:
    """Exchange input and output of one port ([flex] eq. (43)).

    The former input becomes a multiplier and the new output. The new input prescribes the former output in an algebraic
    equation, so that the system is improper until it is interconnected, unless the port has feed-through.

    Parameters
    ----------
    system : PHDAE
        The system.
    port : str
        Name of the port.

    Returns
    -------
    PHDAE
        System with one additional multiplier for each component of the port.
    """
    system = without_feedthrough(system)
    n, m = system.inputs(system.sample, port).shape
    columns, kept = system.ports[port], {name: span for name, span in system.ports.items() if name != port}
    others = spans.indices(kept.values())

    def matrix(name: str, views: Sequence[View], multiplier: Array) -> Array:
        (view,) = views
        if name == "z":
            return np.concatenate([view("z"), multiplier])
        if name == "J":
            b = view("B")[:, columns]
            return np.block([[view("J"), b], [-b.T, np.zeros((m, m))]])
        if name == "B":
            return block_diag(view("B")[:, others], np.eye(m))
        return block_diag(view(name), np.zeros((m, m)))

    of_parts = PartDerivatives((system,), m)

    def structure(x: Array, w: Array) -> Array:
        slope = of_parts.structure(x, w)
        slope[:n, :n] += of_parts.inputs(0, x, columns, w[n:])
        slope[n:, :n] -= of_parts.outputs(0, x, columns, w)
        return slope

    def inputs(x: Array, u: Array) -> Array:
        return block_diag(of_parts.inputs(0, x, others, u[: u.size - m]), np.zeros((m, m)))

    def outputs(x: Array, w: Array) -> Array:
        return block_diag(of_parts.outputs(0, x, others, w), np.zeros((m, m)))

    moving = of_parts.varying_ports
    return Assembled((system,), matrix).phdae(
        np.zeros(m),
        with_structure(system.means),
        {**system.parts, f"{port} multiplier": slice(n, n + m)},
        ports=spans.consecutive({**spans.widths(kept), port: m}),
        derivatives=of_parts.whole(structure, inputs=inputs if moving else None, outputs=outputs if moving else None),
    )
