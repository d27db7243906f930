"""The public names of :mod:`flexph.interconnection`: each is loaded when it is asked for."""

from .causality import interchange as interchange
from .couplings import constrain as constrain
from .couplings import gyrator as gyrator
from .couplings import transformer as transformer
from .direct_sum import join as join
from .feedthrough import without_feedthrough as without_feedthrough
from .links import clamp as clamp
from .links import couple as couple
from .links import tie as tie
from .substructures import substructure as substructure
