# SPDX-License-Identifier: Apache-2.0
"""CLIP's encoder of texts (Radford et al., 2021, arXiv:2103.00020): a token sees those before it, and the row of the
end token is the embedding, through a linear where the class has one. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Embed, Graph, Layers, Node, Term
from ..ir.tokenizer_spec import TokenizerSpec
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from ..load.tokenizer_files.tokenizer_config import CLIP_TOKENIZER
from .bases import bert_like
from .bases.architecture import check_class
from .bases.heads import read_head
from .shared import parts
from .shared.embedding_head import embedding_head
from .shared.encoder_layer import LayerNames, LayerShape, pre_norm_layer
from .shared.masks import CAUSAL
from .shared.rows import HeadOps

MODEL_TYPE = "clip_text_model"
HARMLESS_KEYS = frozenset(("attention_dropout", "dropout", "initializer_factor", "projection_dim"))
PROJECTION = "text_projection"
_ENCODER, _PROJECTED = "CLIPTextModel", "CLIPTextModelWithProjection"
_PREFIX = "text_model."
_WORDS, _POSITIONS = "embeddings.token_embedding.weight", "embeddings.position_embedding.weight"
_LAYER = LayerNames(
    query="self_attn.q_proj",
    key="self_attn.k_proj",
    value="self_attn.v_proj",
    attention_output="self_attn.out_proj",
    attention_norm="layer_norm1",
    intermediate="mlp.fc1",
    output="mlp.fc2",
    output_norm="layer_norm2",
)
# What configurations need not say.
_VOCABULARY, _WIDTH, _TOKENS, _END = 49_408, 512, 77, 49_407
_OLD_END = 2  # said by older files, though it is no end: the row is then that of a text's largest id


def read_limits(config: Config) -> Limits:
    """By keys that a file may lack."""
    key = "max_position_embeddings"
    return Limits(_width(config), _vocabulary(config), _tokens(config), key, CLIP_TOKENIZER, names_labels=False)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_class(config, _ENCODER, _PROJECTED)
    prefix = _PREFIX if f"{_PREFIX}{_WORDS}" in tensors else ""
    body, widths = rows_of(config, tensors, prefix, max_tokens)
    projects = _PROJECTED in config.architectures

    def head() -> HeadOps:
        end = end_of_texts(config, checkpoint.tokenizer)
        return text_embedding(tensors, _width(config), projection_width(config) if projects else 0, end)

    ops, head_widths, result, notes = read_head(
        checkpoint, "CLIPTextForSequenceClassification", "hidden", _width(config), head, body=body
    )
    if not projects or checkpoint.sentence is not None:
        notes += parts.left_out(tensors, f"{PROJECTION}.weight", by="sentence-transformers" if projects else _ENCODER)
    tensors.finish()
    widths |= head_widths
    return Graph(widths, body + ops, (result,), _vocabulary(config), parts.SEGMENTS, max_tokens, notes)


def rows_of(
    config: Config, tensors: TensorFile, prefix: str, max_tokens: int
) -> tuple[tuple[Node, ...], dict[str, int]]:
    """What makes `hidden`, a row of each token, and the widths of all that it writes."""
    bert_like.check_no_decoder(config)
    parts.check_max_tokens(max_tokens, _tokens(config))
    tensors.ignore(f"{prefix}embeddings.position_ids")  # 0, 1, 2, ...: a buffer of older files, not a weight
    shape = LayerShape(
        hidden=_width(config),
        heads=config.positive_int("num_attention_heads", 8, maximum=parts.MAX_WIDTH),
        intermediate=config.positive_int("intermediate_size", 2048, maximum=parts.MAX_WIDTH),
        activation=parts.activation_of(config, default="quick_gelu"),
        epsilon=parts.epsilon_of(config, default=1e-5),
        masks=CAUSAL,
    )
    parts.check_heads(shape.hidden, shape.heads)
    count = config.positive_int("num_hidden_layers", 12, maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)

    def table(name: str, source: str, entries: int) -> parts.Parameter:
        return parts.parameter(tensors, name, f"{prefix}{source}", (entries, shape.hidden))

    words = Term(table("word_embeddings", _WORDS, _vocabulary(config)), "ids")
    positions = Term(table("position_embeddings", _POSITIONS, _tokens(config)), "positions")
    prefixes = [f"{prefix}encoder.layers.{i}." for i in range(count)]
    norm = [f"{prefix}final_layer_norm"]
    body = (
        Embed((words, positions), "hidden"),
        Layers("layer", count, pre_norm_layer(tensors, prefixes, _LAYER, shape)),
        parts.layer_norm(tensors, "final_norm", norm, shape.hidden, shape.epsilon, "hidden"),
    )
    return body, shape.widths | {"normed": shape.hidden}


def text_embedding(tensors: TensorFile, width: int, outputs: int, end: int) -> HeadOps:
    """The row of the first token of this id, through the linear to so many `outputs`; 0: there is none."""
    projection = PROJECTION if outputs else None
    return embedding_head(tensors, "last", "hidden", width, projection, outputs, bias=False, end=end)


def projection_width(config: Config) -> int:
    """Of the file that says it: of a whole CLIP not that of its encoder."""
    return config.positive_int("projection_dim", 512, maximum=parts.MAX_WIDTH)


def end_of_texts(config: Config, tokenizer: TokenizerSpec) -> int:
    """The id of their last token; what would make the library take other rows than its first one's is refused."""
    end = config.natural_int("eos_token_id", _END)
    last = tokenizer.template.single[-1].content
    if not isinstance(last, int):
        raise parts.refuse("config-value", "the tokenizer ends texts with no token of its own, whose row would count")
    if end == _OLD_END:
        ids = len(tokenizer.model.pieces), *(token.id + 1 for token in tokenizer.added_tokens)
        if last != max(ids) - 1:
            message = f"with eos_token_id {end} the row of the largest id counts, and {last}, the end, is not that one"
            raise parts.refuse("config-value", message)
    elif end != last:
        raise parts.refuse("config-value", f"eos_token_id is {end}, and the tokenizer ends texts with {last}")
    return last


def _width(config: Config) -> int:
    return config.positive_int("hidden_size", _WIDTH, maximum=parts.MAX_WIDTH)


def _vocabulary(config: Config) -> int:
    return config.positive_int("vocab_size", _VOCABULARY, maximum=parts.MAX_VOCABULARY)


def _tokens(config: Config) -> int:
    return config.positive_int("max_position_embeddings", _TOKENS, maximum=parts.MAX_WIDTH)
