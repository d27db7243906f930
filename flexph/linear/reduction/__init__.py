"""Model order reduction of linear port-Hamiltonian systems with their structure kept.

Imports: linear, linear.modes, linear.responses, numerics, numerics.factors, systems.
"""

from .assessment import Assessment, Certificate, assess, certify
from .reduce import reduce

__all__ = ["Assessment", "Certificate", "assess", "certify", "reduce"]
