# SPDX-License-Identifier: Apache-2.0
"""How the templates are found and read."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .text import broken, field_lines

_TEMPLATES = Path(__file__).parent.parent / "templates"


@cache  # to compile its templates takes half of a generation
def template_environment(html: bool = False) -> Environment:
    """Of everything that is rendered, of pages with `html`, whose values are escaped; all of a process have the same
    one. A name that nobody gave a value is an error."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=html,  # strings of C++ come escaped by render.text
    )
    environment.filters["fields"] = field_lines
    environment.filters["broken"] = broken
    return environment
