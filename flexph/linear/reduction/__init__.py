"""Model order reduction of linear port-Hamiltonian systems with their structure kept."""

from .assessment import Assessment, Certificate, assess, certify
from .reduce import reduce

__all__ = ["Assessment", "Certificate", "assess", "certify", "reduce"]
