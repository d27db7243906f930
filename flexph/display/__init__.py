"""Values for notebooks and for other packages: HTML tables, labelled arrays, and progress bars.

Imports: no other room.
"""
