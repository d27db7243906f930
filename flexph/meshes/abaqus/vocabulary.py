"""Keywords of Abaqus and CalculiX: their effect on a body if they are ignored, and their abbreviations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..contents import Place

TAKEN = {
    "ASSEMBLY": ("NAME",),
    "DENSITY": ("DEPENDENCIES", "PORE FLUID"),
    "ELASTIC": ("TYPE", "MODULI", "DEPENDENCIES"),
    "ELEMENT": ("TYPE", "ELSET", "INPUT"),
    "ELSET": ("ELSET", "GENERATE", "INSTANCE", "INTERNAL", "UNSORTED", "INPUT"),
    "END ASSEMBLY": (),
    "END INSTANCE": (),
    "END PART": (),
    "END STEP": (),
    "INCLUDE": ("INPUT",),
    "INSTANCE": ("NAME", "PART"),
    "MASS": ("ELSET", "TYPE", "ALPHA", "COMPOSITE", "ORIENTATION"),
    "MATERIAL": ("NAME", "RTOL", "SRATE FACTOR", "STRAIN RATE REGULARIZATION", "CONVERT SDI"),
    "NODE": ("NSET", "SYSTEM", "INPUT"),
    "NONSTRUCTURAL MASS": ("ELSET", "UNITS", "DISTRIBUTION"),
    "NSET": ("NSET", "ELSET", "GENERATE", "INSTANCE", "INTERNAL", "UNSORTED", "INPUT"),
    "ORIENTATION": None,
    "PART": ("NAME",),
    "SOLID SECTION": (
        *("ELSET", "MATERIAL", "ORIENTATION", "CONTROLS", "REF NODE", "STACK DIRECTION", "LAYUP", "SYMMETRIC"),
        *("ORDER", "NODAL THICKNESS", "COMPOSITE"),
    ),
    "STEP": None,
    "SURFACE": None,
    "SYSTEM": (),
}
"""Supported keywords with their allowed parameters; None allows any."""
MOVING = ("NMAP", "IMPERFECTION")
LENIENT = ("ASSEMBLY", "DENSITY", "INCLUDE", "MASS", "MATERIAL", "PART")
"""Keywords whose other parameters are ignored, such as the description of a material."""
COORDINATES = (
    *("NGEN", "NFILL", "NCOPY", "ELGEN", "ELCOPY", "ELEMENT COPY", "IMPORT", "IMPORT NSET", "IMPORT ELSET"),
    *("SYMMETRIC MODEL GENERATION", "PARAMETER", "MANIFEST", *MOVING),
)
"""Keywords that generate or move nodes and elements, or that define parameters; not supported."""
SECTIONS = (
    *("SHELL SECTION", "SHELL GENERAL SECTION", "MEMBRANE SECTION", "SURFACE SECTION", "BEAM SECTION"),
    *("BEAM GENERAL SECTION", "FRAME SECTION", "COHESIVE SECTION", "GASKET SECTION"),
)
"""Sections of elements of lower dimension than the body, such as shells on solids and beams in them."""
STIFFNESS = (
    *("TIE", "COUPLING", "KINEMATIC COUPLING", "DISTRIBUTING COUPLING", "SHELL TO SOLID COUPLING", "RIGID BODY"),
    *("MPC", "EQUATION", "EMBEDDED ELEMENT", "PRE-TENSION SECTION", "CYCLIC SYMMETRY MODEL", "FASTENER", "REBAR"),
    *("REBAR LAYER", "ENRICHMENT", "FOUNDATION", "NETWORK MPC", "TRANSVERSE SHEAR STIFFNESS", "NO COMPRESSION"),
    *("NO TENSION", "RELEASE", "BOLT"),
)
COUPLED = ("KINEMATIC", "DISTRIBUTING")
"""Keywords that follow *COUPLING and say its kind."""
MASS = (
    *("MASS ADJUST", "MATRIX INPUT", "MATRIX ASSEMBLE", "SUBSTRUCTURE PROPERTY", "SUBSTRUCTURE MATRIX OUTPUT"),
    *("USER ELEMENT", "MATRIX", "UEL PROPERTY", "FLUID CAVITY"),
)
LAWS = (
    *("PLASTIC", "VISCOELASTIC", "CREEP", "DAMPING", "HYPERELASTIC", "HYPERFOAM", "CYCLIC HARDENING", "RATE DEPENDENT"),
    *(
        "CAST IRON PLASTICITY",
        "CONCRETE",
        "CONCRETE DAMAGED PLASTICITY",
        "MOHR COULOMB",
        "DRUCKER PRAGER",
        "FAIL STRESS",
    ),
    *(
        "DAMAGE INITIATION",
        "DAMAGE EVOLUTION",
        "USER MATERIAL",
        "DEFORMATION PLASTICITY",
        "POTENTIAL",
        "MULLINS EFFECT",
    ),
    *(
        "POROUS METAL PLASTICITY",
        "CRUSHABLE FOAM",
        "CAP PLASTICITY",
        "CLAY PLASTICITY",
        "SWELLING",
        "ANNEAL TEMPERATURE",
    ),
    *("SUPERELASTIC", "HYPOELASTIC", "LOW DENSITY FOAM", "EOS", "POROUS ELASTIC", "TENSILE FAILURE", "SHEAR FAILURE"),
    *("PERMEABILITY", "FABRIC", "STRUCTURAL DAMPING"),
)
"""Material laws other than linear elasticity."""
NOTHING = (
    *("ACOUSTIC MEDIUM", "AMPLITUDE", "AQUA", "BASE MOTION", "BEAM ADDED INERTIA", "BOUNDARY", "BUCKLE", "CFLUX"),
    *("CLOAD", "CLEARANCE", "COMPLEX FREQUENCY", "CONDUCTIVITY", "CONNECTOR BEHAVIOR", "CONNECTOR DAMPING"),
    *("CONNECTOR ELASTICITY", "CONNECTOR FRICTION", "CONNECTOR LOCK", "CONNECTOR MOTION", "CONNECTOR SECTION"),
    *("CONNECTOR STOP", "CONNECTOR CONSTITUTIVE REFERENCE", "CONTACT", "CONTACT CONTROLS", "CONTACT INCLUSIONS"),
    *("CONTACT EXCLUSIONS", "CONTACT FILE", "CONTACT FORMULATION", "CONTACT INITIALIZATION ASSIGNMENT"),
    *("CONTACT INITIALIZATION DATA", "CONTACT OUTPUT", "CONTACT PAIR", "CONTACT PRINT", "CONTACT PROPERTY ASSIGNMENT"),
    *("CONTACT STABILIZATION", "CONTROLS", "CORRELATION", "DASHPOT", "DEPVAR", "DFLUX", "DIAGNOSTICS", "DISTRIBUTION"),
    *(
        "DISTRIBUTION TABLE",
        "DISTRIBUTING",
        "DLOAD",
        "DSLOAD",
        "DYNAMIC",
        "EL FILE",
        "EL PRINT",
        "ELECTRICAL CONDUCTIVITY",
    ),
    *(
        "ELEMENT OUTPUT",
        "ELEMENT PROPERTIES",
        "ENERGY FILE",
        "ENERGY OUTPUT",
        "ENERGY PRINT",
        "EXPANSION",
        "FILE FORMAT",
    ),
    *(
        "FILM",
        "FILTER",
        "FREQUENCY",
        "FRICTION",
        "GAP",
        "GAP CONDUCTANCE",
        "GASKET BEHAVIOR",
        "GEOSTATIC",
        "GLOBAL DAMPING",
    ),
    *("HEADING", "HEAT TRANSFER", "HEATCAP", "HOURGLASS STIFFNESS", "INELASTIC HEAT FRACTION"),
    *(
        "INERTIA RELIEF",
        "INITIAL CONDITIONS",
        "KINEMATIC",
        "LATENT HEAT",
        "LOAD CASE",
        "MODAL DAMPING",
        "MODAL DYNAMIC",
    ),
    *(
        "MODEL CHANGE",
        "MONITOR",
        "NODAL THICKNESS",
        "NODE FILE",
        "NODE OUTPUT",
        "NODE PRINT",
        "NODE RESPONSE",
        "NORMAL",
    ),
    *("OUTPUT", "PHYSICAL CONSTANTS", "PREPRINT", "PRINT", "PSD-DEFINITION", "RADIATE", "RESTART"),
    *("ROTARY INERTIA", "SECTION CONTROLS", "SECTION FILE", "SECTION ORIGIN", "SECTION PRINT", "SENSITIVITY", "SFILM"),
    *("SPECIFIC HEAT", "SPECTRUM", "SPRING", "STATIC", "STEADY STATE DYNAMICS", "SUBMODEL", "SURFACE BEHAVIOR"),
    *(
        "SURFACE INTERACTION",
        "SURFACE PROPERTY ASSIGNMENT",
        "SURFACE SMOOTHING ASSIGNMENT",
        "SURFACE FLAW",
        "TEMPERATURE",
    ),
    *(
        "TIME POINTS",
        "TIMEPOINTS",
        "TRACER PARTICLE",
        "TRANSFORM",
        "UNITS",
        "VALUES AT INFINITY",
        "VIEWFACTOR",
        "VISCO",
    ),
    *("USER DEFINED FIELD", "USER OUTPUT VARIABLES", "WAVEFRONT MINIMIZATION", "WAVE FORMULATION", "FIELD"),
    *(
        "DISPLAY BODY",
        "CONSTRAINT CONTROLS",
        "DESIGN PARAMETER",
        "INCIDENT WAVE INTERACTION PROPERTY",
        "INTEGRATED OUTPUT SECTION",
    ),
    *("MODEL DEFINITION", "NO PRINT", "SOLUTION TECHNIQUE", "CONTACT DAMPING", "CONTACT INTERFERENCE"),
)
"""Keywords without effect on the body: analysis, output, contact.

