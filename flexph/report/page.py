"""Page of a report: sections of blocks, interactive charts, and the HTML file that includes all scripts.

``npm ci && npm run build`` in ``browser`` bundles the scripts that draw the charts with uPlot into ``charts.js.gz``,
which reports include.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..files.durable import refuse_suffix, staged
from ..numerics.arrays import Array
from ..plot.panels import Curve, Panel, short
from ..view.html import library_script

MOST = 2000
"""Largest number of points of a curve; a longer curve is replaced by its minimum and maximum in each of half as many
intervals."""


HEIGHT, SHARES = 220.0, (0.7, 1.3)
"""Mean height of the panels [px], and limits of the height of a panel relative to it."""


def chart(panels: Sequence[Panel], name: str) -> str:
    """HTML ``<div>`` with the id ``name`` for a column of panels.

    The page needs :func:`charts_script` once.
    """
    shares = np.array([panel.height for panel in panels])
    heights = HEIGHT * np.clip(shares / shares.mean(), *SHARES)
    contents = [_panel(panel.prefixed(), height) for panel, height in zip(panels, heights.tolist(), strict=True)]
    listed = ", ".join(panel.quantity for panel in panels)
    data = json.dumps(contents, ensure_ascii=False).replace("</", "<\\/")
    return (
        f'<div class="fx-chart" id="{name}"><script type="application/json">{data}</script>'
        f"<noscript>A chart of {listed}, which scripts draw.</noscript></div>"
    )


def charts_script() -> str:
    """HTML of the ``<script>`` that draws all charts of a page."""
    packed_script = files("flexph.report").joinpath("browser", "charts.js.gz").read_bytes()
    return f"<script>{gzip.decompress(packed_script).decode('utf-8')}</script>"


def packed(values: Array) -> dict[str, str]:
    """Numbers as base64 of their bytes, with their ``kind``, single or double precision.

    Single precision is used if no number changes by more than 1e-6 of it, and different numbers remain different.
    """
    single = values.astype(np.float32)
    fits = np.allclose(single, values, rtol=1e-6, atol=0.0, equal_nan=True) and len(np.unique(single)) == len(
        np.unique(values)
    )
    stored, kind = (single, "f4") if fits else (values.astype(np.float64), "f8")
    return {"kind": kind, "data": base64.b64encode(np.ascontiguousarray(stored).tobytes()).decode("ascii")}


def _panel(panel: Panel, height: float) -> dict[str, Any]:
    """Panel as values for JSON, with a height in pixels.

    On a logarithmic axis the range of the values is a pair of exponents of ten.
    """
    content = {"label": panel.label, "over": panel.over, "log": panel.log, "height": round(height)}
    ends = _decades(panel.curves) if "y" in panel.log else None
    return content | {"curves": [_curve(curve) for curve in panel.curves]} | ({"range": ends} if ends else {})


def _curve(curve: Curve) -> dict[str, Any]:
    x, y = thinned(np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float))
    order = np.argsort(x, kind="stable") if np.any(np.diff(x) < 0.0) else slice(None)
    content = {"label": short(curve.label), "style": curve.style, "color": curve.color or ""}
    return content | {"x": packed(x[order]), "y": packed(y[order])}


def _decades(curves: Sequence[Curve]) -> list[float] | None:
    """Range of a logarithmic axis as integer exponents of ten, at least one decade; None if no value is positive."""
    values = np.concatenate([np.asarray(curve.y, dtype=float) for curve in curves])
    values = values[np.isfinite(values) & (values > 0.0)]
    if not values.size:
        return None
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    return [float(low), float(max(high, low + 1.0))]


def thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """Points x and y of a curve with at most MOST points that looks like the given one.

    The curve is divided into equal parts. Both ends of the curve are kept, and in each part the points with the
    smallest and the largest value.
    """
    if len(x) <= MOST or not np.isfinite(y).all():
        return x, y
    parts = np.array_split(np.arange(len(x)), MOST // 2 - 1)
    kept = [part[0] + i for part in parts for i in sorted((int(y[part].argmin()), int(y[part].argmax())))]
    pick = np.unique([0, *kept, len(x) - 1])
    return x[pick], y[pick]


FIRST, REST = 20, 80
"""Numbers of table rows that are shown at once and behind a click; a note counts the remaining rows."""


@dataclass(frozen=True)
class Text:
    """Paragraph of plain text.

    ``look``: ``code`` for a shell command, ``warning`` for a warning.
    """

    kind: ClassVar[str] = "text"
    text: str
    look: str = ""


@dataclass(frozen=True)
class Table:
    """Table with a header row.

    Numbers are printed with six digits.
    """

    kind: ClassVar[str] = "table"
    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]

    @property
    def cells(self) -> list[list[str]]:
        """Texts of the cells of the rows that are displayed, which are the first rows of the table."""
        return [[_cell(value) for value in row] for row in self.rows[: FIRST + REST]]

    @property
    def rest(self) -> str:
        """Note on the number of rows that are not displayed; empty if all are."""
        more = len(self.rows) - FIRST - REST
        return f"… and {more} more rows" if more > 0 else ""


@dataclass(frozen=True, eq=False)
class Chart:
    """Chart with a column of panels."""

    kind: ClassVar[str] = "chart"
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Html:
    """Block of given HTML."""

    kind: ClassVar[str] = "html"
    text: str


@dataclass(frozen=True)
class View(Html):
    """HTML of a 3-D view.

    The library for it is included once in the page.
    """


@dataclass(frozen=True)
class Picture:
    """Block with a picture from a file."""

    kind: ClassVar[str] = "picture"
    path: Path

    @property
    def words(self) -> str:
        """Caption: the name of the file with spaces between its words."""
        return self.path.stem.replace("-", " ").replace("_", " ")

    @property
    def source(self) -> str:
        """Content of the picture as a data URL."""
        kind = {".svg": "svg+xml", ".jpg": "jpeg"}.get(self.path.suffix, self.path.suffix[1:])
        return f"data:image/{kind};base64,{base64.b64encode(self.path.read_bytes()).decode('ascii')}"


Block = Text | Table | Chart | Html | View | Picture


@dataclass(frozen=True)
class Section:
    """Section of a report: a heading, and blocks such as texts, tables and charts.

    ``level``: level of the heading in HTML, 2, or 3 within a section; ``folded``: True to hide the blocks until a
    click.
    """

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
