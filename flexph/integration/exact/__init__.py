"""Steps of the exact scheme of mechanisms by the NumPy kernels, its compositions, and what is recorded of them.

Imports: bodies, contacts, control, integration.methods, integration.times, joints.rows, kernels, kernels.convergence,
kernels.gauss, kernels.jacobians, kernels.rates, mechanisms, mechanisms.arrays, mechanisms.model, mechanisms.poses,
numerics, numerics.factors, results, systems.
"""
