"""Elastic laws of springs: the force F = V'(x) against an extension x, with its stored energy V(x)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import exp, expm1, log1p
from typing import Any, Literal, overload

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import central
from ..numerics.memo import PickledByCall
from ..units.arguments import quantities
from .resistive_relations import Relation, ScheduledRelation

Function = Callable[[float], float]
STIFFNESSES = ("N/m", "N*m/rad", "N", "N*m^2")
EXTENSIONS = ("m", "rad", "1/m")
"""Units of stiffnesses and extensions: of springs, torsion springs, and cross-sections, whose strains have none."""
PROBES = np.concatenate([-np.logspace(3, -3, 25), np.logspace(-3, 3, 25)])
"""Extensions at which a force given by the user is compared with the energy, if both have values there."""
APART = (1e-3, -1e-5, 1e-6)
"""Distances of the two extensions between which force and energy are compared, relative to the extension. They must
agree over one of these, since there may be a kink within the others."""
CONSISTENT = 1e-6
"""Defect of ΔV = F Δx, relative to |F Δx|, above which a force is refused; it leaves room for energies that cancel in
eight digits."""
STEP = 1e-6
"""Step of the differences of a force without its derivative, relative to the extension or to one."""
POINTS = (0.5 - 0.15**0.5, 0.5, 0.5 + 0.15**0.5)
WEIGHTS = (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)


class OutOfRange(ValueError):
    """Error for an extension at which an elastic law is not defined, such as that of a fully compressed gas column."""


@dataclass(frozen=True)
class ElasticLaw(PickledByCall):
    """Elastic law ``F = V'(x)`` of a spring with the extension x [m or rad] and the stored energy V(x) [J].

    Elastic laws are made by :func:`potential`, :func:`polynomial`, :func:`bilinear`, :func:`backlash`,
    :func:`one_sided`, :func:`table`, :func:`gas_spring`, :func:`gravitation`, :func:`scheduled` and :func:`controlled`.
    The extension x of a spring with a law is a state with the stored energy V, the descriptor E = 1 and the costate z =
    V'(x).

    Parameters
    ----------
    name : str
        Name of the function that made the law, with its arguments, for messages.
    edges : tuple of float
        Extensions (n − 1) between the n pieces of a piecewise polynomial, rising.
    bases : tuple of float
        Base of the polynomial of each piece, an extension.
    powers : tuple of tuple of float
        V of each piece by ascending powers of the distance from its base.
    functions : tuple of callable
        V, V' and, where it is known, V'' of a general law, which has no pieces.
    strength : float
        μ of V = −μ/x, whose mean force over a step is μ/(x₀x₁); 0 of other laws.
    factor : callable, optional
        Factor a(t) of V and V', see :func:`scheduled`; the methods energy, force and stiffness do not include it.
    is_controlled : bool
        True if an input of its spring sets the factor, see :func:`controlled`.
    """

    name: str
    edges: tuple[float, ...] = ()
    bases: tuple[float, ...] = ()
    powers: tuple[tuple[float, ...], ...] = ()
    functions: tuple[Function, ...] = ()
    strength: float = 0.0
    factor: Function | None = None
    is_controlled: bool = False

    @property
    def varies(self) -> bool:
        """True if the energy has a factor that a function of time or an input sets."""
        return self.factor is not None or self.is_controlled

    def energy(self, extension: Any) -> Any:
        """Stored energy V(x) [J] at one extension or many."""
        return self._value(extension, 0)

    def force(self, extension: Any) -> Any:
        """Force V'(x) [N or N m] at one extension or many."""
        return self._value(extension, 1)

    def stiffness(self, extension: Any) -> Any:
        """Stiffness V''(x) [N/m or N m/rad], by central differences for a general law given without V''."""
        if self.functions and len(self.functions) < 3:
            x = np.asarray(extension, dtype=float)
            step = STEP * np.maximum(np.abs(x), 1.0)
            return central(self.force, x, step) / step
        return self._value(extension, 2)

    def factor_at(self, time: float) -> float:
        """Factor a(t), 1 without a schedule; raises ValueError if the function raises or returns no finite number."""
        if self.factor is None:
            return 1.0
        given = check.value_of(f"{self}: the factor", self.factor, time)
        return check.number(f"{self}: the factor at t = {time} s", given)

    @property
    def scale(self) -> float:
        """Size of the stiffness of the law, as a scale for its forces; zero if it is not known.

        It is the largest magnitude of the stiffness at x = 0 and, for a piecewise polynomial, at the bases of the
        pieces.
        """
        with np.errstate(all="ignore"):
            try:
                known = np.abs(self.stiffness(np.array([0.0, *self.bases])))
            except ValueError:
                return 0.0
        return float(np.max(known, initial=0.0, where=np.isfinite(known)))

    def _value(self, extension: Any, order: int) -> Any:
        x = np.asarray(extension, dtype=float)
        if self.functions:
            return _each(self.functions[order], x, f"{self.name}: {('energy', 'force', 'stiffness')[order]}")
        piece = np.searchsorted(self.edges, x, side="right")
        powers, distance = np.array(self.powers)[piece], x - np.array(self.bases)[piece]
        for _ in range(order):
            powers = powers[..., 1:] * np.arange(1.0, powers.shape[-1])
        value = np.zeros(x.shape)
        for k in range(powers.shape[-1] - 1, -1, -1):
            value = value * distance + powers[..., k]
        return value

    def __str__(self) -> str:
        return self.name


