"""Systems joined at their ports: wiring, controllers, substructures, feed-through.

Imports: bodies, discretisation, numerics, systems.
"""
