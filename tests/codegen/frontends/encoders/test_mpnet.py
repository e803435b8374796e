# SPDX-License-Identifier: Apache-2.0
"""The MPNet front-end and its tokenizer: buckets of distances, special tokens, and what is refused.
test_recorded_models.py has what its models compute."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename
from tiny_checkpoint import write_json
from tokenizers import Tokenizer

from codegen import pipeline
from codegen.errors import EtchError
from codegen.frontends.encoders.mpnet import BUCKETS, MAX_DISTANCE
from codegen.frontends.shared.distance_bias import bucket_of
from codegen.ir import graph as g
from codegen.ir import walks
from codegen.lower import lower
from codegen.quantize import RECIPES

CLASSIFIER, ENCODER = "mpnet/softmax", "mpnet/mean"
# MPNetEncoder.relative_position_bucket of transformers 5.23.0: the first distance of each bucket, key behind the query.
FIRST_OF_BUCKET = {**{n: n for n in range(8)}, 8: 8, 12: 9, 16: 10, 23: 11, 32: 12, 46: 13, 64: 14, 91: 15}
REFUSED: dict[str, tuple[Change, str, str]] = {
    "architecture": (
        configure(architectures=["MPNetForNextSentencePrediction"]),
        "architecture-not-supported",
        "MPNetForNextSentencePrediction",
    ),
    "few buckets": (configure(relative_attention_num_buckets=16), "buckets-out-of-range", "16"),
    "other buckets": (configure(relative_attention_num_buckets=33), "wrong-shape", "relative_attention_bias"),
    "positions": (configure(max_position_embeddings=21), "wrong-shape", "position_embeddings"),
    "no bias": (rename("mpnet.encoder.relative_attention_bias.weight", "other"), "missing-tensor", "attention_bias"),
    "heads": (configure(num_attention_heads=3), "heads-do-not-divide", "20"),
    "a decoder": (configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(CLASSIFIER, *REFUSED[case], tmp_path)


def test_buckets() -> None:
    expected = 0
    for far in range(600):
        expected = FIRST_OF_BUCKET.get(far, expected)
        assert bucket_of(-far, BUCKETS, MAX_DISTANCE, both_sides=True) == expected
        assert far == 0 or bucket_of(far, BUCKETS, MAX_DISTANCE, both_sides=True) == expected + 16


def test_positions_begin_behind_the_padding() -> None:
    graph = graph_of(folder(CLASSIFIER))
    assert graph.max_tokens == 20  # of 22 positions
    (embed,) = [node for node in graph.body if isinstance(node, g.Embed)]
    assert [(term.by, term.first) for term in embed.terms] == [("ids", 0), ("positions", 2)]


def test_the_bias_of_all_layers_is_stored_once() -> None:
    program = lower(graph_of(folder(CLASSIFIER)), RECIPES["w8a8"])
    (bias,) = [slot for slot, loop in walks.slots_of(program) if slot.name == "position_bias" and loop is None]
    assert len(bias.stored) == 1


# --- tokenizer -------------------------------------------------------------------------------------------------------


def copied(tmp_path: Path) -> Path:
    return shutil.copytree(folder(CLASSIFIER), tmp_path / "model")


TEXTS = ("hello world", "a <mask> b", "x<mask>y", "<s> a </s>", "Café naïve 東京!", "", "a  <mask>", "[UNK] [MASK]")


def test_ids_are_those_of_the_folders_own_tokenizer(tmp_path: Path) -> None:
    own = Tokenizer.from_file(str(folder(CLASSIFIER) / "tokenizer.json"))
    own.no_truncation()
    model = pipeline.load(folder(CLASSIFIER)).tokenizer
    ours = Tokenizer.from_str(model.json)
    for text in TEXTS:
        assert ours.encode(text).ids == own.encode(text).ids
        for other in TEXTS:
            encoding = ours.encode(text, other)
            assert (encoding.ids, encoding.type_ids) == (own.encode(text, other).ids, [0] * len(encoding.ids))
    assert model.template.segments == 1  # pairs need no segments here
    cls, sep = own.token_to_id("<s>"), own.token_to_id("</s>")
    assert [part.content for part in model.template.pair] == [cls, "A", sep, sep, "B", sep]


def test_vocab_text_alone_gives_the_same(tmp_path: Path) -> None:
    path = copied(tmp_path)
    described = json.loads((path / "tokenizer.json").read_text())
    (path / "tokenizer.json").unlink()
    pieces = sorted(described["model"]["vocab"].items(), key=lambda item: item[1])
    (path / "vocab.txt").write_text("".join(f"{piece}\n" for piece, _ in pieces), encoding="utf-8")
    ours, whole = (Tokenizer.from_str(pipeline.load(each).tokenizer.json) for each in (path, folder(CLASSIFIER)))
    for text in TEXTS:
        assert ours.encode(text).ids == whole.encode(text).ids


def other_mask(values: dict) -> None:
    next(token for token in values["added_tokens"] if token["content"] == "<mask>")["lstrip"] = False


def one_separator(values: dict) -> None:
    values["post_processor"] = {"type": "BertProcessing", **{k: values["post_processor"][k] for k in ("sep", "cls")}}


@pytest.mark.parametrize(
    ("change", "words"), [(other_mask, "white space before it"), (one_separator, "separators between two texts")]
)
def test_conflicts_are_refused(change: object, words: str, tmp_path: Path) -> None:
    path = copied(tmp_path)
    values = json.loads((path / "tokenizer.json").read_text())
    change(values)  # type: ignore[operator]
    write_json(path / "tokenizer.json", values)
    with pytest.raises(EtchError) as caught:
        pipeline.load(path)
    assert caught.value.code == "tokenizer-conflict"
    assert words in str(caught.value)


def test_berts_special_tokens_are_not_mpnets(tmp_path: Path) -> None:
    path = changed(
        CLASSIFIER, lambda at: write_json(at / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer"}), tmp_path
    )
    with pytest.raises(EtchError) as caught:
        pipeline.load(path)
    assert caught.value.code == "tokenizer-conflict"


def test_the_embedding_forgets_the_pooler() -> None:
    assert graph_of(folder(ENCODER)).task.outputs == 20
