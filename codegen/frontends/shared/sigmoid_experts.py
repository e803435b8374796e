# SPDX-License-Identifier: Apache-2.0
"""Experts as DeepSeek-V3 chooses them (DeepSeek-AI, 2024, arXiv:2412.19437): by sigmoids of their scores, and a stored
bias that counts in nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.experts import ExpertShares
from ...load.config import Config
from . import experts, parts
from .experts import QWEN_NAMES, Beside, Mixture, OneByOne, Stacked, Transposed

LEAST_FACTOR, MOST_FACTOR = 1e-3, 1e3
_ADDED = 1e-20  # to what weights are divided by
_BESIDE = (("mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj"), "mlp.shared_experts.down_proj")


@dataclass(frozen=True)
class Usual:
    """What families call their numbers, and what these are where the configuration does not say them."""

    experts: int | None
    top: int | None
    inner: int
    beside: int | None  # blocks that all rows go through, as one
    counts: tuple[str, ...] = ("n_routed_experts", "num_local_experts")
    beside_key: str = "n_shared_experts"
    normalized: bool | None = True  # None: always, whatever is said
    factor_key: str = "routed_scaling_factor"
    factor: float = 1.0
    groups: tuple[int, int] = (1, 1)  # of experts, and how many of them a row's may be of


def mixture_in(
    config: Config,
    usual: Usual,
    dense: frozenset[int] = frozenset(),
    names: tuple[OneByOne | Stacked | Transposed, ...] = QWEN_NAMES,
    chosen_by: tuple[str, ...] = ("mlp.gate.e_score_correction_bias",),
    beside: tuple[tuple[str, str], str] = _BESIDE,
) -> Mixture:
    """As a configuration says; refuses experts that are chosen in groups."""
    keys = zip(("n_group", "topk_group"), usual.groups, strict=True)
    groups, chosen = (config.positive_int(key, count, maximum=parts.MAX_WIDTH) for key, count in keys)
    if chosen < groups:
        message = f"topk_group {chosen} of n_group {groups}: only experts of some groups may be chosen"
        raise parts.refuse("config-not-supported", message)
    count, top = experts.counts_of(config, usual.counts, (usual.experts, usual.top))
    inner = config.positive_int("moe_intermediate_size", usual.inner, maximum=parts.MAX_WIDTH)
    blocks = config.natural_int(usual.beside_key, usual.beside, maximum=parts.MAX_WIDTH // inner)
    shared = usual.normalized is None or config.flag("norm_topk_prob", usual.normalized)
    return Mixture(
        *(count, top, inner, "each", names),
        beside=Beside(blocks * inner, *beside) if blocks else None,
        dense=dense,
        chosen_by=chosen_by,
        shares=ExpertShares(added=_ADDED) if shared else None,
        factor=factor_in(config, usual.factor_key, usual.factor),
    )


def factor_in(config: Config, key: str, usual: float = 1.0) -> float:
    """Of what chosen experts add to the rows."""
    factor = config.number(key, usual)
    if not LEAST_FACTOR <= factor <= MOST_FACTOR:
        raise parts.refuse("config-out-of-range", f"{key} {factor:g}: expected {LEAST_FACTOR:g} to {MOST_FACTOR:g}")
    return factor
