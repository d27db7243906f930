"""Multipliers to SI units."""

import math

mm = 1e-3
inch = 0.0254
deg = math.pi / 180.0
