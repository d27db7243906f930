"""The public names of :mod:`flexph.circuits`: each is loaded when it is asked for."""

from .elements import Energy as Energy
from .elements import Pulse as Pulse
from .elements import Resistor as Resistor
from .elements import Source as Source
from .elements import Storage as Storage
from .elements import Switch as Switch
from .elements import TwoPort as TwoPort
from .elements import capacitor as capacitor
from .elements import current_source as current_source
from .elements import diode as diode
from .elements import gyrator as gyrator
from .elements import inductor as inductor
from .elements import linear_energy as linear_energy
from .elements import resistor as resistor
from .elements import switch as switch
from .elements import terminals as terminals
from .elements import transformer as transformer
from .elements import voltage_source as voltage_source
from .equations import Constraint as Constraint
from .network import Circuit as Circuit
from .network import circuit as circuit
