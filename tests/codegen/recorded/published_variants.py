# SPDX-License-Identifier: Apache-2.0
"""Encoders that were published with code of their own, by its keys and names. That code is not run here: models of
`transformers` compute the same, with other names. `published_names.py` has what files call their parts.

ALiBi's scores are a mask of the library's GTE, whose angles are 0. What Jina's second form has more, norms of queries
and keys, and one of what attention adds to the rows, are modules of PyTorch put into the same model.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from expert_variants import write_modules
from family_specials import specials_of
from library_models import build
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from published_names import JINA, JINA_CODE, MOSAIC, NEW, NEW_APART, Names, renamed
from random_weights import randomize
from safetensors.torch import save_file
from tiny_checkpoint import write_json
from token_ids import Specials, some_tokens
from torch import nn
from transformers import PreTrainedModel
from unrounded import unrounded
from variant_shapes import BERT_KEYS
from vocabularies import vocabulary_size, write_tokenizer


@dataclass(frozen=True)
class Published:
    """A class of the published code, and how the library computes it."""

    architecture: str
    names: Names
    sizes: tuple[int, int, int, int, int]  # width, heads, layers, inner width, positions
    labels: int  # 0: an embedding, the mean of the rows
    said: Mapping[str, Any]  # what the published configuration says beside sizes and labels
    library: Mapping[str, Any] = field(default_factory=dict)  # the same by the library's keys
    slopes: bool = False
    prepare: Callable[[PreTrainedModel, int], None] = lambda *_: None


def of_code(file: str, *classes: str) -> dict[str, str]:
    """`auto_map` of a folder whose code is in another one, or beside it."""
    endings = [name.partition("For")[2] for name in classes]
    return {
        f"AutoModel{f'For{ending}' if ending else ''}": f"{file}.{name}"
        for name, ending in zip(classes, endings, strict=True)
    }


class Twice(nn.Module):
    """Attention whose result has the rows added to it and is normalized, before a layer adds it to them."""

    def __init__(self, attention: nn.Module, width: int, epsilon: float) -> None:
        super().__init__()
        self.attention, self.norm = attention, nn.LayerNorm(width, eps=epsilon)

    def forward(self, hidden_states: torch.Tensor, **others: Any) -> tuple[torch.Tensor, Any]:
        """As that of the attention."""
        context, weights = self.attention(hidden_states, **others)
        return self.norm(context + hidden_states), weights


def with_more_norms(model: PreTrainedModel, seed: int) -> None:
    """Of Jina's second form."""
    width, epsilon = model.config.hidden_size, model.config.layer_norm_eps
    for i, layer in enumerate(model.base_model.layers):
        for name in ("q_proj", "k_proj"):
            linear = getattr(layer.self_attn, name)
            setattr(layer.self_attn, name, nn.Sequential(linear, nn.LayerNorm(width, eps=epsilon)))
        layer.self_attn = Twice(layer.self_attn, width, epsilon)
        randomize(layer, seed + i)


