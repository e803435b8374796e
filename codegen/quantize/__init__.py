# SPDX-License-Identifier: Apache-2.0
"""Recipes: how weights become tables and which operand types the ops use. One recipe a file."""

from __future__ import annotations

from ..errors import EtchError
from ..ir import program as p
from .bits import SEGMENTS, Bits, places_of, width_of
from .fp32 import Fp32
from .recipe import Recipe
from .w4a8 import W4A8
from .w7a8 import W7A8
from .w8a8 import W8A8

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (W8A8(), W7A8(), W4A8(), Fp32())}


def choose_recipe(name: str, embedding_bits: int = 8, bits: Bits | None = None) -> Recipe:
    """The recipe `name` with embedding tables of so many bits, and those of the places that `bits` names. The weights
    of fp32 are float."""
    recipe = RECIPES[name]
    if embedding_bits == 8 and not bits:
        return recipe
    if not isinstance(recipe, W8A8):
        option = "--bits" if bits else "--embedding-bits"
        raise EtchError("float-weights", "arguments", f"recipe {name} has float weights: leave {option} out")
    return type(recipe)(embedding_bits, bits)


def chosen_bits(program: p.Program) -> tuple[int, dict[str, int]]:
    """The `embedding_bits` and `bits` that choose_recipe makes this program with, the fewest places named."""
    recipe = RECIPES[program.recipe]
    if not isinstance(recipe, W8A8):
        return 8, {}
    widths: dict[str, dict[str, int]] = {}
    tables: set[str] = set()
    for place, name, weights in places_of(program):
        if not isinstance(weights.matrix, p.F32Matrix):
            widths.setdefault(name, {})[place] = width_of(weights.matrix)
            if isinstance(weights, p.EmbeddingWeights) and name != SEGMENTS:
                tables.add(name)
    embedding = max(width for name in tables for width in widths[name].values())
    bits: dict[str, int] = {}
    for name, of_places in widths.items():
        otherwise = embedding if name in tables else 8 if name == SEGMENTS else recipe.linear_bits
        alike = len(set(of_places.values())) == 1
        others = {place: width for place, width in of_places.items() if width != otherwise}
        bits |= {name: min(others.values())} if alike and others else others
    return embedding, bits
