# SPDX-License-Identifier: Apache-2.0
"""Small tokenizers of generative models: GPT's, GPT-2's files and OPT's, BART's bytes, Qwen2's, Cohere's, Gemma's, a
tokenizer.json as Llama 3 has it, Unigram of T5, mBART and PEGASUS, ByT5's bytes, NLLB's BPE, M2M-100's files, PLBART's,
Blenderbot's, BERT's; BioGPT's and FSMT's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import m2m_files
import moses_variants
import transformers
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M_CODES
from transformers.models.mbart.tokenization_mbart import FAIRSEQ_LANGUAGE_CODES
from unigram import compiled
from vocabularies import (
    BYTES,
    MERGES,
    ROBERTA_VOCABULARY,
    SIGLIP_MERGES,
    SIGLIP_VOCABULARY,
    UNIGRAM,
    VOCABULARY,
)

_PIECES = (*BYTES, *(merge.replace(" ", "") for merge in MERGES))
_BEGIN, _END, _TURN = "<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"
_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_T5_PIECES = ("<pad>", "</s>", "<unk>", *UNIGRAM, "<extra_id_1>", "<extra_id_0>")
_FIRST = ("<s>", "<pad>", "</s>", "<unk>")
_MBART_PIECES = (*_FIRST, *UNIGRAM, *FAIRSEQ_LANGUAGE_CODES, "<mask>")
_CHARSMAP = compiled({"\t": " ", "\u3000": " ", "\u00e9": "e", "\u00ef": "i", "\ufb01": "fi"})
_CODES = ("deu_Latn", "eng_Latn", "fra_Latn")
_MERGES = (
    "\u2581 t",
    "h e",
    "\u2581t he",
    "a t",
    "\u2581 c",
    "\u2581c at",
    "i n",
    "in g",
    "\u2581 a",
    "n d",
    "\u2581a nd",
)
_NLLB_PIECES = (*_FIRST, *UNIGRAM[:27], *(merge.replace(" ", "") for merge in _MERGES), *_CODES, "<mask>")
_PROGRAMS = ("java", "python", "en_XX")  # of PLBART, whose programs are followed by their language
_OFFSET = 5  # of PEGASUS's pieces, behind those of its training
_PEGASUS_FIRST = ("<pad>", "</s>", "<mask_1>", "<mask_2>", *(f"<unk_{i}>" for i in range(2, _OFFSET)), "<unk>")
_PEGASUS_PIECES = (*_PEGASUS_FIRST, *UNIGRAM)
_T5_TEXTS = {"vocab_size": len(_T5_PIECES) + 6, "eos_token_id": 1, "decoder_start_token_id": 0}
_SENTINELS = 2  # of ByT5
_ONE_TOKEN = {"vocab_size": len(_PIECES) + 1, "bos_token_id": len(_PIECES), "eos_token_id": len(_PIECES)}
_TWO_ENDS = {
    "vocab_size": len(_PIECES) + 3,
    "bos_token_id": len(_PIECES),
    "eos_token_id": [len(_PIECES) + 1, len(_PIECES) + 2],
}
_COHERE_PIECES = (
    *(*_PIECES, "<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>"),
    *("<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>"),
)
# Class, pieces and settings.
_BYTE_LEVEL = {
    "cohere2/texts": ("CohereTokenizer", _COHERE_PIECES, {"add_bos_token": True}),
    "gpt_neox/texts": ("GPTNeoXTokenizer", (*_PIECES, "<|endoftext|>", "<|padding|>"), {}),
    "phi/texts": ("CodeGenTokenizer", (*_PIECES, "<|endoftext|>"), {}),
    **dict.fromkeys(("qwen2/texts", "qwen3/texts"), ("Qwen2Tokenizer", (*_PIECES, "<|endoftext|>"), {})),
}
# Pieces and settings of those that have no tokenizer.json.
_PIECES_ALONE: dict[str, tuple[Iterable[str], dict[str, object]]] = {
    **dict.fromkeys(("gpt2/texts", "gpt_neo/texts"), ((*_PIECES, "<|endoftext|>"), {"model_max_length": 41})),
    "blenderbot/texts": (
        ROBERTA_VOCABULARY,
        {"tokenizer_class": "BlenderbotTokenizer", "model_max_length": 20, "add_eos_token": True}
        | {"mask_token": "<mask>"},
    ),
}
_GPT_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,!'"
_GPT_MERGES = (
    *("t h", "th e</w>", "c a", "ca t</w>", "a n", "an d</w>", "i n</w>", "o n</w>", "s m", "e n", "w en", "en d</w>"),
)
_GPT_PIECES = (
    *("<unk>", *_GPT_LETTERS, *(f"{letter}</w>" for letter in _GPT_LETTERS)),
    *(*(merge.replace(" ", "") for merge in _GPT_MERGES), "<end>"),
)
_XGLM_PIECES = (*_FIRST, *UNIGRAM, *(f"<madeupword{i}>" for i in range(7)))
_ROBERTA = {
    "vocab_size": len(ROBERTA_VOCABULARY),
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
SPECIAL = {
    "bart/texts": _ROBERTA | {"forced_bos_token_id": 0, "forced_eos_token_id": 2},
    "led/texts": _ROBERTA,
    **dict.fromkeys(("blenderbot/texts", "blenderbot-small/texts"), _ROBERTA | {"decoder_start_token_id": 0}),
    "mbart/texts": {
        "vocab_size": len(_MBART_PIECES),
        "pad_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 2,
        "forced_bos_token_id": _MBART_PIECES.index("de_DE"),
    },
    "m2m_100/texts": {
        "vocab_size": len(_NLLB_PIECES),
        "pad_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 2,
        "forced_bos_token_id": _NLLB_PIECES.index("deu_Latn"),
    },
    "m2m_100/languages": {
        "vocab_size": len(m2m_files.VOCABULARY) + len(M2M_CODES["m2m100"]) + m2m_files.MADE_UP,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 2,
        "forced_bos_token_id": len(m2m_files.VOCABULARY) + M2M_CODES["m2m100"].index("de"),
    },
    "plbart/texts": {
        "vocab_size": 1 + len(m2m_files.FIRST) + len(UNIGRAM) + len(_PROGRAMS) + 1,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 1 + len(m2m_files.FIRST) + len(UNIGRAM) + _PROGRAMS.index("en_XX"),
    },
    "pegasus/texts": {
        "vocab_size": len(_PEGASUS_PIECES),
        "pad_token_id": 0,
        "eos_token_id": 1,
        "decoder_start_token_id": 0,
        "forced_eos_token_id": 1,
    },
    "xglm/texts": {"vocab_size": len(_XGLM_PIECES), "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2},
    "t5/texts": _T5_TEXTS,
    "t5gemma/texts": {"vocab_size": len(SIGLIP_VOCABULARY), "bos_token_id": 2, "eos_token_id": 1},
    "mt5/texts": _T5_TEXTS,
    "t5/bytes": _T5_TEXTS | {"vocab_size": 3 + 256 + _SENTINELS},
    "openai-gpt/texts": {
        "vocab_size": len(_GPT_PIECES),
        **dict.fromkeys(("bos_token_id", "eos_token_id"), len(_GPT_PIECES) - 1),
    },
    "gpt2/texts": _ONE_TOKEN,
    "gpt_neo/texts": _ONE_TOKEN,
    "phi/texts": _ONE_TOKEN,
    "qwen2/texts": _ONE_TOKEN,
    "qwen3/texts": _ONE_TOKEN,
    "gpt_neox/texts": _ONE_TOKEN | {"vocab_size": len(_PIECES) + 2},
    "cohere2/texts": {
        "vocab_size": len(_COHERE_PIECES),
        "pad_token_id": len(_PIECES),
        "bos_token_id": len(_COHERE_PIECES) - 2,
        "eos_token_id": len(_COHERE_PIECES) - 1,
    },
    "llama/texts": _TWO_ENDS,
    "lfm2/texts": _TWO_ENDS,
    "phi3/texts": _TWO_ENDS,
    "encoder-decoder/texts": {
        "vocab_size": len(VOCABULARY),
        "pad_token_id": VOCABULARY.index("[PAD]"),
        "eos_token_id": VOCABULARY.index("[SEP]"),
        "decoder_start_token_id": VOCABULARY.index("[CLS]"),
    },
    **moses_variants.MOSES_SPECIAL,
    "opt/texts": {"vocab_size": len(ROBERTA_VOCABULARY), "bos_token_id": 2, "eos_token_id": 2, "pad_token_id": 1},
}
PROMPTS = (
    "The cat and the hat",
    "a",
    "",
    "100 cats' ears, naïve café",
    "Über 猫 🎉!",
    "  two  spaces\tand a tab ",
    "in the beginning there was a small cat and then on and on and on it went, the end",
)


def write_text_tokenizer(folder: Path, variant: str) -> None:
    """The files of the tokenizer of a variant."""
    if variant in _PIECES_ALONE:
        pieces, config = _PIECES_ALONE[variant]
        _write_pieces(folder, pieces)
        _write(folder / "tokenizer_config.json", config)
    elif variant in _BYTE_LEVEL:
        name, byte_pieces, settings = _BYTE_LEVEL[variant]
        _made(name, byte_pieces, MERGES, model_max_length=41, **settings).save_pretrained(folder)
    else:
        _WRITERS.get(variant, _write_llama3)(folder)


def _made(name: str, pieces: Sequence[str], merges: Sequence[str], **settings: Any) -> Any:
    """The library's tokenizer of this class."""
    pairs = [tuple(merge.split(" ")) for merge in merges]
    return getattr(transformers, name)(vocab={piece: i for i, piece in enumerate(pieces)}, merges=pairs, **settings)


