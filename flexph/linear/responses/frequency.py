"""Frequency responses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...display.labelled import Labelled, Labels, Variable
from ...numerics import checks as check
from ...numerics.arguments import computing
from ...numerics.arrays import Array, Numbers
from ...systems.linear import LinearPHDAE, unknowns
from ..elimination import independent
from .channels import Names, channels, same_channels
from .grid import Method, evaluate

CHECKED = 7
"""Number of frequencies at which a response through a reduced model is compared with the full one."""


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyResponse(Labelled):
    """Frequency response H(iω): ``y = H(iω) u`` for ``u e^{iωt}``.

    Attributes
    ----------
    omega : array
        (k,) [rad/s], ascending.
    values : array
        Complex responses H (k, p, m) of the p outputs to the m inputs at k frequencies, in units of output over input.
    outputs : tuple of str
        Names of the p outputs.
    inputs : tuple of str
        Names of the m inputs.
    error : float, optional
        Largest relative difference ‖H_full − H‖/‖H_full‖ (Frobenius) to the full system if the response was computed
        with a reduced model, else None.
    checked : array
        Frequencies at which the error was computed [rad/s].
    """

    omega: Array
    values: Array
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    error: float | None = None
    checked: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "omega", check.array("omega", self.omega, (None,)))
        object.__setattr__(self, "checked", check.array("checked", self.checked, (None,)))
        object.__setattr__(self, "outputs", tuple(self.outputs))
        object.__setattr__(self, "inputs", tuple(self.inputs))
        values = np.array(self.values, dtype=complex)
        shape = (self.omega.size, len(self.outputs), len(self.inputs))
        if values.shape != shape:
            raise ValueError(f"values must have shape {shape} (frequencies, outputs, inputs), got {values.shape}")
        if not np.all(np.isfinite(values)):
            raise ValueError("values must be finite, got NaN or infinity")
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @property
    def magnitude(self) -> Array:
        """Magnitude |H(iω)| (k, p, m) at k frequencies, for p outputs and m inputs."""
        return np.abs(self.values)

    @property
    def phase(self) -> Array:
        """Phase arg H(iω) [rad], (k, p, m) at k frequencies for p outputs and m inputs.

        It is continuous along the frequencies.
        """
        return np.unwrap(np.angle(self.values), axis=0)

    def between(self, output: str | None = None, input: str | None = None) -> Array:
        """Response H(iω) (k,) from one input to one output; a name may be omitted if there is only one.

        Parameters
        ----------
        output : str, optional
            Component of an output; omit it if there is only one.
        input : str, optional
            Component of an input, likewise.

        Returns
        -------
        array
            Complex response (k,).
        """
        return self.values[:, place("output", output, self.outputs), place("input", input, self.inputs)]

    def __repr__(self) -> str:
        span = f"{self.omega[0]:.4g} to {self.omega[-1]:.4g} rad/s" if self.omega.size else "none"
        through = "" if self.error is None else f", reduced: {self.describe_error()}"
        return (
            f"FrequencyResponse({self.omega.size} frequencies, {span}, outputs {list(self.outputs)}, "
            f"inputs {list(self.inputs)}{through})"
        )

    def _labels(self) -> Labels:
        coordinates = {
            "omega": Variable(("omega",), self.omega, "rad/s", "frequency"),
            "output": Variable(("output",), np.array(self.outputs, dtype=str), "", "component of an output"),
            "input": Variable(("input",), np.array(self.inputs, dtype=str), "", "component of an input"),
        }
        dims, words = ("omega", "output", "input"), "output over input, complex"
        attributes = {} if self.error is None else {"error": self.error}
        return Labels("omega", {"H": Variable(dims, self.values, "", words)}, coordinates, attributes)

    def describe_error(self) -> str:
        """Text on the error of a response through a reduced model; empty for a response of the full model."""
        if self.error is None:
            return ""
        return f"error {self.error:.1e} at {self.checked.size} frequencies"


def place(kind: str, name: str | None, names: tuple[str, ...]) -> int:
    """Index of ``name`` among the names of inputs or outputs, the ``kind``; without a name there must be only one."""
    if name is None:
        if len(names) > 1:
            raise ValueError(f"name the {kind}: there are {', '.join(map(repr, names))}")
        return 0
    return int(check.lookup(kind, name, {known: i for i, known in enumerate(names)}))


@computing(unknowns)
def frequency_response(
    system: LinearPHDAE,
    omega: Numbers,
    *,
    inputs: Names = None,
    outputs: Names = None,
    through: LinearPHDAE | None = None,
    method: Method = "auto",
    progress: bool = True,
) -> FrequencyResponse:
    """Compute the frequency response ``H(iω) = B_outᵀ (iωE − J + R)⁻¹ B_in`` on the null space of G.

    The constrained system is ``[[iωE − J + R, −Gᵀ], [G, 0]]``. The unit of H is that of its ports: (m/s)/N for forces,
    (rad/s)/(N m) for torques. At ω = 0 it is the static response
    (:func:`flexph.linear.responses.grid.static_response`).

    Parameters
    ----------
    system : LinearPHDAE
        System, with or without constraints.
    omega : array_like
        Frequencies ω ≥ 0 [rad/s], ascending.
    inputs, outputs : str or sequence of str, optional
        Ports, or components of ports as ``port[i]``; by default all.
    through : LinearPHDAE, optional
        Reduced system with the same ports, evaluated at all frequencies; the full system is evaluated at seven of them,
        and the result has the ``error`` there.
    method : {"auto", "direct", "batched", "schur"}
        ``direct``: one sparse factorisation per frequency of the constrained system, in displacements and stresses if
        it splits (:class:`flexph.linear.shifted.Shifted`). ``schur``: constraints are eliminated; one complex Schur
        form of L⁻¹(J − R)L⁻ᵀ with E = LLᵀ, and one triangular solution per frequency. ``batched``: the same matrix,
        solved for many frequencies at once. ``auto`` uses the first for sparse systems, the others for dense ones.
    progress : bool
        True to show a progress bar for long runs.

    Returns
    -------
    FrequencyResponse
        Complex values (k, p, m), with the names of outputs and inputs.

    Raises
    ------
    ValueError
        For negative or non-ascending frequencies, a frequency that is an undamped pole up to round-off, ω = 0 if a
        rigid motion is driven, and a reduced system with other ports.

    Examples
    --------
    Velocity of a mass of 2 kg with a damper of 4 N s/m, per force:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE, frequency_response
    >>> one = np.eye(1)
    >>> mass = LinearPHDAE(E=2.0 * one, J=0.0 * one, R=4.0 * one, B=one, ports={"force": slice(0, 1)})
    >>> frequency_response(mass, [0.0, 2.0]).between("force", "force").round(9)  # 1/(4 + 2iω)
    array([0.25 +0.j   , 0.125-0.125j])
    """
    asked, grid = channels(system, outputs, inputs), frequencies(omega)
    system = independent(system)
    if through is None:
        values = evaluate(system, grid, asked, method=method, progress=progress)
        return FrequencyResponse(grid, values, asked.outputs, asked.inputs)
    small = same_channels(through, asked)
    values = evaluate(through, grid, small, method="auto", progress=progress)
    some = np.unique(np.linspace(0, grid.size - 1, min(CHECKED, grid.size)).round().astype(int))
    exact = evaluate(system, grid[some], asked, method=method, progress=progress)
    size = np.linalg.norm(exact, axis=(1, 2))
    apart = np.linalg.norm(values[some] - exact, axis=(1, 2))
    error = float(np.max(apart / np.where(size > 0.0, size, 1.0)))
    return FrequencyResponse(grid, values, asked.outputs, asked.inputs, error, grid[some])


def frequencies(omega: Any) -> Array:
    """Frequencies as an array, after the check that they ascend from ω ≥ 0."""
    grid = check.array("omega", np.atleast_1d(omega), (None,))
    if not grid.size:
        raise ValueError("omega must hold at least one frequency [rad/s]")
    if grid[0] < 0.0:
        raise ValueError(f"omega must not be negative, got {grid[0]} rad/s: H(−iω) is the conjugate of H(iω)")
    if np.any(np.diff(grid) <= 0.0):
        at = int(np.flatnonzero(np.diff(grid) <= 0.0)[0])
        raise ValueError(f"omega must ascend, got {grid[at]} rad/s before {grid[at + 1]} rad/s")
    return grid
