"""Load cycles of stresses by rainflow counting, and their fatigue damage (extra ``fatigue``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array


@dataclass(frozen=True, eq=False, repr=False)
class LoadCycles:
    """Cycles of a history, in the order in which they close.

    Attributes
    ----------
    ranges : array
        Largest minus smallest value of each cycle, (n,).
    means : array
        Mean of the largest and smallest value of each cycle, (n,).
    counts : array
        1 for a full cycle and 0.5 for a half one, (n,).
    begins, ends : array
        Times of the first and last extreme of each cycle, (n,) [s].
    unit : str
        Unit of the values.
    """

    ranges: Array
    means: Array
    counts: Array
    begins: Array
    ends: Array
    unit: str = ""

    def __repr__(self) -> str:
        largest = f"{self.ranges.max():.6g} {self.unit}".strip() if self.ranges.size else "none"
        return f"<LoadCycles: {self.counts.sum():g} cycles, largest range {largest}>"

    @checked
    def damage(self, amplitude: float, cycles: float, slope: float, *, ultimate: float | None = None) -> float:
        """Damage by Miner's rule and a straight line of stress and life; a part fails at about 1.

            D = Σ_i n_i/N_i,   N_i = N_D (σ_D/σ_i)^k,   σ_i = Δσ_i/2, or (Δσ_i/2)/(1 − max(σ_m, 0)/R_m) by Goodman.

        The line has no endurance limit: small cycles count too.

        M. A. Miner, Cumulative damage in fatigue, J. Appl. Mech. 12 (1945) A159-A164. DOI 10.1115/1.4009458.

        Parameters
        ----------
        amplitude : float
            Amplitude σ_D that is endured N_D times, in the unit of the values.
        cycles : float
            Number of cycles N_D.
        slope : float
            Exponent k of the line, for example 3 for welds and 5 for steel.
        ultimate : float, optional
            Ultimate strength R_m; without it means have no influence.

        Returns
        -------
        float
            Damage of the history.

        Raises
        ------
        ValueError
            For a mean that reaches the ultimate strength.

        Examples
        --------
        >>> from flexph.analysis import load_cycles
        >>> cycles = load_cycles([0.0, 100e6, -100e6, 100e6, 0.0], unit="Pa")
        >>> round(cycles.damage(amplitude=100e6, cycles=2e6, slope=5.0) * 2e6, 3)  # one full cycle, two small halves
        1.031
        """
        allowed = check.positive("amplitude", amplitude, self.unit)
        life, exponent = check.positive("cycles", cycles), check.positive("slope", slope)
        half_range = 0.5 * self.ranges
        if ultimate is not None:
            strength = check.positive("ultimate", ultimate, self.unit)
            largest = float(self.means.max(initial=0.0))
            if largest >= strength:
                raise ValueError(
                    f"ultimate must be larger than the largest mean, {largest:.6g} {self.unit}, got {strength:.6g}"
                )
            half_range = half_range / (1.0 - np.maximum(self.means, 0.0) / strength)
        return float(np.sum(self.counts * (half_range / allowed) ** exponent) / life)

    @checked
    def equivalent_range(self, cycles: float, slope: float) -> float:
        """Range Δσ = (Σ_i n_i Δσ_i^k / N)^(1/k), of which N cycles cause the same damage as the history.

        Parameters
        ----------
        cycles : float
            Number of cycles N.
        slope : float
            Exponent k of the line of stress and life.

        Returns
        -------
        float
            Range, in the unit of the values.

        Examples
        --------
        >>> from flexph.analysis import load_cycles
        >>> round(load_cycles([-1.0, 1.0] * 5 + [-1.0]).equivalent_range(cycles=5.0, slope=3.0), 9)
        2.0
        """
        number, exponent = check.positive("cycles", cycles), check.positive("slope", slope)
        largest = float(self.ranges.max(initial=0.0)) or 1.0
        shares = float(np.sum(self.counts * (self.ranges / largest) ** exponent))
        return float(largest * (shares / number) ** (1.0 / exponent))


@checked
def load_cycles(
    values: Sequence[float] | Array, times: Sequence[float] | Array | None = None, *, unit: str = ""
) -> LoadCycles:
    """Cycles of a history by rainflow counting.

    Extremes are counted as in ASTM E1049-85 (2017), sec. 5.4.4: closed ranges are full cycles, all others half cycles.

    Parameters
    ----------
    values : array
        History (k,), for example readings of :func:`flexph.sensors.stress`.
    times : array, optional
        Times (k,) [s]; by default 0, 1, 2, …
    unit : str
        Unit of the values.

    Returns
    -------
    LoadCycles
        Ranges, means, counts and times.

    Raises
    ------
    ModuleNotFoundError
        Without rainflow; the message says what to install.
    ValueError
        For values that are not finite, times of another number, and times that decrease.

    Examples
    --------
    >>> from flexph.analysis import load_cycles
    >>> cycles = load_cycles([-2.0, 1.0, -3.0, 5.0, -1.0, 3.0, -4.0, 4.0, -2.0])  # the example of the standard
    >>> list(zip(cycles.ranges.tolist(), cycles.counts.tolist()))
    [(3.0, 0.5), (4.0, 0.5), (4.0, 1.0), (8.0, 0.5), (9.0, 0.5), (8.0, 0.5), (6.0, 0.5)]
    """
    try:
        import rainflow
    except ModuleNotFoundError:
        raise ModuleNotFoundError('load cycles need rainflow: pip install "flexph[fatigue]"') from None
    history = check.array("values", values, (None,))
    at = np.arange(len(history), dtype=float) if times is None else check.array("times", times, (len(history),))
    if (np.diff(at) < 0.0).any():
        raise ValueError(f"times must not decrease, got {check.shown(times)}")
    held = history[[0, 1, 1]] if len(history) == 2 else history  # rainflow finds no cycle in two values
    rows = np.array(list(rainflow.extract_cycles(held)), dtype=float).reshape(-1, 5)
    rows = rows[rows[:, 0] > 0.0]  # rainflow returns a half cycle of range zero for a constant history
    spans = at[np.minimum(rows[:, 3:].astype(int), len(history) - 1)]
    for owned in (rows, spans):
        owned.setflags(write=False)
    return LoadCycles(rows[:, 0], rows[:, 1], rows[:, 2], spans[:, 0], spans[:, 1], unit)
