# SPDX-License-Identifier: Apache-2.0
"""Jina's XLM-RoBERTa, which came with code of its own for attention in one kernel ("xlm-roberta-flash"): with angles,
as jina-embeddings-v3 (Sturua et al., 2024, arXiv:2409.10173), or with a table of positions, as jina-reranker-v2. Names
and keys as published, under XLM-RoBERTa's model type; `transformers` has that of angles under a type of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.low_rank import Adapters
from ..shared.prediction_head import Prediction
from ..shared.rotary import limits_of
from . import nomic_keys, roberta_like, rotary_bert
from .architecture import check_own_code

# How the code computes, and what it does with embeddings when nobody else does.
HARMLESS_KEYS = frozenset(
    {"emb_pooler", "fused_bias_fc", "fused_dropout_add_ln", "fused_mlp", "load_trained_adapters", "lora_dropout_p"}
    | {"lora_main_params_trainable", "matryoshka_dimensions", "use_flash_attn", "use_reentrant"}
)
ANGLES = rotary_bert.Family(
    name="JinaEmbeddingsV3",
    prefix="roberta.",
    embedding_norm="emb_ln",
    layer=rotary_bert.LayerForm(
        prefix="encoder.layers.",
        attention_inputs=("mixer.Wqkv",),
        attention_output="mixer.out_proj",
        attention_norm="norm1",
        intermediate="mlp.fc1",
        gate=None,
        output="mlp.fc2",
        output_norm="norm2",
        attention_bias=True,
        intermediate_bias=True,
        output_bias=True,
    ),
    tokenizer_class="XLMRobertaTokenizer",
    theta=20_000.0,
    activation="gelu",
    epsilon=1e-5,
    segments=1,
    classifier=("classifier.out_proj", "classifier.dense"),
    prediction=Prediction.as_roberta,
)
_NAME, _THETA = "XLMRoberta", 10_000.0  # of the published classes
_KIND, _BASE = "position_embedding_type", "rotary_emb_base"
_TURNED, _TABLE = "rotary", "absolute"
_ACTIVATIONS = ("gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh")


@dataclass(frozen=True)
class Family:
    """XLM-RoBERTa's model type, whose folders may be these: their tensors tell."""

    usual: roberta_like.Family

    def read_limits(self, config: Config) -> Limits:
        """As those of RoBERTa, or of a model that has angles in the place of a table."""
        if config.values.get(_KIND) == _TURNED:
            return limits_of(config, self.usual.tokenizer_class)
        return self.usual.read_limits(config)

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
        if any(".mixer.Wqkv." in name for name in checkpoint.tensors.names):
            return _published(checkpoint, max_tokens)
        return self.usual.build_graph(checkpoint, max_tokens)


def _published(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    config = checkpoint.config
    check_own_code(config, _NAME)
    nomic_keys.check_neutral(config, {})
    kind, activation = config.text(_KIND, _TABLE), config.text("hidden_act", _ACTIVATIONS[0])
    if kind not in (_TURNED, _TABLE):
        message = f"{_KIND} '{kind[:40]}' (supported: {_TURNED}, {_TABLE})"
        raise parts.refuse("position-embedding-not-supported", message)
    if activation not in _ACTIVATIONS:
        message = f"hidden_act '{activation[:40]}' (supported: {', '.join(_ACTIVATIONS)})"
        raise parts.refuse("activation-not-supported", message)
    values = config.values.changed("vocab_size", nomic_keys.vocabulary_of(config)).changed(_KIND, _TABLE)
    if _BASE in config and config.values.get("rope_parameters") is None:
        values = values.changed("rope_theta", config.number(_BASE))
    notes = _adapted(config, checkpoint.tensors)
    family = replace(ANGLES, name=_NAME, theta=_THETA, places="angles" if kind == _TURNED else "table")
    graph = family.build_graph(replace(checkpoint, config=replace(config, values=values)), max_tokens)
    return replace(graph, notes=(*graph.notes, f"read as the published code computes {_NAME}Model", *notes))


def _adapted(config: Config, tensors: TensorFile) -> tuple[str, ...]:
    """Adds what the chosen task's adapter adds to the weights; notes on it."""
    adapters = Adapters.of_file(tensors)
    if adapters is None:
        return ()
    tasks = config.strings("lora_adaptations")
    rank, alpha = config.positive_int("lora_rank", 4, maximum=parts.MAX_WIDTH), parts.factor_of(config, "lora_alpha")
    chosen = config.values.get("default_task")
    starts = config.values.get("task_instructions")
    if chosen is None:
        adapters.leave_out()
        named = ", ".join(task[:40] for task in tasks)
        note = f"adapters are not used, as the published code uses none unasked: default_task in {config.file} chooses"
        return (f"{note} one of {named}",)
    if chosen not in tasks:
        named = ", ".join(task[:40] for task in tasks)
        raise parts.refuse("config-value", f"default_task {str(chosen)[:40]}: the file has adapters of {named}")
    adapters.add(tasks.index(chosen), len(tasks), rank, alpha / rank)
    start = starts.get(chosen) if isinstance(starts, dict) else None
    begins = f"; its texts begin with {str(start)[:80]!r}, which callers write" if start else ""
    return (f"with the adapter of {chosen}{begins}",)
