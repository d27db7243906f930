"""Materials of Ansys archives: MP, and MPTEMP with MPDATA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..materials import FileMaterial, Row
from .commands import Command

NEW = "R5.0"
ISOTROPIC = ("EX",)
ORTHOTROPIC = ("EX", "EY", "EZ", "PRXY", "PRXZ", "PRYZ", "GXY", "GXZ", "GYZ")
BESIDES = ("DMPR", "DMPS", "BETX", "PLAS")
ROUND = 1e-9
"""Relative difference up to which moduli of two directions are the same."""


class Materials:
    """Collector of the properties of materials: values by temperature, for each label and material number."""

    def __init__(self) -> None:
        self.temperatures: dict[int, float] = {}
        self.values: dict[int, dict[str, dict[float, float]]] = {}
        self.refused: dict[int, str] = {}
        self.besides: dict[int, list[str]] = {}

    def add(self, command: Command) -> bool:
        """Add a command of materials; return False for any other command."""
        if command.name == "MPTEMP":
            self._add_temperatures(command)
        elif command.name == "MPDATA":
            self._add_data(command)
        elif command.name == "MP":
            self._add_constant(command)
        elif command.name == "TB":
            self._add_law(command)
        else:
            return False
        return True

    def _add_temperatures(self, command: Command) -> None:
        new = command.field(0).upper() == NEW
        first = command.whole(2) if new else command.whole(0) if command.field(0) else 1
        words = command.fields[3 if new else 1 :]
        if first == 1:
            self.temperatures = {}
        for k, word in enumerate(words):
            if word:
                self.temperatures[first + k] = command.real(k + (3 if new else 1))

    def _add_data(self, command: Command) -> None:
        new = command.field(0).upper() == NEW
        label, material = command.field(2 if new else 0).upper(), command.whole(3 if new else 1)
        first, start = command.whole(4 if new else 2), 5 if new else 3
        for k in range(start, len(command.fields)):
            if command.fields[k]:
                at = self.temperatures.get(first + k - start, 0.0 if len(self.temperatures) <= 1 else None)
                if at is None:
                    raise ValueError(f"{command} must have a temperature for each value, by MPTEMP before it")
                self._put(material, label, at, command.real(k))

    def _add_constant(self, command: Command) -> None:
        label, material = command.field(0).upper(), command.whole(1)
        if any(command.real(k) for k in range(3, 7)):
            self.refused[material] = f"MP,{label} by powers of the temperature ({command.place})"
        self._put(material, label, 0.0, command.real(2))

    def _add_law(self, command: Command) -> None:
        label, material = command.field(0).upper(), command.field(1) or "1"
        if not material.isdecimal():
            raise ValueError(f"{command} must have the number of a material, got {material!r}")
        if label in ("ANEL", "ELAS"):
            self.refused[int(material)] = f"TB,{label} ({command.place})"
        else:
            self.besides.setdefault(int(material), []).append(f"TB,{label} ({command.place})")

    def _put(self, material: int, label: str, at: float, value: float) -> None:
        self.values.setdefault(material, {}).setdefault(label, {})[at] = value

    def all(self) -> dict[str, FileMaterial]:
        """Materials of the archive by name, which is the text of the number of the material."""
        numbers = sorted({*self.values, *self.refused, *self.besides})
        return {str(n): self._material(n) for n in numbers}

    def _material(self, n: int) -> FileMaterial:
        held, material = self.values.get(n, {}), FileMaterial(besides=tuple(self.besides.get(n, ())))
        if "DENS" in held:
            material = material.with_rows(_rows("density", [held["DENS"]]))
        alpha, beta = (held.get(label, {}) for label in ("ALPD", "BETD"))
        if alpha or beta:
            material = replace(material, damping=(next(iter(alpha.values()), 0.0), next(iter(beta.values()), 0.0)))
        if n in self.refused:
            return replace(material, refused=self.refused[n])
        if "EX" not in held:
            return material
        try:
            return material.with_rows(_elastic(held))
        except ValueError as error:
            return replace(material, refused=f"the moduli of material {n}: {error}")


def _elastic(held: Mapping[str, dict[float, float]]) -> tuple[Row, ...]:
    """Elastic constants of an isotropic or orthotropic material, from its values by label and temperature.

    Raises ValueError if some of them are missing.
    """
    major = {"PRXY": "NUXY", "PRYZ": "NUYZ", "PRXZ": "NUXZ"}
    directions = [label for label in ORTHOTROPIC[1:3] if label in held]
    same = all(_same(held["EX"], held[label]) for label in directions)
    ratios = [held[label] for label in (*major, *major.values()) if label in held]
    if same and all(_same(ratios[0], other) for other in ratios[1:]) and "GXZ" not in held and "GYZ" not in held:
        return _rows("isotropic", [held["EX"], ratios[0] if ratios else {0.0: 0.0}])
    lacking = [label for label in ORTHOTROPIC if label not in held and not (label in major and major[label] in held)]
    if lacking:
        raise ValueError(f"an orthotropic material must have {', '.join(ORTHOTROPIC)}, {', '.join(lacking)} missing")
    minor = [label for label in major if label not in held]
    if minor:
        raise ValueError(
            f"an orthotropic material must have {', '.join(minor)}, not {', '.join(major[m] for m in minor)}"
        )
    return _rows("engineering constants", [held[label] for label in ORTHOTROPIC])


def _same(one: dict[float, float], other: dict[float, float]) -> bool:
    return one.keys() == other.keys() and all(abs(one[t] - other[t]) <= ROUND * abs(one[t]) for t in one)


def _rows(kind: str, tables: list[dict[float, float]]) -> tuple[Row, ...]:
    """Constants of one kind at each temperature, from a table for each constant: its values by temperature.

    A table with one value applies at all temperatures. Raises ValueError if other tables differ in temperatures.
    """
    at = sorted({t for table in tables if len(table) > 1 for t in table}) or [0.0]
    for table in tables:
        if len(table) > 1 and sorted(table) != at:
            raise ValueError("its constants must be given at the same temperatures")
    return tuple(
        Row(kind, t, tuple(table[t] if len(table) > 1 else next(iter(table.values())) for table in tables))  # type: ignore[arg-type]
        for t in at
    )
