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
from .systems.resistive_relations import Relation, coulomb, quadratic, resistive, viscous

__all__ = [
    "ElasticLaw",
    "Relation",
    "backlash",
    "bilinear",
    "coulomb",
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
