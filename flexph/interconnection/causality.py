"""Causality of a port, the choice of its input variable ([flex] sec. 5.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..discretisation.own_pair import View
from ..numerics import spans
from ..numerics.arguments import checked
from ..numerics.arrays import Array, block_diag
from ..systems.nonlinear import PHDAE
from .assembled import Assembled, PartDerivatives, with_structure
from .feedthrough import without_feedthrough


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
    own, kept = system.ports[port], {name: span for name, span in system.ports.items() if name != port}
    others = spans.indices(kept.values())

    def matrix(name: str, views: Sequence[View], multiplier: Array) -> Array:
        (view,) = views
        if name == "z":
            return np.concatenate([view("z"), multiplier])
        if name == "J":
            b = view("B")[:, own]
            return np.block([[view("J"), b], [-b.T, np.zeros((m, m))]])
        if name == "B":
            return block_diag(view("B")[:, others], np.eye(m))
        return block_diag(view(name), np.zeros((m, m)))

    of_parts = PartDerivatives((system,), m)

    def structure(x: Array, w: Array) -> Array:
        slope = of_parts.structure(x, w)
        slope[:n, :n] += of_parts.inputs(0, x, own, w[n:])
        slope[n:, :n] -= of_parts.outputs(0, x, own, w)
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
