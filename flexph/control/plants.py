"""Linear plants from port inputs to measured outputs."""

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
    """Linear plant ``ẋ = A x + B u, y = C x`` from port inputs u to measured outputs y.

    Parameters
    ----------
    A : array
        (n, n).
    B : array
        (n, m).
    C : array
        (p, n).
    integrals : int, optional
        Number of the last states that are integrals without energy; as many as outputs if None.
    """

    A: Array
    B: Array
    C: Array
    integrals: int | None = None

    @checked
    def response(self, omega: Sequence[float] | Array) -> ComplexArray:
        """Frequency response ``C (iω − A)⁻¹ B`` from inputs to outputs, for Bode plots.

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
            If a frequency is a pole, for example 0 for a plant with integrals.
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
    """Plant from the torques at ports to the integrals of their outputs, the angles (displacements for forces).

    For a mechanism linearised about a pose without load, whose states contain no angles.

    Parameters
    ----------
    system : LinearPHDAE
        Linearised mechanism.
    ports : sequence of str
        Ports of torques (or forces), each of them driven and measured.

    Returns
    -------
    Plant
        Plant from torques to angles.
    """
    given = state_space(system)
    columns = columns_of(system, ports)
    b, c, n, m = given.B[:, columns], given.C[columns], len(given.A), columns.size
    a = np.block([[given.A, np.zeros((n, m))], [c, np.zeros((m, m))]])
    return Plant(a, np.vstack([b, given.D[np.ix_(columns, columns)]]), np.hstack([np.zeros((m, n)), np.eye(m)]))


def columns_of(system: LinearPHDAE, ports: Sequence[str]) -> Array:
    """Columns of B of the given ports; raises ValueError for unknown ports or none."""
    if not ports:
        raise ValueError("ports must name one port at least, got none")
    slices = [check.lookup("port", name, system.ports, "the linearised mechanism") for name in ports]
    return np.concatenate([np.arange(system.B.shape[1])[own] for own in slices])
