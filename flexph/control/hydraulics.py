"""Hydraulic cylinders with a proportional valve, a pump and a relief valve, as port-Hamiltonian systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..systems.nonlinear import PHDAE
from ..units.arguments import quantities

SERIES = 0.02
"""Ratio below which differences of logarithms are summed as series."""
HEAD, ROD, LINE = 0, 1, 2
"""Indices of the states of the fluid contents: of both chambers and of the supply line. The vector between the ports
and the opening of the spool follow them."""


@quantities(
    areas="m^2", length="m", stroke="m", dead_volume="m^3", bulk_modulus="Pa", rated_flow="m^3/s", rated_drop="Pa",
    relief="Pa", line_volume="m^3", lag="s", coil="W", leakage="m^3/s/Pa", transition="Pa", overload="m^3/s/Pa",
)  # fmt: skip
@checked
def hydraulic_cylinder(
    vector: Sequence[float],
    *,
    areas: tuple[float, float],
    length: float,
    stroke: float,
    rated_flow: float,
    relief: float,
    rated_drop: float = 3.5e6,
    pressures: tuple[float, float] = (0.0, 0.0),
    bulk_modulus: float = 1.4e9,
    dead_volume: float = 2e-5,
    line_volume: float = 1e-3,
    leakage: float = 0.0,
    transition: float = 1e4,
    overload: float = 1e-9,
    lag: float = 0.01,
    coil: float = 10.0,
) -> PHDAE:
    """Hydraulic cylinder between two points, with a proportional valve, a supply line, a pump and a relief valve.

    The contents m of chambers and line are volumes at pressure zero. A volume V with the content m has

        p = β ln(m/V),   H = β (m − V − V ln(m/V)),   ∂H/∂V = −p,   h = ∂H/∂m = β (1 − V/m),

    so that the fluid has the bulk modulus β, and h (p to first order) is the work per volume of fluid that is added.
    The volumes follow the distance ℓ of both points, V₁ = V_d + A₁(ℓ − ℓ₀) behind the piston and V₂ = V_d + A₂(ℓ₀ + s −
    ℓ) around the rod; the force on the rod is p₁A₁ − p₂A₂ along the line. Flows through the edges of the valve are
    turbulent, and laminar at drops far below Δ_t,

        q = q_N |y| Δh / √(Δp_N (|Δh| + Δ_t)),

    with the opening y of the spool: y > 0 joins the line with chamber 1 and chamber 2 with the tank, y < 0 the other
    way. The spool follows its command u by the lag, T ẏ = u − y, with a coil of P y² [W]. The pump delivers a flow into
    the line; above its pressure the relief valve leads it to the tank, which has the pressure zero.

    Joined by :class:`Continuous` it is solved within each step by a discrete gradient along the mean of the line: the
    energy of the fluid is ``stored NAME`` in the ledger, the losses of the valves ``dissipation``, and the works of
    pump and coil are ``NAME: pump`` and ``NAME: valve``, balanced to round-off. Momentum and angular
    momentum of the mechanism are conserved.

    H. E. Merritt, Hydraulic Control Systems, Wiley (1967), ch. 3 and 6.

    Parameters
    ----------
    vector : array_like
        Vector from the foot to the rod's end at the start (d,) [m], in the plane or in space.
    areas : tuple
        Area A₁ of the piston and A₂ of its ring around the rod [m²].
    length, stroke : float
        Distance ℓ₀ of the points with the rod drawn in, and stroke s [m].
    rated_flow : float
        Flow q_N [m³/s] through one edge of the open valve at the rated drop.
    relief : float
        Pressure [Pa] at which the relief valve opens; that of the line at the start.
    rated_drop : float
        Δp_N [Pa].
    pressures : tuple
        Pressures of both chambers at the start [Pa].
    bulk_modulus : float
        β [Pa].
    dead_volume, line_volume : float
        V_d of each chamber and volume of the line [m³].
    leakage : float
        Laminar leakage between the chambers [m³/(s Pa)].
    transition : float
        Δ_t [Pa].
    overload : float
        Flow through the relief valve per pressure in excess of ``relief`` [m³/(s Pa)].
    lag, coil : float
        T of the spool [s] and power P of its coil, fully open [W].

    Returns
    -------
    PHDAE
        System with the ports ``rod`` and ``foot`` for :func:`flexph.force` in world axes, ``valve`` (command, −1 to 1)
        and ``pump`` (flow [m³/s]), for ``Continuous(system=…, ports={"rod": …, "foot": …}, inputs={"pump": …})``. A
        foot on the ground is not joined. Its states are three contents, the vector and the opening.

    Raises
    ------
    ValueError
        For values that are not positive, of which the leakage may be zero, for pressures that are not below the bulk
        modulus, and for a vector that is shorter than the cylinder drawn in or longer than that with its stroke.

    Examples
    --------
    A cylinder lifts a mass of 500 kg; the pump supplies the work:

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, force, integrate, slider
    >>> from flexph.control import Continuous, hydraulic_cylinder
    >>> from flexph.sensors import position
    >>> rail = slider("load.point", GROUND.at(0.0, 0.0), direction=(0.0, 1.0), turning=True)
    >>> lift = connect({"load": rigid.point(500.0)}, [rail, force("load.point", name="rod")], gravity=(0.0, -9.81))
    >>> start = lift.consistent_state(lift.assemble({"load": (0.0, 0.8, 0.0)}))
    >>> cylinder = hydraulic_cylinder(
    ...     (0.0, 0.8), areas=(2e-3, 1e-3), length=0.7, stroke=0.5, rated_flow=5e-4, relief=1.5e7,
    ...     pressures=(2.5e6, 0.0),
    ... )
    >>> jack = Continuous(system=cylinder, ports={"rod": "rod"}, inputs={"pump": 6e-4, "valve": 0.4})
    >>> run = integrate(lift, start, np.linspace(0.0, 0.2, 101), controllers={"jack": jack})
    >>> bool(run.measured(position("load.point"))[-1, 1] > 0.81), bool(run.ledger.largest_residual < 1e-10)
    (True, True)
    """
    d = check.array("vector", vector, (None,))
    if d.size not in (2, 3):
        raise ValueError(f"vector must have 2 components in the plane or 3 in space, got {d.size}")
    A = check.array("areas", areas, (2,))
    if not (A > 0.0).all():
        raise ValueError(f"areas must be positive, got {tuple(A.tolist())}")
    positive = {
        "length": length, "stroke": stroke, "rated_flow": rated_flow, "rated_drop": rated_drop, "relief": relief,
        "bulk_modulus": bulk_modulus, "dead_volume": dead_volume, "line_volume": line_volume, "lag": lag, "coil": coil,
        "transition": transition, "overload": overload,
    }  # fmt: skip
    for name, value in positive.items():
        check.positive(name, value)
    check.not_negative("leakage", leakage)
    fluid = _Cylinder(
        float(A[0]), float(A[1]), length, stroke, dead_volume, line_volume, bulk_modulus,
        rated_flow / math.sqrt(rated_drop), transition, leakage, relief, overload, lag, coil,
    )  # fmt: skip
    if not length <= np.linalg.norm(d) <= length + stroke:
        raise ValueError(f"vector must be {length} m to {length + stroke} m long, got {np.linalg.norm(d):.6g} m")
    p = check.array("pressures", pressures, (2,))
    if max(relief, *np.abs(p).tolist()) >= bulk_modulus:
        raise ValueError(
            f"relief and pressures must be below bulk_modulus = {bulk_modulus:.6g} Pa, got {relief:.6g} and "
            f"{tuple(p.tolist())}"
        )
    sample = np.concatenate([fluid.contents(d, (float(p[0]), float(p[1]), relief)), d, [0.0]])
    n, dim = sample.size, d.size
    B = np.zeros((n, 2 + 2 * dim))
    B[n - 1, 0], B[LINE, 1] = 1.0 / lag, 1.0
    B[3 : 3 + dim, 2 : 2 + dim], B[3 : 3 + dim, 2 + dim :] = np.eye(dim), -np.eye(dim)
    return PHDAE(
        E=np.eye(n),
        J=np.zeros((n, n)),
        R=fluid.resistance,
        B=B,
        z=lambda x: fluid.efforts(x, x),
        H=fluid.energy,
        sample=sample,
        ports={
            "valve": slice(0, 1),
            "pump": slice(1, 2),
            "rod": slice(2, 2 + dim),
            "foot": slice(2 + dim, 2 + 2 * dim),
        },
        parts={"content": slice(0, 3), "vector": slice(3, 3 + dim), "opening": slice(n - 1, n)},
        means={"z": fluid.efforts, "R": fluid.mean_resistance},
        cautions=(partial(_range_warning, fluid),),
    )


@dataclass(frozen=True)
class _Cylinder:
    """Parameters of a hydraulic cylinder, and functions of its state (m₁, m₂, m_s, d, y).

    m are the contents of both chambers and of the supply line, d is the vector between the ports, and y the opening.
    """

    piston: float
    ring: float
    length: float
    stroke: float
    dead: float
    line: float
    bulk: float
    conductance: float
    transition: float
    leakage: float
    relief: float
    overload: float
    lag: float
    coil: float

    def volumes(self, d: Array) -> tuple[float, float, float]:
        """Volumes of both chambers and of the line [m³], for the vector d between the ports."""
        extension = float(np.linalg.norm(d)) - self.length
        return self.dead + self.piston * extension, self.dead + self.ring * (self.stroke - extension), self.line

    def contents(self, d: Array, pressures: tuple[float, float, float]) -> list[float]:
        """Contents of both chambers and of the line [m³] at given pressures, for the vector d between the ports."""
        return [V * math.exp(p / self.bulk) for V, p in zip(self.volumes(d), pressures, strict=True)]

    def energy(self, x: Array) -> float:
        """Energy of the fluid and of the spool [J] at the state x; NaN if a volume or content is not positive."""
        fluid = 0.0
        for m, V in zip(x[:3].tolist(), self.volumes(x[3:-1]), strict=True):
            if V <= 0.0 or m <= 0.0:
                return math.nan
            fluid += self.bulk * V * _excess((m - V) / V)
        return fluid + 0.5 * self.coil * self.lag * float(x[-1]) ** 2

    def efforts(self, x0: Array, x1: Array) -> Array:
        """Discrete gradient of the energy between the states x₀ and x₁, or its gradient if they are equal.

        The force of the cylinder acts along the mean of the vectors d. NaN if a volume or content is not positive.
        """
        mean = x0[3:-1] + x1[3:-1]
        size = float(np.linalg.norm(x0[3:-1])) + float(np.linalg.norm(x1[3:-1]))
        z, forces = np.zeros(x0.size), []
        before, after = self.volumes(x0[3:-1]), self.volumes(x1[3:-1])
        if min(*before, *after, *x0[:3].tolist(), *x1[:3].tolist()) <= 0.0:
            return np.full(x0.size, math.nan)
        for i, (V0, V1) in enumerate(zip(before, after, strict=True)):
            m0, m1 = float(x0[i]), float(x1[i])
            z[i] = self.bulk * (1.0 - 0.5 * (V0 + V1) * _log_ratio(m0, m1))
            log_content = 0.5 * (math.log(m0 / V0) + math.log(m1 / V0))
            forces.append(-self.bulk * (log_content - _identric(V0, V1)))
        z[3:-1] = (self.piston * forces[HEAD] - self.ring * forces[ROD]) / size * mean
        z[-1] = 0.5 * self.coil * self.lag * float(x0[-1] + x1[-1])
        return z

    def resistance(self, x: Array) -> Array:
        """Dissipation matrix R of valves, leakage and coil at the state x."""
        return self.mean_resistance(x, x)

    def mean_resistance(self, x0: Array, x1: Array) -> Array:
        """Dissipation matrix R of valves, leakage and coil over a step, at its mean efforts and opening."""
        z = self.efforts(x0, x1)
        head, rod, line = z[:3].tolist()
        y, R = 0.5 * float(x0[-1] + x1[-1]), np.zeros((x0.size, x0.size))
        out, back = max(y, 0.0), max(-y, 0.0)
        edges = (
            (LINE, HEAD, out * self._turbulent(line - head)),
            (LINE, ROD, back * self._turbulent(line - rod)),
            (HEAD, None, back * self._turbulent(head)),
            (ROD, None, out * self._turbulent(rod)),
            (HEAD, ROD, self.leakage),
            (LINE, None, self.overload * max(line - self.relief, 0.0) / max(line, self.relief)),
        )
        for i, j, g in edges:
            R[i, i] += g
            if j is not None:
                R[j, j] += g
                R[i, j] -= g
                R[j, i] -= g
        R[-1, -1] = 1.0 / (self.coil * self.lag**2)
        return R

    def _turbulent(self, drop: float) -> float:
        """Quotient q/Δh of the flow through an edge of the fully open valve [m³/(s Pa)], at the drop Δh [Pa]."""
        return self.conductance / math.sqrt(abs(drop) + self.transition)


def _excess(e: float) -> float:
    """Value of e − ln(1 + e), accurate for small e."""
    if abs(e) > SERIES:
        return e - math.log1p(e)
    total, power = 0.0, e
    for k in range(2, 12):
        power *= -e
        total -= power / k
    return total


def _log_ratio(a: float, b: float) -> float:
    """Difference quotient (ln b − ln a)/(b − a), accurate for near a and b; 1/a if they are equal."""
    r = (b - a) / a
    return (math.log1p(r) / r if r else 1.0) / a


def _identric(a: float, b: float) -> float:
    """Logarithm of I/a with the identric mean I of a and b: (b ln b − a ln a)/(b − a) − 1 − ln a."""
    r = (b - a) / a
    if abs(r) > SERIES:
        return (1.0 + 1.0 / r) * math.log1p(r) - 1.0
    total, power = 0.0, -1.0
    for k in range(1, 11):
        power *= -r
        total += power / (k * (k + 1))
    return total


def _range_warning(fluid: _Cylinder, x: Array) -> str | None:
    """Warning if the piston is beyond its stroke, a pressure below vacuum, or the valve too far open; else None."""
    position = float(np.linalg.norm(x[3:-1])) - fluid.length
    if not 0.0 <= position <= fluid.stroke:
        return f"the piston is beyond its stroke of {fluid.stroke:.6g} m, at {position:.6g} m: add a stop"
    pressures = [fluid.bulk * math.log(m / V) for m, V in zip(x[:3].tolist(), fluid.volumes(x[3:-1]), strict=True)]
    if min(pressures) < -1e5:
        of, pressure = "the line" if pressures[2] < -1e5 else "a chamber", min(pressures)
        return f"{of} has {pressure:.3g} Pa, below vacuum: the fluid cavitates, which the model does not describe"
    if abs(x[-1]) > 1.001:
        return f"the valve is open by {x[-1]:.4g}, beyond −1 to 1: its command must stay within"
    return None
