# SPDX-License-Identifier: Apache-2.0
"""Jina's XLM-RoBERTa by the keys and names that it was published with, by models of `transformers` that compute the
same: XLM-RoBERTa where it has a table of positions; Jina's embeddings v3 where it has angles, whose weights have had an
adapter added that the folder has beside them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
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
from published_variants import of_code
from safetensors.torch import load_file, save_file
from tiny_checkpoint import write_json
from token_ids import Specials, some_tokens
from transformers import PreTrainedModel
from unrounded import unrounded
from variant_shapes import BERT_KEYS
from vocabularies import vocabulary_size, write_tokenizer

Tensors = dict[str, torch.Tensor]
_CODE = "jinaai/xlm-roberta-flash-implementation--"
SAID = {
    **{"model_type": "xlm-roberta", "hidden_act": "gelu", "layer_norm_eps": 1e-5, "type_vocab_size": 1},
    **{"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "use_flash_attn": True, "emb_pooler": None},
}
TASKS = ("retrieval.query", "separation", "text-matching")
_RANK, _ALPHA = 2, 3


@dataclass(frozen=True)
class Flash:
    """A class of the library, sizes as BERT's, and what the published configuration says beside them."""

    model: str
    sizes: tuple[int, int, int, int, int]
    labels: int  # 0: an embedding, the mean of the rows
    said: dict[str, Any]
    theta: float | None = None
    task: str | None = None


