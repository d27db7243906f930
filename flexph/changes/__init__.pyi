"""The public names of :mod:`flexph.changes`: each is loaded when it is asked for."""

from .change import Change as Change
from .change import lock as lock
from .change import release as release
from .change import rupture as rupture
from .plan import with_changes as with_changes