def mean_force(law: ElasticLaw, before: float, after: float) -> float:
    """Mean force F of a law over a step: F Δx = ΔV to round-off, and F → V' as Δx → 0.

    For piecewise polynomials F is the mean of V' by Gauss' rule of three points in each piece, which is exact up to the
    fifth power. For functions the rule is used on the whole step, and its mean F₀ is corrected by (ΔV − F₀ Δx)/Δx
    unless this is round-off. For V = −μ/x F is known in closed form.
    """
    change = after - before
    if law.strength and min(before, after) > 0.0:
        return law.strength / (before * after)
    edges = [edge for edge in law.edges if min(before, after) < edge < max(before, after)]
    ends = [before, *(edges if change > 0.0 else edges[::-1]), after]
    parts = [_gauss_mean(law, *pair) * (pair[1] - pair[0]) for pair in pairwise(ends)]
    if len(parts) > 1:
        return sum(parts) / change
    mean = _gauss_mean(law, before, after)
    if law.powers:
        return mean
    first, last = float(law.energy(before)), float(law.energy(after))
    defect = last - first - mean * change
    size = abs(first) + abs(last) + abs(mean) * (abs(before) + abs(after))
    return mean if abs(defect) <= 4.0 * np.finfo(float).eps * size else mean + defect / change


def _gauss_mean(law: ElasticLaw, before: float, after: float) -> float:
    points = (before + t * (after - before) for t in POINTS)
    return sum(w * float(law.force(x)) for w, x in zip(WEIGHTS, points, strict=True))


@checked
def potential(energy: Function, force: Function, stiffness: Function | None = None) -> ElasticLaw:
    """Make a law from functions of the extension: V, its derivative V' and, if known, V''.

    Parameters
    ----------
    energy : callable
        V(x) [J] of x [m or rad].
    force : callable
        V'(x) [N or N m], positive where the spring pulls.
    stiffness : callable, optional
        V''(x); otherwise by differences of the force over 1e-6 of the extension, at least 1e-6 m or rad: needed for
        devices that move by micrometres.

    Returns
    -------
    ElasticLaw
        For ``law=`` of springs.

    Raises
    ------
    ValueError
        Where the force is not the derivative of the energy, with the extension and both values.

    Examples
    --------
    >>> from math import exp
    >>> from flexph.laws import potential
    >>> morse = potential(lambda x: (1.0 - exp(-x)) ** 2, lambda x: 2.0 * (1.0 - exp(-x)) * exp(-x))
    >>> float(morse.force(0.0))
    0.0
    """
    given = [("energy", energy), ("force", force), ("stiffness", stiffness)]
    for name, function in given:
        if not callable(function) and not (name == "stiffness" and function is None):
            raise ValueError(f"{name} must be a function of the extension, got {check.shown(function)}")
    functions = (energy, force) if stiffness is None else (energy, force, stiffness)
    law = ElasticLaw(f"potential({getattr(energy, '__name__', 'function')})", functions=functions)
    _check_derivative(law, "force", law.energy, law.force)
    if stiffness is not None:
        _check_derivative(law, "stiffness", law.force, law.stiffness)
    return law


