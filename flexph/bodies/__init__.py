"""Bodies: inertia, elasticity, ports, stress fields, and model reduction.

``Body`` has one floating frame and small strains (modules body, inertia, elasticity, ports), ``NodalBody`` consists of
nodes for large deformations, and ``SplitBody`` of several floating bodies under one name; ``reduce_body`` projects a
body on modes. fem and rigid make bodies, and mechanisms join them; this package does not depend on how their matrices
were computed.

Imports: discrete_gradients, drawing, files, laws, linear, linear.eigenmodes, numerics, numerics.factors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
