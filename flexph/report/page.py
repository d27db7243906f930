"""HTML page of a report: sections of blocks, in one file with all scripts."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from ..files.durable import refuse_suffix, staged
from ..plot.panels import Panel
from ..view.html import library_script
from .charts import chart, charts_script

FIRST, REST = 20, 80
"""Numbers of table rows that are shown at once and behind a click; a note counts the remaining rows."""


@dataclass(frozen=True)
class Text:
    """Paragraph of plain text, or as ``look`` says a shell command (``code``) or a ``warning``."""

    kind: ClassVar[str] = "text"
    text: str
    look: str = ""


@dataclass(frozen=True)
class Table:
    """Table with a header row; numbers are printed with six digits."""

    kind: ClassVar[str] = "table"
    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]

    @property
    def cells(self) -> list[list[str]]:
        """Texts of the first rows, as many as are shown."""
        return [[_cell(value) for value in row] for row in self.rows[: FIRST + REST]]

    @property
    def rest(self) -> str:
        """Note on the rows that are not shown, empty if all are."""
        more = len(self.rows) - FIRST - REST
        return f"… and {more} more rows" if more > 0 else ""


@dataclass(frozen=True, eq=False)
class Chart:
    """Chart of panels below each other."""

    kind: ClassVar[str] = "chart"
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Html:
    """Part of the page that is HTML already."""

    kind: ClassVar[str] = "html"
    text: str


@dataclass(frozen=True)
class View(Html):
    """HTML of a 3-D view; the library for it is included once in the page."""


@dataclass(frozen=True)
class Picture:
    """Picture from a file."""

    kind: ClassVar[str] = "picture"
    path: Path

    @property
    def words(self) -> str:
        """Caption: the name of the file with spaces between its words."""
        return self.path.stem.replace("-", " ").replace("_", " ")

    @property
    def source(self) -> str:
        """Contents of the picture as a data URL."""
        kind = {".svg": "svg+xml", ".jpg": "jpeg"}.get(self.path.suffix, self.path.suffix[1:])
        return f"data:image/{kind};base64,{base64.b64encode(self.path.read_bytes()).decode('ascii')}"


Block = Text | Table | Chart | Html | View | Picture


@dataclass(frozen=True)
class Section:
    """Section of blocks under a heading of level 2, or 3 within another section; ``folded`` hides it until a click."""

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    level: int = 2
    folded: bool = False


def write_page(path: str | Path, title: str, sections: Iterable[Section], *, subtitle: str = "") -> Path:
    """Write sections as one HTML file, atomically; return its path."""
    refuse_suffix("a page", path, (".html", ".htm"))
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    given = list(sections)
    shown = [
        replace(
            section,
            blocks=[
                Html(chart(block.panels, f"chart-{n}-{k}")) if isinstance(block, Chart) else block
                for k, block in enumerate(section.blocks)
            ],
        )
        for n, section in enumerate(given)
    ]
    template = Environment(loader=PackageLoader("flexph.report"), autoescape=True, trim_blocks=True).get_template(
        "report.html"
    )
    libraries = {}
    if any(isinstance(block, Chart) for section in given for block in section.blocks):
        libraries["charts"] = Markup(charts_script())
    if any(isinstance(block, View) for section in shown for block in section.blocks):
        libraries["viewer"] = Markup(library_script())
    text = template.render(title=title, subtitle=subtitle, sections=shown, first=FIRST, **libraries)
    with staged(path) as part:
        part.write_text(text, encoding="utf-8")
    return Path(path)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
