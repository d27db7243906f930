"""Checkpoints of whole results, saved at the end of a run, for methods that cannot be resumed within a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..files.durable import leftovers, remove
from ..files.trees import read_tree, write_tree
from ..mechanisms.equations.phdae import as_phdae
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import State
from ..numerics.arrays import Array
from ..results.result import Result
from ..results.signature import mechanism_signature
from ..results.trajectory import Trajectory
from ..switching.system import SwitchingPHDAE
from ..switching.trajectory import SwitchingTrajectory
from .times.options import Checkpoint
from .times.signature import Signature, difference


def load_or_run(
    checkpoint: Checkpoint, signature: Signature, run: Callable[[], Any], load: Callable[[Path], Result]
) -> Any:
    """Load the saved result of a run by ``load``; if there is none, call ``run`` and save its result in the checkpoint.

    Raises ValueError if the saved result belongs to another run, by its signature.
    """
    folder = Path(checkpoint.path)
    folder.mkdir(parents=True, exist_ok=True)
    for rest in leftovers(folder):
        remove(rest)
    result, signature_path = folder / "result.h5", folder / "run.h5"
    if result.exists():
        if other := difference(read_tree(signature_path), signature):
            raise ValueError(f"the result in {str(folder)!r} belongs to another run: {other}")
        return load(result)
    done: Result = run()
    write_tree(signature_path, dict(signature))
    done.save(result)
    return done


def load_result(path: Path, system: Any, start: Any) -> Result:
    """Load the trajectory of a system from a file; ``start`` is the start of the run if the system is a mechanism."""
    if isinstance(system, SwitchingPHDAE):
        return SwitchingTrajectory.load(path, system)
    return Trajectory.load(path, as_phdae(system, start) if isinstance(system, Mechanism) else system)


def layout_of(system: Any) -> list[str]:
    """Texts that identify the layout of a system's states."""
    if isinstance(system, Mechanism):
        return mechanism_signature(system)
    return (SwitchingTrajectory if isinstance(system, SwitchingPHDAE) else Trajectory).signature(system)


def flat_start(start: Any) -> Array:
    """Initial states as an array (n,), from a State or from numbers."""
    return start.x if isinstance(start, State) else np.asarray(start, dtype=float)
