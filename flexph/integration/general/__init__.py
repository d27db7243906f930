"""Integration methods for general port-Hamiltonian descriptor systems."""
