"""Linear controllers as transfer functions of errors: compensators, filters, regulators and stability margins.

Imports: control, exchange, linear, mechanisms, mechanisms.model, numerics, sensors, systems.
"""
