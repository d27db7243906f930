"""Result folders as parameters of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


class Folder(click.Path):
    """Path of a result folder; empty text, as from an unset shell variable, is refused."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Path from the given text; an error if it is empty."""
        if value == "":
            self.fail("the folder has no name", param, ctx)
        return super().convert(value, param, ctx)
