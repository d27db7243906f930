"""Detection of Jupyter kernels."""

from __future__ import annotations

import sys


def in_notebook() -> bool:
    """True if a kernel of Jupyter runs this process."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"
