"""Folders for results on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


class Folder(click.Path):
    """A folder for results; an empty text, as of a variable of the shell that is not set, is none."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if value == "":
            self.fail("the folder has no name", param, ctx)
        return super().convert(value, param, ctx)
