# SPDX-License-Identifier: Apache-2.0
"""Random weights for a PyTorch module, the same with every version of PyTorch."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

_EXPERT_BIASES = ("e_score_correction_bias", "expert_bias")


def randomize(model: nn.Module, seed: int) -> None:
    """Weights that keep activations near one; biases and norms away from 0 and 1. All of them are exact in float16.

    What is not learnt (DistilBERT's sinusoids) stays as it is.
    """
    random = np.random.default_rng(seed)
    with torch.no_grad():
        for name, module in sorted(model.named_modules()):
            for part, weights in sorted(module.named_parameters(name, recurse=False)):
                if not weights.requires_grad:
                    continue
                values = random.standard_normal(weights.shape)
                if part.endswith("bias"):
                    values = 0.3 * values
                elif isinstance(module, nn.LayerNorm | nn.BatchNorm1d):
                    values = 1 + 0.3 * values
                elif isinstance(module, (nn.Linear, nn.Conv1d)):
                    values = 1.2 * values / np.sqrt(weights[0].numel())
                elif weights.dim() == 3:  # XLNet's linears
                    values = 1.2 * values / np.sqrt(len(weights))
                weights.copy_(torch.from_numpy(values.astype(np.float16)))
            for bias in _EXPERT_BIASES:  # as large as what they are added to, whether they are parameters or not
                if isinstance(values := getattr(module, bias, None), torch.Tensor):
                    values.copy_(torch.from_numpy((0.3 * random.standard_normal(values.shape)).astype(np.float16)))
            number = getattr(module, "layer_scalar", None)  # of Gemma 4's layers, which is no parameter
            if number is not None:
                number.copy_(torch.from_numpy(np.exp(0.5 * random.standard_normal(1)).astype(np.float16)))
            if isinstance(module, nn.BatchNorm1d):
                for means, values in (
                    (module.running_mean, random.standard_normal),
                    (module.running_var, lambda count: np.exp(random.standard_normal(count))),
                ):
                    means.copy_(torch.from_numpy(values(len(means)).astype(np.float16)))
