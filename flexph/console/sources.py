"""Papers behind the tags in brackets, such as [flex], in descriptions of cases and checks."""

from __future__ import annotations

from collections.abc import Iterable

SOURCES = {
    "flex": "Brugnoli, Alazard, Pommier-Budinger, Matignon: Port-Hamiltonian flexible multibody dynamics (2021)",
    "dg": "Kinon, Morandin, Schulze: Discrete gradient methods for port-Hamiltonian DAEs (2026)",
    "rigid": "Berger, Hochdahl, Reis, Seifried: Port-Hamiltonian modeling of rigid multibody systems (2025)",
    "survey": "van der Schaft: Port-Hamiltonian differential-algebraic systems (2013)",
}
"""Authors, title and year by tag."""


def explained(*texts: str) -> Iterable[str]:
    """Lines with the papers of the tags that occur in texts."""
    return [f"[{tag}] {paper}" for tag, paper in SOURCES.items() if any(f"[{tag}]" in text for text in texts)]


def epilog(*texts: str) -> str | None:
    """End of a help page: papers of the tags that occur in the texts, or of all tags if no text is given."""
    lines = explained(*texts) if texts else explained(*(f"[{tag}]" for tag in SOURCES))
    return "\b\nSources:\n" + "\n".join(f"  {line}" for line in lines) if lines else None
