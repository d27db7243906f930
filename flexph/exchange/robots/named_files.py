"""Paths of meshes and included files that the file of a robot names, in its folder or package."""

from __future__ import annotations

from pathlib import Path

from ...files.reading import refuse_missing

PARENTS = 4
"""Number of folders above a robot's file that may be the package of ``package://NAME/…``."""


def named_file(robot: Path, given: str, place: str) -> Path:
    """Path of a file named in a robot's file, in the folder of this file, or in the package of ``package://NAME/…``.

    ``model://NAME/…`` is read like this. A package is a folder above the robot's file with the name NAME. Raises
    ValueError for a path outside of these.
    """
    base, name = robot.resolve().parent, given.removeprefix("file://") if "://package://" in given else given
    given = name
    for scheme in ("package://", "model://"):
        if given.startswith(scheme):
            package, _, name = given.removeprefix(scheme).partition("/")
            above = [folder for folder in (base, *base.parents)[:PARENTS] if folder.name == package]
            if not above:
                raise ValueError(f"{place} names {given!r}, and no folder above {robot.name!r} is called {package!r}")
            base = above[0]
    if "://" in name or not name or not (base / name).resolve().is_relative_to(base):
        raise ValueError(f"{place} must name a file in the folder of the robot, got {given!r}")
    refuse_missing("mesh", base / name)
    return base / name
