"""XML of others: without document types, whose entities multiply a text or read other files, and not nested deeply."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from xml.parsers import expat

DEEPEST = 1000
"""Levels of elements in elements: readers of them call themselves."""


def parsed(path: str | os.PathLike[str]) -> ET.Element:
    """The root of an XML file; ValueError for one with a document type or deep nesting, ParseError for no XML."""
    content = Path(path).read_bytes()
    refuse_entities(content)
    return ET.fromstring(content)


def refuse_entities(content: bytes) -> None:
    """Raise ValueError for XML with a document type, or nested deeply; what is no XML is left to its reader."""
    depth = 0

    def refuse(*_: Any) -> None:
        raise ValueError("it has a document type, which is not read: remove <!DOCTYPE …>")

    def enter(*_: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ValueError(f"its elements are nested deeper than {DEEPEST} levels")

    def leave(*_: Any) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = enter, leave
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:  # readers that go on behind an error would come to it
            refuse()
