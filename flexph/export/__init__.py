"""Files for mesh viewers, written by meshio: modes as VTU, runs as series (PVD of VTU, XDMF), envelopes; and back."""

from .envelope import StressEnvelope, stress_envelope, write_envelope
from .modes import write_modes
from .series import write_series
from .series_files import Series, read_series

__all__ = [
    "Series",
    "StressEnvelope",
    "read_series",
    "stress_envelope",
    "write_envelope",
    "write_modes",
    "write_series",
]
