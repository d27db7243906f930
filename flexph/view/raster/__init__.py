"""Pictures of scenes by numpy: shaded, with outlines and shadows, smooth at their edges; no graphics library is needed.

Imports: numerics, scenes, view.
"""
