# SPDX-License-Identifier: Apache-2.0
"""Which golden texts a model gets, and that they carry the wheel's ids and the emulator's logits."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_program import tiny_program

from codegen import golden as golden_module
from codegen import pipeline
from codegen.emulate import emulate
from codegen.golden import SHORT_TEXTS, golden_texts, make_golden
from codegen.ir import program as p
from codegen.ir import walks
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer, wheel_tokenizer
from codegen.request import Reading

GENERATION = Path(__file__).resolve().parents[1] / "generation"


def test_goldens_of_a_small_model(tmp_path: Path) -> None:
    program, checkpoint = tiny_program(tmp_path, "w8a8", max_positions=24)
    goldens = make_golden(program, checkpoint.tokenizer)
    assert [golden.text.decode() for golden in goldens] == golden_texts(program, checkpoint.tokenizer)
    assert [golden.text.decode() for golden in goldens[:-1]] == list(SHORT_TEXTS)
    for golden in goldens:
        assert golden.ids[0] == checkpoint.tokenizer.template.special_ids[0]
        assert golden.ids[-1] == checkpoint.tokenizer.template.special_ids[1]
        logits = emulate(program, golden.ids, [0] * len(golden.ids))
        assert golden.output.tobytes() == logits.tobytes()
    assert len(goldens[-1].ids) == program.max_tokens
    assert goldens[-1].truncated
    assert not goldens[1].truncated
    assert goldens[1].ids == checkpoint.tokenizer.template.special_ids


def test_texts_are_lines_of_every_kind() -> None:
    together = "".join(SHORT_TEXTS)
    assert not set(together) & set("\n\r\0")
    assert "" in SHORT_TEXTS
    assert "[SEP]" in together
    for kind in "é東한🎉…\u200d":
        assert kind in together


def test_three_tokens_are_enough(tmp_path: Path) -> None:
    program, checkpoint = tiny_program(tmp_path, "fp32", max_positions=3)
    goldens = make_golden(program, checkpoint.tokenizer)
    assert max(len(golden.ids) for golden in goldens) == 3
    assert goldens[-1].truncated


@pytest.mark.parametrize(
    ("pieces", "spelled"),
    [
        (("a", "b"), "ab"),
        (("a", "<0xC3>", "<0xA9>", "b"), "a\u00e9b"),
        (("a", "<0xC3>", "<0xA9>"), "a"),  # another byte behind them would make three U+FFFD
        (("a", "<0x41>"), "a"),
        (("<0x41>", "<0x41>"), ""),
        (("a", "<0xC3>", "<0x41>", "b"), "a\ufffd\ufffdb"),
        (("a", "<0xC3>", "<0xA9>", "<eos>"), "a\u00e9"),  # nothing follows
        (("a", "<0x41>", "<pad>"), "a"),  # what is skipped does not end a character
        (("<0xC3>", "<bos>", "<0xA9>", "b", "<0xA9>"), "\u00e9b"),
        (("<pad>", "<pad>"), ""),
        (("a", *["<0xE6>", "<0x9D>", "<0xB1>"] * 30, "b"), "a"),  # does not fit
    ],
)
def test_no_token_that_follows_changes_what_is_spelled(pieces: tuple[str, ...], spelled: str) -> None:
    """A program that spells as many bytes stops there: it knows no more than they do."""
    target = pipeline.load(GENERATION / "t5gemma" / "texts", Reading()).target
    assert target is not None and target.decoder.byte_fallback
    vocabulary = wheel_tokenizer(target.spec).get_vocab()
    ids = [vocabulary[piece] for piece in pieces]
    assert golden_module._spelled(target, [], ids, ended=pieces[-1] == "<eos>") == spelled.encode()


@pytest.mark.parametrize("before", [("a", "<0xC3>", "<0xA9>"), ("<0x41>",), ("<0xE2>", "<pad>", "<0x80>", "<0xA6>")])
def test_bytes_behind_those_of_a_prompt_are_their_own(before: tuple[str, ...]) -> None:
    """As the program begins with what it writes: a byte that is no character changes none of the prompt's."""
    target = pipeline.load(GENERATION / "t5gemma" / "texts", Reading()).target
    assert target is not None
    vocabulary = wheel_tokenizer(target.spec).get_vocab()
    prompt = [vocabulary[piece] for piece in before]
    for pieces, spelled in (
        (("<0xA9>", "b"), "\ufffdb"),
        (("<0xC3>", "<0xA9>", "b"), "\u00e9b"),
        (("\u2581the",), " the"),
    ):
        ids = [vocabulary[piece] for piece in pieces]
        assert golden_module._spelled(target, prompt, ids, ended=False) == spelled.encode()


