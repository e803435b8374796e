# SPDX-License-Identifier: Apache-2.0
"""Whether the code for GPUs computes what a program says: the gate of the generator's files for GPUs."""

from __future__ import annotations

from ..errors import EtchError
from ..ir import program as p
from ..ir.normalizer_spec import BertNormalizer
from ..ir.tokenizer_spec import BertSegmenter, TokenizerSpec, WordPieceModel
from .difference import difference
from .encoder import Encoder, find_encoder, refusal
from .form import form_of


def encoder_of(program: p.Program) -> Encoder:
    """The parts of a program that GPUs run. EtchError where they would compute anything else than the program says.

    What the code for GPUs computes is written down as a program of its own, and compared with this one field by field.
    """
    encoder = find_encoder(program)
    found = difference(program, form_of(program, encoder))
    if found is not None:
        raise refusal(found)
    return encoder


def check_tokenizer(spec: TokenizerSpec) -> None:
    """EtchError where a session's texts would need another tokenizer than the one that it knows, `BertTokenizer`."""
    parts = (spec.normalizer, spec.segmenter, spec.model)
    if not all(map(isinstance, parts, (BertNormalizer, BertSegmenter, WordPieceModel))):
        message = f"GPUs take texts of BERT's tokenizers only, and here is one of {spec.summary}"
        raise EtchError("gpu-not-supported", "gpu", message)
