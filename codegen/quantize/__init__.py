# SPDX-License-Identifier: Apache-2.0
"""Recipes: how weights become tables and which operand types the ops use. One recipe a file."""

from __future__ import annotations

from ..errors import EtchError
from .fp32 import Fp32
from .recipe import Recipe
from .w4a8 import W4A8
from .w8a8 import W8A8

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (W8A8(), W4A8(), Fp32())}
EMBEDDING_BITS = (8, 4)


def choose_recipe(name: str, embedding_bits: int = 8) -> Recipe:
    """The recipe `name` with embedding tables of so many bits. Those of fp32 are float."""
    recipe = RECIPES[name]
    if embedding_bits == 8:
        return recipe
    if not isinstance(recipe, W8A8):
        raise EtchError("embedding-bits", "arguments", f"recipe {name} has float tables: leave --embedding-bits out")
    return type(recipe)(embedding_bits)