def linears(program: p.Program) -> dict[bool, int]:
    """Weights of all linears in all layers, by whether they are read again in every step."""
    counts = {True: 0, False: 0}
    for step in program.steps:
        for op, loop in walks.located(step):
            if isinstance(op, p.Linear):
                layers = 1 if loop is None else loop.count
                counts[isinstance(step, p.Repeat)] += layers * op.input.width * op.out.width
    return counts


@pytest.mark.parametrize(("family", "has_encoder"), [("gpt2", False), ("llama", False), ("t5", True), ("mbart", True)])
def test_the_estimate_of_a_model_that_writes_has_every_step(
    family: str, has_encoder: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linears read their weights once in each, those of the encoder and what is packed of it once for all rows."""
    checkpoint = pipeline.load(GENERATION / family / "texts")
    program = pipeline.lower(checkpoint, "fp32", None)
    assert program.target_rules is not None
    monkeypatch.setattr(golden_module, "GOLDEN_TARGET", 5)
    monkeypatch.setattr(golden_module, "_SECONDS_PER_SCORE", 0.0)
    monkeypatch.setattr(golden_module, "_SECONDS_PER_MULTIPLY_ADD", {"f32": 1.0})
    monkeypatch.setattr(golden_module, "_SECONDS_PER_WEIGHT_OF_ONE_ROW", {"f32": 1000.0})
    monkeypatch.setitem(golden_module.SECONDS._entries, p.Attention, lambda *_: 0.0)
    counts, tokens = linears(program), 7
    assert (counts[False] > 0) == has_encoder
    assert counts[True] > checkpoint.config.positive_int("vocab_size")
    steps = (len(program.target_rules.begin) if has_encoder else tokens) - 1 + 5
    expected = tokens * counts[False] + 1000.0 * steps * counts[True]
    assert golden_module.estimated_seconds(program, tokens) == expected


@pytest.mark.parametrize("family", ["gpt2", "t5"])
def test_models_that_write_keep_the_budget_too(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = pipeline.load(GENERATION / family / "texts")
    program = pipeline.lower(checkpoint, "w8a8", None)

    def spent() -> tuple[int, float]:
        texts = golden_texts(program, checkpoint.tokenizer)
        tokenizer = text_tokenizer(checkpoint.tokenizer, program.max_tokens)
        lengths = [len(tokenizer.encode(text).ids) for text in texts]
        return len(texts), sum(golden_module.estimated_seconds(program, length) for length in lengths)

    count, everything = spent()
    assert count > 5
    monkeypatch.setattr(golden_module, "_BUDGET_SECONDS", everything * 0.5)
    fewer, seconds = spent()
    assert 1 < fewer < count
    assert seconds <= everything * 0.5


@pytest.mark.parametrize("share", [1.5, 0.7, 0.1, 0.0])
def test_large_models_get_fewer_and_shorter_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    program, checkpoint = tiny_program(tmp_path, "w8a8", max_positions=256)
    everything = sum(
        golden_module.estimated_seconds(program, len(golden.ids))
        for golden in make_golden(program, checkpoint.tokenizer)
    )
    monkeypatch.setattr(golden_module, "_BUDGET_SECONDS", everything * share)
    goldens = make_golden(program, checkpoint.tokenizer)
    spent = sum(golden_module.estimated_seconds(program, len(golden.ids)) for golden in goldens)
    assert goldens[0].text.decode() == SHORT_TEXTS[0]
    assert len(goldens) == 1 or spent <= everything * share
    assert goldens[-1].truncated == (share > 1)
    if share == 0.7:
        assert 16 <= len(goldens[-1].ids) < 256
        assert len(goldens) == len(SHORT_TEXTS) + 1
    if share == 0.0:
        assert len(goldens) == 1
