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
"""Rows of a table that are shown at once, and behind a click; of more the number is told."""


@dataclass(frozen=True)
class Text:
    """A paragraph; ``code`` is set as a line of a shell, ``warning`` so that it is seen."""

    kind: ClassVar[str] = "text"
    text: str
    look: str = ""


@dataclass(frozen=True)
class Table:
    """Rows below a head; numbers are written with six digits."""

    kind: ClassVar[str] = "table"
    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]

    @property
    def cells(self) -> list[list[str]]:
        """The rows as texts."""
        return [[_cell(value) for value in row] for row in self.rows[: FIRST + REST]]

    @property
    def rest(self) -> str:
        """What is said of the rows that are not shown."""
        more = len(self.rows) - FIRST - REST
        return f"… and {more} more rows" if more > 0 else ""


@dataclass(frozen=True, eq=False)
class Chart:
    """Panels below each other."""

    kind: ClassVar[str] = "chart"
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Html:
    """A part of a page that is ready."""

    kind: ClassVar[str] = "html"
    text: str


@dataclass(frozen=True)
class View(Html):
    """A 3-D view, which needs its library once in the page."""


@dataclass(frozen=True)
class Picture:
    """A picture of a file."""

    kind: ClassVar[str] = "picture"
    path: Path

    @property
    def source(self) -> str:
        """The picture itself as an address."""
        kind = {".svg": "svg+xml", ".jpg": "jpeg"}.get(self.path.suffix, self.path.suffix[1:])
        return f"data:image/{kind};base64,{base64.b64encode(self.path.read_bytes()).decode('ascii')}"


Block = Text | Table | Chart | Html | View | Picture


@dataclass(frozen=True)
class Section:
    """Blocks under a title, of level 2 or, within another, 3; ``folded`` behind a click."""

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    level: int = 2
    folded: bool = False


def write_page(path: str | Path, title: str, sections: Iterable[Section], *, subtitle: str = "") -> Path:
    """Write sections as one HTML file, whole or not at all; returns its path."""
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