@checked
def polynomial(*coefficients: float) -> ElasticLaw:
    """Make the law ``F = k₁x + k₂x² + k₃x³ + …``; Duffing's spring is ``polynomial(k, 0, k₃)``.

    Parameters
    ----------
    *coefficients : float
        k₁ [N/m], k₂ [N/m²] and so on; of torsion springs per radian.

    Returns
    -------
    ElasticLaw
        For ``law=`` of springs.

    Examples
    --------
    >>> from flexph.laws import polynomial
    >>> polynomial(100.0, 0.0, 1e4).force(0.1).item()
    20.0
    """
    powers = [check.number(f"coefficient {i + 1}", k) for i, k in enumerate(coefficients)]
    if not any(powers):
        raise ValueError("a polynomial needs a coefficient that is not zero")
    return _pieces(f"polynomial({_listed(powers)})", (), (0.0,), [(0.0, *powers)])


@quantities(beyond=EXTENSIONS, second=STIFFNESSES, stiffness=STIFFNESSES)
@checked
def bilinear(stiffness: float, *, second: float, beyond: float) -> ElasticLaw:
    """Make a law of two stiffnesses: k up to |x| = ``beyond``, ``second`` beyond, for both signs of x.

    Parameters
    ----------
    stiffness : float
        k ≥ 0 [N/m or N m/rad].
    second : float
        Stiffness for larger extensions, ≥ 0 [N/m or N m/rad].
    beyond : float
        Extension of the change, > 0 [m or rad].

    Returns
    -------
    ElasticLaw
        For ``law=`` of springs.
    """
    first, other = check.not_negative("stiffness", stiffness), check.not_negative("second", second)
    edge = check.positive("beyond", beyond)
    if first == other == 0.0:
        raise ValueError("stiffness and second must not both be 0")
    force = first * edge
    name = f"bilinear({first:.9g}, second={other:.9g}, beyond={edge:.9g})"
    return _pieces(name, (-edge, edge), (-edge, 0.0, edge), [(-force, other), (0.0, first), (force, other)])


@quantities(play=EXTENSIONS, stiffness=STIFFNESSES)
@checked
def backlash(stiffness: float, *, play: float) -> ElasticLaw:
    """Make the law of a spring with play: no force while |x| ≤ ``play``/2, the stiffness k beyond.

    Parameters
    ----------
    stiffness : float
        k > 0 [N/m or N m/rad].
    play : float
        Whole play, > 0 [m or rad].

    Returns
    -------
    ElasticLaw
        For ``law=`` of springs.

    Examples
    --------
    >>> from flexph.laws import backlash
    >>> backlash(1e3, play=0.02).force([0.005, 0.02]).tolist()
    [0.0, 10.0]
    """
    k, edge = check.positive("stiffness", stiffness), 0.5 * check.positive("play", play)
    name = f"backlash({k:.9g}, play={2.0 * edge:.9g})"
    return _pieces(name, (-edge, edge), (-edge, 0.0, edge), [(0.0, k), (0.0,), (0.0, k)])


