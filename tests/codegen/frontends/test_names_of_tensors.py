# SPDX-License-Identifier: Apache-2.0
"""Files as other versions of the library and other programs wrote them: names without the encoder's prefix below a
class with a head, tensors that the classes make anew, words by the name that tied logits have. The library (5.23) loads
each without a missing tensor, and computes the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from recorded.outputs import folder, read_recorded
from recorded_changes import Change, add, assert_refused, changed, configure, drop, graph_of, refused, rename
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen.errors import EtchError
from codegen.ir.graph import Graph
from codegen.oracle.interpret import Interpreter

WITHOUT_PREFIX = {
    "bert/softmax": "bert.",
    "roberta/softmax": "roberta.",
    "distilbert/softmax": "distilbert.",
    "deberta-v2/own": "deberta.",
    "modernbert/one_layer": "model.",
    "masks/mpnet": "mpnet.",
    "answers/electra": "electra.",
    "tags/xlnet": "transformer.",
    "bart/regression": "model.",
    "mvp/softmax": "model.",
    "plbart/softmax": "model.",
    "answers/led": "led.",
    "t5/regression": "transformer.",
    "tags/t5": "transformer.",
    "t5gemma/softmax": "model.",
    "tags/t5gemma": "model.",
    "dpr/question": "question_encoder.",
    "dpr/context": "ctx_encoder.",
    "clip_text_model/linear": "text_model.",
    "owlvit/boxes": "owlvit.",
}
# Of classes that have none, or not before all of their tensors.
WITH_PREFIX = {
    "bert/softmax": "bert.",
    "t5/mean": "transformer.",
    "answers/t5": "transformer.",
    "clip/whole": "clip.",
    "clipseg/segments": "clip.",
    "siglip/whole": "siglip.",
    "xclip/whole": "x_clip.",
    "clap/whole": "clap.",
    "altclip/whole": "altclip.",
    "chinese_clip/whole": "chinese_clip.",
}
OF_WRITERS = {
    "bart/texts": "model.",
    "mbart/texts": "model.",
    "pegasus/texts": "model.",
    "blenderbot/texts": "model.",
    "m2m_100/texts": "model.",
    "led/texts": "led.",
    "t5gemma/texts": "model.",
    "t5/texts": "transformer.",
    "opt/texts": "model.",
}
MADE_ANEW = {
    "bert/softmax": "bert.embeddings.position_ids",
    "distilbert/softmax": "distilbert.embeddings.position_ids",
    "modernbert/one_layer": "model.embeddings.position_ids",
    "roformer/softmax": "roformer.encoder.layer.0.rotary_emb.inv_freq",
    "gte/multi_label": "gte.rotary_emb.inv_freq",
    "nomic_bert/regression": "nomic_bert.encoder.layers.0.attn.rotary_emb.inv_freq",
    "llama/multi_label": "model.rotary_emb.inv_freq",
    "phi/softmax": "model.layers.0.self_attn.rotary_emb.inv_freq",
    "falcon/regression": "transformer.h.0.self_attention.rotary_emb.inv_freq",
    "gpt_neox/regression": "gpt_neox.layers.0.attention.rotary_emb.inv_freq",
}
# Of writers, with the last linear that words are tied to.
WORDS = {
    "llama/texts": ("model.embed_tokens.weight", "lm_head.weight"),
    "gpt_neo/texts": ("transformer.wte.weight", "lm_head.weight"),
    "opt/texts": ("model.decoder.embed_tokens.weight", "lm_head.weight"),
    "bart/texts": ("model.shared.weight", "lm_head.weight"),
    "t5gemma/texts": ("model.decoder.embed_tokens.weight", "lm_head.out_proj.weight"),
    "encoder-decoder/texts": (
        "decoder.bert.embeddings.word_embeddings.weight",
        "decoder.cls.predictions.decoder.weight",
    ),
}
# The last linear of masked language models, and what stands before the name of the words.
LAST_LINEARS = {
    "albert": ("predictions.decoder", "albert."),
    "bert": ("cls.predictions.decoder", "bert."),
    "big_bird": ("cls.predictions.decoder", "bert."),
    "convbert": ("generator_lm_head", "convbert."),
    "deberta": ("cls.predictions.decoder", "deberta."),
    "deberta-v2": ("cls.predictions.decoder", "deberta."),
    "distilbert": ("vocab_projector", "distilbert."),
    "electra": ("generator_lm_head", "electra."),
    "esm": ("lm_head.decoder", "esm."),
    "fnet": ("cls.predictions.decoder", "fnet."),
    "funnel": ("lm_head", "funnel."),
    "gte": ("lm_head.decoder", "gte."),
    "mobilebert": ("cls.predictions.decoder", "mobilebert."),
    "mpnet": ("lm_head.decoder", "mpnet."),
    "nomic_bert": ("cls.predictions.decoder", "nomic_bert."),
    "nystromformer": ("cls.predictions.decoder", "nystromformer."),
    "roberta": ("lm_head.decoder", "roberta."),
    "roformer": ("cls.predictions.decoder", "roformer."),
    "squeezebert": ("cls.predictions.decoder", "transformer."),
    "xlm-roberta": ("lm_head.decoder", "roberta."),
}
OTHER_NAMES_OF_WORDS = {
    "flaubert": ("pred_layer.proj", "transformer.embeddings.weight"),
    "modernbert": ("decoder", "model.embeddings.tok_embeddings.weight"),
}
_WRITERS = Path(__file__).parents[1] / "generation"


@pytest.mark.parametrize("variant", WITHOUT_PREFIX)
def test_a_head_on_an_encoder_without_its_prefix(variant: str, tmp_path: Path) -> None:
    assert_same(variant, graph_of(changed(variant, without(WITHOUT_PREFIX[variant]), tmp_path)))


@pytest.mark.parametrize("variant", WITH_PREFIX)
def test_a_prefix_before_all_names(variant: str, tmp_path: Path) -> None:
    assert_same(variant, graph_of(changed(variant, with_all(WITH_PREFIX[variant]), tmp_path)))


@pytest.mark.parametrize("prefixed", [False, True], ids=["without", "with"])
@pytest.mark.parametrize("variant", OF_WRITERS)
def test_writers_with_and_without_a_prefix(variant: str, prefixed: bool, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(_WRITERS / variant, path)
    whole = Interpreter(graph_of(path)).logits([5, 7, 9], [0] * 3, [6])
    (with_all if prefixed else without)(OF_WRITERS[variant])(path)
    assert Interpreter(graph_of(path)).logits([5, 7, 9], [0] * 3, [6]).tobytes() == whole.tobytes()


def test_some_names_have_the_prefix(tmp_path: Path) -> None:
    """The library looks at each name by itself."""
    change = rename("distilbert.transformer.layer.0.ffn.lin1.bias", "transformer.layer.0.ffn.lin1.bias")
    assert_same("distilbert/softmax", graph_of(changed("distilbert/softmax", change, tmp_path)))


def test_both_names_at_once_are_refused(tmp_path: Path) -> None:
    code, message = refused("distilbert/softmax", add("embeddings.LayerNorm.bias", (20,)), tmp_path)
    assert (code, "'embeddings.LayerNorm.bias'" in message) == ("unused-tensor", True)


def test_a_refusal_says_a_name_as_the_file_has_its_others(tmp_path: Path) -> None:
    def change(path: Path) -> None:
        rename("distilbert.embeddings.LayerNorm.bias", "other")(path)
        without("distilbert.")(path)

    code, message = refused("distilbert/softmax", change, tmp_path)
    assert (code, "'embeddings.LayerNorm.bias'" in message) == ("missing-tensor", True)


@pytest.mark.parametrize("variant", MADE_ANEW)
def test_what_classes_make_anew_is_not_read(variant: str, tmp_path: Path) -> None:
    made = graph_of(changed(variant, add(MADE_ANEW[variant], (1, 20)), tmp_path))
    assert made.notes == graph_of(folder(variant)).notes
    assert_same(variant, made)


@pytest.mark.parametrize("variant", WORDS)
def test_words_by_the_name_of_tied_logits(variant: str, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(_WRITERS / variant, path)
    whole = Interpreter(graph_of(path)).logits([5, 7, 9], [0] * 3, [6])
    rename(*WORDS[variant])(path)
    assert Interpreter(graph_of(path)).logits([5, 7, 9], [0] * 3, [6]).tobytes() == whole.tobytes()


@pytest.mark.parametrize("family", [*LAST_LINEARS, *OTHER_NAMES_OF_WORDS])
def test_words_by_the_name_of_what_predicts_them(family: str, tmp_path: Path) -> None:
    linear, words = OTHER_NAMES_OF_WORDS.get(family) or LAST_LINEARS[family]
    words = words if family in OTHER_NAMES_OF_WORDS else f"{words}embeddings.word_embeddings.weight"
    variant = f"masks/{family}"
    assert_same(variant, graph_of(changed(variant, rename(words, f"{linear}.weight"), tmp_path)))


@pytest.mark.parametrize(
    ("variant", "change"),
    [
        ("masks/bert", configure(tie_word_embeddings=False)),
        ("bert/softmax", configure()),  # the class has no last linear
        ("masks/bert", configure(architectures=["BertForTokenClassification"])),
    ],
    ids=["untied", "a classifier", "a tagger"],
)
def test_words_that_the_library_draws_are_refused(variant: str, change: Change, tmp_path: Path) -> None:
    words = "bert.embeddings.word_embeddings.weight"

    def both(path: Path) -> None:
        rename(words, "cls.predictions.decoder.weight")(path)
        change(path)

    assert_refused(variant, both, "missing-tensor", words, tmp_path)


@pytest.mark.parametrize("variant", ["bart/texts", "pegasus/texts"])
def test_a_bias_of_logits_that_is_missing_is_zeros(variant: str, tmp_path: Path) -> None:
    logits = []
    for path, change in (
        (tmp_path / "zeros", add("final_logits_bias", (1, vocabulary(variant)))),
        (tmp_path / "none", configure()),
    ):
        shutil.copytree(_WRITERS / variant, path)
        drop("final_logits_bias")(path)
        change(path)
        logits.append(Interpreter(graph_of(path)).logits([5, 7, 9], [0] * 3, [6]))
    assert logits[0].tobytes() == logits[1].tobytes()


def test_logits_that_are_not_tied_are_no_words(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(_WRITERS / "llama/texts", path)
    rename(*WORDS["llama/texts"])(path)
    configure(tie_word_embeddings=False)(path)
    with pytest.raises(EtchError) as caught:
        graph_of(path)
    assert (caught.value.code, caught.value.tensor) == ("missing-tensor", WORDS["llama/texts"][0])


def vocabulary(variant: str) -> int:
    return int(json.loads((_WRITERS / variant / "config.json").read_text())["vocab_size"])


def without(prefix: str) -> Change:
    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        header = {name.removeprefix(prefix): entry for name, entry in header.items()}
        write_raw_safetensors(path / "model.safetensors", header, data)

    return change


def with_all(prefix: str) -> Change:
    """Before each name that lacks it."""

    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        header = {key if key == "__metadata__" else f"{prefix}{key}": at for key, at in header.items()}
        header = {name.replace(prefix * 2, prefix, 1): at for name, at in header.items()}
        write_raw_safetensors(path / "model.safetensors", header, data)

    return change


def assert_same(variant: str, made: Graph) -> None:
    ours, whole = Interpreter(made), Interpreter(graph_of(folder(variant)))
    for text in read_recorded(variant):
        assert ours.output(text.ids, text.segments).tobytes() == whole.output(text.ids, text.segments).tobytes()
