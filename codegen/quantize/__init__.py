# SPDX-License-Identifier: Apache-2.0
"""Recipes: how weights become tables and which operand types the ops use. One recipe a file."""

from __future__ import annotations

from .fp32 import Fp32
from .recipe import Recipe
from .w8a8 import W8A8

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (W8A8(), Fp32())}
