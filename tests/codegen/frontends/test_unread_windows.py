# SPDX-License-Identifier: Apache-2.0
"""Windows of configurations whose families have none: the library's `generate` makes its cache by them, and writes
other texts with less than it would need."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder as recorded
from recorded_changes import changed, configure
from recorded_changes import graph_of as graph_of_rows
from test_decoders import folder, graph_of
from test_encoder_decoder import FAMILY
from test_encoder_decoder import changed as with_half

from codegen.errors import EtchError

TOKENS, WRITTEN = 10, 6  # 15 are seen: what is written last is not


@pytest.mark.parametrize("key", ["sliding_window", "attention_chunk_size"])
@pytest.mark.parametrize("family", ["gpt2", "llama", "gpt_neo"])
def test_a_window_of_the_cache_alone(family: str, key: str, tmp_path: Path) -> None:
    def graph(window: int, layer_types: list[str] | None = None) -> None:
        path = folder(tmp_path / f"{window} {layer_types}", family, **{key: window}, layer_types=layer_types)
        graph_of(path, TOKENS, WRITTEN)

    with pytest.raises(EtchError, match=f"'{key}': 14, .* than 15 tokens") as caught:
        graph(14)
    assert caught.value.code == "config-not-supported"
    with pytest.raises(EtchError, match=f"'{key}'"):
        graph(14, ["sliding_attention", "full_attention"])
    graph(15)
    graph(14, ["full_attention"])


def test_what_has_an_encoder(tmp_path: Path) -> None:
    """Its rows are in such a cache, too, which has one less than the window."""
    with pytest.raises(EtchError, match=r"'sliding_window': 10, .* than 11 tokens"):
        graph_of(folder(tmp_path / "10", "bart", sliding_window=10), TOKENS, WRITTEN)
    graph_of(folder(tmp_path / "11", "bart", sliding_window=11), TOKENS, WRITTEN)
    of_pair = with_half(folder(tmp_path / "pair", FAMILY), "decoder", sliding_window=4)
    with pytest.raises(EtchError, match="'sliding_window': 4"):
        graph_of(of_pair, TOKENS, WRITTEN)


def test_rows_have_no_cache(tmp_path: Path) -> None:
    path = changed("llama/multi_label", configure(sliding_window=3), tmp_path)
    notes = (*graph_of_rows(recorded("llama/multi_label")).notes, "config.json: not used: sliding_window")
    assert graph_of_rows(path).notes == notes


def test_a_window_that_is_switched_off(tmp_path: Path) -> None:
    graph_of(
        folder(tmp_path / "model", "qwen2", sliding_window=4, use_sliding_window=False, layer_types=None),
        TOKENS,
        WRITTEN,
    )
