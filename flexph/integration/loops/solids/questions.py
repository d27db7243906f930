"""Questions of loops about the laws of solids, by their numbers; those before are of the linear system (loops.wide)."""

MEAN, ENERGY, SLOPE, TANGENT = 2, 3, 4, 5
"""Mean stresses over a step, energies, and slopes of the stresses over the step and at its end."""
