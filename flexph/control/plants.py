"""Linearised mechanisms from inputs at ports to what is measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..linear.state_space import state_space
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, ComplexArray
from ..systems.linear import LinearPHDAE


class Plant(NamedTuple):
    """``ẋ = A x + B u, y = C x``: inputs of ports, and what is measured.

    Parameters
    ----------
    A : array
        (n, n).
    B : array
        (n, m).
    C : array
        (p, n).
    integrals : int, optional
        How many of the last states are integrals without energy; as many as outputs if None.
    """

    A: Array
    B: Array
    C: Array
    integrals: int | None = None

    @checked
    def response(self, omega: Sequence[float] | Array) -> ComplexArray:
        """``C (iω − A)⁻¹ B`` from inputs to outputs, for Bode plots.

        Parameters
        ----------
        omega : array_like
            Frequencies (k,) [rad/s], none of them a pole.

        Returns
        -------
        ComplexArray
            (k, p, m).

        Raises
        ------
        ValueError
            For a frequency that is a pole, such as 0 of a plant with integrals.
        """
        given = 1j * check.array("omega", omega, (None,))
        inside = given[:, None, None] * np.eye(len(self.A)) - self.A
        try:
            return np.asarray(self.C @ np.linalg.solve(inside, np.broadcast_to(self.B, (given.size, *self.B.shape))))
        except np.linalg.LinAlgError:
            near = np.abs(given[:, None] - np.linalg.eigvals(self.A)).min(axis=1)
            pole = given.imag[int(np.argmin(near))]
            raise ValueError(f"omega must not be a pole of the plant, but {pole:g} rad/s is one") from None


@checked
def angles_of(system: LinearPHDAE, ports: Sequence[str]) -> Plant:
    """From the torques at ports to the integrals of their outputs, the angles (of forces: the displacements).

    For a mechanism that is linearised about a pose without load, whose states hold no angles.

    Parameters
    ----------
    system : LinearPHDAE
        The linearised mechanism.
    ports : sequence of str
        Ports of torques (or forces), each driven and measured.

    Returns
    -------
    Plant
        The plant.
    """
    given = state_space(system)
    columns = columns_of(system, ports)
    b, c, n, m = given.B[:, columns], given.C[columns], len(given.A), columns.size
    a = np.block([[given.A, np.zeros((n, m))], [c, np.zeros((m, m))]])
    return Plant(a, np.vstack([b, given.D[np.ix_(columns, columns)]]), np.hstack([np.zeros((m, n)), np.eye(m)]))


def columns_of(system: LinearPHDAE, ports: Sequence[str]) -> Array:
    """The columns of B of ports; raises ValueError for ports that there are not, and for none."""
    if not ports:
        raise ValueError("ports must name one port at least, got none")
    slices = [check.lookup("port", name, system.ports, "the linearised mechanism") for name in ports]
    return np.concatenate([np.arange(system.B.shape[1])[own] for own in slices])
