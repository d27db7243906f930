"""The public names of :mod:`flexph.circuits`: each is loaded when it is asked for."""

from .constraints import Constraint as Constraint
from .elements.energy import Energy as Energy
from .elements.energy import linear_energy as linear_energy
from .elements.resistors import Resistor as Resistor
from .elements.resistors import resistor as resistor
from .elements.sources import Source as Source
from .elements.sources import current_source as current_source
from .elements.sources import terminals as terminals
from .elements.sources import voltage_source as voltage_source
from .elements.storage import Storage as Storage
from .elements.storage import capacitor as capacitor
from .elements.storage import inductor as inductor
from .elements.switches import Pulse as Pulse
from .elements.switches import Switch as Switch
from .elements.switches import diode as diode
from .elements.switches import switch as switch
from .elements.two_ports import TwoPort as TwoPort
from .elements.two_ports import gyrator as gyrator
from .elements.two_ports import transformer as transformer
from .network import Circuit as Circuit
from .network import circuit as circuit