@quantities(beyond=EXTENSIONS, stiffness=STIFFNESSES)
@checked
def one_sided(stiffness: float, *, side: Literal["tension", "compression"], beyond: float = 0.0) -> ElasticLaw:
    """Make the law of a rope or of a stop: a force on one side only, k (x − ``beyond``) in tension.

    Parameters
    ----------
    stiffness : float
        k > 0 [N/m or N m/rad].
    side : {"tension", "compression"}
        ``tension``: the force acts at extensions above ``beyond``; ``compression``: below.
    beyond : float
        Extension at which the force begins [m or rad].

    Returns
    -------
    ElasticLaw
        For ``law=`` of springs.

    Examples
    --------
    >>> from flexph.laws import one_sided
    >>> one_sided(1e3, side="tension").force([-0.1, 0.1]).tolist()
    [0.0, 100.0]
    """
    k, edge = check.positive("stiffness", stiffness), check.number("beyond", beyond)
    pulls = check.choice("side", side, ("tension", "compression")) == "tension"
    sides: list[tuple[float, ...]] = [(0.0,), (0.0, k)]
    name = f"one_sided({k:.9g}, side={side!r}, beyond={edge:.9g})"
    return _pieces(name, (edge,), (edge, edge), sides if pulls else sides[::-1])


SPLINES = {"cubic": "CubicSpline", "monotone": "PchipInterpolator", "akima": "Akima1DInterpolator"}
"""Splines of SciPy by the names of their shapes."""


@quantities(extension=EXTENSIONS, force=("N", "N*m"))
@checked
def table(
    extension: Sequence[float],
    force: Sequence[float],
    *,
    shape: Literal["linear", "cubic", "monotone", "akima"] = "linear",
) -> ElasticLaw:
    """Make a law from measured forces, joined by straight lines or a spline; straight lines go on beyond the ends.

    Parameters
    ----------
    extension : array_like
        x (n,), rising [m or rad].
    force : array_like
        F (n,) [N or N m].
    shape : {"linear", "cubic", "monotone", "akima"}
        Straight lines, or a spline of SciPy: ``CubicSpline``, ``PchipInterpolator``, ``Akima1DInterpolator``.

    Returns
    -------
    ElasticLaw
        For ``law=`` of springs.

    Examples
    --------
    >>> from flexph.laws import table
    >>> table([-0.1, 0.0, 0.1], [-5.0, 0.0, 20.0]).force([-0.05, 0.05, 0.2]).tolist()
    [-2.5, 10.0, 40.0]
    """
    x = check.array("extension", extension, (None,))
    y = check.array("force", force, (x.size,))
    check.choice("shape", shape, ("linear", *SPLINES))
    if x.size < 2 or not np.all(np.diff(x) > 0.0):
        raise ValueError(f"extension must rise and have two or more entries, got {check.shown(x)}")
    from scipy import interpolate  # slow to import, with optimize and fft

    if shape == "linear":
        curve = interpolate.PPoly(np.array([np.diff(y) / np.diff(x), y[:-1]]), x)
    else:
        curve = getattr(interpolate, SPLINES[shape])(x, y)
    inner = [tuple(column[::-1]) for column in curve.c.T.tolist()]
    slopes = curve(x[[0, -1]], 1)
    pieces = [(float(y[0]), float(slopes[0])), *inner, (float(y[-1]), float(slopes[1]))]
    return _pieces(f"table of {x.size} points ({shape})", x.tolist(), [x[0], *x.tolist()], pieces)


