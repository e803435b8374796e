# SPDX-License-Identifier: Apache-2.0
"""Layers of two kinds: some see all tokens, the others those nearby, and each kind has angles of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...ir.graph import ByLayer, Parameter, Rotary
from ...load.config import Config
from . import parts
from .masks import Masks, of_layers
from .rotary import Angles, angles_in, rotary_tables

FULL, SLIDING = "full_attention", "sliding_attention"
_TABLES = {FULL: "global", SLIDING: "local"}
Tables = Mapping[str, tuple[Parameter, Parameter]]  # cosines and sines by kind


def layer_kinds(config: Config, usual: tuple[str, ...], known: tuple[str, ...] = (FULL, SLIDING)) -> tuple[str, ...]:
    """What each layer is of the kinds that are `known`, `usual` where the configuration does not name it."""
    if config.values.get("layer_types") is None:
        return usual
    kinds = config.strings("layer_types")
    if len(kinds) != len(usual) or not set(kinds) <= set(known):
        raise parts.refuse("layers-out-of-range", f"layer_types: expected {len(usual)} of {' or '.join(known)}")
    return kinds


def every_so_manyth(config: Config, every: int) -> tuple[str, ...]:
    """Of all layers, each `every`-th full, those between sliding."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    return tuple(SLIDING if (layer + 1) % every else FULL for layer in range(layers))


def older_scaling(config: Config) -> dict[str, object] | None:
    """Of full layers, as older files have it."""
    scaling = config.values.get("rope_scaling")
    if scaling is not None and not isinstance(scaling, dict):
        raise parts.refuse("rotary-not-supported", "rope_scaling: expected an object")
    return scaling


def angles_by_kind(
    config: Config,
    thetas: Mapping[str, tuple[str | None, float]],
    positions: int,
    scaling: Mapping[str, Any] | None = None,
    read: Callable[[Any, str, float, int], Angles] = angles_in,
) -> dict[str, Angles]:
    """`thetas` are of each kind an older file's key for its theta, if it has one, and the usual one; `scaling` is what
    such a file says of the layers that see everything, and counts over the rest. `read` makes angles of an object, its
    key, theta and positions."""
    named = config.values.get("rope_parameters")
    if named is not None and (not isinstance(named, dict) or not set(named) <= {FULL, SLIDING}):
        raise parts.refuse("rotary-not-supported", f"rope_parameters: expected an object of {FULL} and {SLIDING}")
    found = {}
    for kind, (key, usual) in thetas.items():
        said = ({"rope_type": "default"} if named is None else named.get(kind)) or {}
        if kind == FULL and scaling is not None and isinstance(said, dict):
            said = {**said, **scaling}
        theta = usual if key is None else config.number(key, usual)
        found[kind] = read(said, kind, theta, positions)
    return found


def tables_by_kind(angles: Mapping[str, Angles], kinds: Sequence[str], max_tokens: int, width: int) -> Tables:
    """Of the kinds that there are, for heads of `width` values."""
    return {kind: rotary_tables(_TABLES[kind], angles[kind], max_tokens, width) for kind in angles if kind in kinds}


@dataclass(frozen=True)
class Seen:
    """What `Rotary` and `Attention` of layers take."""

    cosines: tuple[Parameter, ...]
    sines: tuple[Parameter, ...]
    table: int | ByLayer
    masks: Masks

    def at(self, layer: int) -> tuple[Any, ...]:
        """What a layer has of its own: angles, mask and window."""
        found = (self.table, self.masks.mask, self.masks.window)
        return tuple(of.values[layer] if isinstance(of, ByLayer) else of for of in found)

    def of(self, layer: int) -> Seen:
        """That of layers that have the same as this one."""
        table, mask, window = self.at(layer)
        return replace(self, table=table, masks=replace(self.masks, mask=mask, window=window))

    def turned(self, value: str, heads: int) -> Rotary:
        """Queries or keys, by the angles of their layer."""
        return Rotary(self.cosines, self.sines, heads, value, self.table)


def seen_by_kind(kinds: Sequence[str], tables: Tables, masks: Masks) -> Seen:
    """Of layers of these kinds."""
    used = sorted(set(kinds))
    cosines, sines = (tuple(tables[kind][i] for kind in used) for i in (0, 1))
    return Seen(cosines, sines, of_layers([used.index(kind) for kind in kinds]), masks)


def windows_by_kind(kinds: Sequence[str], window: int) -> list[int | None]:
    """Of layers that have one where they do not see everything."""
    return [window if kind == SLIDING else None for kind in kinds]
