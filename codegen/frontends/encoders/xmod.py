# SPDX-License-Identifier: Apache-2.0
"""X-MOD (Pfeiffer et al., 2022, arXiv:2205.06266): XLM-RoBERTa with an adapter of each language in every layer. Names
as in `transformers`.

A model has the adapters of one language, the `default_language` of the configuration.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.refusal import shown
from ..bases import bert_like
from ..bases.roberta_like import Family
from ..shared import parts
from ..shared.encoder_layer import Adapter
from . import xlm_roberta

MODEL_TYPE = "xmod"
_FAMILY = Family("Xmod", xlm_roberta.FAMILY.usual.tokenizer_class)
_ADAPTERS = "output.adapter_modules."

read_limits = _FAMILY.read_limits


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    languages, language = _languages(config)
    others = [other for other in languages if other != language]
    prefix = tensors.below(_FAMILY.prefix)
    unused = tensors.ignore(*(f"{prefix}encoder.layer.*.{_ADAPTERS}{other}.*" for other in others))
    graph = replace(_FAMILY, form=_form(config, language)).build_graph(checkpoint, max_tokens)
    notes: tuple[str, ...] = (f"texts are in {language} (default_language)",)
    if unused:
        notes += (f"not used: {len(unused)} tensors of the adapters of {', '.join(others)}",)
    return replace(graph, notes=graph.notes + notes)


def _languages(config: Config) -> tuple[tuple[str, ...], str]:
    """All, and that of the texts."""
    languages = config.strings("languages", ("en_XX",))
    said = config.values.get("default_language")
    if said not in languages:
        message = f"default_language is {shown(said)}: set it to the language of the texts, of {', '.join(languages)}"
        raise parts.refuse("config-value", message)
    return languages, said


def _form(config: Config, language: str) -> bert_like.Form:
    hidden = config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)
    reduction = config.positive_int("adapter_reduction_factor", 2, maximum=hidden)
    own, again = config.flag("adapter_layer_norm", False), config.flag("adapter_reuse_layer_norm", True)
    layer = replace(
        bert_like.LAYER,
        adapter_inner=f"{_ADAPTERS}{language}.dense1",
        adapter_output=f"{_ADAPTERS}{language}.dense2",
        adapter_norm="output.adapter_layer_norm",
    )
    adapter = Adapter(
        hidden // reduction,
        norm="own" if own else "again" if again else "none",
        adds_to_normed=config.flag("ln_before_adapter", True),
    )
    if not config.flag("pre_norm", False):
        return bert_like.Form(layer, adapter=adapter)
    return bert_like.Form(layer, adapter=adapter, pre_norm=True, last_norm="encoder.LayerNorm")
