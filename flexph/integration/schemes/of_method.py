"""Choice of the scheme by which a method integrates a mechanism; checks of method, mechanism and start."""

from __future__ import annotations

from dataclasses import fields
from functools import singledispatch
from types import NoneType
from typing import TYPE_CHECKING

from ...bodies.nodal_body import NodalBody
from ...contacts.arrays import refuse_contacts
from ...contacts.starts import refuse_overlaps, warn_of_deep_starts
from ...joints.rows.connection import measures
from ...kernels.arrays import Arrays
from ...kernels.convergence.tolerances import HISTORY
from ...laws.elastic_laws import ElasticLaw
from ...laws.force_laws import ForceLaw
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.consistency import Checked, check_consistent, refuse_redundant, start_table
from ...mechanisms.model.state import State
from ...numerics.gauss_tableau import gauss
from ...systems.inputs import Forcing
from ..loops.build import LARGEST, cost_of_factor, has_full_matrices
from ..methods.exact import Decaying, Exact, Exact4, ExactGauss
from ..methods.method import MechanismMethod
from ..times.step_size import Tolerance, read_tolerance
from .scheme import MIDPOINT, PAIR, SINGLE, SUBSTEPS, InitialValueProblem, Scheme

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism
    from ...mechanisms.model.model import Model

NO_NODES = {
    Decaying: "its numerical loss is that of small vibrations about a fixed shape in a body frame; with nodes, whose "
    "shape rotates, it would change the angular momentum; use Exact() and a body with damping=Damping(stiffness=...)",
    ExactGauss: "their strains are no polynomials of its unknowns, and its complex linear systems have no entries of "
    "nodes; use Exact(), or Exact4(), which is of fourth order",
}
"""Reasons why methods do not support bodies of nodes, with the remedy."""


def scheme_from(
    mechanism: Mechanism, start: State, method: MechanismMethod, forcing: Forcing
) -> tuple[Scheme, Checked]:
    """Scheme of a method for a mechanism from a consistent start, and the checked start.

    Raises ValueError if the method does not support the mechanism, and for a start that is inconsistent, has
    redundant constraints that the method refuses, or rigid bodies that overlap.
    """
    table = start_table(mechanism, start, forcing)
    checked = check_consistent(mechanism, start, table=table)
    if method.redundant == "refuse" and not checked.is_regular:
        takes_all = any(field.name == "redundant" for field in fields(method))  # type: ignore[arg-type]
        refuse_redundant(checked, *(() if takes_all else ("use Exact(redundant='least_norm')",)))
    _refuse_impulses(method, mechanism)
    scheme = scheme_of(method, InitialValueProblem(mechanism, start, forcing, table, checked))
    at = checked.c, checked.d
    if mechanism.network.arrays.contacts.number:
        refuse_overlaps(mechanism.network.arrays, at, scheme.accounts.gap_name)
    if mechanism.network.arrays.contacts.number and not start.memory.size:
        warn_of_deep_starts(mechanism.network.arrays, mechanism.connections, at)
    return scheme, checked


@singledispatch
def scheme_of(method: MechanismMethod, problem: InitialValueProblem) -> Scheme:
    """Scheme of a method for the mechanism of an initial value problem.

    Raises ValueError for parts of the mechanism that the method does not support. Schemes predict the start of an
    iteration from the last steps: from more of them in compositions, whose substeps also go back in time, and with
    step size control, which needs second differences.
    """
    raise TypeError(f"there are no steps of {method} for mechanisms")


@scheme_of.register
def _exact(method: Exact, problem: InitialValueProblem) -> Scheme:
    by_events, tolerance = method.contact == "events", _tolerance(method)
    is_rigid = bool(problem.mechanism.once(Accounts).rigid.size)
    if is_rigid and tolerance and not by_events:
        raise ValueError(
            f"{method}: impacts at the beginning of steps have an error that does not fall with their length: use "
            "contact='events', or leave the tolerance out"
        )
    if is_rigid and not by_events and _is_timed(problem.mechanism.network.arrays):
        raise ValueError(
            f"{method}: with laws or masses that depend on time or flows there are no impacts at the start of steps: "
            "use contact='events'"
        )
    shares = PAIR if tolerance and not is_rigid else SINGLE
    if is_rigid and tolerance and problem.mechanism.network.arrays.mass_factors:
        raise ValueError(f"{method}: rigid contacts and masses that depend on time need prescribed steps")
    least_norm, depth = method.redundant == "least_norm", 3 if tolerance and not is_rigid else 2
    return Scheme(problem, depth, least_norm, None, shares, shares, tolerance, by_events=by_events)


