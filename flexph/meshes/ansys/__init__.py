"""Reading of Ansys archives (.cdb): blocks of nodes, elements, components and materials. No command is run.

Imports: meshes, numerics.
"""
