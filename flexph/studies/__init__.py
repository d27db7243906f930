"""Studies: a function or a case at many samples of its parameters, and what is asked of many runs.

A sample is a :class:`Task` for a worker (``tasks``), which stores its record itself where it sees the folder
(``records``); :class:`Schedule` gives tasks to an :class:`Engine` and again where a worker died. So each sample is
computed at least once, and counts once. ``dataset`` makes one NetCDF file of all records.

Imports: files, flexph, numerics.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
