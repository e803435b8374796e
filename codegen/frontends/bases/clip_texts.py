# SPDX-License-Identifier: Apache-2.0
"""Encoders of texts with CLIP's parts, by the names of `transformers`: those that are CLIP's but for the end of their
texts, and what others share with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...ir.graph import Embed, Graph, Layers, Node, Term
from ...ir.tokenizer_spec import TokenizerSpec
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.embedding_head import embedding_head
from ..shared.encoder_layer import LayerNames, LayerShape, pre_norm_layer
from ..shared.masks import CAUSAL, Masks
from ..shared.rows import HeadOps
from . import bert_like
from .architecture import check_class
from .heads import Encoder, FamilyHeads, graph_with_head
from .text_half import OLD_OR_NEW, PROJECTION, TEXT_MODEL, TextHalf, Whole, half_graph, of_texts, projection_width

HARMLESS_KEYS = frozenset(("attention_dropout", "dropout", "initializer_factor", "projection_dim"))
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
_END = 49_407  # what configurations need not say
_OLD_END = 2  # said by older files, though it is no end: the row is then that of a text's largest id


@dataclass(frozen=True)
class Form:
    """What is seen of a text, and what its configuration need not say."""

    masks: Masks
    vocabulary: int
    width: int
    heads: int
    inner: int
    tokens: int
    activation: str
    epsilon: float

    def limits(self, config: Config, tokenizer_class: str, *, padded: bool = False) -> Limits:
        """By keys that a file may lack."""
        key = "max_position_embeddings"
        sizes = self.width_in(config), self.vocabulary_in(config), self.tokens_in(config)
        return Limits(*sizes, key, tokenizer_class, names_labels=False, padded=padded)

    def width_in(self, config: Config) -> int:
        return config.positive_int("hidden_size", self.width, maximum=parts.MAX_WIDTH)

    def vocabulary_in(self, config: Config) -> int:
        return config.positive_int("vocab_size", self.vocabulary, maximum=parts.MAX_VOCABULARY)

    def tokens_in(self, config: Config) -> int:
        return config.positive_int("max_position_embeddings", self.tokens, maximum=parts.MAX_WIDTH)


CLIP = Form(CAUSAL, 49_408, 512, 8, 2048, 77, "quick_gelu", 1e-5)
# Of a text's row of this width: the configuration of a whole class, and the row's end.
ProjectRow = Callable[[Config, TensorFile, int, int], HeadOps]


def _linear_of_row(config: Config, tensors: TensorFile, width: int, end: int) -> HeadOps:
    return _text_embedding(tensors, width, projection_width(config), end)


@dataclass(frozen=True)
class ClipFamily:
    """One that is CLIP but for its names, the tokens of its texts, and what stands beside them."""

    name: str  # that its classes begin with
    tokenizer_class: str
    form: Form = CLIP
    old_end: int | None = _OLD_END  # where files may say it
    takes_largest: bool = False  # the row of a text's largest id, whatever files say
    project: ProjectRow = _linear_of_row  # of a whole one
    others: tuple[str, ...] = ()  # tensors of a whole one that are not about texts
    holders: tuple[str, ...] = ()  # classes that have a whole one
    base: str = ""  # as their files call it, where they do not by its model type
    keys: tuple[str, ...] = OLD_OR_NEW  # of a whole one's configuration of texts

    def text_limits(self, config: Config) -> Limits:
        """Of its encoder of texts alone."""
        return self.form.limits(config, self.tokenizer_class)

    def read_limits(self, config: Config) -> Limits:
        """Of the texts of a whole one."""
        return self.text_limits(of_texts(config, self.keys))

    def text_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """Of its encoder of texts alone, maybe with the linear behind it."""
        config, tensors = checkpoint.config, checkpoint.tensors
        encoder, projected = f"{self.name}TextModel", f"{self.name}TextModelWithProjection"
        check_class(config, encoder, projected)
        body, widths = text_rows(self.form, config, tensors, tensors.below(TEXT_MODEL), max_tokens)
        projects, width = projected in config.architectures, self.form.width_in(config)

        def head() -> HeadOps:
            end = self._end_of_texts(config, checkpoint.tokenizer)
            return _text_embedding(tensors, width, projection_width(config) if projects else 0, end)

        notes: tuple[str, ...] = ()
        if not projects or checkpoint.sentence is not None:
            notes = parts.left_out(tensors, f"{PROJECTION}.weight", by="sentence-transformers" if projects else encoder)
        return graph_with_head(
            checkpoint,
            max_tokens,
            f"{self.name}Text",
            Encoder(body, widths, self.form.vocabulary_in(config)),
            FamilyHeads(head),
            notes,
        )

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """Of the texts of a whole one."""
        config, tensors, form = checkpoint.config, checkpoint.tensors, self.form

        def build(texts: Config) -> TextHalf:
            end = self._end_of_texts(texts, checkpoint.tokenizer)
            body, widths = text_rows(form, texts, tensors, TEXT_MODEL, max_tokens)
            ops, head_widths, result = self.project(config, tensors, form.width_in(texts), end)
            return TextHalf(body + ops, widths | head_widths, result, form.vocabulary_in(texts))

        whole = Whole(f"{self.name}Model", self.holders, self.base, self.others)
        return half_graph(checkpoint, max_tokens, whole, build, HARMLESS_KEYS, keys=self.keys)

    def _end_of_texts(self, config: Config, tokenizer: TokenizerSpec) -> int:
        """The id of their last token; what would make the library take other rows than its first one's is refused."""
        end = None if self.takes_largest else config.natural_int("eos_token_id", _END)
        last = tokenizer.template.single[-1].content
        if not isinstance(last, int):
            message = "the tokenizer ends texts with no token of its own, whose row would count"
            raise parts.refuse("config-value", message)
        if end is None or end == self.old_end:
            ids = len(tokenizer.model.pieces), *(token.id + 1 for token in tokenizer.added_tokens)
            if last != max(ids) - 1:
                said = f"{self.name}Model" if end is None else f"eos_token_id {end}"
                message = f"with {said} the row of the largest id counts, and {last}, the end, is not it"
                raise parts.refuse("config-value", message)
        elif end != last:
            raise parts.refuse("config-value", f"eos_token_id is {end}, and the tokenizer ends texts with {last}")
        return last


