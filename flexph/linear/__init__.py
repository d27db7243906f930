"""Linear systems: elimination of constraints, projection, second order, standard forms.

Imports: numerics, numerics.factors, systems.
"""
