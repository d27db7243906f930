"""Sections of a model file as pydantic models with names and units, and the construction of each entry.

The fields of an entry are the arguments of the Python function that it calls; omitted ones have that function's
defaults. Kinds of bodies, materials and cross sections come from the packages that implement them, registered under
the entry-point group ``flexph.model_files``.

Imports: bodies, bodies.foreign, changes, contacts, control, control.linear, integration.methods, joints, joints.rows,
laws, models.reading, robots, sensors, units, view.live.
"""
