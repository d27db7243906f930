"""Labelled arrays: values with dimensions, coordinates, units and long names, for xarray and pandas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXTRA = 'pip install "flexph[studies]"'


@dataclass(frozen=True, eq=False)
class Variable:
    """Values with named dimensions, a unit and a description."""

    dims: tuple[str, ...]
    values: NDArray[Any]
    unit: str = ""
    long_name: str = ""

    @property
    def attrs(self) -> dict[str, str]:
        """Unit and description, by the names ``units`` and ``long_name`` of the CF conventions, unless empty."""
        attributes = {"units": self.unit, "long_name": self.long_name}
        return {name: text for name, text in attributes.items() if text}


@dataclass(frozen=True, eq=False)
class Labels:
    """Variables with their coordinates, from which labelled arrays and tables of other packages are made.

    ``along`` is the first dimension of the variables, such as the time; ``attrs`` are attributes common to all.
    """

    along: str
    variables: Mapping[str, Variable]
    coordinates: Mapping[str, Variable] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)

    def dataset(self) -> Any:
        """Variables and coordinates as an ``xarray.Dataset``.

        Raises ModuleNotFoundError, which names the extra to install, if xarray is missing.
        """
        xarray = needed("xarray", "to_xarray")
        variables, coordinates = (
            {name: (v.dims, v.values, v.attrs) for name, v in entries.items()}
            for entries in (self.variables, self.coordinates)
        )
        return xarray.Dataset(variables, coordinates, dict(self.attrs))

    def frame(self) -> Any:
        """Variables as a ``pandas.DataFrame``, with a row for each entry of ``along``.

        ``attrs["units"]`` of the table has the units by column. Raises ModuleNotFoundError, which names the extra to
        install, if pandas is missing.
        """
        pandas = needed("pandas", "to_dataframe")
        columns, units = dict[str, NDArray[Any]](), dict[str, str]()
        for name, variable in self.variables.items():
            if variable.dims[:1] == (self.along,):
                for column, values in self._columns(name, variable):
                    columns[column], units[column] = values, variable.unit
        index = self.coordinates.get(self.along)
        frame = pandas.DataFrame(columns, index=None if index is None else pandas.Index(index.values, name=self.along))
        frame.attrs = {**self.attrs, "units": units}
        return frame

    def _columns(self, name: str, variable: Variable) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield a column for each entry of a variable, named by the coordinates of its other dimensions."""
        for entry in np.ndindex(variable.values.shape[1:]):
            labels = [self._label(dim, k) for dim, k in zip(variable.dims[1:], entry, strict=True)]
            yield " ".join([name, *labels]), variable.values[(slice(None), *entry)]

    def _label(self, dim: str, k: int) -> str:
        return str(self.coordinates[dim].values[k]) if dim in self.coordinates else str(k)


class Labelled(ABC):
    """Base of values that can be converted to labelled arrays of other packages."""

    __slots__ = ()

    @abstractmethod
    def _labels(self) -> Labels:
        """Variables with their coordinates."""

    def to_xarray(self) -> Any:
        """Values as an ``xarray.Dataset``, with coordinates, units and long names.

        Returns
        -------
        xarray.Dataset
            Dataset. Raises ModuleNotFoundError, which names the extra to install, if xarray is missing.
        """
        return self._labels().dataset()

    def to_dataframe(self) -> Any:
        """Values as a ``pandas.DataFrame``, a column for each number.

        ``attrs["units"]`` has the units.

        Returns
        -------
        pandas.DataFrame
            Table. Raises ModuleNotFoundError, which names the extra to install, if pandas is missing.
        """
        return self._labels().frame()


def needed(name: str, by: str) -> ModuleType:
    """Import the optional package ``name``.

    ``by`` is the function that needs it, for the error. Raises ModuleNotFoundError that names the extra to install.
    """
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{by} needs the package {name}: {EXTRA}", name=name) from error