@quantities(column=("m",), force=("N",))
@checked
def gas_spring(force: float, *, column: float, exponent: float = 1.0) -> ElasticLaw:
    """Make the law of a closed gas column: it pushes with P (L/(L + x))ⁿ, so that F = −P (L/(L + x))ⁿ.

    Parameters
    ----------
    force : float
        P > 0 at the free length [N].
    column : float
        L > 0, height of the column at the free length [m]; extensions must stay above −L.
    exponent : float
        n ≥ 1: 1 is isothermal, 1.4 adiabatic air.

    Returns
    -------
    ElasticLaw
        For ``law=`` of springs.
    """
    p, height = check.positive("force", force), check.positive("column", column)
    n = check.positive("exponent", exponent)
    if n < 1.0:
        raise ValueError(f"exponent must be at least 1, got {n}")

    def log_of(x: float) -> float:
        """Logarithm log(L/(L + x)) of the gas column of length L at the extension x.

        Raises OutOfRange unless x > −L.
        """
        if x <= -height:
            raise OutOfRange(f"the gas column of {height:.6g} m is compressed by {-x:.6g} m")
        return -log1p(x / height)

    def stored(x: float) -> float:
        return p * height * (log_of(x) if n == 1.0 else expm1((n - 1.0) * log_of(x)) / (n - 1.0))

    functions = (
        stored,
        lambda x: -p * exp(n * log_of(x)),
        lambda x: n * p / height * exp((n + 1.0) * log_of(x)),
    )
    return ElasticLaw(f"gas_spring({p:.9g}, column={height:.9g}, exponent={n:.9g})", functions=functions)


@quantities(strength=("N*m^2",))
@checked
def gravitation(strength: float) -> ElasticLaw:
    """Make the law of attraction between two points, ``F = μ/x²`` with V = −μ/x; give its spring ``length=0``.

    Parameters
    ----------
    strength : float
        μ = G m₁m₂ [N m²], or −q₁q₂/4πε₀ of charges; not zero.

    Returns
    -------
    ElasticLaw
        For ``law=`` of springs between points.
    """
    mu = check.number("strength", strength)
    if mu == 0.0:
        raise ValueError("strength must not be 0")

    def at(x: float) -> float:
        if x <= 0.0:
            raise OutOfRange(f"the points must be apart: give the spring length=0, got the distance {x:.6g} m")
        return x

    functions = (lambda x: -mu / at(x), lambda x: mu / at(x) ** 2, lambda x: -2.0 * mu / at(x) ** 3)
    return ElasticLaw(f"gravitation({mu:.9g})", functions=functions, strength=mu)


def _pieces(
    name: str, edges: Sequence[float], bases: Sequence[float], forces: Sequence[tuple[float, ...]]
) -> ElasticLaw:
    """Law of pieces with forces that are polynomials about the ``bases``, between ``edges`` in ascending order.

    ``forces`` are their coefficients by ascending powers. The energy is continuous, and zero at x = 0.
    """
    size = 1 + max(map(len, forces))
    energies = [[0.0, *(k / (i + 1) for i, k in enumerate(coefficients))] for coefficients in forces]
    energies = [coefficients + [0.0] * (size - len(coefficients)) for coefficients in energies]
    at = lambda i, x: sum(k * (x - bases[i]) ** j for j, k in enumerate(energies[i]))  # noqa: E731
    for i, edge in enumerate(edges):
        energies[i + 1][0] = at(i, edge) - at(i + 1, edge)
    origin = int(np.searchsorted(edges, 0.0, side="right"))
    offset = at(origin, 0.0)
    for coefficients in energies:
        coefficients[0] -= offset
    return ElasticLaw(name, tuple(map(float, edges)), tuple(map(float, bases)), tuple(map(tuple, energies)))


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.9g}" for value in values)


@overload
def scheduled(law: Relation, factor: Callable[[float], float]) -> ScheduledRelation: ...


@overload
def scheduled(law: float | ElasticLaw, factor: Callable[[float], float]) -> ElasticLaw: ...


