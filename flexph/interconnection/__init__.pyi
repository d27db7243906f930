"""The public names of :mod:`flexph.interconnection`: each is loaded when it is asked for."""

from .causality import interchange as interchange
from .couplings import constrain as constrain
from .couplings import gyrator as gyrator
from .couplings import transformer as transformer
from .direct_sum import join as join
from .feedthrough import without_feedthrough as without_feedthrough
from .substructures import clamp as clamp
from .substructures import couple as couple
from .substructures import substructure as substructure
from .substructures import tie as tie
