"""The equations of a mechanism on flat arrays, in NumPy.

All functions take and return flat arrays; bodies, joints and mechanisms do not appear here. The tolerances of a step
are here, too. Imports: discrete_gradients, kernels.contacts, kernels.convergence, kernels.loads, kernels.rates, laws,
numerics, systems.
"""
