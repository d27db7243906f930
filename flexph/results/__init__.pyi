"""The public names of :mod:`flexph.results`: each is loaded when it is asked for."""

from .contact_history import ContactHistory as ContactHistory
from .ledger import Ledger as Ledger
from .result import Occurrences as Occurrences
from .sections import SectionForces as SectionForces
from .sections import section_forces as section_forces
from .solution import Solution as Solution
from .statics import static_solution as static_solution
from .step_account import StepAccount as StepAccount
from .trajectory import Trajectory as Trajectory
from .unfinished import InputError as InputError
from .unfinished import IntegrationError as IntegrationError
from .unfinished import IntegrationInterrupted as IntegrationInterrupted
