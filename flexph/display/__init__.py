"""Values for notebooks and for other packages: tables of HTML, labelled arrays, and bars of progress.

Imports: no other room.
"""