def _is_timed(a: Arrays) -> bool:
    """True if energies or dry friction of joints depend on time by themselves.

    The causes are prescribed factors of springs, elastic laws or masses, flows in pipes, and joints with friction on
    surfaces whose speed is prescribed.
    """
    timed = a.springs.scheduled or a.flows or a.mass_factors or (a.bearings.rubbing >= 0).any()
    return bool(timed or any(part.factor is not None for part in a.strains.laws))


@scheme_of.register
def _exact4(method: Exact4, problem: InitialValueProblem) -> Scheme:
    if dissipating := problem.mechanism.once(Accounts).dissipation:
        raise ValueError(
            "Exact4() is for mechanisms without damping, since some of its substeps go back in time: "
            f"{', '.join(map(repr, dissipating))} may dissipate; use Exact()"
        )
    return Scheme(problem, HISTORY, method.redundant == "least_norm", shares=SUBSTEPS, weights=MIDPOINT)


@scheme_of.register
def _exact_gauss(method: ExactGauss, problem: InitialValueProblem) -> Scheme:
    mechanism = problem.mechanism
    _refuse_nodes(method, mechanism)
    _refuse_wide(method, mechanism)
    refuse_contacts(mechanism.connections, "ExactGauss()")
    for name, body in mechanism.bodies.items():
        if body.mass_factor is not None:
            raise ValueError(f"ExactGauss() supports no masses that depend on time, got that of {name!r}: use Exact4()")
    for name, measure in measures(mechanism.connections):
        if not isinstance(measure.law, (ElasticLaw, ForceLaw, NoneType)):
            raise ValueError(f"ExactGauss() does not support the law of {name}: use Exact()")
    if mechanism.network.arrays.springs.relations:
        raise ValueError("ExactGauss() does not support friction laws and other relations: use Exact()")
    return Scheme(problem, method.stages, tableau=gauss(method.stages))


@scheme_of.register
def _decaying(method: Decaying, problem: InitialValueProblem) -> Scheme:
    _refuse_nodes(method, problem.mechanism)
    _refuse_wide(method, problem.mechanism)
    tolerance = _tolerance(method)
    shares = PAIR if tolerance else SINGLE
    depth, least_norm = 3 if tolerance else 2, method.redundant == "least_norm"
    return Scheme(problem, depth, least_norm, method.radius, shares, shares, tolerance)


def _tolerance(method: Exact | Decaying) -> Tolerance | None:
    return None if method.tolerance is None else read_tolerance(method.tolerance)


def _refuse_impulses(method: MechanismMethod, mechanism: Mechanism) -> None:
    """Raise ValueError if a method without impulses gets a mechanism with rigid contacts or dry friction of joints."""
    if isinstance(method, Exact):
        return
    arrays, connections = mechanism.network.arrays, mechanism.connections
    if arrays.contacts.laws.rigid.any():
        names = [c.name for c in connections if c.touches]
        raise ValueError(f"rigid contacts such as {names[0]!r} need method=Exact(), got {method}")
    if arrays.bearings.number:
        names = [c.name for c in connections if c.form.bearing is not None]
        raise ValueError(f"CoulombFriction of joints such as {names[0]!r} needs method=Exact(), got {method}")


def _refuse_nodes(method: Decaying | ExactGauss, mechanism: Model) -> None:
    """Raise ValueError for a mechanism with nodal bodies (rods, cables, …), which the method does not support."""
    for name, body in mechanism.bodies.items():
        if isinstance(body, NodalBody):
            raise ValueError(
                f"{method} supports no body of nodes {NodalBody.remedy} such as {name!r}: {NO_NODES[type(method)]}"
            )


def _refuse_wide(method: ExactGauss | Decaying, mechanism: Model) -> None:
    """Raise ValueError for a mechanism with large bodies that a method could solve only by factors of full matrices.

    Refused are bodies without narrow bands if the factors cost more than a limit, and large bodies about mean axes.
    """
    for name, body in mechanism.frames.items():
        if body.unshifted is not None:
            raise ValueError(
                f"{method} supports no large body about mean axes, such as {name!r}: reduce it, or use Exact()"
            )
    if mechanism.network.arrays.mean is None:
        return
    has_full = isinstance(method, Decaying) and any(has_full_matrices(body) for body in mechanism.frames.values())
    if has_full or mechanism.once(cost_of_factor) > LARGEST:
        raise ValueError(
            f"{method} factors the full matrices of bodies without narrow bands, and this mechanism is too large for "
            f"that, with {mechanism.layout.velocities} velocities: use fewer elements, reduce its bodies, or use "
            "Exact() with structural damping"
        )
