"""The sections of a model file as pydantic models: names and units, and how each entry is built.

An entry has the arguments of the Python function that makes its value, under their names; those that are left out have
the defaults of that function. Kinds of bodies, materials and cross sections come from the packages that make them,
under the entry-point group ``flexph.model_files``.

Imports: bodies, bodies.foreign, bodies.saved, contacts, control, control.linear, integration.methods, joints,
joints.rows, laws, models.reading, models.values, sensors, systems, units.
"""
