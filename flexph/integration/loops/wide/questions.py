"""Questions of loops to Python by their numbers: about the linear system of a sparse border, and laws of solids."""

FACTOR, SOLVE = 0, 1
"""Factor the border, and solve for what is in its place."""
MEAN, ENERGY, SLOPE, TANGENT = 2, 3, 4, 5
"""Mean stresses over a step, energies, and slopes of the stresses over the step and at its end."""
