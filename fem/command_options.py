"""Options of commands that read a file of a mesh: lengths with units."""

from __future__ import annotations

import click

from flexph.units.quantities import read_quantity


def length(option: str, text: str | None) -> float | None:
    """Length [m] from the text of an option."""
    try:
        return None if text is None else read_quantity(text, "m")
    except ValueError as error:
        raise click.UsageError(f"{option}: {error}") from None


def unit_of(text: str | None) -> float | None:
    """Unit of length [m] from its name, or from a length."""
    return length("--unit", f"1 {text}" if text is not None and text.strip().isalpha() else text)
