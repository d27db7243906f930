"""Signature of a mechanism, which a saved run must match."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..bodies.body import Body
from ..bodies.nodal_body import BodyFlow, NodalBody
from ..discrete_gradients.stored_energies import LineEnergy
from ..joints.rows.connection import Measure, measures
from ..joints.rows.friction import Bearing
from ..joints.rows.laws import Law
from ..laws.elastic_laws import ElasticLaw
from ..laws.force_laws import ForceLaw
from ..laws.hysteresis import HysteresisLaw
from ..laws.resistive_relations import ScheduledRelation
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.model import Model
from ..numerics.arrays import Array

PROBES = (-1.0, -0.1, -0.01, 0.0, 0.01, 0.1, 1.0)
"""Arguments at which functions of laws are compared."""
NOISE = 1e-10
"""Number, relative to the largest one of its kind, up to which it is treated as zero."""


def mechanism_signature(mechanism: Model) -> list[str]:
    """Lines of text on a mechanism, which must be equal to those in a file of its run.

    They contain the parts of the state, names of accounts, laws of joints, constants of bodies and springs, and
    gravity. Functions are compared by their values at a few points.
    """
    accounts = mechanism.once(Accounts)
    parts = [f"{k} {s.start} {s.stop}" for k, s in mechanism.layout.parts.items()]
    names = [*accounts.energy, *accounts.work, *accounts.joint_work, *accounts.dissipation]
    joints = [f"{c.name}: {row.name} {_digest(_measured(row.law))}" for c in mechanism.connections for row in c.rows]
    springs = [f"{name}: {_elastic(m)} {_resists(m)}" for name, m in measures(mechanism.connections)]
    slips = [(c.name, s) for c in mechanism.connections for s in c.form.slips]
    loaded = [f" on {s.contact}" if s.contact else "" for _, s in slips]
    springs += [f"{n}: {s.friction}{on} {_digest(s.components)}" for (n, s), on in zip(slips, loaded, strict=True)]
    springs += [f"{c.name}: {_rubs(b)}" for c in mechanism.connections if (b := c.form.bearing)]
    bodies = [f"{name}: {_constants(frame)}" for name, frame in mechanism.frames.items()]
    bodies += [f"{k}: {_strains(b)}" for k, b in mechanism.bodies.items() if isinstance(b, NodalBody)]
    return parts + names + joints + bodies + springs + ["gravity " + " ".join(f"{g:.9g}" for g in mechanism.gravity)]


def _measured(law: Law) -> Any:
    """Coefficients of the law of a constraint: its products of vectors, or its weighted products and spin terms."""
    return (law.weighed, law.turns) if law.weighed else law.products


def _elastic(measure: Measure) -> str:
    """Text on the elastic law of a spring, or its stiffness; functions are represented by values at a few points."""
    match measure.law:
        case None:
            return f"{measure.stiffness:.9g}"
        case ElasticLaw() as law:
            return _law(law)
        case HysteresisLaw() as path:
            return f"{path} {' '.join(f'{own:.9g}' for own in path.parameters)}"
        case ForceLaw() as force:
            return f"{force} {_values((force.function,), 3)}"


def _law(law: ElasticLaw) -> str:
    scheduled = () if law.factor is None else (law.factor,)
    return f"{law} {_digest((law.edges, law.bases, law.powers))} {_values((*law.functions, *scheduled), 1)}"


def _values(functions: Sequence[Callable[..., float]], count: int) -> str:
    """Hash of the values of functions at a few points; each function has ``count`` arguments, up to three."""
    texts = []
    for function in functions:
        for x in PROBES:
            try:
                texts.append(f"{float(function(*(x, 0.7 * x, abs(x))[:count])):.9g}")
            except Exception as error:  # outside of its domain
                texts.append(type(error).__name__)
    return _digest(texts)


def _resists(measure: Measure) -> str:
    damping = measure.damping
    resists = f"{damping:.9g}" if isinstance(damping, float) else str(damping)
    if isinstance(damping, ScheduledRelation) and callable(damping.factor):
        resists = f"{resists} {_values((damping.factor,), 1)}"
    if callable(measure.free):
        return f"{resists} moving"
    return resists if measure.free is None else f"{resists} {measure.free:.9g}"


def _rubs(bearing: Bearing) -> str:
    factor = bearing.friction.factor
    timed = f" {_values((factor,), 1)}" if callable(factor) else ""
    return f"{bearing.friction} {bearing.pressing}{timed}"


def _digest(products: Any) -> str:
    """Twelve hexadecimal digits of the hash of ``repr`` of any object."""
    return hashlib.sha256(repr(products).encode()).hexdigest()[:12]


def _constants(body: Body) -> str:
    """Text on mass, inertia, flexibility, damping and ports of a body; see :func:`digits` for its numbers."""
    inertia, elastic = body.inertia, body.elasticity
    numbers = [
        [body.mass],
        *(np.ravel(x) for x in (inertia.first, inertia.second, inertia.spin)),
        *(_sizes(x) for x in (inertia.shape_first, *inertia.shape_lever, inertia.spin_shape)),
        *(_sizes(x) for port in body.ports.values() for x in (port.shape, port.rotation) if x is not None),
        *(port.position for port in body.ports.values()),
    ]
    if elastic is not None:
        matrices = (elastic.compliance, elastic.strain, elastic.slopes, elastic.weights, elastic.viscous)
        numbers += [_sizes(x) for x in matrices if x is not None]
        numbers += [[elastic.mass_damping], [elastic.stiffness_damping]]
    timed: tuple[str, ...] = ()
    if body.mass_factor is not None:
        timed = ("mass input" if body.mass_factor == "input" else f"mass {_values((body.mass_factor,), 1)}",)
    return " ".join([*digits(numbers), body.momenta, *timed])


def _strains(body: NodalBody) -> str:
    """Text on node positions, strains, stiffness, damping and internal fluid flow of a body of nodes."""
    e = body.elasticity
    numbers = [body.places, e.reference, e.factors, _sizes(e.vectors), _sizes(e.compliance), [e.stiffness_damping]]
    flow = "" if body.flow is None else _flowing(body.flow)
    return " ".join([*digits(numbers), *(_stored(part.law) for part in e.laws), *([flow] if flow else [])])


def _flowing(flow: BodyFlow) -> str:
    speed = _values((flow.speed,), 1) if callable(flow.speed) else f"{flow.speed:.9g}"
    return " ".join(["flow", speed, *digits([[flow.mass], _sizes(flow.along), _sizes(flow.tension)])])


def _stored(energy: Any) -> str:
    """Text on the energy of strains; laws of rods and cables are represented by values of their functions."""
    return _law(energy.law) if isinstance(energy, LineEnergy) else repr(energy)


def _sizes(matrix: Any) -> Array:
    """Euclidean norms of the rows of a matrix, dense or sparse, as a flat array; independent of signs."""
    squares = matrix.multiply(matrix) if sparse.issparse(matrix) else np.square(matrix)
    return np.sqrt(np.asarray(squares.sum(axis=-1), dtype=float).ravel())


def digits(values: Iterable[Any]) -> Iterator[str]:
    """Yield the numbers of arrays as text, rounded to nine digits; numbers below NOISE of the array's largest are zero.

    Round-off, which depends on the processor, thus does not change the text.
    """
    for value in values:
        numbers = np.ravel(np.asarray(value, dtype=float))
        noise = NOISE * np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0)
        yield from (f"{x:.9g}" for x in np.where(np.abs(numbers) <= noise, 0.0, numbers).tolist())
