"""Arrays of resistive relations and spring laws for the loops; functions of users are called at their addresses."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....discrete_gradients.stored_energies import LineEnergy
from ....kernels.spring_arrays import Springs
from ....kernels.strains import Strains
from ....laws.creep_laws import CreepLaw
from ....laws.elastic_laws import ElasticLaw, OutOfRange
from ....laws.resistive_relations import Relation
from ....numerics.arrays import Array
from ....numerics.loops.functions import address_of, last_failure
from ....numerics.step_failed import StepFailed
from .data import Index

QUADRATIC, COULOMB, GENERAL, VISCOUS, HYPERBOLIC, CUBIC, MAGIC = range(1, 8)
"""Codes of resistive relations and, from HYPERBOLIC on, of creep laws; 0 for none."""
KINDS = {
    "quadratic": QUADRATIC,
    "coulomb": COULOMB,
    "general": GENERAL,
    "viscous": VISCOUS,
    "hyperbolic": HYPERBOLIC,
    "cubic": CUBIC,
    "magic": MAGIC,
}
PARAMETERS = 8
BOUC_WEN, BRISTLE = 1, 2
"""Codes of hysteresis; 0 for none."""
PATHS = {"bouc_wen": BOUC_WEN, "bristle": BRISTLE}
PATH = 6
"""Largest number of parameters of hysteresis."""


class Resisting(NamedTuple):
    """Resistive relations (m) of spring-dampers and slips: their kinds, parameters, and addresses of functions.

    The address is 0 for a relation without a function or derivative.
    """

    kind: Index  # (m,)
    parameter: Array  # (m, 6)
    function: Index  # (m,)
    derivative: Index  # (m,)
    steepness: Array  # (springs,), slopes at rest
    resisting: Index  # spring-dampers that have a relation


def resisting(springs: Springs, slips: tuple[Relation | CreepLaw, ...] = ()) -> Resisting:
    """Arrays of the resistive relations of spring-dampers, followed by the relations of slips."""
    count, size = springs.damping.size, springs.damping.size + len(slips)
    kind, function, derivative = (np.zeros(size, dtype=np.int64) for _ in range(3))
    parameter, steepness = np.zeros((size, PARAMETERS)), np.zeros(count)
    relations: list[tuple[int, Relation | CreepLaw]]
    relations = [*zip(springs.resisting, springs.relations, strict=True), *enumerate(slips, count)]
    for i, relation in relations:
        kind[i] = KINDS[relation.kind]
        parameter[i, : len(relation.parameters)] = relation.parameters
        function[i], derivative[i] = _addresses(relation)
    steepness[springs.resisting] = springs.steepness
    return Resisting(kind, parameter, function, derivative, steepness, springs.resisting)


class SpringLaws(NamedTuple):
    """Elastic laws, force laws and hysteresis of springs as arrays; see connection_data.Joints.

    A law is given by polynomials, parameters or addresses of functions.
    """

    law: Index
    law_first: Index
    law_edge: Array
    law_base: Array
    law_power: Array
    law_function: Index
    law_strength: Array
    force_law: Index
    path_kind: Index
    path_parameter: Array
    laws: int


def spring_laws(springs: Springs, strains: Strains) -> SpringLaws:
    """Arrays of the elastic laws of springs, followed by the laws of the strains of rods and cables."""
    law = np.full(springs.damping.size, -1)
    law[springs.lawful] = np.arange(len(springs.laws))
    laws = (*springs.laws, *laws_of_lines(strains))
    counts = [len(elastic.powers) for elastic in laws]
    power = np.zeros((sum(counts), max((len(elastic.powers[0]) for elastic in laws if elastic.powers), default=0)))
    function = np.zeros((len(laws), 3), dtype=np.int64)
    first = np.cumsum([0, *counts])[:-1] if counts else np.zeros(0, dtype=np.int64)
    for i, elastic in enumerate(laws):
        for piece, powers in enumerate(elastic.powers):
            power[first[i] + piece, : len(powers)] = powers
        for order, given in enumerate(elastic.functions):
            function[i, order] = address_of(given)
    edges = np.array([edge for elastic in laws if elastic.powers for edge in (*elastic.edges, np.inf)])
    bases = np.array([base for elastic in laws for base in elastic.bases])
    force = np.zeros(springs.damping.size, dtype=np.int64)
    force[springs.forced] = [address_of(elastic.function) for elastic in springs.force_laws]
    path_kind, path_parameter = np.zeros(springs.damping.size, dtype=np.int64), np.zeros((springs.damping.size, PATH))
    for i, path in zip(springs.hysteretic.tolist(), springs.hysteresis, strict=True):
        path_kind[i] = PATHS[path.kind]
        path_parameter[i, : len(path.parameters)] = path.parameters
    strength = np.array([elastic.strength for elastic in laws])
    count = len(laws) + len(springs.force_laws) + len(springs.hysteresis)
    paths = path_kind, path_parameter
    return SpringLaws(law, first, edges, bases, power, function, strength, force, *paths, count)


def laws_of_lines(strains: Strains) -> list[ElasticLaw]:
    """Elastic laws of the strains of rods and cables."""
    return [part.law.law for part in strains.laws if isinstance(part.law, LineEnergy)]


def _addresses(relation: Relation | CreepLaw) -> tuple[int, int]:
    """Addresses of the function of a relation and of its derivative, each 0 for none."""
    function, derivative = (0 if f is None else address_of(f) for f in (relation.function, relation.derivative))
    return function, derivative


def failed_function(*, is_solved: bool) -> BaseException | None:
    """Error of a user's function that the loops of this thread called last; None if it need not be raised.

    Interruptions are always returned. Other errors are not returned if the steps are solved, or if the iteration
    diverged and called the function at a NaN or an infinite number.
    """
    failed = last_failure()
    diverged = failed is not None and not all(map(math.isfinite, failed.arguments))
    if failed is None or ((is_solved or diverged) and not _interrupts(failed.error)):
        return None
    call, error = f"{getattr(failed.function, '__name__', 'function')}({_listed(failed.arguments)})", failed.error
    if not isinstance(error, BaseException):
        return ValueError(f"{call} must be finite, got {error}")
    if isinstance(error, OutOfRange):
        return StepFailed(str(error), 0, math.nan)
    return error if _interrupts(error) else ValueError(f"{call} raised {type(error).__name__}: {error}")


def _interrupts(error: BaseException | float) -> bool:
    """True for an exception such as KeyboardInterrupt, which is no subclass of Exception."""
    return isinstance(error, BaseException) and not isinstance(error, Exception)


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)
