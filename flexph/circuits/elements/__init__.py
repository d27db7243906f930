"""Elements of circuits between nodes and their laws, one kind a file.

Imports: numerics, systems.
"""