_NEW_CODE = "Alibaba-NLP/new-impl--modeling"
_JINA_CODE = "jinaai/jina-bert-implementation--modeling_bert"
NEW_SAID = {
    **{"model_type": "new", "hidden_act": "gelu", "layer_norm_eps": 1e-12, "layer_norm_type": "layer_norm"},
    **{"logn_attention_clip1": False, "logn_attention_scale": False, "pack_qkv": True, "pad_token_id": 0},
    **{"position_embedding_type": "rope", "unpad_inputs": False, "use_memory_efficient_attention": False},
    "auto_map": of_code(_NEW_CODE, "NewModel", "NewForMaskedLM", "NewForSequenceClassification"),
}
_BERT_SAID = {
    **{"model_type": "bert", "hidden_act": "gelu", "layer_norm_eps": 1e-12, "type_vocab_size": 2, "pad_token_id": 0},
}
JINA_SAID = _BERT_SAID | {
    **{"attn_implementation": "torch", "emb_pooler": "mean", "feed_forward_type": "geglu", "model_max_length": 8192},
    "position_embedding_type": "alibi",
    "auto_map": of_code(_JINA_CODE, "JinaBertModel", "JinaBertForMaskedLM", "JinaBertForSequenceClassification"),
}
JINA_CODE_SAID = JINA_SAID | {
    "auto_map": of_code("jinaai/jina-bert-v2-qk-post-norm--modeling_bert", "JinaBertModel", "JinaBertForMaskedLM"),
}
MOSAIC_SAID = _BERT_SAID | {
    **{"alibi_starting_size": 512, "position_embedding_type": "absolute"},
    "auto_map": of_code("bert_layers", "BertModel", "BertForMaskedLM", "BertForSequenceClassification"),
}
VARIANTS: dict[str, Published] = {
    "new/softmax": Published(
        *("NewForSequenceClassification", NEW, (24, 3, 2, 19, 20), 3),
        NEW_SAID | {"type_vocab_size": 2, "rope_theta": 500.0, "rope_scaling": {"type": "ntk", "factor": 16.0}},
        {
            "type_vocab_size": 2,
            # The base is `factor` times as large, and angles are slower by factor^(2 / width of a head).
            "rope_parameters": {"rope_type": "linear", "rope_theta": 8000.0, "factor": 2.0},
        },
    ),
    "new/mean": Published(
        *("NewModel", NEW_APART, (20, 5, 2, 17, 16), 0),
        NEW_SAID | {"type_vocab_size": 0, "rope_theta": 160000, "pack_qkv": False, "hidden_act": "silu"},
        {"type_vocab_size": 0, "hidden_act": "silu"},
    ),
    "bert/jina": Published(*("JinaBertForSequenceClassification", JINA, (24, 6, 2, 19, 20), 3, JINA_SAID), slopes=True),
    "bert/jina_mean": Published(
        *("JinaBertForMaskedLM", JINA, (24, 4, 2, 17, 16), 0, JINA_SAID | {"feed_forward_type": "reglu"}),
        {"hidden_act": "relu"},
        slopes=True,
    ),
    "bert/jina_code": Published(
        *("JinaBertForMaskedLM", JINA_CODE, (24, 3, 2, 19, 20), 0, JINA_CODE_SAID),
        slopes=True,
        prepare=with_more_norms,
    ),
    "bert/mosaic": Published(
        *("BertForSequenceClassification", MOSAIC, (24, 6, 2, 19, 20), 3, MOSAIC_SAID), slopes=True
    ),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    write(folder, VARIANTS[name], specials_of(name), seed)


def write(folder: Path, variant: Published, specials: Specials, seed: int) -> None:
    """The same of any."""
    sizes = dict(zip(BERT_KEYS.split(), variant.sizes, strict=True))
    labels = {f"label {i}": i for i in range(variant.labels)}
    settings = {"id2label": {i: label for label, i in labels.items()}, "label2id": labels} if labels else {}
    kind = "GteForSequenceClassification" if labels else "GteModel"
    model = build(kind, specials, {"type_vocab_size": 2, **variant.library, **sizes, **settings}, seed)
    variant.prepare(model, seed + 1)
    if variant.slopes:
        model.base_model.rotary_emb.inv_freq.zero_()
    limit, width = model.config.max_position_embeddings, model.config.hidden_size
    state = renamed(model.state_dict(), variant.names, model.config.num_hidden_layers)
    save_file(
        {name: tensor.half().contiguous() for name, tensor in state.items()},
        folder / "model.safetensors",
        {"format": "pt"},
    )
    config = {"architectures": [variant.architecture], "vocab_size": vocabulary_size(specials), **sizes, **settings}
    write_json(folder / "config.json", config | dict(variant.said))
    write_tokenizer(folder, specials, limit)
    if not labels:
        write_modules(folder, width, limit)
    single, double = (copy.deepcopy(model).to(dtype).eval() for dtype in (torch.float32, torch.float64))

    def run(model: PreTrainedModel, text: Tokens) -> NDArray[np.floating]:
        inputs = {"input_ids": torch.tensor([text.ids])}
        if specials.segments and model.config.type_vocab_size:
            inputs["token_type_ids"] = torch.tensor([text.segments])
        if variant.slopes:
            inputs["attention_mask"] = alibi(model.config.num_attention_heads, len(text.ids)).to(model.dtype)
        with torch.inference_mode():
            outputs = model(**inputs)
        if labels:
            return outputs.logits[0].numpy()
        mean = outputs.last_hidden_state[0].mean(dim=0)
        return (mean / mean.norm()).numpy()

    def exact(text: Tokens) -> NDArray[np.floating]:
        with unrounded(double):
            return run(double, text)

    source = f"{kind} of transformers {transformers.__version__}, with the names of {variant.architecture}"
    texts = some_tokens(seed, limit, specials)
    write_recorded(folder, source, texts, lambda text: run(single, text), exact)


def alibi(heads: int, tokens: int) -> torch.Tensor:
    """[1, heads, tokens, tokens]: -slope |i - j| in float32, where the slopes of Press et al. (2021) are those of as
    many heads as the largest power of 2, then every other one of twice as many."""
    power = 2 ** int(np.log2(heads))
    slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    slopes += [2 ** (-4 * (i + 1) / power) for i in range(0, 2 * power, 2)][: heads - power]
    places = torch.arange(tokens)
    return (torch.tensor(slopes)[:, None, None] * -(places - places[:, None]).abs())[None]
