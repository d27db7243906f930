"""Base of the results of runs: saved times and states, energy ledger, events, and their file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..display.labelled import Labelled, Labels, Variable
from ..files.durable import HDF5_SUFFIXES, refuse_suffix
from ..files.hdf5 import LINKED, open_contained, write_hdf5
from ..files.reading import refuse_missing
from ..files.storage import put_text, put_texts, write_fields
from ..files.stored_array import StoredArray, in_file
from ..files.stored_fields import DeclaredZeros, Leaf, get_texts, read_fields, values_of
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.memo import NamedFields
from .ledger import Ledger, ledger_labels
from .presentation import state_variables, time_of
from .state_view import StateView

if TYPE_CHECKING:
    import h5py


SAME_TIME = 1e-9
"""Distance from a saved time, relative to the span of the run, up to which a time counts as saved."""


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Times (k,) [s] of an event, and states (k, n) at these times.

    Attributes
    ----------
    times : array
        (k,) [s].
    states : array
        (k, n).
    """

    times: Array
    states: Array


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(NamedFields, Labelled):
    """Result of a run: k + 1 saved times (k + 1,) [s], states (k + 1, n), the energy ledger, and events.

    ``result["name"]`` is a part of the states. ``events`` contains times and states of each event by name; a terminal
    event is at the last saved time. ``observations`` (k + 1, …) are the return values of ``observe`` at the saved
    times, NaN for None; their shape is (0,) if it returned only None.
    """

    times: Array
    states: Array
    ledger: Ledger
    events: Mapping[str, Occurrences] = field(default_factory=dict)
    observations: Array = field(default_factory=lambda: np.zeros(0))

    KIND: ClassVar[str]
    """Kind of file; ``format`` in the file consists of it and VERSION."""
    VERSION: ClassVar[int] = 2
    SYSTEM: ClassVar[str]
    """Name of the field that is not stored, the simulated system."""
    UNSAVED: ClassVar[tuple[str, ...]] = ()
    """Names of further fields that are not stored."""
    LACKING: ClassVar[tuple[str, ...]] = ("observations",)
    """Prefixes of the names of arrays that may contain NaN for missing values."""
    DISTINCT: ClassVar[bool] = True
    """True if all saved times must differ."""

    @property
    @abstractmethod
    def parts(self) -> Mapping[str, slice]:
        """Slices of a state (n,) by name of its parts."""

    @property
    @abstractmethod
    def final(self) -> Any:
        """Last state of the run, from which another run can continue."""

    @property
    @abstractmethod
    def _size(self) -> int:
        """Number of states n."""

    @classmethod
    @abstractmethod
    def signature(cls, system: Any) -> list[str]:
        """Lines of text that describe a system: a file of a run is read only if its lines are equal to these.

        The error for another file quotes the lines that differ.
        """

    def __getitem__(self, part: str) -> Array:
        return self.states[:, check.lookup("part", part, self.parts)]

    def __contains__(self, part: object) -> bool:
        return part in self.parts

    def __repr__(self) -> str:
        span = f"{self.times[0]:.6g} to {self.times[-1]:.6g} s"
        return f"<{type(self).__name__} {self._described()}: {len(self.times)} times from {span}>"

    def _labels(self) -> Labels:
        spans = {name: at for name, at in self.parts.items() if at.start < self._size}
        states, axes = state_variables(spans, self.states, dim=self._dim)
        if not states:
            states = {"states": Variable(("time", "state"), np.asarray(self.states), "", "state")}
        ledger = ledger_labels(self.ledger, np.asarray(self.times))
        coordinates = {**ledger.coordinates, **axes, "time": time_of(self.times)}
        return Labels("time", {**states, **ledger.variables}, coordinates, {"title": repr(self)[1:-1], **ledger.attrs})

    @property
    def _dim(self) -> int:
        """Dimension of the space for a mechanism, 0 for a general system."""
        return 0

    @abstractmethod
    def _described(self) -> str:
        """Short text on the simulated system for ``repr``, such as ``of crank, rod``."""

    @abstractmethod
    def _view(self, x: Array) -> StateView:
        """State x (n,) with named parts."""

    def at(self, time: float) -> StateView:
        """State at a saved time [s], with named parts; raises ValueError for a time that was not saved."""
        nearest = int(np.argmin(np.abs(self.times - time)))
        if not abs(self.times[nearest] - time) <= SAME_TIME * (self.times[-1] - self.times[0]):
            raise ValueError(f"no state was saved at t = {time} s: the nearest is at {self.times[nearest]} s")
        return self._view(self.states[nearest])

    def energy_drift(self) -> float:
        """Accumulated residual: largest |H(t) − H(0) − work + dissipation|, divided by ``ledger.scale``."""
        return self.ledger.drift

    def save(self, path: str | Path) -> None:
        """Write the run as HDF5 (docs/solution-format.md): an open format, with checksums and without code.

        The file is written completely or not at all; an existing file is replaced only by a complete one. Raises
        OSError if it cannot be written, for example on a full disk, and ValueError for a suffix other than ``.h5`` or
        ``.hdf5``.
        """
        refuse_suffix("a saved run, which is HDF5,", path, HDF5_SUFFIXES)
        write_hdf5(path, self._write)

    def _write(self, file: h5py.File) -> None:
        put_text(file, "format", self._format())
        put_texts(file, "layout", self.signature(getattr(self, self.SYSTEM)))
        write_fields(file, self, without=(self.SYSTEM, *self.UNSAVED))

    @classmethod
    def _format(cls) -> str:
        return f"flexph {cls.KIND} {cls.VERSION}"

    @classmethod
    def load(cls, path: str | Path, system: Any, *, lazy: bool = False) -> Self:
        """Read a saved run. The equations are not stored, so ``system`` must be given again and must match the file.

        With ``lazy``, states, multipliers, outputs and observations are read from the file on access:
        ``run["rod.deformation"]``, ``run.states[-1]``, ``run.at(time)``. Their checksums are verified on access; the
        values are not checked for NaN.

        Raises ValueError for a file that is damaged, of another format, or of another mechanism or system;
        FileNotFoundError if there is none.
        """
        expected = cls.signature(system)
        refuse_missing("saved run", path)
        try:
            if lazy:
                return cls._read(open_contained(path, linked=LINKED), system, expected, leaf=in_file)
            with open_contained(path, linked=LINKED) as file:
                return cls._read(file, system, expected)
        except _OtherModelError as error:
            raise ValueError(str(error)) from None
        except Exception as error:  # damaged files may raise any exception in the library
            said = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(
                f"cannot read the saved run {str(path)!r}: damaged or not a flexph {cls.KIND} ({said})"
            ) from None

    @classmethod
    def _read(cls, file: h5py.File, system: Any, own: list[str], *, leaf: Leaf = values_of) -> Self:
        """Run of a system from an open file; the signature and all shapes are checked before any values are read."""
        stored = get_texts(file, "format") if "format" in file.attrs else [None]
        if stored != [cls._format()]:
            raise OSError(f"format is {stored[0]!r}, expected {cls._format()!r}")
        cls._refuse_another(get_texts(file, "layout"), own)
        given = {cls.SYSTEM: system}
        declared: Self = read_fields(file, cls, given, DeclaredZeros(file.id.get_filesize()))
        declared._check_shapes()
        run: Self = read_fields(file, cls, given, leaf)
        run._check_values()
        return run

    @classmethod
    def _refuse_another(cls, saved: list[str], own: list[str]) -> None:
        if saved != own:
            there, here = next((a, b) for a, b in zip_longest(saved, own, fillvalue="nothing") if a != b)
            raise _OtherModelError(f"the saved run belongs to another {cls.SYSTEM}: {there!r} there, {here!r} here")

    def _check_shapes(self) -> None:
        """Raise OSError unless the arrays of a run from a file have the shapes that its times and system require."""
        if not self.times.size:
            raise OSError("times is empty")
        for name, values, shape in self._shapes():
            if values.shape != shape:
                raise OSError(f"{name} has shape {values.shape}, expected {shape}")

    def _check_values(self) -> None:
        """Raise OSError unless the arrays of a run from a file are finite numbers and times ascend.

        Arrays that are left in the file are not read. NaN is allowed in arrays whose values may be missing, see
        LACKING.
        """
        for name, values, _ in self._shapes():
            if isinstance(values, StoredArray):
                continue
            lacking = np.isnan(values) if name.startswith(self.LACKING) else False
            if values.dtype.kind == "f" and not np.all(np.isfinite(values) | lacking):
                raise OSError(f"{name} must be finite numbers, got NaN or infinity")
            if name.endswith("times") and np.any(np.diff(values) < 0.0):
                raise OSError(f"{name} must ascend")
        if self.DISTINCT and np.any(np.diff(self.times) == 0.0):
            raise OSError("times must ascend, got an instant twice")

    def _shapes(self) -> Iterator[tuple[str, Array, tuple[int, ...]]]:
        """Yield name, array and required shape of all arrays that a file of the run contains."""
        k, n = len(self.times) - 1, self._size
        yield "times", self.times, (k + 1,)
        yield "states", self.states, (k + 1, n)
        for account in fields(self.ledger):
            values, rows = getattr(self.ledger, account.name), k + (account.name == "energy")
            if isinstance(values, Mapping):
                yield from ((f"ledger/{account.name}/{part}", column, (rows,)) for part, column in values.items())
            elif isinstance(values, np.ndarray):
                optional = account.default_factory is not MISSING and not values.size
                yield f"ledger/{account.name}", values, (0 if optional else rows,)
        for name, event in self.events.items():
            count = len(event.times) if event.times.ndim else 0
            yield f"events/{name}/times", event.times, (count,)
            yield f"events/{name}/states", event.states, (count, n)
        observed = self.observations
        yield "observations", observed, (k + 1, *observed.shape[1:]) if observed.size else (0,)


class _OtherModelError(ValueError):
    """Error for an undamaged file whose run belongs to another mechanism or system."""
