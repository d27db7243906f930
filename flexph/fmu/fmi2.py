"""Unit of FMI 2, run by pythonfmu."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import SubElement

from pythonfmu import DefaultExperiment, Fmi2Causality, Fmi2Slave, Fmi2Variability, Real

from .slave import MechanismUnit


class Fmi2Mechanism(MechanismUnit, Fmi2Slave):
    """Slave of FMI 2, from which the class of a written unit derives, with the name of the model."""

    def _experiment(self, **times: float) -> Any:
        return DefaultExperiment(**times)

    def _add(self, name: str, causality: str, getter: Any, setter: Any = None) -> None:
        variability = Fmi2Variability.fixed if causality == "parameter" else Fmi2Variability.continuous
        kind = Fmi2Causality[causality]
        variable = Real(name, causality=kind, variability=variability, getter=getter, setter=setter)
        self.register_variable(variable, nested=False)

    def to_xml(self, *options: Any) -> Any:
        """XML description of the unit, with the outputs among the initial unknowns, as FMI 2 requires."""
        root = super().to_xml(*options)
        outputs = root.find("ModelStructure/Outputs")
        if outputs is not None:
            known = SubElement(root.find("ModelStructure"), "InitialUnknowns")
            for unknown in outputs:
                SubElement(known, "Unknown", attrib=dict(unknown.attrib))
        return root

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Take one step of the method with the current inputs; return True."""
        self._step(current_time, step_size)
        return True