WITH_ADAPTERS = {
    **{"architectures": ["XLMRobertaModel"], "position_embedding_type": "rotary", "rotary_emb_base": 20_000.0},
    **{"lora_adaptations": list(TASKS), "lora_rank": _RANK, "lora_alpha": _ALPHA, "lora_dropout_p": 0.0},
    **{"load_trained_adapters": True, "lora_main_params_trainable": False, "matryoshka_dimensions": [8, 16]},
    "task_instructions": {task: f"{task}: " for task in TASKS},
    "auto_map": of_code(f"{_CODE}modeling_lora", "XLMRobertaLoRA"),
}
VARIANTS: dict[str, Flash] = {
    "xlm-roberta/flash": Flash(
        *("XLMRobertaForSequenceClassification", (20, 5, 2, 17, 16 + 2), 2),
        {
            **{"architectures": ["XLMRobertaForSequenceClassification"], "position_embedding_type": "absolute"},
            "auto_map": of_code(f"{_CODE}modeling_xlm_roberta", "XLMRobertaForSequenceClassification"),
        },
    ),
    "xlm-roberta/flash_tasks": Flash(
        *("JinaEmbeddingsV3Model", (24, 3, 2, 17, 16), 0, WITH_ADAPTERS | {"default_task": "separation"}, 20_000.0),
        task="separation",
    ),
}
_PARTS = {
    "attention.output.dense": "mixer.out_proj",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "mlp.fc1",
    "output.dense": "mlp.fc2",
    "output.LayerNorm": "norm2",
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    write(folder, VARIANTS[name], specials_of(name), seed)


def write(folder: Path, variant: Flash, specials: Specials, seed: int) -> None:
    """The same of any."""
    sizes = dict(zip(BERT_KEYS.split(), variant.sizes, strict=True))
    labels = {f"label {i}": i for i in range(variant.labels)}
    settings = {"id2label": {i: label for label, i in labels.items()}, "label2id": labels} if labels else {}
    angles = {} if variant.theta is None else {"rope_parameters": {"rope_type": "default", "rope_theta": variant.theta}}
    said = SAID | variant.said
    usual = {key: said[key] for key in ("type_vocab_size", "layer_norm_eps", "hidden_act")}
    model = build(variant.model, specials, {**usual, **sizes, **settings, **angles}, seed)
    limit = sizes["max_position_embeddings"] - (2 if variant.theta is None else 0)
    copy.deepcopy(model).half().save_pretrained(folder)  # the names that it saves angles by are the published ones
    state = load_file(folder / "model.safetensors")
    if variant.theta is None:
        state = as_published(state, sizes["num_hidden_layers"])
    if "lora_adaptations" in variant.said:
        state = with_adapters(state, seed)
    if variant.task is not None:
        merge(model, state, TASKS.index(variant.task))
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    config = {"vocab_size": vocabulary_size(specials), **sizes, **settings, **said}
    write_json(folder / "config.json", config)
    write_tokenizer(folder, specials, limit)
    if not labels:
        write_modules(folder, sizes["hidden_size"], limit)
    single, double = (copy.deepcopy(model).to(dtype).eval() for dtype in (torch.float32, torch.float64))

    def run(model: PreTrainedModel, text: Tokens) -> NDArray[np.floating]:
        with torch.inference_mode():
            outputs = model(input_ids=torch.tensor([text.ids]))
        if labels:
            return outputs.logits[0].numpy()
        mean = outputs.last_hidden_state[0].mean(dim=0)
        return (mean / mean.norm()).numpy()

    def exact(text: Tokens) -> NDArray[np.floating]:
        with unrounded(double):
            return run(double, text)

    source = f"{variant.model} of transformers {transformers.__version__}, with the names of the published code"
    texts = some_tokens(seed, limit, specials)
    write_recorded(folder, source, texts, lambda text: run(single, text), exact)


def as_published(state: Tensors, layers: int) -> Tensors:
    """XLM-RoBERTa's tensors by the names of the published code."""
    found: Tensors = {}
    for name, tensor in state.items():
        if ".attention.self." not in name:
            found[_published(name)] = tensor
    for i in range(layers):
        for part in ("weight", "bias"):
            inputs = [
                state[f"roberta.encoder.layer.{i}.attention.self.{of}.{part}"] for of in ("query", "key", "value")
            ]
            found[f"roberta.encoder.layers.{i}.mixer.Wqkv.{part}"] = torch.cat(inputs)
    return found


def _published(name: str) -> str:
    name = name.replace("embeddings.LayerNorm", "emb_ln").replace("encoder.layer.", "encoder.layers.")
    for theirs, ours in _PARTS.items():  # those of attention come first
        name = name.replace(theirs, ours)
    return name


def with_adapters(state: Tensors, seed: int) -> Tensors:
    """Tables and linears as parametrized weights, with the factors of every task."""
    random = np.random.default_rng(seed + 1)

    def factor(*shape: int) -> torch.Tensor:
        return torch.from_numpy((0.3 * random.standard_normal((len(TASKS), *shape))).astype(np.float16))

    found: Tensors = {}
    for name, tensor in sorted(state.items()):
        if tensor.dim() != 2:
            found[name] = tensor
            continue
        rows, columns = tensor.shape
        below = f"{name.removesuffix('.weight')}.parametrizations.weight"
        found[f"{below}.original"] = tensor
        is_table = "embeddings" in name
        found[f"{below}.0.lora_A"] = factor(rows, _RANK) if is_table else factor(_RANK, columns)
        found[f"{below}.0.lora_B"] = factor(_RANK, columns) if is_table else factor(rows, _RANK)
    return {f"roberta.{name.removeprefix('roberta.')}": tensor for name, tensor in found.items()}


def merge(model: PreTrainedModel, state: Tensors, task: int) -> None:
    """What the library's model has for each weight with the task's factors added: computed in float64, rounded once."""
    parameters = dict(model.named_parameters())
    for name in [name for name in state if name.endswith(".original")]:
        below = name.removesuffix("original")
        a, b = (state[f"{below}0.lora_{of}"][task].double() for of in "AB")
        scale = _ALPHA / _RANK
        weight = state[name].double() + (a @ (scale * b) if "embeddings" in name else b @ (scale * a))
        module = below.removesuffix(".parametrizations.weight.").removeprefix("roberta.").replace("encoder.", "")
        with torch.no_grad():
            if module.endswith("mixer.Wqkv"):
                for of, part in zip("qkv", weight.float().chunk(3), strict=True):
                    parameters[f"{module.removesuffix('mixer.Wqkv')}self_attn.{of}_proj.weight"].copy_(part)
                continue
            module = module.replace("mixer.out_proj", "self_attn.o_proj")
            parameters[f"{module}.weight"].copy_(weight.float())