def _falling(pieces: Sequence[str], first: int = 0) -> list[tuple[str, float]]:
    """Each less likely than the one before it, from the `first` on."""
    return [(piece, -float(max(0, i - first))) for i, piece in enumerate(pieces)]


def _write_bert(folder: Path) -> None:
    vocab = {piece: i for i, piece in enumerate(VOCABULARY)}
    transformers.BertTokenizer(vocab=vocab, model_max_length=20).save_pretrained(folder)


def _write_gpt(folder: Path) -> None:
    ends = dict.fromkeys(("bos_token", "eos_token"), _GPT_PIECES[-1])
    _made("OpenAIGPTTokenizer", _GPT_PIECES, _GPT_MERGES, model_max_length=41, **ends).save_pretrained(folder)


def _write_bart(folder: Path) -> None:
    _made("BartTokenizer", tuple(ROBERTA_VOCABULARY), MERGES, model_max_length=20).save_pretrained(folder)


def _write_t5(folder: Path) -> None:
    transformers.T5Tokenizer(vocab=_falling(_T5_PIECES), extra_ids=2, model_max_length=20).save_pretrained(folder)


def _write_gemma(folder: Path) -> None:
    made = _made("GemmaTokenizer", SIGLIP_VOCABULARY, SIGLIP_MERGES, model_max_length=20, add_bos_token=True)
    made.save_pretrained(folder)


