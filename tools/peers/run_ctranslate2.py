# SPDX-License-Identifier: Apache-2.0
"""CTranslate2, which computes with the library that it takes for this CPU."""

from __future__ import annotations

import json
from collections.abc import Callable

import ctranslate2

from .setup import Setup


class CTranslate2:
    def __init__(self, setup: Setup) -> None:
        precision = setup.peer.split("-")[1].replace("fp", "float")
        self._translator = ctranslate2.Translator(
            str(setup.model), compute_type=precision, inter_threads=1, intra_threads=setup.threads
        )
        vocabulary = json.loads((setup.checkpoint / "vocab.json").read_text(encoding="utf-8"))
        config = json.loads((setup.checkpoint / "config.json").read_text(encoding="utf-8"))
        self._ids = vocabulary
        self._pieces = sorted(vocabulary, key=vocabulary.__getitem__)
        self._pad = self._pieces[config["pad_token_id"]]
        self.version = ctranslate2.__version__
        self.detail = self._translator.compute_type
        self.threads = setup.threads

    def write(self, ids: list[int], beams: int, tokens: int) -> Callable[[], list[int]]:
        pieces = [[self._pieces[number] for number in ids]]
        translate, pad, known = self._translator.translate_batch, [[self._pad]], self._ids

        def run() -> list[int]:
            (result,) = translate(
                pieces,
                beam_size=beams,
                min_decoding_length=tokens,
                max_decoding_length=tokens,
                suppress_sequences=pad,
            )
            return [known[piece] for piece in result.hypotheses[0]]

        return run
