# SPDX-License-Identifier: Apache-2.0
"""MVP (Tang et al., 2023, arXiv:2206.12131), BART trained on many tasks, without prompts: these are values before each
layer's own, which a folder has where it says `use_prompt`. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ..bases.bart_family import Family
from ..shared import parts
from ..shared.encoder_decoder import HARMLESS_KEYS as _HARMLESS
from ..shared.encoder_decoder import Form

MODEL_TYPE = "mvp"
# Of prompts.
HARMLESS_KEYS = _HARMLESS | {"prompt_length", "prompt_mid_dim"}


def _check(config: Config) -> None:
    if config.flag("use_prompt", False):
        raise parts.refuse("config-not-supported", "use_prompt is true: prompts are not supported")


FAMILY = Family(
    "MvpForConditionalGeneration", "RobertaTokenizer", Form(embedding_norm=True), check=_check, of_rows="Mvp"
)
