"""Controllers at ports that keep the port-Hamiltonian structure: feedback, damping, springs, observers.

Imports: control.loops, discretisation, files, interconnection, kernels, laws, mechanisms.model, numerics,
numerics.factors, numerics.loops, sensors, systems, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