@quantities(law=STIFFNESSES)
@checked
def scheduled(law: float | ElasticLaw | Relation, factor: Callable[[float], float]) -> ElasticLaw | ScheduledRelation:
    """Multiply an elastic law or a resistive relation by a factor of time: ``V(x, t) = a(t) V(x)`` or ``a(t) ρ(s)``.

    Over a step from x₀ to x₁ and from a₀ to a₁ the force is the mean factor times the exact mean force, and the change
    of the factor does the work that remains:

        F = ½ (a₀ + a₁) (V₁ − V₀)/(x₁ − x₀),   work ½ (a₁ − a₀) (V₀ + V₁)

    F (x₁ − x₀) and this work add up to the change of the stored energy, whatever the step; the ledger records the work
    under the name of the spring.
    The factor may jump between two steps, or vanish.

    A relation needs ``a ≥ 0`` and is multiplied by the mean factor in each step. A change of its factor does no work.

    Parameters
    ----------
    law : float, ElasticLaw or Relation
        Stiffness [N/m or N m/rad], an elastic law, or a relation such as that of :func:`coulomb`.
    factor : callable
        a(t) of the time [s].

    Returns
    -------
    ElasticLaw or ScheduledRelation
        An elastic law for ``law=`` of springs; from a relation, one for ``damping=`` of
        :func:`flexph.spring_damper` and :func:`flexph.torsion_spring`.

    Raises
    ------
    ValueError
        For a stiffness that is not positive, a law that already has a factor, and a factor that is not a function; in a
        run for a negative factor of a relation.

    Examples
    --------
    >>> from math import cos
    >>> from flexph import GROUND, spring_damper
    >>> from flexph.laws import scheduled
    >>> pumped = scheduled(40.0, lambda t: 1.0 + 0.3 * cos(5.0 * t))
    >>> spring = spring_damper("mass.point", GROUND.at(0.0, 0.0), law=pumped, direction=(1.0, 0.0))
    """
    if not callable(factor):
        raise ValueError(f"factor must be a function of time, got {check.shown(factor)}")
    if isinstance(law, Relation):
        return ScheduledRelation(law, factor)
    base = law if isinstance(law, ElasticLaw) else polynomial(check.positive("law", law))
    if base.varies:
        raise ValueError(f"law must have no factor yet, got {base}")
    named = getattr(factor, "__name__", "factor")
    return replace(base, name=f"scheduled({base}, {'function' if named == '<lambda>' else named})", factor=factor)


@overload
def controlled(law: Relation) -> ScheduledRelation: ...


@overload
def controlled(law: float | ElasticLaw) -> ElasticLaw: ...


@quantities(law=STIFFNESSES)
@checked
def controlled(law: float | ElasticLaw | Relation) -> ElasticLaw | ScheduledRelation:
    """Multiply an elastic law or a resistive relation by 1 + u, with an input u: ``V(x) (1 + u)`` or ``ρ(s) (1 + u)``.

    The spring is an external port of one component under its name. A :class:`flexph.control.Sampled` or
    ``inputs`` of :func:`flexph.integrate` set ``u ≥ −1``; without an input u is zero. Over the step after u was set the
    factor goes from its last value a₀ to the new one a₁, with the force and the work of :func:`scheduled`, which the
    ledger records under the name of the spring:

        F = ½ (a₀ + a₁) (V₁ − V₀)/(x₁ − x₀),   work ½ (a₁ − a₀) (V₀ + V₁)

    A relation, such as that of a brake or an adjustable damper, is multiplied by the mean factor in each step. Its port
    does no work.

    Parameters
    ----------
    law : float, ElasticLaw or Relation
        Stiffness [N/m or N m/rad], an elastic law, or a relation such as that of :func:`coulomb`, at u = 0.

    Returns
    -------
    ElasticLaw or ScheduledRelation
        An elastic law for ``law=`` of :func:`flexph.spring_damper` and :func:`flexph.torsion_spring`; from a relation,
        one for their ``damping=`` and for ``friction=`` of joints. The methods ``Exact`` and ``Decaying`` integrate
        both with steps of given lengths, ``Exact4`` elastic laws only.

    Raises
    ------
    ValueError
        For a stiffness that is not positive, and a law that already has a factor; in a run for an input below −1.

    Examples
    --------
    An actuator stiffens to three times its stiffness where it is stretched:

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, integrate, spring_damper
    >>> from flexph.control import Sampled
    >>> from flexph.laws import controlled
    >>> from flexph.sensors import position
    >>> line = {"direction": (1.0, 0.0), "length": 0.0}
    >>> actuator = spring_damper("mass.point", GROUND.at(0.0, 0.0), law=controlled(40.0), **line, name="actuator")
    >>> mechanism = connect({"mass": rigid.point(1.0)}, [actuator])
    >>> start = mechanism.consistent_state(mechanism.assemble({"mass": (0.1, 0.0, 0.0)}))
    >>> stiffen = lambda t, seen: {"actuator": 2.0 if seen["x"][0] > 0.05 else 0.0}
    >>> switch = Sampled(function=stiffen, period=0.05, sensors={"x": position("mass.point")})
    >>> run = integrate(mechanism, start, np.linspace(0.0, 1.0, 101), controllers={"switch": switch})
    >>> bool(run.ledger.largest_residual < 1e-15), bool(run.ledger.work["actuator"].sum() > 0.1)
    (True, True)
    """
    if isinstance(law, Relation):
        return ScheduledRelation(law, "input")
    base = law if isinstance(law, ElasticLaw) else polynomial(check.positive("law", law))
    if base.varies:
        raise ValueError(f"law must have no factor yet, got {base}")
    return replace(base, name=f"controlled({base})", is_controlled=True)


