"""Reports of a run, a case or a study: one self-contained HTML file, which can be printed.

Imports: bodies, files, linear, linear.responses, mechanisms.model, numerics, plot, results, scenes, sensors, view.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
