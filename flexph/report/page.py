"""The page of a report: sections of blocks, and their file with all scripts in it."""

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
    """Paragraph of the look ``code`` (a shell command) or ``warning``, or plain."""

    kind: ClassVar[str] = "text"
    text: str
    look: str = ""


@dataclass(frozen=True)
class Table:
    """Table with a head; numbers have six digits."""

    kind: ClassVar[str] = "table"
    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]

    @property
    def cells(self) -> list[list[str]]:
        """Rows as texts."""
        return [[_cell(value) for value in row] for row in self.rows[: FIRST + REST]]

    @property
    def rest(self) -> str:
        """Note on the rows that are not shown."""
        more = len(self.rows) - FIRST - REST
        return f"… and {more} more rows" if more > 0 else ""


@dataclass(frozen=True, eq=False)
class Chart:
    """Chart of panels below each other."""

    kind: ClassVar[str] = "chart"
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Html:
    """Ready HTML of a part of the page."""

    kind: ClassVar[str] = "html"
    text: str


@dataclass(frozen=True)
class View(Html):
    """3-D view; its library is included once in the page."""


@dataclass(frozen=True)
class Picture:
    """Picture from a file."""

    kind: ClassVar[str] = "picture"
    path: Path

    @property
    def words(self) -> str:
        """The caption: the name of the file as words."""
        return self.path.stem.replace("-", " ").replace("_", " ")

    @property
    def source(self) -> str:
        """The picture as a data address."""
        kind = {".svg": "svg+xml", ".jpg": "jpeg"}.get(self.path.suffix, self.path.suffix[1:])
        return f"data:image/{kind};base64,{base64.b64encode(self.path.read_bytes()).decode('ascii')}"


Block = Text | Table | Chart | Html | View | Picture


@dataclass(frozen=True)
class Section:
    """Section of blocks under a title of level 2, or 3 within another section; ``folded`` hides it behind a click."""

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    level: int = 2
    folded: bool = False


def write_page(path: str | Path, title: str, sections: Iterable[Section], *, subtitle: str = "") -> Path:
    """Write sections as one HTML file, atomically; returns its path."""
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
