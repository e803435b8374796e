# SPDX-License-Identifier: Apache-2.0
"""T5Gemma (Zhang et al., 2025, arXiv:2504.06225): Gemma 2's layers as an encoder, which sees texts both ways, and as a
decoder, which attends to its rows, too. A folder is that of a writer, of a classifier or tagger of the decoder's rows
or, without a decoder, of the encoder's, or of the encoder alone. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Cap, Embed, Graph, Head, Linear
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.config_keys import unused_keys
from ...load.generation_config import GenerationSettings
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ...tasks.translation import Translation
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.classifier_head import classifier_head
from ..shared.gemma2_stack import logits_cap
from ..shared.llama_stack import POSITIONS, WORDS, Stack
from ..shared.rows import HeadOps
from ..shared.t5gemma_stack import DECODER, ENCODER, Half, decoder_stack, encoder_stack
from ..shared.target_rules import build_behind_encoder, build_target_rules

MODEL_TYPE = "t5gemma"
# Training's; the number of words, which each half says of its own.
HARMLESS_KEYS = frozenset({"attention_dropout", "classifier_dropout_rate", "dropout_rate", "vocab_size"})
# Of a half: training's and the library's own, what it sets itself, and what bounds scores of words, which writers have.
_OF_HALF = frozenset(
    {"attention_dropout", "cache_implementation", "dropout_rate", "hidden_act"}
    | {"cross_attention_hidden_size", "is_decoder", "final_logit_softcapping"}
)
_NAME, _ROOT = "T5Gemma", "model."
_WRITER, _TAGGER = f"{_NAME}ForConditionalGeneration", f"{_NAME}ForTokenClassification"
_HEAD, _LOGITS = "score.out_proj", "lm_head.out_proj.weight"
_BEGIN, _PADDING = 2, 0  # where the decoder's part does not say them


def read_limits(config: Config) -> Limits:
    """Positions only bound the texts, which have the encoder's."""
    encoder, decoder = _halves(config)
    return Limits(
        encoder.config.positive_int("hidden_size"),
        encoder.vocabulary,
        encoder.positions,
        f"{ENCODER}.{POSITIONS}",
        "GemmaTokenizer",
        writes_texts=_writes_texts(config),
        target_entries=decoder.vocabulary,
        family_writes=True,
    )


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint, of a writer as `build_behind_encoder`."""
    config, alone = checkpoint.config, checkpoint.sentence is not None
    if _writes_texts(config):
        return build_behind_encoder(checkpoint, _WRITER, graph_of, max_tokens, _halves(config)[1].positions)
    if not (alone and _WRITER in config.architectures):
        check_architecture(checkpoint, _NAME, "EncoderModel", others=(_TAGGER,))
    both = config.flag("is_encoder_decoder", True) and not alone
    return (_graph_of_both if both else _graph_of_encoder)(checkpoint, max_tokens)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """The graph of a writer; takes every tensor of the file exactly once. `max_source` are the tokens of a text,
    `max_target` those of a target behind the token that it begins with, its end included."""
    encodes, decodes = _halves(config)
    root = tensors.below(_ROOT)
    vocabulary, cap = decodes.vocabulary, logits_cap(decodes.config)
    rules = build_target_rules(config, generation, vocabulary, max_target, has_encoder=True)
    encoder = encoder_stack(encodes, tensors, root, max_source)
    words, tied = f"{root}{DECODER}.{WORDS}", config.flag("tie_word_embeddings", True)
    if tied:
        tensors.stand_in(words, _LOGITS)
    decoder = decoder_stack(decodes, tensors, root, rules.steps(max_source), encoder.width)
    projection = decoder.words
    if tied:
        parts.check_copies(tensors, words, (_LOGITS,))
    else:
        projection = parts.parameter(tensors, "vocabulary_weight", _LOGITS, projection.shape)
    tensors.finish()
    capped = () if cap is None else (Cap("logits", cap),)
    return Graph(
        encoder.widths | decoder.widths | {"logits": vocabulary},
        encoder.body,
        (Head(Translation(vocabulary, max_target), "logits"),),
        encodes.vocabulary,
        1,
        max_source,
        _notes(encodes, decodes),
        repeat=(*decoder.body, Linear("logits", projection, None, decoder.rows, "logits"), *capped),
        target_rules=rules,
    )


def _graph_of_encoder(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """Embeddings also of a file that has the decoder as well."""
    config, tensors, half = checkpoint.config, checkpoint.tensors, _halves(checkpoint.config)[0]
    root = tensors.below(_ROOT)
    stack, notes = encoder_stack(half, tensors, root, max_tokens), _notes(half)
    if checkpoint.sentence is not None:
        ignored = tensors.ignore(f"{root}{DECODER}.*", _LOGITS)
        if ignored:  # hundreds
            notes += (f"not used by the encoder: {len(ignored)} tensors of the decoder, {ignored[0]} the first",)
    elif type(padding := config.values.get("pad_token_id")) is int:
        bert_like.check_padding(checkpoint.tokenizer, padding)
    return _graph_of_rows(checkpoint, max_tokens, stack, half.vocabulary, notes)


def _graph_of_both(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The decoder reads the text, one token behind it."""
    config, tensors = checkpoint.config, checkpoint.tensors
    encodes, decodes = _halves(config)
    root = tensors.below(_ROOT)
    encoder = encoder_stack(encodes, tensors, root, max_tokens)
    decoder = decoder_stack(decodes, tensors, root, max_tokens, encoder.width)
    if encodes.vocabulary != decodes.vocabulary:
        message = f"decoder.vocab_size {decodes.vocabulary}: it reads the encoder's text, of {encodes.vocabulary}"
        raise parts.refuse("config-value", message)
    begin = decodes.config.natural_int("bos_token_id", _BEGIN, maximum=decodes.vocabulary - 1)
    paddings = {decodes.config.natural_int("pad_token_id", _PADDING)}
    if begin in paddings:
        message = f"decoder.bos_token_id is {begin}, the padding token, which the library's decoder leaves out"
        raise parts.refuse("config-value", message)
    if type(padding := config.values.get("pad_token_id")) is int:
        paddings.add(padding)
    for padding in paddings:
        bert_like.check_padding(checkpoint.tokenizer, padding)
    embed, *layers = decoder.body
    assert isinstance(embed, Embed)
    behind = replace(embed, terms=tuple(replace(term, shift=-1, outside=begin) for term in embed.terms))
    stack = replace(decoder, body=(*encoder.body, behind, *layers), widths=encoder.widths | decoder.widths)
    return _graph_of_rows(checkpoint, max_tokens, stack, encodes.vocabulary, _notes(encodes, decodes))


def _graph_of_rows(
    checkpoint: Checkpoint, max_tokens: int, stack: Stack, vocabulary: int, notes: tuple[str, ...]
) -> Graph:
    """Takes what is left of the file; a classifier reads the last row."""
    config, tensors = checkpoint.config, checkpoint.tensors

    def classify() -> HeadOps:
        return classifier_head(config, tensors, stack.rows, stack.width, _HEAD, pooling="last")

    encoder = Encoder(stack.body, stack.widths, vocabulary, value=stack.rows)
    return graph_with_head(checkpoint, max_tokens, _NAME, encoder, FamilyHeads(classify, tags=_HEAD), notes)


def _halves(config: Config) -> tuple[Half, Half]:
    return Half.read(config, ENCODER), Half.read(config, DECODER)


def _notes(*halves: Half) -> tuple[str, ...]:
    return tuple(note for half in halves for note in unused_keys(half.config, _OF_HALF))


def _writes_texts(config: Config) -> bool:
    return not config.embeds and (not config.architectures or _WRITER in config.architectures)
