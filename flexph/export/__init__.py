"""Files for mesh viewers and spreadsheets: modes, time series, stress envelopes.

Imports: bodies, files, linear.eigenmodes, mechanisms, mechanisms.model, meshes, meshes.files, numerics, results,
scenes.
"""

from .envelope import StressEnvelope, stress_envelope, write_envelope
from .modes import write_modes
from .series import Series, read_series, write_series
from .surface import write_surface

__all__ = [
    "Series",
    "StressEnvelope",
    "read_series",
    "stress_envelope",
    "write_envelope",
    "write_modes",
    "write_series",
    "write_surface",
]
