# SPDX-License-Identifier: Apache-2.0
"""StaticEmbedding of sentence-transformers, and model2vec: the mean of the tokens' rows, and what modules.json has
behind that. No row knows its position.

Of a text without tokens the library makes zeros; here it is refused when it is asked for, as by any model
(`no_tokens`).
"""

from __future__ import annotations

from ...errors import EtchError
from ...ir.graph import Embed, Graph, Parameter, Term
from ...ir.parameter import Array, F32Array
from ...load import static_embedding as static
from ...load.checkpoint import Checkpoint
from ...load.safetensors import TensorFile
from ...load.sentence import SentenceModules
from ..shared import parts
from ..shared.computed import Computed
from ..shared.sentence_head import sentence_head

MODEL_TYPE = static.MODEL_TYPE
read_limits = static.read_limits


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    limits, sentence = read_limits(checkpoint.config), checkpoint.sentence
    assert isinstance(sentence, SentenceModules)
    most = parts.MAX_WIDTH // 2 if limits.endless else limits.positions
    if not 1 <= max_tokens <= most:
        message = f"{max_tokens} tokens: expected 1 to {most} ({limits.positions_key})"
        raise EtchError("max-tokens-out-of-range", "front-end", message)
    table = Parameter("word_embeddings", (_table(checkpoint.tensors, limits.vocabulary, limits.width),))
    checkpoint.tensors.finish()
    head, widths, result = sentence_head(sentence, "rows", limits.width)
    body = (Embed((Term(table, "ids"),), "rows"), *head)
    return Graph({"rows": limits.width} | widths, body, (result,), limits.vocabulary, 1, max_tokens, ())


def _table(tensors: TensorFile, entries: int, width: int) -> Array:
    """A row for each token. Those of model2vec may share rows, and weigh otherwise: folded, as by the library."""
    if static.TABLE in tensors:
        return tensors.take(static.TABLE, (entries, width))
    name = static.MODEL2VEC_TABLE
    stored = tensors.take(name, (tensors.info(name)[1][0], width))
    rows = tensors.take_indices(static.MAPPING, stored.shape[0]) if static.MAPPING in tensors else None
    weights = tensors.take(static.WEIGHTS, (entries,)) if static.WEIGHTS in tensors else None
    if rows is None and weights is None:
        return stored

    def values() -> F32Array:
        folded = stored.values if rows is None else stored.values[rows]
        return folded if weights is None else folded * weights.values[:, None]

    return Computed(name, (entries, width), values, stored.file)
