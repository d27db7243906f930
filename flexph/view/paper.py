"""Texts, colour bar and energy curves around a picture, by Pillow (extra ``plot``)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from ..numerics.arrays import Array
from ..scenes.scene import Account, Scene
from .looks import bar_title, limits_of, unit_of
from .raster import Window
from .stage import map_of, rgb

Background = Literal["light", "dark", "transparent"]
PAPER = {"light": "#fbfbfc", "dark": "#14191f", "transparent": "#fbfbfc"}
"""Colours of the background; edges of shapes on a transparent one fade into the light colour."""
INK = {"light": ("#1d2733", "#6b7683"), "dark": ("#e8ecf1", "#98a3af"), "transparent": ("#1d2733", "#6b7683")}
"""Colours of titles, and of other texts."""
CURVES = {"light": ("#0072b2", "#d55e00", "#009e73"), "dark": ("#56b4e9", "#e69f00", "#2cc295")}
"""Colours of energies by M. Okabe and K. Ito, told apart by the colour-blind."""
ENERGIES = ("stored", "work", "dissipated")
BROAD = (4.5, 2.0, 2.0)
"""Widths of the energy curves [pixels]: the first is broad, as the second may cover it."""
FAINT = 0.28
"""Opacity of the energy curves after the time of the picture."""
FINER = 3
"""Number of dots along the edge of a pixel, in which curves are drawn before they are averaged."""
MISSING = 'pictures and films need Pillow: pip install "flexph[plot]"'


def pillow() -> Any:
    """Modules of Pillow. Raises ModuleNotFoundError, naming the extra to install, if Pillow is missing."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ModuleNotFoundError:
        raise ModuleNotFoundError(MISSING) from None
    return Image, ImageDraw, ImageFont


@cache
def font(size: float) -> Any:
    """Font of a size [pixels]: that of matplotlib, which has all letters of names and units, if it is installed."""
    _, _, fonts = pillow()
    try:
        from matplotlib.font_manager import findfont

        return fonts.truetype(findfont("DejaVu Sans"), round(size))
    except ModuleNotFoundError:
        return fonts.load_default(round(size))


@dataclass(frozen=True)
class Layout:
    """Layout of a picture: its size, and the regions of motion, colour bar and energy curves, all in pixels.

    ``unit`` is the length by which sizes of letters and distances grow with the picture, 1 for 800 × 450 pixels.
    """

    size: tuple[int, int]
    unit: float
    window: Window
    bar: Window | None
    account: Window | None


def layout_of(size: tuple[int, int], *, field: bool, account: bool, labels: bool = True) -> Layout:
    """Layout of a picture of ``size`` pixels, from top to bottom: texts, motion, colour bar, and energy curves.

    ``field``: True for a colour bar; ``account``: True for energy curves; ``labels``: False for a picture without texts
    and colour bar.
    """
    width, height = size
    unit = min(width / 800.0, height / 450.0)
    edge = (18.0 if labels else 8.0) * unit
    bottom, energies, bar = height - edge, None, None
    if account:
        energies = Window(edge, bottom - 96.0 * unit, width - edge, bottom)
        bottom = energies.top - 8.0 * unit
    if field and labels:
        bar = Window(edge, bottom - 30.0 * unit, width - edge, bottom)
        bottom = bar.top - 6.0 * unit
    top = 44.0 * unit if labels else edge
    return Layout(size, unit, Window(edge, top, width - edge, bottom), bar, energies)


@dataclass(frozen=True, eq=False)
class Paper:
    """Annotations of the pictures of a film: constant ones, and captions and energies that change.

    Attributes
    ----------
    layout : Layout
        Windows of the parts of a picture.
    background : str
        Kind of the background.
    words : array
        Bytes (height, width, 4) of the constant texts and of the colour bar.
    curves : tuple of array, optional
        Bytes (height, width, 4) of the energy curves, faint and in full colours.
    times : (float, float)
        First and last time of the account.
    """

    layout: Layout
    background: Background
    words: Array
    curves: tuple[Array, Array] | None
    times: tuple[float, float]

    def under(self, picture: Array, shadow: Array) -> Array:
        """Bytes (height, width, 4) of a picture of bodies over the background, which is darkened by their shadow.

        ``picture`` (height, width, 4) has colours multiplied by their opacity, 0 to 1; ``shadow`` (height, width) is 0
        to 1.
        """
        paper = rgb([PAPER[self.background]])[0].astype(np.float32)
        page = np.empty((*picture.shape[:2], 4), dtype=np.uint8)
        clear = 1.0 - picture[..., 3]
        if self.background != "transparent":
            clear *= 1.0 - shadow
            page[..., 3] = 255
        else:
            page[..., 3] = _bytes(picture[..., 3])
        for channel in range(3):
            page[..., channel] = _bytes(picture[..., channel] + paper[channel] * clear)
        return page

    def finished(self, picture: Array, caption: str, time: float) -> Any:
        """Pillow image of a picture of bytes with title, colour bar, caption and energy curves.

        The curves are in full colours up to a time [s], and faint after it.
        """
        image, draw, _ = pillow()
        page = image.fromarray(picture, "RGBA")
        page.alpha_composite(image.fromarray(self.words, "RGBA"))
        if self.curves is not None and self.layout.account is not None:
            faint, full = self.curves
            box, (first, last) = self.layout.account, self.times
            split = round(full.shape[1] * (time - first) / ((last - first) or 1.0))
            strip = np.concatenate([full[:, :split], faint[:, split:]], axis=1)
            page.alpha_composite(image.fromarray(np.ascontiguousarray(strip), "RGBA"), (int(box.left), int(box.top)))
        if caption:
            pen = draw.Draw(page)
            place = (self.layout.window.right, 14.0 * self.layout.unit)
            pen.text(place, caption, fill=INK[self.background][1], font=font(13.0 * self.layout.unit), anchor="ra")
        return page


