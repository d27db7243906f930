"""Pictures and films of runs and scenes (extra ``plot``), without a display or a graphics library.

Films are GIF and WebP by Pillow, MP4 by imageio-ffmpeg (extra ``view``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..files.durable import refuse_suffix, staged
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..scenes.scene import FRAMES, Scene
from .looks import as_scene, caption, shown_field
from .packing import telling_row, with_triangles
from .paper import Background, Paper, layout_of, paper_of, pillow
from .stage import Stage, staged_scene

COLOURS = 256
"""Colours of a GIF."""
SAMPLES, MOST = 8, 6
"""Number of pictures of a film from which its colours are chosen, and largest count of one colour in each."""
RARE = 32
"""Number of colours of a GIF that are reserved for those of few pixels, such as colours of lines."""
QUALITY = 82
"""Quality of WebP, of 100."""


def write_gif(path: Path, pictures: Sequence[Any], rate: float, transparent: bool) -> None:
    """Write images of Pillow as a GIF that loops, all with one palette so that parts at rest do not flicker."""
    image, _, _ = pillow()
    palette = _palette(pictures, COLOURS - transparent)
    frames = []
    for picture in pictures:
        frame = picture.convert("RGB").quantize(palette=palette, dither=image.Dither.NONE)
        if transparent:
            frame.paste(COLOURS - 1, mask=picture.getchannel("A").point(lambda cover: 255 * (cover < 128)))
        frames.append(frame)
    options: dict[str, Any] = {"save_all": True, "append_images": frames[1:], "loop": 0, "optimize": False}
    options |= {"transparency": COLOURS - 1, "disposal": 2} if transparent else {"disposal": 1}
    frames[0].save(path, format="GIF", duration=round(1000.0 / rate), **options)


def _palette(pictures: Sequence[Any], colours: int) -> Any:
    """Pillow image with a palette of ``colours`` colours for all pictures of a film, found from some of them.

    It includes the colour of the background, and rare colours.
    """
    image, _, _ = pillow()
    rows = np.unique(np.linspace(0, len(pictures) - 1, SAMPLES).round().astype(int))
    codes, counts = zip(*(_colour_counts(pictures[row]) for row in rows), strict=True)
    paper = codes[0][counts[0].argmax()]
    kept = np.concatenate(
        [np.repeat(of_picture, n.clip(max=MOST)) for of_picture, n in zip(codes, counts, strict=True)]
    )
    samples = np.resize(kept, (len(kept) // 256 + 1, 256))
    most = colours - RARE
    chosen = image.fromarray(_decoded(samples), "RGB").quantize(colors=most, method=image.Quantize.MEDIANCUT)
    palette = np.array(chosen.getpalette()[: 3 * most]).reshape(-1, 3)
    palette[np.abs(palette - _decoded(paper)).sum(axis=1).argmin()] = _decoded(paper)
    palette = np.vstack([palette, _rare(_decoded(np.unique(np.concatenate(codes))).astype(float), palette)])
    chosen.putpalette(palette.astype(np.uint8).tobytes())
    return chosen


def _rare(seen: Array, palette: Array) -> Array:
    """The RARE colours among ``seen`` (n, 3) that differ most from those of a palette (m, 3) and from each other."""
    distances = cdist(seen, palette).min(axis=1)
    rare = []
    for _ in range(RARE):
        rare.append(seen[distances.argmax()])
        distances = np.minimum(distances, np.linalg.norm(seen - rare[-1], axis=1))
    return np.array(rare)


def _colour_counts(picture: Any) -> tuple[Array, Array]:
    """Different colours of an image in ascending order, as integers, and the number of pixels of each colour.

    A colour is 65536 red + 256 green + blue.
    """
    pixels = np.array(picture.convert("RGB")).astype(np.int64)
    colours, counts = np.unique(pixels @ np.array([65536, 256, 1]), return_counts=True)
    return colours, counts


def _decoded(codes: Any) -> Array:
    """RGB colours (…, 3) from the integers of :func:`_colour_counts`."""
    return np.stack([codes >> 16, (codes >> 8) & 255, codes & 255], axis=-1).astype(np.uint8)


def write_webp(path: Path, pictures: Sequence[Any], rate: float, transparent: bool) -> None:
    """Write images of Pillow as a WebP that loops."""
    frames = [picture if transparent else picture.convert("RGB") for picture in pictures]
    options: dict[str, Any] = {
        "save_all": True,
        "append_images": frames[1:],
        "loop": 0,
        "quality": QUALITY,
        "method": 2,
    }
    frames[0].save(path, format="WEBP", duration=round(1000.0 / rate), **options)


def write_mp4(path: Path, pictures: Sequence[Any], rate: float, transparent: bool) -> None:
    """Write images of Pillow as an MP4, which has no transparency.

    Raises ModuleNotFoundError without imageio-ffmpeg.
    """
    try:
        import imageio_ffmpeg
    except ModuleNotFoundError:
        raise ModuleNotFoundError('MP4 needs imageio-ffmpeg: pip install "flexph[view]"') from None
    writer = imageio_ffmpeg.write_frames(str(path), pictures[0].size, fps=rate, quality=8, macro_block_size=2)
    writer.send(None)  # starts the encoder
    try:
        for picture in pictures:
            writer.send(picture.convert("RGB").tobytes())
    finally:
        writer.close()


WRITERS: Mapping[str, Callable[[Path, Sequence[Any], float, bool], None]] = {
    ".gif": write_gif,
    ".webp": write_webp,
    ".mp4": write_mp4,
}
"""Writers by the suffixes of files."""


SIZE = (800, 450)
"""Width and height [pixels]; MP4 needs even numbers."""
RATE = 20
"""Frames of a film per second."""


@checked
def write_picture(
    path: str | Path,
    shown: Any,
    *,
    at: float | None = None,
    field: str | None = None,
    scale: float = 1.0,
    forces: bool = False,
    size: tuple[int, int] = SIZE,
    background: Background = "light",
    account: bool = False,
    towards: tuple[float, float, float] | None = None,
    title: str | None = None,
) -> Path:
    """Write a picture (PNG) of a run or a scene at a time, by default at the largest deformation; return its path.

    Parameters
    ----------
    path : path
        Path of the file.
    shown : Solution or Scene
        Run or scene, or a pair of a mechanism and a pose or state.
    at : float, optional
        Time [s], or number of cycles for vibrations; by default that of the largest deformation.
    field : str, optional
        Name of the coloured field; by default the first one.
    scale : float
        Factor of the deformations.
    forces : bool
        True to show weights and joint forces as arrows.
    size : tuple[int, int]
        Width and height in pixels.
    background : {"light", "dark", "transparent"}
        Background of the picture.
    account : bool
        True to draw the energies of the run below.
    towards : tuple[float, float, float], optional
        Direction from the mechanism to the viewer; by default from the front in the plane, from above in space.
    title : str, optional
        Heading; by default that of the scene. With an empty heading, pictures have no texts.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    ModuleNotFoundError
        If Pillow is missing; the message names the extra to install.

    Examples
    --------
    ``write_picture("arm.png", solution, at=0.5)``
    """
    refuse_suffix("a picture", path, (".png",))
    scene = as_scene(shown, FRAMES, scale=scale, forces=forces)
    options: dict[str, Any] = {"size": size, "background": background, "account": account, "towards": towards}
    film = Film(scene, field, title=title, **options)
    row = telling_row(film.scene) if at is None else _row_at(scene, at)
    with staged(path) as part:
        film[row].save(part, format="PNG")
    return Path(path)


@checked
def write_film(
    path: str | Path,
    shown: Any,
    *,
    field: str | None = None,
    scale: float = 1.0,
    forces: bool = False,
    frames: int = FRAMES,
    size: tuple[int, int] = SIZE,
    rate: float = RATE,
    background: Background = "light",
    account: bool = False,
    towards: tuple[float, float, float] | None = None,
    title: str | None = None,
) -> Path:
    """Write a run or a scene as a film, GIF, WebP or MP4 by the suffix of the path; return its path.

    Parameters
    ----------
    path : path
        Path of the film, with the suffix ``.gif``, ``.webp`` or ``.mp4``.
    shown : Solution or Scene
        Run or scene to show.
    field : str, optional
        Name of the coloured field; by default the first one.
    scale : float
        Factor of the deformations.
    forces : bool
        True to show weights and joint forces as arrows.
    frames : int
        Largest number of times shown.
    size : tuple[int, int]
        Width and height in pixels.
    rate : float
        Frames a second.
    background : {"light", "dark", "transparent"}
        Background of the film; MP4 has no transparency.
    account : bool
        True to draw the energies of the run below.
    towards : tuple[float, float, float], optional
        Direction from the mechanism to the viewer; by default from the front in the plane, from above in space.
    title : str, optional
        Heading; by default that of the scene. With an empty heading, pictures have no texts.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    ModuleNotFoundError
        If Pillow, or for MP4 imageio-ffmpeg, is missing; the message names the extra to install.

    Examples
    --------
    ``write_film("arm.gif", solution, scale=10.0)``
    """
    refuse_suffix("a film", path, tuple(WRITERS))
    suffix = Path(path).suffix.lower()
    if suffix == ".mp4" and (size[0] % 2 or size[1] % 2 or background == "transparent"):
        raise ValueError(
            f"MP4 needs an even width and height and a background that is not transparent, got {size}, {background!r}"
        )
    check.positive("rate", rate, "1/s")
    scene = as_scene(shown, check.count("frames", frames), scale=scale, forces=forces)
    options: dict[str, Any] = {"size": size, "background": background, "account": account, "towards": towards}
    film = Film(scene, field, title=title, **options)
    with staged(path) as part:
        WRITERS[suffix](part, film, rate, background == "transparent")
    return Path(path)


class Film(Sequence[Any]):
    """Sequence of Pillow images, one for each time of a scene.

    An image is drawn when it is accessed.
    """

    def __init__(
        self,
        scene: Scene,
        field: str | None,
        *,
        size: tuple[int, int],
        background: Background,
        account: bool,
        towards: tuple[float, float, float] | None = None,
        title: str | None = None,
    ) -> None:
        for side, length in zip(("width of size", "height of size"), size, strict=True):
            check.count(side, length, least=16)
        if account and scene.account is None:
            raise ValueError("account must be False without an energy account, got True")
        if towards is not None and not np.any(check.array("towards", towards, (3,))):
            raise ValueError("towards must be a direction, got zeros")
        self.scene = with_triangles(scene)
        if not self.scene.parts:
            raise ValueError("shown must hold parts that are drawn, got none")
        self.labels = title is None or bool(title)
        name = shown_field(self.scene, field)
        layout = layout_of(size, field=name is not None, account=account, labels=self.labels)
        heading = title or scene.title
        self.paper: Paper = paper_of(self.scene, layout, background, field=name, title=heading if self.labels else "")
        dark = background == "dark"
        self.stage: Stage = staged_scene(self.scene, name, size=size, window=layout.window, dark=dark, towards=towards)
        self.shadows = background != "transparent"

    def __len__(self) -> int:
        return len(self.scene.times)

    def __getitem__(self, row: Any) -> Any:
        if not -len(self) <= row < len(self):
            raise IndexError(row)
        picture = self.stage.drawn(row)
        shadow = self.stage.shadow(row) if self.shadows else np.zeros(picture.shape[:2])
        words = caption(self.scene, row) if self.labels else ""
        return self.paper.finished(self.paper.under(picture, shadow), words, float(self.scene.times[row]))

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))


def _row_at(scene: Scene, at: float) -> int:
    """Index of the time of a scene that is nearest to ``at``; raises ValueError for a time outside of the run."""
    first, last = scene.times[[0, -1]]
    if not first <= at <= last:
        raise ValueError(f"at must be a time of the run, from {first:.6g} s to {last:.6g} s, got {at:.6g} s")
    return int(np.abs(scene.times - at).argmin())
