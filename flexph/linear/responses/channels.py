"""Names of single inputs and outputs: ``port[i]``, or the port if it has one component."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...numerics import checks as check
from ...numerics.arrays import Array, dense
from ...systems.linear import LinearPHDAE, linear_system

Names = str | Sequence[str] | None


class Channels(NamedTuple):
    """Single outputs and inputs of a system: their names and their columns of B, dense, (n, p) and (n, m).

    ``rows`` are the indices in B of the columns of outputs, ``columns`` those of the inputs.
    """

    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    output_matrix: Array
    input_matrix: Array
    rows: list[int]
    columns: list[int]


def channels(system: LinearPHDAE, outputs: Names, inputs: Names) -> Channels:
    """Outputs and inputs that a user requested, by names of ports, of components ``port[i]``, or None for all."""
    if not linear_system(system).B.shape[1]:
        raise ValueError("the system has no ports: give the mechanism a force(...) or torque(...)")
    (rows, out), (columns, into) = (_pick(system, what) for what in (outputs, inputs))
    b = dense(system.B[:, sorted({*rows, *columns})])
    place = {column: i for i, column in enumerate(sorted({*rows, *columns}))}
    left, right = b[:, [place[i] for i in rows]], b[:, [place[i] for i in columns]]
    return Channels(tuple(out), tuple(into), left, right, rows, columns)


def same_channels(reduced: LinearPHDAE, asked: Channels) -> Channels:
    """Outputs and inputs of a reduced system with the names of those requested of the full system.

    Raises ValueError if it does not have them.
    """
    linear_system(reduced, "through")
    try:
        return channels(reduced, asked.outputs, asked.inputs)
    except ValueError as error:
        raise ValueError(f"through must be a system with the same ports: {error}") from None


def channel_columns(system: LinearPHDAE) -> dict[str, int]:
    """Index of the column of B for each single input, by its name, in the order of B."""
    named: dict[str, int] = {}
    for port, columns in system.ports.items():
        start, width = columns.start or 0, columns.stop - (columns.start or 0)
        named |= {port if width == 1 else f"{port}[{i}]": start + i for i in range(width)}
    return dict(sorted(named.items(), key=lambda item: item[1]))


def _pick(system: LinearPHDAE, names: Names) -> tuple[list[int], list[str]]:
    every = channel_columns(system)
    if names is None:
        return list(every.values()), list(every)
    wanted: list[str] = []
    if not isinstance(names, Iterable):
        raise ValueError(f"inputs and outputs must be names of ports, or lists of them, got {names!r}")
    for name in [names] if isinstance(names, str) else names:
        if not isinstance(name, str):
            raise ValueError(f"inputs and outputs must be names of ports, got {name!r}")
        if name in system.ports and name not in every:
            wanted += [channel for channel in every if channel.rpartition("[")[0] == name]
        else:
            check.lookup("port", name, {**{port: 0 for port in system.ports}, **every})
            wanted.append(name)
    if not wanted or len(set(wanted)) < len(wanted):
        raise ValueError(f"inputs and outputs must be different ports, at least one, got {wanted}")
    return [every[name] for name in wanted], wanted