def text_rows(
    form: Form, config: Config, tensors: TensorFile, prefix: str, max_tokens: int
) -> tuple[tuple[Node, ...], dict[str, int]]:
    """What makes `hidden`, a row of each token, and the widths of all that it writes."""
    bert_like.check_no_decoder(config)
    parts.check_max_tokens(max_tokens, form.tokens_in(config))
    shape = LayerShape(
        hidden=form.width_in(config),
        heads=config.positive_int("num_attention_heads", form.heads, maximum=parts.MAX_WIDTH),
        intermediate=config.positive_int("intermediate_size", form.inner, maximum=parts.MAX_WIDTH),
        activation=parts.activation_of(config, default=form.activation),
        epsilon=parts.epsilon_of(config, default=form.epsilon),
        masks=form.masks,
    )
    parts.check_heads(shape.hidden, shape.heads)
    count = config.positive_int("num_hidden_layers", 12, maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)

    def table(name: str, source: str, entries: int) -> parts.Parameter:
        return parts.parameter(tensors, name, f"{prefix}{source}", (entries, shape.hidden))

    words = Term(table("word_embeddings", _WORDS, form.vocabulary_in(config)), "ids")
    positions = Term(table("position_embeddings", _POSITIONS, form.tokens_in(config)), "positions")
    prefixes = [f"{prefix}encoder.layers.{i}." for i in range(count)]
    norm = [f"{prefix}final_layer_norm"]
    body = (
        Embed((words, positions), "hidden"),
        Layers("layer", count, pre_norm_layer(tensors, prefixes, _LAYER, shape)),
        parts.layer_norm(tensors, "final_norm", norm, shape.hidden, shape.epsilon, "hidden"),
    )
    return body, shape.widths | {"normed": shape.hidden}


def _text_embedding(tensors: TensorFile, width: int, outputs: int, end: int) -> HeadOps:
    """The row of the first token of this id, through the linear to so many `outputs`; 0: there is none."""
    projection = PROJECTION if outputs else None
    return embedding_head(tensors, "last", "hidden", width, projection, outputs, bias=False, end=end)
