# SPDX-License-Identifier: Apache-2.0
"""Classes of BART and T5 whose decoder reads the encoder's own text, one token behind it: classifiers by the row of the
text's last token, and answers to questions. Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Graph, Node
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ..shared import parts
from ..shared.classifier_head import classifier_head
from ..shared.rows import HeadOps
from .architecture import CLASSIFIER_ENDING
from .heads import Encoder, FamilyHeads, graph_with_head

ENDINGS = (CLASSIFIER_ENDING, "ForQuestionAnswering")
END = "eos_token_id"


def classes_of(family: str, endings: tuple[str, ...] = ENDINGS) -> tuple[str, ...]:
    """`family` is what the names of its classes begin with."""
    return tuple(f"{family}{ending}" for ending in endings)


def check_both(config: Config) -> None:
    """EtchError where the folder says that there is no decoder."""
    if not config.flag("is_encoder_decoder", True):
        raise parts.refuse("config-value", "is_encoder_decoder is false, against the family")


def graph_of_rows(
    checkpoint: Checkpoint, max_tokens: int, family: str, body: tuple[Node, ...], widths: dict[str, int], end: int
) -> Graph:
    """The graph of a checkpoint whose `body` makes the decoder's rows, `target`; takes what is left of the file. `end`
    is the token whose row a classifier reads, where the folder does not say it."""
    config, tensors, width = checkpoint.config, checkpoint.tensors, widths["target"]

    def classify() -> HeadOps:
        _check_end(checkpoint, end)
        dense = ("classifier_dense", "classification_head.dense", "tanh")
        source = "classification_head.out_proj"
        return classifier_head(config, tensors, "target", width, source, dense, pooling="last")

    vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
    encoder = Encoder(body, widths, vocabulary, value="target")
    return graph_with_head(checkpoint, max_tokens, family, encoder, FamilyHeads(classify))


def _check_end(checkpoint: Checkpoint, usual: int) -> None:
    """EtchError where the last row is not that of the last `eos_token_id`, which the library takes."""
    end = checkpoint.config.natural_int(END, usual)
    template = checkpoint.tokenizer.template
    for last in (template.single[-1].content, template.pair[-1].content):
        number = checkpoint.kept_ids[last] if checkpoint.kept_ids is not None and isinstance(last, int) else last
        if number != end:
            message = f"{END} is {end}, the tokenizer ends texts with {number}: the class reads the row of the former"
            raise parts.refuse("config-value", message)
