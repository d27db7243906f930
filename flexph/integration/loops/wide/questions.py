"""Questions of loops to Python by their numbers: linear systems and products of large bodies, laws of solids."""

FACTOR, SOLVE = 0, 1
"""Factor the border, and solve for what is in its place."""
MEAN, ENERGY, SLOPE, TANGENT = 2, 3, 4, 5
"""Mean stresses over a step, energies, and slopes of the stresses over the step and at its end."""
PRODUCTS, VISCOUS, STRAIN, RESIST = 6, 7, 8, 9
"""Of the coordinates of large bodies: inertia products, constant damping, rates of strain, all that resists them."""
