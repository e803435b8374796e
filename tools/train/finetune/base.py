# SPDX-License-Identifier: Apache-2.0
"""The checkpoint to start from, read by the generator's own loader: what it refuses is refused here too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from common.refusal import Refused
from targets import Labels
from tokenizers import Tokenizer

from codegen.frontends import limits_of
from codegen.frontends.bases.architecture import CLASSIFIER_ENDING, ENCODER_ENDING
from codegen.frontends.encoders.bert import FAMILY
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.load.checkpoint import Checkpoint
from codegen.load.config import Config
from codegen.load.folder import load_checkpoint
from codegen.load.limits import Limits
from codegen.load.sentence import SentenceModules

BERT = FAMILY.usual  # what other code was published with is not trained here
_CLASSIFIER = f"{BERT.name}{CLASSIFIER_ENDING}"

# What the encoder may carry: classifier, pooler, and the language-model heads of the original checkpoints.
_HEADS = ("classifier.*", "cls.*", "pooler.dense.*", "bert.pooler.dense.*")

# Keys of the old head, of a version that did not write the new file, or of the machine that wrote the old one.
_DROPPED = (
    *("_name_or_path", "num_labels", "torch_dtype", "transformers_version", "task_specific_params"),
    *("function_to_apply", "sbert_ce_default_activation_function", "sentence_transformers"),
)


@dataclass(frozen=True)
class Base:
    """A checkpoint folder whose encoder, tokenizer and perhaps classifier are taken over."""

    folder: Path
    checkpoint: Checkpoint
    max_tokens: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Of its classifier; none where it has no classifier."""
        config = self.checkpoint.config
        return config.labels() if _CLASSIFIER in config.architectures else ()

    def config_with(self, labels: Labels) -> dict[str, Any]:
        """config.json of the model to make: the checkpoint's own, but for what speaks of its head."""
        kept = {key: value for key, value in self.checkpoint.config.values.items() if key not in _DROPPED}
        return kept | {"architectures": [_CLASSIFIER], "dtype": "float32"} | labels.settings

    def tokenizer(self) -> Tokenizer:
        """As the generated model will tokenize: cut at `max_tokens`, the longer text of a pair first."""
        return text_tokenizer(self.checkpoint.tokenizer, self.max_tokens)


def load_base(folder: Path, max_tokens: int | None, pairs: bool) -> Base:
    """A folder that can be trained; anything else is an EtchError or a Refused."""
    checkpoint = load_checkpoint(folder, _check_family)
    tokens = checkpoint.default_max_tokens if max_tokens is None else max_tokens
    _check_encoder(checkpoint, tokens)
    if pairs and checkpoint.config.positive_int("type_vocab_size", 2) < 2:
        raise Refused("--pairs: the checkpoint knows one segment only (type_vocab_size)")
    return Base(folder, checkpoint, tokens)


def check_max_tokens(checkpoint: Checkpoint, max_tokens: int) -> None:
    """Refuses texts that are longer than what an encoder of any family has positions for."""
    limits = limits_of(checkpoint.config)
    if max_tokens > limits.positions and not limits.endless:
        raise Refused(f"--max-tokens {max_tokens}: the encoder takes {limits.positions} ({limits.positions_key})")


def _check_family(config: Config) -> Limits:
    limits = limits_of(config)
    if config.model_type != "bert":
        raise Refused(f"model type '{config.model_type}': this recipe trains bert only")
    return limits


def _check_encoder(checkpoint: Checkpoint, max_tokens: int) -> None:
    """Has the front-end look at shapes and tensors, heads aside: it is to accept what will have been trained."""
    checkpoint.tensors.ignore(*_HEADS)
    encoder = Config.from_json({**checkpoint.config.values, "architectures": [f"{BERT.name}{ENCODER_ENDING}"]})
    BERT.build_graph(
        replace(checkpoint, config=encoder, sentence=SentenceModules("cls", (), normalize=False)), max_tokens
    )
