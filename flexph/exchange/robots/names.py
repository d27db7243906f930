"""Valid names of bodies, ports and elements from those of a file, which may contain any letter."""

from __future__ import annotations

import itertools
from collections.abc import Iterable


def free_names(wanted: Iterable[str], taken: Iterable[str] = (), *, replaced: str = "/") -> dict[str, str]:
    """Unique valid names by name of the file, with the letters of ``replaced`` substituted by ``_``.

    If two names become equal, the one that needs no change keeps it and the other one gets a number.
    """
    names, taken_names, unique = list(wanted), {*taken}, {}
    for name in sorted(names, key=lambda own: own != _plain(own, replaced)):
        plain = _plain(name, replaced)
        candidates = itertools.chain([plain], (f"{plain}_{number}" for number in itertools.count(2)))
        unique[name] = next(candidate for candidate in candidates if candidate not in taken_names)
        taken_names.add(unique[name])
    return {name: unique[name] for name in names}


def _plain(name: str, replaced: str) -> str:
    plain = "".join("_" if letter in replaced else letter for letter in name)
    return plain.replace(".", "_") if not plain.strip(".") else plain