def _write_byt5(folder: Path) -> None:
    transformers.ByT5Tokenizer(extra_ids=_SENTINELS, model_max_length=24).save_pretrained(folder)


def _write_xglm(folder: Path) -> None:
    settings = {"model_max_length": 41, "_spm_precompiled_charsmap": _CHARSMAP}
    transformers.XGLMTokenizer(vocab=_falling(_XGLM_PIECES), **settings).save_pretrained(folder)


def _write_mbart(folder: Path) -> None:
    languages = {"src_lang": "en_XX", "tgt_lang": "de_DE"}
    made = transformers.MBartTokenizer(vocab=_falling(_MBART_PIECES), model_max_length=20, **languages)
    made.save_pretrained(folder)


def _write_nllb(folder: Path) -> None:
    settings = {
        "src_lang": "eng_Latn",
        "extra_special_tokens": list(_CODES),
        "model_max_length": 20,
        "_spm_precompiled_charsmap": _CHARSMAP,
    }
    _made("NllbTokenizer", _NLLB_PIECES, _MERGES, **settings).save_pretrained(folder)


def _write_m2m(folder: Path) -> None:
    m2m_files.write_files(folder, M2M_CODES["m2m100"], _CHARSMAP)


def _write_plbart(folder: Path) -> None:
    file = folder / "sentencepiece.bpe.model"
    file.write_bytes(m2m_files.sentencepiece_file(m2m_files.FIRST, _falling(UNIGRAM), _CHARSMAP, model_type=1))
    languages = {"src_lang": "java", "tgt_lang": "en_XX"}
    transformers.PLBartTokenizer(str(file), model_max_length=20, **languages).save_pretrained(folder)


