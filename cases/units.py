"""Factors from common units to SI units."""

import math

inch = 0.0254
deg = math.pi / 180.0
