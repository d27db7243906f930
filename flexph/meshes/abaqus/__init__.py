"""Reading of Abaqus and CalculiX input files: keywords, parts, instances, masses, and unsupported features.

Imports: meshes, numerics.
"""
