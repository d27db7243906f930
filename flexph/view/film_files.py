"""Films as files: GIF and WebP by Pillow, MP4 by imageio-ffmpeg (extra ``view``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..numerics.arrays import Array
from .paper import pillow

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
    """Image that holds a palette of the colours of some of the pictures; the background's colour is among them."""
    image, _, _ = pillow()
    rows = np.unique(np.linspace(0, len(pictures) - 1, SAMPLES).round().astype(int))
    codes, counts = zip(*(_coded(pictures[row]) for row in rows), strict=True)
    paper = codes[0][counts[0].argmax()]
    kept = np.concatenate([np.repeat(own, n.clip(max=MOST)) for own, n in zip(codes, counts, strict=True)])
    samples = np.resize(kept, (len(kept) // 256 + 1, 256))
    most = colours - RARE
    chosen = image.fromarray(_decoded(samples), "RGB").quantize(colors=most, method=image.Quantize.MEDIANCUT)
    own = np.array(chosen.getpalette()[: 3 * most]).reshape(-1, 3)
    own[np.abs(own - _decoded(paper)).sum(axis=1).argmin()] = _decoded(paper)
    own = np.vstack([own, _rare(_decoded(np.unique(np.concatenate(codes))).astype(float), own)])
    chosen.putpalette(own.astype(np.uint8).tobytes())
    return chosen


def _rare(seen: Array, palette: Array) -> Array:
    """Colours out of ``seen`` that are farthest from all of a palette and from each other."""
    distances = cdist(seen, palette).min(axis=1)
    rare = []
    for _ in range(RARE):
        rare.append(seen[distances.argmax()])
        distances = np.minimum(distances, np.linalg.norm(seen - rare[-1], axis=1))
    return np.array(rare)


def _coded(picture: Any) -> tuple[Array, Array]:
    """Colours of an image as numbers, and how many pixels have each."""
    pixels = np.array(picture.convert("RGB")).astype(np.int64)
    colours, counts = np.unique(pixels @ np.array([65536, 256, 1]), return_counts=True)
    return colours, counts


def _decoded(codes: Any) -> Array:
    """Colours (…, 3) from their numbers."""
    return np.stack([codes >> 16, (codes >> 8) & 255, codes & 255], axis=-1).astype(np.uint8)


def write_webp(path: Path, pictures: Sequence[Any], rate: float, transparent: bool) -> None:
    """Write images of Pillow as a WebP that loops."""
    own = [picture if transparent else picture.convert("RGB") for picture in pictures]
    options: dict[str, Any] = {"save_all": True, "append_images": own[1:], "loop": 0, "quality": QUALITY, "method": 2}
    own[0].save(path, format="WEBP", duration=round(1000.0 / rate), **options)


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
