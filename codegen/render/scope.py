# SPDX-License-Identifier: Apache-2.0
"""Where a statement of the generated passes stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jinja2 import Environment

from ..ir import program as p
from .shapes import HEADS
from .text import constant


@dataclass(frozen=True)
class Scope:
    """Where an op stands: how its weights and rows are called there."""

    environment: Environment
    indent: int
    layer: str | None = None  # the loop variable
    block: bool = False
    blocks_fit: bool = True  # kRowBlock rows keep what they compute in the second cache
    texts: str = "texts"
    text: bool = False  # one text's rows, handed in under the buffer's name
    masks: bool = False  # a block of one text's masks
    only: bool = False  # of a block the rows of a text that are global
    step: bool = False  # the row of a token that is written,
    beams: bool = False  # or one of each beam
    heads: Mapping[str, str] = field(default_factory=dict)  # what the constants of caches are called by
    embeddings: Mapping[str, str] = field(default_factory=dict)  # and those of embedding sums, by what they write

    def view(self, buffer: p.Buffer) -> str:
        """A buffer as an op here sees it."""
        if buffer.layers > 1:
            return buffer.name  # those of the layer, handed in under the buffer's name
        storages = ("f32", "quantized") if self.text else ("f32",) if self.block else ()
        sliced = buffer.rows == "tokens" and buffer.storage in storages
        name = buffer.name if sliced else f"a.{buffer.name}"
        return f"{name}.from(row)" if self.only and buffer.storage not in p.CACHES else name

    def weights(self, slot: p.WeightSlot) -> str:
        """The struct of a slot."""
        return f"{self.layer}.{slot.name}" if self.layer and not slot.common else constant(slot.name)

    def rows(self, buffer: p.Buffer) -> str:
        """How many rows an op computes of what it writes."""
        if self.only:
            rows = "rows.count"
        elif self.block or self.masks or self.beams:
            rows = "block.count"
        else:
            rows = "count" if buffer.rows == "tokens" and not self.text else "1"
        if buffer.times == 1:
            return rows
        return str(buffer.times) if rows == "1" else f"{buffer.times} * {rows}"

    def shape(self, cache: p.Buffer) -> str:
        """The constant of the heads of a cache."""
        return constant(self.heads.get(cache.name, HEADS))

    def texts_of(self, rows: p.Rows) -> str:
        """Whose rows they are: those of a step, or of the text that it attends to."""
        return "steps" if self.step and rows != "tokens" else self.texts

    def statement(self, template: str, values: Mapping[str, str | None]) -> str:
        """One call, from the template of its op."""
        return self.environment.get_template(f"ops/{template}.j2").render(values).strip()
