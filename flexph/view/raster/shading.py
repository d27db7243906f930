"""Light, shadows and outlines of a picture, and averaging of dots to pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Array
from .blur import blurred
from .dots import Dots

LIGHT = np.array([-0.42, 0.62, 0.66])
"""Direction towards the light, to the right, up and towards the reader."""
AMBIENT, DIFFUSE, SHINE, GLOSS = 0.52, 0.56, 0.22, 26.0
"""Factors of ambient light, of diffuse light and of its reflection, and the exponent that makes the reflection
sharp."""
HALO, DARKEST = 5.0, 0.45
"""Width [dots] of the shade that a surface casts on surfaces behind it, and the largest darkening by it."""
OUTLINE, CREASE = 0.5, 0.22
"""Darkening by the lines around parts, and by those along their edges."""
EDGE = 0.6
"""Cosine of the angle between normals below which a line is drawn."""


@dataclass(frozen=True, eq=False)
class Paint:
    """Colours: of parts (parts, 3), of a field (n, 3) from its smallest to its largest value, and of lines (3,)."""

    parts: Array
    field: Array
    line: Array


def painted(dots: Dots, normals: Array, shares: Array, owner: Array, *, paint: Paint, size: tuple[int, int]) -> Array:
    """Picture of the shaded visible dots, RGBA (height, width, 4); zero where no part is seen.

    At each of the n dots: ``normals`` (n, 3) of the surface in the axes of the view, ``shares`` (n,) of the field
    between its smallest (0) and largest value (1), negative without a field, and ``owner`` (n,), the index of the part.
    """
    width, height = size
    unit = _towards_reader(normals)
    base = paint.parts[owner]
    if len(paint.field):
        own = np.flatnonzero(shares >= 0.0)
        base[own] = paint.field[(shares[own].clip(0.0, 1.0) * (len(paint.field) - 1)).astype(int)]
    lit = _lit(base, unit)
    lit += _lines(dots, unit, owner, size)[dots.number, None] * (paint.line - lit)
    picture = np.zeros((height * width, 4), dtype=np.float32)
    picture[dots.number, :3] = lit
    picture[dots.number, 3] = 1.0
    return picture.reshape(height, width, 4)


def _towards_reader(normals: Array) -> Array:
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    unit = normals / np.maximum(lengths, np.float32(1e-30))
    unit[unit[:, 2] < 0.0] *= -1.0
    return np.asarray(unit)


def _lit(base: Array, normals: Array) -> Array:
    """Colours (n, 3) of surfaces under diffuse light, light of the sky and reflection."""
    light = (LIGHT / np.linalg.norm(LIGHT)).astype(np.float32)
    half = light + np.array([0.0, 0.0, 1.0], dtype=np.float32)
    half /= np.linalg.norm(half)
    diffuse = DIFFUSE * np.maximum(normals @ light, 0.0) + AMBIENT * (0.86 + 0.14 * normals[:, 1])
    shine = SHINE * np.maximum(normals @ half, 0.0) ** GLOSS
    return np.asarray(base * diffuse[:, None] + shine[:, None]).clip(0.0, 1.0)


def _lines(dots: Dots, normals: Array, owner: Array, size: tuple[int, int]) -> Array:
    """Cover (height·width,) by lines, 0 to 1: between parts, along the silhouette, and along edges of one part."""
    width, height = size
    numbers = np.full(height * width, -1, dtype=np.int32)
    numbers[dots.number] = np.arange(len(dots.number))
    lines = np.zeros(height * width, dtype=np.float32)
    column = dots.number % width
    for step, inside in ((1, column < width - 1), (width, dots.number < width * (height - 1))):
        here = np.flatnonzero(inside)
        there = numbers[dots.number[here] + step]
        other = np.where(there >= 0, owner[there], -1)
        apart = owner[here] != other
        bent = np.flatnonzero(~apart)
        bent = bent[np.einsum("ij,ij->i", normals[here[bent]], normals[there[bent]]) < EDGE]
        first = dots.number[here[bent]]
        lines[first] = np.maximum(lines[first], np.float32(CREASE))
        outer = dots.number[here[apart]]
        lines[outer] = lines[outer + step] = OUTLINE
    alone = numbers[(dots.number - 1).clip(0)] < 0, numbers[(dots.number - width).clip(0)] < 0
    lines[dots.number[alone[0] | alone[1]]] = OUTLINE
    return lines


def occlusion(depth: Array, reach: float) -> Array:
    """Factors (height, width) that darken surfaces behind something near them, from the blurred depths.

    Luft, Colditz and Deussen, Image enhancement by unsharp masking the depth buffer, SIGGRAPH 2006.
    """
    behind = (blurred(depth, HALO) - depth) / reach
    return np.asarray(1.0 - behind.clip(0.0, DARKEST))


def pixels(dots: Array, finer: int) -> Array:
    """Picture of pixels, each the mean of finer × finer dots of (height, width, n)."""
    blocks = sum(dots[i::finer, j::finer] for i in range(finer) for j in range(finer))
    return np.asarray(blocks) * np.float32(1.0 / finer**2)
