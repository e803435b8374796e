# SPDX-License-Identifier: Apache-2.0
"""EuroBERT (Boizard et al., 2025, arXiv:2503.05500): Llama's layers without a mask. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph, Node, Pooling
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.limits import Limits
from .bases.architecture import check_architecture
from .bases.heads import head_class, read_head
from .shared import parts
from .shared.classifier_head import classifier_head
from .shared.llama_stack import WORDS, Biases, Form, Rotation, Stack, llama_stack
from .shared.masks import EVERYTHING
from .shared.prediction_head import Prediction
from .shared.rotary import angles_of, limits_of
from .shared.rows import HeadOps

MODEL_TYPE = "eurobert"
CLASSIFIER = "EuroBertForSequenceClassification"
ENCODER = "EuroBertModel"
HARMLESS_KEYS = frozenset({"attention_dropout", "mask_token_id", "pretraining_tp"})
_PREFIX = "model."
_THETA, _EPSILON = 10_000.0, 1e-5  # where the configuration does not say them
_POOLING: dict[str, Pooling] = {"bos": "first", "mean": "mean"}
_LATE = "late"  # the mean of all rows' logits, which the last linear makes of the mean of its inputs
_DENSE, _CLASSIFIED = "classifier_dense", "classified"


def read_limits(config: Config) -> Limits:
    """Without a class, `transformers` takes tokenizer.json as it is."""
    return limits_of(config, "TokenizersBackend")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors, sentence = checkpoint.config, checkpoint.tensors, checkpoint.sentence
    check_architecture(config, encoder=ENCODER, classifier=CLASSIFIER, sentence=sentence is not None)
    limits = read_limits(config)
    parts.check_max_tokens(max_tokens, limits.positions)
    prefix = parts.prefix_of(checkpoint, _PREFIX, WORDS)
    rotation = Rotation(angles_of(config, _THETA, limits.positions), max_tokens, masks=EVERYTHING)
    form = Form(Biases.said_in(config), epsilon=_EPSILON)
    stack = llama_stack(config, tensors, prefix, limits.vocabulary, rotation.seen, form)
    body, widths, pooling = stack.body, stack.widths, config.text("classifier_pooling", _LATE)
    late = pooling == _LATE and sentence is None and head_class(config, CLASSIFIER) is None
    if late:
        body += _dense_rows(checkpoint, stack)
        widths |= {_CLASSIFIED: stack.width}

    def classify() -> HeadOps:
        if late:
            return classifier_head(config, tensors, _CLASSIFIED, stack.width, "classifier", pooling="mean")
        if pooling not in _POOLING:
            supported = ", ".join((*_POOLING, _LATE))
            raise parts.refuse("pooling-not-supported", f"classifier_pooling '{pooling}' (supported: {supported})")
        dense = (_DENSE, "dense", "gelu")
        of_row = _POOLING[pooling]
        return classifier_head(config, tensors, "hidden", stack.width, "classifier", dense, pooling=of_row)

    prediction = Prediction.of_rows("lm_head", stack.width, bias=form.biases.feed_forward)
    head, more, result, notes = read_head(
        checkpoint, CLASSIFIER, "hidden", stack.width, classify, body=body, prediction=prediction
    )
    tensors.finish()
    return Graph(widths | more, body + head, (result,), limits.vocabulary, parts.SEGMENTS, max_tokens, notes)


def _dense_rows(checkpoint: Checkpoint, stack: Stack) -> tuple[Node, ...]:
    """The classifier's first linear, on every row."""
    size = (stack.width, stack.width)
    return (parts.linear(checkpoint.tensors, _DENSE, ["dense"], size, "hidden", _CLASSIFIED, "gelu"),)
