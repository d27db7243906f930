"""Equations of a general system with their hidden conditions, and starts that meet them.

Residuals and rates for libraries of solvers; multipliers of index 2 from the rates of constraints.
Imports: discretisation, numerics, systems.
"""
