"""Equations as MathML, which browsers show without a script."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ACCENTS = "ˉ˙¨ˆ~"
NAMED = r"&(?!lt;|gt;|amp;)\w+;"
"""Entities of HTML, which XML does not know."""
ET.register_namespace("", NAMESPACE)


def mathml(self: Any, node: nodes.Element) -> None:
    """Visit an equation."""
    block = isinstance(node, nodes.math_block)
    tree = converted(node.astext(), block=block)
    number = f'<span class="eqno">({node["number"]})</span>' if block and node.get("number") else ""
    self.body.append(f'<div class="math" id="{"".join(node["ids"])}">{number}{tree}</div>' if block else tree)
    raise nodes.SkipNode


def _letter(entity: re.Match[str]) -> str:
    return html.unescape(entity[0])


def converted(tex: str, *, block: bool) -> str:
    """LaTeX as MathML by docutils, with two corrections to read it as TeX does.

    Fractions of two digits without braces are 12/…, and the index of a letter with an accent stands below the letter.
    """
    braced = re.sub(r"\\([td]?frac)\s*(\d)\s*(\d)", r"\\\1{\2}{\3}", tex)
    root = ET.fromstring(re.sub(NAMED, _letter, latex2mathml.tex2mathml(braced, as_block=block)))
    for element in list(root.iter(f"{{{NAMESPACE}}}munderover")):
        base, index, accent = element
        if accent.text and accent.text in ACCENTS:
            element.tag = f"{{{NAMESPACE}}}msub"
            accented = ET.Element(f"{{{NAMESPACE}}}mover", {"accent": "true"})
            accented.extend([base, accent])
            element[:] = [accented, index]
    return ET.tostring(root, encoding="unicode")
