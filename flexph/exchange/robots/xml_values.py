"""Elements and numbers of XML files of robots; errors name the element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.parsers import expat

from ...files.reading import refuse_entities
from ...numerics import checks as check

Element = ElementTree.Element


def tree(content: bytes) -> Element:
    """Root element of an XML text.

    Prefixes are not resolved, because some robot files use undeclared ones.
    """
    refuse_entities(content)
    builder, parser = ElementTree.TreeBuilder(), expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(content, True)
    return builder.close()


def named(root: Element, tag: str) -> list[tuple[str, Element]]:
    """Child elements ``tag`` with their names; raises ValueError for missing or repeated names."""
    known: dict[str, Element] = {}
    for number, element in enumerate(root.findall(tag), 1):
        name = element.get("name", "")
        if not name:
            raise ValueError(f"{tag} number {number} of the file must have a name")
        if name in known:
            raise ValueError(f"the file has two {tag}s named {name!r}")
        known[name] = element
    return list(known.items())


def only(element: Element, tag: str, where: str) -> Element | None:
    """Child element ``tag``, None if there is none; raises ValueError for several."""
    children = element.findall(tag)
    if len(children) > 1:
        raise ValueError(f"{where} must have one {tag}, got {len(children)}")
    return children[0] if children else None


def parsed(words: Sequence[str], where: str, what: str, *, endless: bool = False) -> list[float]:
    """Numbers from words, which must be finite unless ``endless``; raises ValueError for other words.

    In the error, ``what`` names the number and ``where`` the element.
    """
    values = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            hint = ": expand it first, by the suffix .xacro" if "$" in word else ""
            raise ValueError(f"{what} of {where} must be a number, got {check.shown(word)}{hint}") from None
        if math.isnan(value) or (math.isinf(value) and not endless):
            raise ValueError(f"{what} of {where} must be finite, got {word.strip()}")
        values.append(value)
    return values
