"""Controllers at ports that keep the structure: feedback, damping, springs, observers.

Imports: interconnection, numerics, numerics.factors, systems.
"""
