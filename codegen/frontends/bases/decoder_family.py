# SPDX-License-Identifier: Apache-2.0
"""A family of decoders alone. A folder is that of a writer, or that of a classifier of texts by their last row or of
tokens, which its class says; or it makes embeddings of the rows, whichever class it has, if it has the files of
sentence-transformers.

A padding token that a text ends with counts as any other; a classifier of `transformers` reads the row before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...ir.graph import Cap, Graph, Head, Linear
from ...ir.op import map_slots
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.generation_config import GenerationSettings
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ...tasks.generation import Generation
from ..shared import parts
from ..shared.checked_keys import IS_CAUSAL, seeing_all
from ..shared.classifier_head import classifier_head
from ..shared.computed import scaled
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Stack
from ..shared.rows import HeadOps
from ..shared.target_rules import build_decoder_alone, build_target_rules
from . import bert_like
from .architecture import check_architecture
from .heads import Encoder, FamilyHeads, graph_with_head

# Of the prefix of its tensors, the entries of its vocabulary, and the most tokens that it sees.
StackOf = Callable[[Config, TensorFile, str, int, int], Stack]


@dataclass(frozen=True)
class Names:
    """Of tensors."""

    prefix: str = "model."  # of all but those of logits
    words: str = WORDS  # below it
    logits: str = "lm_head.weight"
    logits_bias: str | None = None  # where the family has one
    between: tuple[str, ...] = ()  # those of what stands between rows and logits
    alone: str = ""  # the prefix in files of the model without a head
    older: tuple[str, ...] = ()  # prefixes in older files

    def prefix_in(self, tensors: TensorFile) -> str:
        tensors.below(self.prefix.removesuffix(self.alone))
        prefixes = (self.prefix, *self.older)
        return next((prefix for prefix in prefixes if f"{prefix}{self.words}" in tensors), self.prefix)

    @property
    def of_logits(self) -> tuple[str, ...]:
        bias = () if self.logits_bias is None else (self.logits_bias,)
        return (self.logits, *bias, *self.between)


def score(config: Config, tensors: TensorFile, stack: Stack) -> HeadOps:
    """The head of most classifiers: a linear of the last row."""
    return classifier_head(config, tensors, stack.rows, stack.width, "score", pooling="last", bias=False)


@dataclass(frozen=True)
class Family:
    """What it has of its own."""

    name: str  # of its classes
    tokenizer_class: str
    stack_of: StackOf
    writer: str = ""  # the class that writes texts, where it has another name than the others
    first_writer: str = ""  # what files call it that are older than the library's
    logits_factor: Callable[[Config], float] | None = None  # what a writer's logits are multiplied by
    # What a writer makes of the rows before the logits, and a classifier of them.
    behind: Callable[[Config, TensorFile, Stack], Stack] = lambda config, tensors, stack: stack
    classifier: Callable[[Config, TensorFile, Stack], HeadOps] = score
    tags: str | None = None  # what the file calls the linear of a token classifier, where there is such a class
    bias_key: str | None = None  # says whether the logits have a bias, where names.logits_bias is one,
    bias_usual: bool = True  # which they have where it is not said
    logits_cap: Callable[[Config], float | None] = lambda _: None  # what bounds them
    names: Names = Names()
    width_of: Callable[[Config], int] = lambda config: config.positive_int("hidden_size")  # of its rows
    positions: str = POSITIONS  # the key of how many there are
    usual_positions: int | None = None  # where the configuration does not say it; None: it has to
    own_masks: bool = False  # rows never see all tokens, though is_causal says so
    padding: int | None = None  # the library's padding token, where the configuration does not say it
    endless: bool = False  # positions are a default, as no row depends on their number
    tied: bool = False  # the words are the weights of the logits, where the configuration does not say it
    tied_keys: tuple[str, ...] = ("tie_word_embeddings",)  # by which it does; the first one that is there counts

    def read_limits(self, config: Config) -> Limits:
        """Positions are those of a text and of what is written behind it."""
        width, vocabulary = self.width_of(config), config.positive_int("vocab_size")
        writes = self._writes_texts(config)
        return Limits(
            width,
            vocabulary,
            config.positive_int(self.positions, self.usual_positions, maximum=MAX_POSITIONS),
            self.positions if self.positions in config else f"without {self.positions}, {self.name}'s own",
            self.tokenizer_class,
            writes_texts=writes,
            has_encoder=not writes,
            endless=self.endless,
        )

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint. A writer's writes as many tokens as the folder says, or as there are positions
        left."""
        config = checkpoint.config
        if not self._writes_texts(config):
            return self._graph_of_rows(checkpoint, max_tokens)
        writer = self.first_writer if self.first_writer in config.architectures else self._writer
        return build_decoder_alone(checkpoint, writer, self.graph_of, max_tokens, self._positions(config))

    def graph_of(
        self,
        config: Config,
        tensors: TensorFile,
        max_source: int,
        max_target: int,
        generation: GenerationSettings | None = None,
    ) -> Graph:
        """The graph of a writer; takes every tensor of the file exactly once. A target of at most `max_target` tokens,
        its end included, stands behind a text of at most `max_source`."""
        vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
        tokens = max_source + max_target - 1
        counted = f", {max_source} of the text and {max_target - 1} written behind it"
        parts.check_max_tokens(tokens, self._most(config), self.positions, counted)
        names = self.names
        prefix = names.prefix_in(tensors)
        tied = self._is_tied(config, tensors, f"{prefix}{names.words}")
        if tied:
            tensors.stand_in(f"{prefix}{names.words}", names.logits)
        stack = self.behind(config, tensors, self.stack_of(config, tensors, prefix, vocabulary, tokens))
        projection = stack.words
        if tied:
            parts.check_copies(tensors, f"{prefix}{names.words}", (names.logits,))
        else:
            projection = parts.parameter(tensors, "vocabulary_weight", names.logits, projection.shape)
        bias = None
        if names.logits_bias is not None and (self.bias_key is None or config.flag(self.bias_key, self.bias_usual)):
            bias = parts.parameter(tensors, "vocabulary_bias", names.logits_bias, (vocabulary,))
        tensors.finish()
        body = stack.body
        if self.logits_factor is not None:
            factor, norm = self.logits_factor(config), body[-1]
            body = (*body[:-1], map_slots(norm, lambda gamma: scaled(gamma, factor)))
        cap = self.logits_cap(config)
        capped = () if cap is None else (Cap("logits", cap),)
        return Graph(
            stack.widths | {"logits": vocabulary},
            (),
            (Head(Generation(vocabulary, max_target, None if generation is None else generation.chat), "logits"),),
            vocabulary,
            1,
            max_source,
            repeat=(*body, Linear("logits", projection, bias, stack.rows, "logits"), *capped),
            target_rules=build_target_rules(config, generation, vocabulary, max_target, has_encoder=False),
        )

    def _graph_of_rows(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """Of all tokens of a text at once."""
        config, tensors, sentence, names = checkpoint.config, checkpoint.tensors, checkpoint.sentence, self.names
        if sentence is None or {self._writer, self.first_writer}.isdisjoint(config.architectures):
            taggers = () if self.tags is None else (f"{self.name}ForTokenClassification",)
            check_architecture(checkpoint, self.name, others=(self._writer, *taggers))
        bert_like.check_no_decoder(config)
        parts.check_max_tokens(max_tokens, self._most(config), self.positions)
        padding = config.values.get("pad_token_id", self.padding)
        if sentence is None and type(padding) is int:
            bert_like.check_padding(checkpoint.tokenizer, padding)
        vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
        stack = self.stack_of(config, tensors, names.prefix_in(tensors), vocabulary, max_tokens)
        if config.values.get(IS_CAUSAL) is False and not self.own_masks:
            stack = replace(stack, body=seeing_all(stack.body))
        encoder = Encoder(stack.body, stack.widths, vocabulary, value=stack.rows)
        heads = FamilyHeads(
            lambda: self.classifier(config, tensors, stack),
            tags=self.tags or FamilyHeads.tags,
            left_out=names.of_logits,
        )
        return graph_with_head(checkpoint, max_tokens, self.name, encoder, heads)

    def _is_tied(self, config: Config, tensors: TensorFile, words: str) -> bool:
        """Where the configuration leaves it open, the library ties no two tensors of a file that differ."""
        said = next((key for key in self.tied_keys if key in config), None)
        if said is not None:
            return config.flag(said)
        return self.tied and not parts.differ(tensors, words, self.names.logits)

    @property
    def _writer(self) -> str:
        return self.writer or f"{self.name}ForCausalLM"

    def _writes_texts(self, config: Config) -> bool:
        named = config.architectures
        return not config.embeds and (not named or not {self._writer, self.first_writer}.isdisjoint(named))

    def _positions(self, config: Config) -> int:
        return self.read_limits(config).positions

    def _most(self, config: Config) -> int:
        return MAX_POSITIONS if self.endless else self._positions(config)
