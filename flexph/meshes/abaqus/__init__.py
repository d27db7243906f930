"""Input files of Abaqus and CalculiX: keywords, parts and instances, masses, and what is not taken.

Imports: meshes, numerics.
"""
