"""Parts of pages: tables, texts and numbers, and how pages are written."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of Markdown; bars in cells are escaped."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, kind: str) -> str:
    """A table of HTML whose rows stand as blocks where the page is narrow, each cell with its heading."""
    top = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    cell = lambda name, text: f"<td data-label='{escape(name, quote=True)}'>{text}</td>" if text else "<td></td>"  # noqa: E731
    body = "\n".join(
        f"<tr>{''.join(cell(name, text) for name, text in zip(head, row, strict=True))}</tr>" for row in rows
    )
    return f"<table class='folding {kind}'>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def number(value: Any) -> str:
    """A value of a summary, short."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write(path: Path, text: str) -> None:
    """Write a page only if it has changed, so that Sphinx reads it again only then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_all(folder: Path, suffix: str, texts: dict[str, str]) -> None:
    """Write the pages of a folder by name, and remove those of earlier builds that are no longer there."""
    for name, text in texts.items():
        write(folder / f"{name}{suffix}", text)
    for page in folder.glob(f"*{suffix}"):
        if page.name.removesuffix(suffix) not in texts:
            page.unlink()


def checks_table(checks: list[dict[str, Any]], *, kinds: bool = True) -> str:
    """Checks with source, value, reference, difference and tolerance; ``kinds``: and with the kind of reference."""
    head = ("quantity", "reference", "computed", "difference", "tolerance", "passes")
    return html_table(head, [_check_row(check, kinds) for check in checks], kind="checks")


def _check_row(check: dict[str, Any], kinds: bool) -> tuple[str, ...]:
    scale, unit = (100.0, " %") if check["relative"] else (1.0, "")
    source = f"{check['kind']}: {check['source']}" if kinds else check["source"]
    return (
        f"<span>{escape(check['quantity'])}<small>{escape(source)}</small></span>",
        *(f"{check['reference']:.8g}", f"{check['computed']:.8g}"),
        f"{scale * check['difference']:+.2g}{unit}",
        "" if check["tolerance"] is None else f"{scale * check['tolerance']:.2g}{unit}",
        {True: "✓", False: "<strong>fails</strong>", None: "–"}[check["passed"]],
    )


def literal(text: str) -> str:
    """Text whose brackets, underscores, stars and dollars are letters."""
    return "".join(f"\\{letter}" if letter in "[]_*$<>`{}\\" else letter for letter in text)
