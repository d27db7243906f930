"""C declarations of the memory, from its Python fields: ``python -m flexph.integration.loops.memory.declaration``.

Writes memory.pxd and paired.pxd. For a complex system the fields of :data:`.memory.SYSTEMS` are complex.
"""

from __future__ import annotations

from pathlib import Path

from .memory import FIELDS, SYSTEMS
from .workspace import SPANS

VIEWS = {"float64": ("Vec", "Vec", "Mat", "Ten"), "complex128": ("CVec", "CVec", "CMat", "CTen")}
WHOLE = "IVec", "IVec", "IMat", "ITen"
"""Types of views by the number of indices; numbers are vectors of one entry."""
FUNCTION = """
cdef inline {name}* {function}(IVec addresses, Py_ssize_t k) noexcept nogil:
    return <{name}*>addresses[k]
"""


def declared(name: str, function: str, *, is_complex: bool) -> str:
    """Text of the C structure of a memory, and of the function that returns a pointer to it from its address."""
    lines = []
    for field, entries in FIELDS.items():
        kind = "complex128" if is_complex and field.startswith(SYSTEMS) else "float64"
        views = VIEWS[kind] if entries.kind == "float64" else WHOLE
        lines.append(f"    {views[entries.axes]} {field}")
    lines += [f"    {'CVec' if is_complex and f'{span}_'.startswith(SYSTEMS) else 'Vec'} {span}" for span in SPANS]
    named = sorted({line.split()[0] for line in lines} | {"IVec"})
    head = f"# Written by memory/declaration.py.\nfrom ....numerics.loops.views cimport {', '.join(named)}\n\n"
    return head + f"cdef struct {name}:\n" + "\n".join(lines) + "\n" + FUNCTION.format(name=name, function=function)


def files() -> dict[Path, str]:
    """Texts of both declarations by the paths of their files."""
    folder = Path(__file__).parent
    return {
        folder / "memory.pxd": declared("Memory", "stage", is_complex=False),
        folder / "paired.pxd": declared("ComplexMemory", "paired", is_complex=True),
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
