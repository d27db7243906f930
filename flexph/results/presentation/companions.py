"""Additional data of other rooms in the file of a run, made by the entry points of the group ``flexph.saved``.

An entry ``NAME = "module:function"`` is called as ``function(run, file)`` and adds groups of its own to the file:
numbers and texts, which readers of the run leave alone.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from ...numerics.arguments import warn

if TYPE_CHECKING:
    import h5py

GROUP = "flexph.saved"


def write_companions(run: Any, file: h5py.File) -> None:
    """Add the data of all entry points to the file of a run; warn and leave out what cannot be made."""
    for entry in entry_points(group=GROUP):
        try:
            entry.load()(run, file)
        except OSError:
            raise
        except Exception as error:  # a picture must not cost the run
            told = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            warn(f"the run is saved without its {entry.name}: {told}", RuntimeWarning)