Also properties of springs and connectors, whose elements are already reported as unsupported.
"""
VOCABULARY = frozenset((*TAKEN, *COORDINATES, *SECTIONS, *STIFFNESS, *MASS, *LAWS, *NOTHING))


def keyword(text: str) -> str:
    """A keyword in capitals, in full if the text is an unambiguous abbreviation.

    Blanks may be missing.
    """
    word = " ".join(text.upper().split())
    return word if word in VOCABULARY else in_full(word, VOCABULARY) or word


def in_full(text: str, words: Iterable[str]) -> str | None:
    """Word in ``words`` that a text abbreviates; None if there is none, or if several are possible."""
    start = "".join(text.upper().split())
    begun = {"".join(word.split()): word for word in words if "".join(word.split()).startswith(start)}
    if not start or not begun:
        return None
    shortest = min(begun, key=len)
    return begun[shortest] if all(other.startswith(shortest) for other in begun) else None


def parameters(word: str, given: Mapping[str, str], place: Place) -> dict[str, str]:
    """Values of the parameters of the keyword ``word``, by their names in full.

    Raises ValueError, with the place, for an unsupported parameter; keywords in LENIENT may have any.
    """
    known = TAKEN.get(word)
    if known is None:
        return dict(given)
    full = {name: in_full(name, known) for name in given}
    strange = [name for name, full_name in full.items() if full_name is None]
    if strange and known and word not in LENIENT:
        raise ValueError(f"{place}: *{word} must have no parameters but {', '.join(known)}, got {', '.join(strange)}")
    return {full_name: given[name] for name, full_name in full.items() if full_name is not None}
