"""What the command line prints: tables, JSON, what it says on the way, and output that survives consoles that cannot take it.

Imports: analysis, plot, switching.
"""
