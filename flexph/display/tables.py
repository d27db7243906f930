"""HTML tables for notebooks, styled by the notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

ROWS = 12
"""Largest number of rows that are shown; the number of the others follows."""
LEFT = "text-align:left"


def html_table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "") -> str:
    """HTML table with a caption ``title`` and numbers with four digits; only the first of many rows."""
    listed = list(rows)
    names = "".join(f'<th style="{LEFT}">{escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in listed[:ROWS])
    more = len(listed) - ROWS
    rest = f'<tr><td colspan="{len(head)}" style="{LEFT}">… and {more} more</td></tr>' if more > 0 else ""
    caption = f'<caption style="{LEFT};font-weight:bold">{escape(title)}</caption>' if title else ""
    return f"<table>{caption}<thead><tr>{names}</tr></thead><tbody>{body}{rest}</tbody></table>"


def paragraph(text: str) -> str:
    """HTML paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def warning(text: str) -> str:
    """HTML paragraph with a red bar at its left."""
    return f'<p style="border-left:4px solid #d62728;padding-left:0.6em">{escape(text)}</p>'


def number(value: float, unit: str = "") -> str:
    """Text of a number with four digits and its unit."""
    return f"{value:.4g}{unit and ' '}{unit}"


def listed(names: Iterable[str], most: int = 6) -> str:
    """Names separated by commas.

    For more than ``most`` names it has the first ones, and the number of all.
    """
    texts = list(names)
    return ", ".join(texts[:most]) + (f", … ({len(texts)})" if len(texts) > most else "")


def _cell(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f'<td style="{LEFT}">{escape(text)}</td>'
