"""Questions of loops to Python by their numbers: linear systems and products of large bodies, laws of solids."""

FACTOR, SOLVE = 0, 1
"""Factor the border, and solve for what is in its place."""
MEAN, ENERGY, SLOPE, TANGENT = 2, 3, 4, 5
"""Mean stresses over a step, energies, and slopes of the stresses over the step and at its end."""
PRODUCTS, VISCOUS = 6, 7
"""Inertia products of the coordinates of large bodies, and their constant damping."""
