# SPDX-License-Identifier: Apache-2.0
"""The texts' half of GroupViT (Xu et al., 2022, arXiv:2202.11094): `GroupViTModel.get_text_features` of `transformers`.
It is CLIP's with two linears behind it, the first of which takes in the norm by the means of training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...ir.graph import Head, Linear, Parameter, Pool
from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import CLIP_TOKENIZER
from ...tasks.embedding import Embedding
from ..bases import clip_texts, text_half
from ..shared import parts
from ..shared.computed import Computed
from ..shared.rows import HeadOps
from ..shared.sentence_head import OUT

MODEL_TYPE = "groupvit"
HARMLESS_KEYS = text_half.HARMLESS_KEYS | {"output_segmentation"}
_ROW, _INNER = "row", "inner_row"
_EPSILON = 1e-5  # of PyTorch's BatchNorm1d, which the class makes without another


def _project(config: Config, tensors: TensorFile, width: int, end: int) -> HeadOps:
    inner = config.positive_int("projection_intermediate_dim", 4096, maximum=parts.MAX_WIDTH)
    outputs = text_half.projection_width(config, 256)
    last = f"{text_half.PROJECTION}.3"
    body = (
        Pool("last", "hidden", _ROW, end),
        _normed_linear(tensors, f"{text_half.PROJECTION}.", inner, width),
        parts.linear(tensors, "projection", [last], (outputs, inner), _INNER, OUT),
    )
    return body, {_ROW: width, _INNER: inner, OUT: outputs}, Head(Embedding(outputs), OUT)


def _normed_linear(tensors: TensorFile, prefix: str, outputs: int, width: int) -> Linear:
    """The linear 0 and the norm 1 of the file, which is one factor and one summand for each output."""
    weight, bias = tensors.take(f"{prefix}0.weight", (outputs, width)), tensors.take(f"{prefix}0.bias", (outputs,))
    gamma, beta, mean, variance = (
        tensors.take(f"{prefix}1.{name}", (outputs,)) for name in ("weight", "bias", "running_mean", "running_var")
    )
    tensors.ignore(f"{prefix}1.num_batches_tracked")

    def factors() -> NDArray[np.float64]:
        return np.asarray(gamma.values / np.sqrt(variance.values.astype(np.float64) + _EPSILON))

    def weights() -> NDArray[np.float64]:
        return np.asarray(weight.values * factors()[:, None])

    def biases() -> NDArray[np.float64]:
        return np.asarray((bias.values.astype(np.float64) - mean.values) * factors() + beta.values)

    def computed(name: str, whole: Computed) -> Parameter:
        return Parameter(f"first_projection_{name}", (whole,))

    return Linear(
        "first_projection",
        weight=computed("weight", Computed(weight.name, weight.shape, weights, weight.file)),
        bias=computed("bias", Computed(bias.name, bias.shape, biases, bias.file)),
        input=_ROW,
        out=_INNER,
        activation="relu",
    )


FAMILY = clip_texts.ClipFamily(
    "GroupViT", CLIP_TOKENIZER, replace(clip_texts.CLIP, width=256, heads=4, inner=1024), project=_project
)
