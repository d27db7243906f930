"""Consistent states of circuits from voltages of capacitors and currents of inductors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..consistency.start import consistent
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..switching import SwitchingPHDAE
from ..systems.inputs import Forcing, Input
from ..systems.nonlinear import PHDAE
from .elements import Element, Storage
from .equations import Assembly, Constraint

AGREEING = 1e-9
"""Accepted defect of a constraint for given voltages or currents, relative to the largest of them."""

NOISE = 1e-13
"""Magnitude of an algebraic state, relative to the largest one, up to which it is round-off and set to zero."""


def start(
    assembly: Assembly,
    system: PHDAE,
    given: tuple[Mapping[str, float], Mapping[str, float]],
    *,
    time: float,
    inputs: Mapping[str, Input],
) -> Array:
    """Consistent state; see :meth:`flexph.circuits.Circuit.state`."""
    efforts, fixed = _efforts(assembly.elements, assembly.storages, given)
    u = Forcing(system.ports, inputs).at(check.number("time", time))
    efforts = _completed(assembly, efforts, fixed, u)
    x = _states(assembly.elements, assembly.storages, efforts)
    x = consistent(system, np.append(x, np.zeros(assembly.size - len(x))), time=time, inputs=inputs, keep=fixed)
    algebraic = slice(len(assembly.storages), None)
    largest = np.abs(x[algebraic]).max(initial=0.0)
    x[algebraic] = np.where(np.abs(x[algebraic]) > NOISE * largest, x[algebraic], 0.0)
    return x


def stored(
    elements: Mapping[str, Element], system: PHDAE | SwitchingPHDAE, given: tuple[Mapping[str, float], ...]
) -> Array:
    """State that is not made consistent; see :meth:`flexph.circuits.Circuit.stored`."""
    places = {system.parts[name].start: name for name, element in elements.items() if isinstance(element, Storage)}
    efforts, _ = _efforts(elements, places, given)
    return np.concatenate([_states(elements, places, efforts), np.zeros(system.size - len(places))])


def _efforts(
    elements: Mapping[str, Element], places: Mapping[int, str], given: tuple[Mapping[str, float], ...]
) -> tuple[Array, list[str]]:
    """Voltages of capacitors and currents of inductors by state, zero if not given, and the names of the given ones.

    ``places`` are the names of these elements by state, ``given`` the voltages and the currents by name.
    """
    efforts, fixed = np.zeros(len(places)), []
    for kind, values in zip(("capacitor", "inductor"), given, strict=True):
        known = {name: k for k, name in places.items() if elements[name].kind == kind}
        for name, value in values.items():
            efforts[check.lookup(kind, name, known)] = check.number(f"the start of {name!r}", value)
            fixed.append(name)
    return efforts, fixed


def _states(elements: Mapping[str, Element], places: Mapping[int, str], efforts: Array) -> Array:
    """Charges and fluxes of the storage elements from their voltages and currents, the ``efforts``."""
    states = np.zeros(len(places))
    for k, name in places.items():
        element = elements[name]
        assert isinstance(element, Storage)
        try:
            states[k] = element.energy.state(float(efforts[k]))
        except ValueError as error:
            raise ValueError(f"{name!r}: {error}") from None
    return states


def _completed(assembly: Assembly, efforts: Array, fixed: list[str], u: Array) -> Array:
    """Voltages and currents of storage elements that satisfy all constraints, from the given ``efforts``.

    The values of the ``fixed`` elements are unchanged, all other values are as small as possible; ``u`` are the inputs.
    Raises ValueError if the fixed values violate a constraint.
    """
    count = len(efforts)
    if not assembly.constraints:
        return efforts
    rows = np.zeros((len(assembly.constraints), assembly.size))
    for row, constraint in zip(rows, assembly.constraints, strict=True):
        for name, weight in constraint.weights.items():
            row[assembly.names.index(name)] = weight
    free = [k for k, name in assembly.storages.items() if name not in fixed]
    J, known = rows @ assembly.J[:, :count], rows @ assembly.B @ u
    completed = efforts.copy()
    completed[free] = np.linalg.lstsq(J[:, free], -(J @ efforts + known), rcond=1e-12)[0] if free else 0.0
    left = J @ completed + known
    scale = max(np.abs(efforts).max(initial=0.0), np.abs(known).max(initial=0.0))
    wrong = [(c, off) for c, off in zip(assembly.constraints, left, strict=True) if abs(off) > AGREEING * scale]
    if wrong:
        raise ValueError(f"inconsistent start: {'; '.join(_off(c, float(off)) for c, off in wrong)}")
    return completed


def _off(constraint: Constraint, off: float) -> str:
    if constraint.kind == "gyrator":
        names = ", ".join(map(repr, (*constraint.elements, *constraint.sources)))
        gyrators = ", ".join(map(repr, constraint.gyrators))
        return f"{names} are related by {gyrators}, whose law is violated by {abs(off):.6g}"
    what = "voltages around the loop" if constraint.kind == "loop" else "currents of the cutset"
    unit = "V" if constraint.kind == "loop" else "A"
    names = ", ".join(map(repr, (*constraint.elements, *constraint.sources, *constraint.switches)))
    return f"the {what} of {names} must sum to zero, got {abs(off):.6g} {unit}"
