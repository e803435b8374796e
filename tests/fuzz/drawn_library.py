# SPDX-License-Identifier: Apache-2.0
"""What `transformers` makes of a folder that was drawn: its model in float64, and the outputs of one of encoders in the
form of a graph's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from drawn_halves import DECODERS, HALVES
from like_llama_settings import OF_LLAMA
from mixture_settings import MIXTURES
from numpy.typing import NDArray
from outputs import Tokens
from token_ids import Specials
from unrounded import unrounded

from codegen.load.config import XLM_MASKED
from codegen.load.splade import SparsePooling

CONFIG = "config.json"
EAGER = (  # no other attention
    *(
        "big_bird",
        "bigbird_pegasus",
        "convbert",
        "deberta",
        "deberta-v2",
        "led",
        "longformer",
        "megatron-bert",
        "mpnet",
        "mvp",
    ),
    *("rembert", "roformer"),
    *("gpt_oss", "granite_swa", "granitemoe_swa", "mamba2"),
    *("bloom", "codegen", "gemma2", "gpt_neo", "gptj", "luke", "mpt", "squeezebert", "t5gemma", "vaultgemma", "xglm"),
    *("align", "clap", "funnel", "groupvit", "ibert", "layoutlm", "openai-gpt", "xlnet"),
    *("canine", "flaubert", "fnet", "fsmt", "nystromformer", "splinter", "xlm"),
)
_OF_IMAGES = ("connector.", "image_newline", "multi_modal_projector.", "vision_model.", "vision_tower.", "visual.")
EMBED_BY_THEMSELVES = ("DPR", "Siglip")
OF_ROWS = ("Model", "BertGenerationEncoder")
F64Array = NDArray[np.float64]


class Other(Exception):
    """What is no finding: its name in the last lines."""


def config_class(kind: Any, family: str) -> Any:
    """Of a family's model."""
    name = OF_LLAMA.get(family.partition("/")[0])
    return kind.config_class if name is None else getattr(transformers, name)


def library_model(folder: Path, family: str) -> Any:
    """In float64. Eager attention rounds to float32 in all families but a few, which sdpa does not."""
    named = json.loads((folder / CONFIG).read_text(encoding="utf-8")).get("architectures")
    if not named:
        raise Other("without a class")  # what etch takes it for, the library does not know
    kind = getattr(transformers, named[0])
    name = family.partition("/")[0]
    attention = "eager" if name in EAGER else "sdpa"
    experts = (
        {"experts_implementation": "eager"} if name in (*MIXTURES, "granitemoehybrid") else {}
    )  # the usual one has no float64
    try:
        said = config_class(kind, family).from_pretrained(folder)
        model, info = kind.from_pretrained(
            folder, config=said, dtype=torch.float64, attn_implementation=attention, output_loading_info=True, **experts
        )
    except Exception as error:
        raise Other("read by etch only") from error
    # Not read where a file may lack them, by MobileBERT the second and third; PEGASUS computes the fourth, and those of
    # Longformer's classes whose files may lack the last do not use it.
    computed = ("pooler.dense", "bottleneck.attention", "embedding_transformation", "embed_positions", "_global.")
    if family == "ibert":  # whose integers nothing reads
        computed += (".x_min", ".x_max", "_integer", "_scaling_factor", ".shift")
    if family == "big_bird":  # whose rows and heads of other classes have none
        computed += ("bert.pooler.",)
    if family == "luke":  # whose words read nothing of entities, and no bias but the linear's own
        computed += ("entity_", "w2e_query", "e2w_query", "e2e_query", "lm_head.bias")
    made_up = [name for name in info["missing_keys"] if not any(part in name for part in computed)]
    if family in HALVES:
        made_up = [name for name in made_up if name.startswith("text_")]
    if name in DECODERS:
        made_up = [name for name in made_up if not any(part in name for part in _OF_IMAGES)]
    if made_up or info["mismatched_keys"]:
        raise AssertionError(f"made up by the library: {made_up}, {info['mismatched_keys']}")
    return model.to(torch.float64).eval()  # of XLNet some weights are in float32


def pooling_of(architecture: str) -> str:
    """Of rows that stand for several tokens each the first one alone is an embedding."""
    return "cls" if architecture.endswith("BaseModel") else "mean"


def outputs(
    model: Any, text: Tokens, specials: Specials, mask: int | None, sparse: SparsePooling | None = None
) -> F64Array:
    """Of the library, in the form of the graph's."""
    ids = torch.tensor([text.ids])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if specials.segments:
        inputs["token_type_ids"] = torch.tensor([text.segments])
    kind = type(model).__name__
    if kind == "SplinterForQuestionAnswering":  # by a mask it adds 0 * -inf to what is float64
        del inputs["attention_mask"]
    if kind.endswith("MultipleChoice"):
        inputs = {key: value[None] for key, value in inputs.items()}
    try:
        with torch.inference_mode(), unrounded(model):
            of_rows = kind.endswith("LMHeadModel") and not kind.endswith(XLM_MASKED)  # an embedding of it is asked for
            call = getattr(model, "get_text_features", model.base_model if of_rows else model)
            found = call(**inputs, return_dict=True)
    except Exception as error:
        raise Other("not run by the library") from error
    if kind.endswith(("QuestionAnswering", "QuestionAnsweringSimple")):
        return torch.stack([found.start_logits[0], found.end_logits[0]], -1).numpy()
    if kind.endswith("WithProjection"):
        return found.text_embeds[0].numpy()
    if hasattr(model, "get_text_features") or kind.startswith(EMBED_BY_THEMSELVES):
        return found.pooler_output[0].numpy()
    if kind.endswith(OF_ROWS) and not kind.endswith(XLM_MASKED):
        rows = found.last_hidden_state[0]
        return (rows[0] if pooling_of(kind) == "cls" else rows.mean(0)).numpy()
    if sparse is not None:
        weights = found.logits[0].relu().log1p()
        weights = weights.log1p() if sparse.twice else weights
        return (weights.amax(0) if sparse.pooling == "max" else weights.sum(0)).numpy()
    if mask is not None:
        best = found.logits[0].softmax(-1)[ids[0] == mask].numpy()
        order = np.argsort(-best, axis=-1, kind="stable")
        return np.concatenate([order, np.take_along_axis(best, order, -1)], -1)
    logits = found.logits[0].softmax(-1) if kind.endswith("TokenClassification") else found.logits[0]
    return logits.numpy()
