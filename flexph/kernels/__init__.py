"""The equations of a mechanism on flat arrays, in NumPy.

Flat arrays in, flat arrays out: nothing here knows of bodies, joints or mechanisms. Tolerances of a step are here too.
Imports: discrete_gradients, kernels.contacts, kernels.convergence, kernels.loads, kernels.rates, laws, numerics,
systems.
"""