def paper_of(scene: Scene, layout: Layout, background: Background, *, field: str | None, title: str) -> Paper:
    """Annotations for a scene: title, colour bar of the field, and energy curves."""
    image, draw, _ = pillow()
    page = image.new("RGBA", layout.size, (0, 0, 0, 0))
    pen = draw.Draw(page)
    if title:
        place = (layout.window.left, 13.0 * layout.unit)
        pen.text(place, _cut(title, layout), fill=INK[background][0], font=font(15.0 * layout.unit))
    if field is not None and layout.bar is not None:
        _draw_bar(page, pen, scene, field, layout, INK[background][0])
    curves, times = None, (0.0, 1.0)
    if scene.account is not None and layout.account is not None:
        _draw_words(pen, scene.account, layout, background)
        curves = _curves(scene.account, layout, background)
        times = float(scene.account.times[0]), float(scene.account.times[-1])
    return Paper(layout, background, np.array(page), curves, times)


def _cut(title: str, layout: Layout) -> str:
    """Title, shortened to the space on the left of the time."""
    room = 0.62 * (layout.window.right - layout.window.left)
    text = title
    while text and font(15.0 * layout.unit).getlength(text) > room:
        text = text[:-1]
    return text if text == title else f"{text.rstrip()[:-1]}…"


def _draw_bar(page: Any, pen: Any, scene: Scene, field: str, layout: Layout, ink: str) -> None:
    """Draw the colour bar of a field: name and unit, colours, and values at both ends and in the middle."""
    image, _, _ = pillow()
    assert layout.bar is not None
    box, u = layout.bar, layout.unit
    name = bar_title(field, unit_of(scene, field)[1])
    words, small = font(12.0 * u), font(11.0 * u)
    pen.text((box.left, box.top + 5.0 * u), name, fill=ink, font=words, anchor="lm")
    left = max(box.left + words.getlength(name) + 16.0 * u, 0.5 * (box.left + box.right))
    left = min(left, box.right - 60.0 * u)
    low, high = limits_of(scene, field)
    width, height = round(box.right - left), max(round(10.0 * u), 2)
    colours = _bytes(np.tile(map_of(scene, field)[None], (height, 1, 1)))
    page.paste(image.fromarray(colours, "RGB").resize((width, height)), (round(left), round(box.top)))
    for share, anchor in ((0.0, "la"), (0.5, "ma"), (1.0, "ra")):
        label = f"{low + share * (high - low):.3g}".replace("-", "−")
        pen.text((left + share * width, box.top + 14.0 * u), label, fill=ink, font=small, anchor=anchor)


def _draw_words(pen: Any, account: Account, layout: Layout, background: Background) -> None:
    """Draw the names of the energies in their colours, and the residual of the energy balance."""
    assert layout.account is not None
    box, u = layout.account, layout.unit
    words, left = font(12.0 * u), box.left
    for name, colour in zip(("stored energy", "work", "dissipated"), _colours(background), strict=True):
        pen.text((left, box.top), name, fill=colour, font=words)
        left += words.getlength(name) + 14.0 * u
    balance = f"balance within {account.residual:.0e} of the energy"
    pen.text((box.right, box.top), balance, fill=INK[background][1], font=words, anchor="ra")


def _curves(account: Account, layout: Layout, background: Background) -> tuple[Array, Array]:
    """Energy curves as two pictures of bytes (height, width, 4), one in faint and one in full colours."""
    image, draw, _ = pillow()
    assert layout.account is not None
    box, u = layout.account, layout.unit
    width, height = round(box.right - box.left), round(box.bottom - box.top)
    page = image.new("RGBA", (FINER * width, FINER * height), (*_ink_of(background), 0))
    pen, top = draw.Draw(page), FINER * 22.0 * u
    series = np.array([getattr(account, name) for name in ENERGIES])
    low, high = min(float(series.min()), 0.0), max(float(series.max()), 0.0)
    room = FINER * (height - 3.0 * u) - top
    down = lambda energy: top + room * (high - energy) / ((high - low) or 1.0)  # noqa: E731
    pen.line([(0, down(0.0)), (FINER * width, down(0.0))], fill=INK[background][1], width=FINER)
    span = (account.times[-1] - account.times[0]) or 1.0
    x = FINER * width * (account.times - account.times[0]) / span
    for values, colour, broad in zip(series, _colours(background), BROAD, strict=True):
        line = np.column_stack([x, down(values)])
        pen.line([tuple(p) for p in line], fill=colour, width=round(FINER * broad * u), joint="curve")
    full = np.array(page.resize((width, height), image.Resampling.BOX))
    faint = full.copy()
    faint[..., 3] = (FAINT * faint[..., 3]).astype(np.uint8)
    return faint, full


def _colours(background: Background) -> tuple[str, ...]:
    return CURVES["dark" if background == "dark" else "light"]


def _ink_of(background: Background) -> tuple[int, ...]:
    return tuple(int(255 * share) for share in rgb([INK[background][1]])[0])


def _bytes(shares: Array) -> Array:
    """Bytes, 0 to 255, of an array of numbers between 0 and 1, in its shape."""
    return np.asarray(np.float32(255.0) * shares + np.float32(0.5)).clip(0.0, 255.0).astype(np.uint8)
