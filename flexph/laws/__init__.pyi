"""The public names of :mod:`flexph.laws`: each is loaded when it is asked for."""

from .creep_laws import CreepLaw as CreepLaw
from .creep_laws import creep as creep
from .creep_laws import magic_formula as magic_formula
from .elastic_laws import ElasticLaw as ElasticLaw
from .elastic_laws import backlash as backlash
from .elastic_laws import bilinear as bilinear
from .elastic_laws import controlled as controlled
from .elastic_laws import gas_spring as gas_spring
from .elastic_laws import gravitation as gravitation
from .elastic_laws import one_sided as one_sided
from .elastic_laws import polynomial as polynomial
from .elastic_laws import potential as potential
from .elastic_laws import scheduled as scheduled
from .elastic_laws import table as table
from .force_laws import ForceLaw as ForceLaw
from .force_laws import force_law as force_law
from .hysteresis import HysteresisLaw as HysteresisLaw
from .hysteresis import bouc_wen as bouc_wen
from .hysteresis import bristle as bristle
from .resistive_relations import Relation as Relation
from .resistive_relations import ScheduledRelation as ScheduledRelation
from .resistive_relations import coulomb as coulomb
from .resistive_relations import quadratic as quadratic
from .resistive_relations import resistive as resistive
from .resistive_relations import viscous as viscous
