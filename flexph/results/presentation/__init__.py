"""Results for people and for other packages: what is kept beside a saved run.

Imports: numerics.
"""
