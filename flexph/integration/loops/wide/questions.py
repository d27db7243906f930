"""Numbers of the questions of loops to Python: linear systems, products of large bodies, laws of solids."""

FACTOR, SOLVE = 0, 1
"""Factor the border, and solve with it in place."""
MEAN, ENERGY, SLOPE, TANGENT = 2, 3, 4, 5
"""Mean stresses over a step, energies, and slopes of the stresses over the step and at its end."""
PRODUCTS, VISCOUS, STRAIN, RESIST = 6, 7, 8, 9
"""For coordinates of large bodies: inertia products, constant damping, strain rates, and elastic and damping forces."""
