"""Linear controllers as transfer functions of errors: compensators, filters, regulators and their margins.

Imports: control, exchange, linear, numerics, sensors, systems.
"""
