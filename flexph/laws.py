"""Laws of springs and dampers: elastic ones for ``law=``, resistive ones for ``damping=`` and ``friction=``."""

from .systems.elastic_laws import (
    ElasticLaw,
    backlash,
    bilinear,
    gas_spring,
    gravitation,
    one_sided,
    polynomial,
    potential,
    table,
)
from .systems.force_laws import ForceLaw, force_law
from .systems.resistive_relations import Relation, coulomb, quadratic, resistive, viscous

__all__ = [
    "ElasticLaw",
    "ForceLaw",
    "Relation",
    "backlash",
    "bilinear",
    "coulomb",
    "force_law",
    "gas_spring",
    "gravitation",
    "one_sided",
    "polynomial",
    "potential",
    "quadratic",
    "resistive",
    "table",
    "viscous",
]
