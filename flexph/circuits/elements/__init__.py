"""Elements of circuits between nodes, and their laws, one kind per file.

Imports: laws, numerics, systems.
"""
