"""Generator of the C declarations of the memory from its Python fields.

It is run by ``python -m flexph.integration.loops.memory.declaration``.

Writes memory.pxd, paired.pxd and recorded.pxd. For a complex system the fields of :data:`.memory.SYSTEMS` are complex;
in recorded.pxd all floats are recorded numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .memory import FIELDS, SYSTEMS
from .workspace import SPANS

VIEWS = {"float64": ("Vec", "Vec", "Mat", "Ten"), "complex128": ("CVec", "CVec", "CMat", "CTen")}
VIEWS |= {"recorded": ("RVec", "RVec", "RMat", "RTen")}
WHOLE = "IVec", "IVec", "IMat", "ITen"
"""Types of views by the number of indices; numbers are vectors of one entry."""
FUNCTION = """
cdef inline {name}* {function}(IVec addresses, Py_ssize_t k) noexcept nogil:
    return <{name}*>addresses[k]
"""


def declared(name: str, function: str, kind_of: Callable[[str], str]) -> str:
    """Text of a declaration file: the C structure of a memory, and the function that casts its address to a pointer.

    ``name`` and ``function`` are their names, ``kind_of`` returns the kind of the floats of a field or a span.
    """
    lines = []
    for field, entries in FIELDS.items():
        views = VIEWS[kind_of(field)] if entries.kind == "float64" else WHOLE
        lines.append(f"    {views[entries.axes]} {field}")
    lines += [f"    {VIEWS[kind_of(f'{span}_')][0]} {span}" for span in SPANS]
    named = sorted({line.split()[0] for line in lines} | {"IVec"})
    of_views = [view for view in named if view[0] != "R"]
    head = f"# Written by memory/declaration.py.\nfrom ....numerics.loops.views cimport {', '.join(of_views)}\n"
    if len(of_views) < len(named):
        head += f"from ....numerics.loops.recorded cimport {', '.join(view for view in named if view[0] == 'R')}\n"
    structure = f"\ncdef struct {name}:\n" + "\n".join(lines) + "\n"
    return head + structure + FUNCTION.format(name=name, function=function)


def _complex(field: str) -> str:
    return "complex128" if field.startswith(SYSTEMS) else "float64"


def files() -> dict[Path, str]:
    """Text of each declaration file, by its path."""
    folder = Path(__file__).parent
    return {
        folder / "memory.pxd": declared("Memory", "stage", lambda field: "float64"),
        folder / "paired.pxd": declared("ComplexMemory", "paired", _complex),
        folder / "recorded.pxd": declared("RecordedMemory", "recorded", lambda field: "recorded"),
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
