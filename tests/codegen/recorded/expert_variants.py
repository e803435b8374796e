# SPDX-License-Identifier: Apache-2.0
"""Nomic's encoder with experts in a folder of sentence-transformers, as nomic-embed-text-v2-moe is one."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from nomic_mixture import Encoder, Router, Weights
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from random_weights import randomize
from safetensors.torch import save_file
from tiny_checkpoint import write_json
from token_ids import XLM_ROBERTA, some_tokens
from vocabularies import vocabulary_size, write_tokenizer

SOURCE = f"Encoder of tests/codegen/recorded/nomic_mixture.py, torch {torch.__version__.partition('+')[0]}"
_USUAL: dict[str, Any] = {  # what the published file says of it
    "activation_function": "gelu",
    "architectures": ["NomicBertModel"],
    "attn_pdrop": 0.0,
    "auto_map": {"AutoModel": "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertModel"},
    "causal": False,
    "dense_seq_output": True,
    "embd_pdrop": 0.1,
    "expert_choice_router": False,
    "ffn_div": 1,
    "fused_bias_fc": True,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-5,
    "max_trained_positions": 2048,
    "mlp_fc1_bias": True,
    "mlp_fc2_bias": True,
    "model_type": "nomic_bert",
    "moe_every_n_layers": 2,
    "moe_impl": "megablocks",
    "moe_normalize_expert_weights": False,
    "moe_resid_pdrop": 0.0,
    "moe_top_k": 2,
    "num_experts": 8,
    "num_shared_experts": 0,
    "pad_token_id": 1,
    "parallel_block": False,
    "prenorm": False,
    "qkv_proj_bias": True,
    "resid_pdrop": 0.0,
    "rotary_emb_base": 10000,
    "rotary_emb_fraction": 1.0,
    "rotary_emb_interleaved": False,
    "rotary_emb_scale_base": None,
    "rotary_scaling_factor": None,
    "router_aux_loss_coef": 0.1,
    "scale_attn_by_inverse_layer_idx": False,
    "scale_attn_weights": True,
    "type_vocab_size": 1,
    "use_flash_attn": True,
    "use_rms_norm": None,
    "use_xentropy": True,
}


def _sizes(width: int, heads: int, layers: int, inner: int, positions: int) -> dict[str, Any]:
    return {"n_embd": width, "n_head": heads, "n_layer": layers, "n_inner": inner, "n_positions": positions}


VARIANTS: dict[str, dict[str, Any]] = {
    "nomic_bert/experts": _sizes(16, 2, 4, 12, 20) | {"num_experts": 4, "pad_vocab_size_multiple": 16},
    "nomic_bert/thirds": _sizes(12, 1, 5, 9, 16)
    | {"num_experts": 3, "moe_top_k": 1, "moe_every_n_layers": 3, "activation_function": "silu", "rotary_emb_base": 300}
    | {"qkv_proj_bias": False, "mlp_fc1_bias": False, "mlp_fc2_bias": False, "type_vocab_size": 0},
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    own = VARIANTS[name]
    config = _USUAL | {"vocab_size": vocabulary_size(XLM_ROBERTA)} | own
    multiple = config.get("pad_vocab_size_multiple", 1)
    model = Encoder(config | {"vocab_size": -(-config["vocab_size"] // multiple) * multiple})
    randomize(model, seed)
    _as_trained(model)
    limit = config["n_positions"]
    save_file(model.half().state_dict(), folder / "model.safetensors", {"format": "pt"})
    write_json(folder / "config.json", config)
    write_tokenizer(folder, XLM_ROBERTA, limit)
    write_modules(folder, config["n_embd"], limit)
    single, double = (copy.deepcopy(model).to(dtype) for dtype in (torch.float32, torch.float64))

    def run(model: Encoder, text: Tokens) -> NDArray[np.floating]:
        with torch.inference_mode():
            mean = model(torch.tensor(text.ids)).mean(dim=0)
            return (mean / mean.norm()).numpy()

    texts = some_tokens(seed, limit, XLM_ROBERTA)
    write_recorded(folder, SOURCE, texts, lambda text: run(single, text), lambda text: run(double, text))


def _as_trained(model: Encoder) -> None:
    """Experts whose rows are about as large as those of other blocks, and scores that are not nearly equal: a row that
    is rounded then goes through the same ones. Powers of 2, for weights stay exact in float16."""
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, Weights):
                module.w1.mul_(0.25)
                module.w2.mul_(0.25)
            if isinstance(module, Router):
                module.layer.weight.mul_(4)


def write_modules(folder: Path, width: int, limit: int) -> None:
    """The mean of the rows, normalized."""
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    write_json(folder / "modules.json", modules)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": limit, "do_lower_case": False})
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True}
    write_json(folder / "1_Pooling" / "config.json", pooling)
