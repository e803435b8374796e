# SPDX-License-Identifier: Apache-2.0
"""What sentence-transformers' MultiVectorEncoder does with the rows of an encoder: linears, and a length of one.
Queries may be filled up with tokens that no other attends to: not every family means by that what attention does
here."""

from __future__ import annotations

from dataclasses import replace

from ...errors import EtchError
from ...ir.graph import Attention, Graph, Head, Node, Normalize, Op, runs_of
from ...load.max_tokens import SENTENCE_FILE
from ...load.multi_vector import MultiVectorModules
from ...tasks.multi_vector import MultiVector
from . import parts
from .sentence_head import layers_behind

OUT = "vectors"
# Compared with the library: in these a token that no other attends to changes nothing but its own row.
_COMPARED = frozenset(
    (
        *("albert", "bert", "big_bird", "camembert", "data2vec-text", "distilbert", "electra", "ernie", "eurobert"),
        *("gte", "megatron-bert", "modernbert", "mpnet", "nomic_bert", "rembert", "roberta", "roberta-prelayernorm"),
        *("roformer", "ultrabert", "xlm-roberta", "xlm-roberta-xl", "xmod", "jina_embeddings_v3"),
    )
)


def multi_vector_head(
    modules: MultiVectorModules, value: str, width: int
) -> tuple[tuple[Node, ...], dict[str, int], Head]:
    """The ops from `value` to the vectors, the widths of what they write, and the result."""
    body, widths = layers_behind(modules.dense, value, OUT)
    out = OUT if body else value
    if modules.normalize:
        body = (*body, Normalize(out))
    width = widths.get(out, width)
    document = replace(modules.document, max_tokens=None)  # cut at what the model takes, which is as much by itself
    return body, widths, Head(MultiVector(width, document, modules.query), out)


def check_sides(graph: Graph, family: str) -> None:
    """EtchError where a text of one of the sides does not fit, or where what fills it up would mean another thing;
    `family` is the model type."""
    task = graph.task
    if not isinstance(task, MultiVector):
        return
    query = task.query
    if query.least_tokens > graph.max_tokens:
        message = f"queries are filled up to {query.least_tokens} tokens, texts have at most {graph.max_tokens}"
        raise parts.refuse("max-tokens-out-of-range", message)
    if not query.least_tokens or query.filler_is_seen:
        return
    reasons = (_other_meaning(op, query.least_tokens) for op, _ in runs_of(graph))
    why = f"not in the family {family}" if family not in _COMPARED else next(filter(None, reasons), None)
    if why is not None:
        message = f"query_expansion: tokens that no other attends to are not supported here: {why}"
        raise EtchError("expansion-not-supported", "front-end", message, file=SENTENCE_FILE)


def _other_meaning(op: Op, tokens: int) -> str | None:
    """Why such a token would not be what the library makes of it, in a query of so many tokens."""
    if not isinstance(op, Attention):
        return None
    if op.mask not in ("none", "window") or op.relative_rows or op.global_rows or op.only is not None:
        return "its attention is of its own kind"
    if isinstance(op.window, int) and op.window < tokens - 1:
        return f"tokens attend to those at most {op.window} away, queries have {tokens}"
    return None
