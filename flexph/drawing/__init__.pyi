"""The public names of :mod:`flexph.drawing`: each is loaded when it is asked for."""

from .shapes import Shape as Shape
from .shapes import SweptSection as SweptSection
from .shapes import box_shape as box_shape
from .shapes import cylinder_shape as cylinder_shape
from .shapes import merged_shapes as merged_shapes
from .shapes import sphere_shape as sphere_shape
