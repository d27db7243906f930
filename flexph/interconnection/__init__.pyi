"""The public names of :mod:`flexph.interconnection`: each is loaded when it is asked for."""

from .couplings import constrain as constrain
from .couplings import gyrator as gyrator
from .couplings import transformer as transformer
from .direct_sum import join as join
from .feedthrough import interchange as interchange
from .feedthrough import without_feedthrough as without_feedthrough
from .substructures import substructure as substructure
from .wiring import clamp as clamp
from .wiring import couple as couple
from .wiring import tie as tie
