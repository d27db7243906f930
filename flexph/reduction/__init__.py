"""Model order reduction of linear port-Hamiltonian systems with their structure kept."""

from .api import reduce
from .assessment import Assessment, Certificate, assess, certify

__all__ = ["Assessment", "Certificate", "assess", "certify", "reduce"]