def _write_pegasus(folder: Path) -> None:
    scores = _falling(_PEGASUS_PIECES, len(_PEGASUS_FIRST) - 1)
    settings = {"offset": _OFFSET, "model_max_length": 20, "_spm_precompiled_charsmap": _CHARSMAP}
    transformers.PegasusTokenizer(vocab=scores, **settings).save_pretrained(folder)


def _write_llama3(folder: Path) -> None:
    """A tokenizer.json that counts as it is."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    first, second = ({"Sequence": {"id": place, "type_id": segment}} for segment, place in enumerate("AB"))
    begins = [{"SpecialToken": {"id": _BEGIN, "type_id": segment}} for segment in (0, 1)]
    bytes_only = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": _LLAMA3}, "behavior": "Isolated", "invert": False}
    template = {
        "type": "TemplateProcessing",
        "single": [begins[0], first],
        "pair": [begins[0], first, begins[1], second],
        "special_tokens": {_BEGIN: {"id": _BEGIN, "ids": [len(_PIECES)], "tokens": [_BEGIN]}},
    }
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": True,
        "vocab": {piece: i for i, piece in enumerate(_PIECES)},
        "merges": MERGES,
    }
    described = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": len(_PIECES) + i, "content": text, **flags} for i, text in enumerate((_BEGIN, _END, _TURN))
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, bytes_only]},
        "post_processor": {"type": "Sequence", "processors": [bytes_only | {"use_regex": True}, template]},
        "decoder": bytes_only | {"add_prefix_space": True, "use_regex": True},
        "model": model,
    }
    _write(folder / "tokenizer.json", described)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": _BEGIN, "eos_token": _END}
    _write(folder / "tokenizer_config.json", config)


def _write_opt(folder: Path) -> None:
    _write_pieces(folder, ROBERTA_VOCABULARY)
    tokens = {"unk_token": "</s>", "bos_token": "</s>", "eos_token": "</s>", "pad_token": "<pad>"}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "__type": "AddedToken"}
    config = {"model_max_length": 41, "add_bos_token": True, "tokenizer_class": "GPT2Tokenizer"}
    _write(folder / "tokenizer_config.json", config | {k: flags | {"content": text} for k, text in tokens.items()})


def _write_pieces(folder: Path, pieces: Iterable[str]) -> None:
    """As GPT-2's files have them."""
    _write(folder / "vocab.json", {piece: i for i, piece in enumerate(pieces)})
    (folder / "merges.txt").write_text("\n".join(("#version: 0.2", *MERGES, "")), encoding="utf-8")


def _write(path: Path, values: dict[str, object]) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


_WRITERS: dict[str, Callable[[Path], None]] = {
    "opt/texts": _write_opt,
    "biogpt/texts": moses_variants.write_biogpt,
    **{f"fsmt/{pair}": partial(moses_variants.write_fsmt, variant=f"fsmt/{pair}") for pair in ("en-de", "ru-en")},
    "openai-gpt/texts": _write_gpt,
    **dict.fromkeys(("bart/texts", "blenderbot-small/texts", "led/texts"), _write_bart),
    **dict.fromkeys(("t5/texts", "mt5/texts"), _write_t5),
    "t5/bytes": _write_byt5,
    "t5gemma/texts": _write_gemma,
    "xglm/texts": _write_xglm,
    "mbart/texts": _write_mbart,
    "m2m_100/texts": _write_nllb,
    "m2m_100/languages": _write_m2m,
    "plbart/texts": _write_plbart,
    "pegasus/texts": _write_pegasus,
    "encoder-decoder/texts": _write_bert,
}
