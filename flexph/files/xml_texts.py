"""Safe parsing of XML files: document type declarations and deep nesting are refused.

Entities of document types can expand to huge texts or read other files.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from xml.parsers import expat

DEEPEST = 1000
"""Largest nesting depth of elements; parsers of nested elements are recursive."""


def parsed(path: str | os.PathLike[str]) -> ET.Element:
    """Root element of an XML file.

    Raises ValueError for a document type declaration or deep nesting, ParseError if the file is not well-formed XML.
    """
    content = Path(path).read_bytes()
    refuse_entities(content)
    return ET.fromstring(content)


def refuse_entities(content: bytes) -> None:
    """Raise ValueError for XML with a document type declaration or deep nesting.

    Malformed XML is left to the parser.
    """
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
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:  # lenient parsers continue after an error and reach it
            refuse()
