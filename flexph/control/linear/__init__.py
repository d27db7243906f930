"""Linear controllers as transfer functions of errors: compensators, filters, regulators and their margins.

Imports: control, control.laws, exchange, linear, mechanisms, mechanisms.model, numerics, sensors, systems.
"""