def _each(function: Function, x: Array, of: str) -> Array:
    return np.array([_call(function, value, of) for value in x.ravel().tolist()]).reshape(x.shape)


def _call(function: Function, x: float, of: str) -> float:
    try:
        return float(function(x))
    except OutOfRange as error:
        raise OutOfRange(f"{of}: {error}") from None
    except Exception as error:
        raise ValueError(f"{of} at the extension {x:.6g} raised {type(error).__name__}: {error}") from error


def _check_derivative(
    law: ElasticLaw, name: str, function: Callable[[float], Any], slope: Callable[[float], Any]
) -> None:
    """Raise ValueError if ``slope`` is not the derivative of ``function``, or if they have no values at all.

    ``name`` is that of the derivative, for the message.
    """
    if not any(_changes(function, slope, x, APART[0] * x) for x in PROBES.tolist()):
        float(function(1.0))  # lets the functions raise their errors
        float(slope(1.0))
        raise ValueError(
            f"{name} and its integral must be finite numbers, but are not finite at any of {PROBES.size} extensions"
        )
    for x in PROBES.tolist():
        pairs = [_changes(function, slope, x, apart * x) for apart in APART]
        known = [pair for pair in pairs if pair is not None]
        if known and not any(_agree(*pair) for pair in known):
            (first, last, integral), of = known[0], {"force": "energy", "stiffness": "force"}[name]
            raise ValueError(
                f"{name} must be the derivative of {of}: from x = {x:.4g} to {x + APART[0] * x:.4g} the {of} changes "
                f"by {last - first:.6g}, the integral of the {name} is {integral:.6g}"
            )


def _changes(
    function: Callable[[float], Any], slope: Callable[[float], Any], x: float, change: float
) -> tuple[float, float, float] | None:
    """Values of a function at x and at x + ``change``, and the integral of ``slope`` between them.

    None if one of the two functions has no value there.
    """
    try:
        with np.errstate(all="ignore"):
            first, last = float(function(x)), float(function(x + change))
            mean = sum(w * float(slope(x + t * change)) for w, t in zip(WEIGHTS, POINTS, strict=True))
    except ValueError:  # the law is not defined there
        return None
    values = first, last, mean * change
    return values if np.isfinite(values).all() else None


def _agree(first: float, last: float, integral: float) -> bool:
    round_off = 1e2 * np.finfo(float).eps * (abs(first) + abs(last))
    return bool(abs(last - first - integral) <= CONSISTENT * abs(integral) + round_off)
