"""Names of bodies, ports and elements from those of a file, which may hold any letter."""

from __future__ import annotations

import itertools
from collections.abc import Iterable


def free_names(wanted: Iterable[str], taken: Iterable[str] = (), *, replaced: str = "/") -> dict[str, str]:
    """By name of the file one that no other thing bears, without the letters that are replaced by ``_``.

    Where two come to one name, the one that needs no change keeps it and the other one gets a number.
    """
    names, known, found = list(wanted), {*taken}, {}
    for name in sorted(names, key=lambda own: own != _plain(own, replaced)):
        plain = _plain(name, replaced)
        candidates = itertools.chain([plain], (f"{plain}_{number}" for number in itertools.count(2)))
        found[name] = next(candidate for candidate in candidates if candidate not in known)
        known.add(found[name])
    return {name: found[name] for name in names}


def _plain(name: str, replaced: str) -> str:
    plain = "".join("_" if letter in replaced else letter for letter in name)
    return plain.replace(".", "_") if not plain.strip(".") else plain
