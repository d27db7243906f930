"""Assembly of bodies and connections into the flat arrays of the kernels.

Imports: bodies, contacts, discrete_gradients, joints.rows, kernels, kernels.contacts, kernels.rates, laws, numerics,
numerics.factors.
"""
