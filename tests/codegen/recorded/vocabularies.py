# SPDX-License-Identifier: Apache-2.0
"""Small vocabularies, of WordPiece, byte-level BPE and Unigram, and the files of each family's tokenizer over them."""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from pathlib import Path

from herbert_files import herbert_folders
from load.sentencepiece_files import CONTROL, UNKNOWN, sentencepiece_file
from tiny_checkpoint import DEFAULT_VOCAB, SPECIAL_TOKENS, tokenizer_config, write_json
from token_ids import Specials

VOCABULARY = (
    *DEFAULT_VOCAB,
    *("how", "what", "is", "are", "news", "to", "of", "in", "for", "we", "##er", "##ly", "##est", "oil", "price", "up"),
    *("down", "3", "##3"),
)
MPNET_VOCABULARY = ("<s>", "<pad>", "</s>", "<unk>", "[UNK]", *VOCABULARY[len(SPECIAL_TOKENS) :], "<mask>")
# What FunnelTokenizer tells a model where it is asked to.
_WITH_SEGMENTS = ["input_ids", "token_type_ids", "attention_mask"]
# The class's own special tokens, among them two that no text begins or ends with.
FUNNEL_VOCABULARY = ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>", *VOCABULARY[len(SPECIAL_TOKENS) : -2], "<s>", "</s>")
SPLINTER_VOCABULARY = (*SPECIAL_TOKENS, "[QUESTION]", *VOCABULARY[len(SPECIAL_TOKENS) + 1 :])
_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
BYTES = tuple(map(chr, (*_PRINTABLE, *range(0x100, 0x200 - len(_PRINTABLE)))))  # as byte-level BPE writes them
MERGES = (
    *("t h", "th e", "Ġ the", "i n", "Ġ a", "a n", "an d", "Ġ and", "Ġ t", "o n", "e r", "in g", "Ġ s", "r e", "o r"),
    *("e n", "a t", "Ġ c", "Ġc at", "e d", "o u", "' s", "Ã ©", "1 0", "10 0"),
)
ROBERTA_VOCABULARY = (
    *("<s>", "<pad>", "</s>", "<unk>", *BYTES, *(merge.replace(" ", "") for merge in MERGES), "<mask>"),
)
# A folder of the first years has these two files alone.
ONLY_PIECES = ("roberta/regression", "deberta/base", "clip_text_model/linear")


UNIGRAM = (
    *("\u2581", *"etaoinshrdlucmfwypvbgkjqxz"),
    *("\u2581the", "\u2581a", "\u2581c", "at", "\u2581cat", "ing", "\u2581and", "\u2581of", "er"),
)
XLM_ROBERTA_VOCABULARY = ("<s>", "<pad>", "</s>", "<unk>", *UNIGRAM, *map(str, range(40)), "<mask>")
CAMEMBERT_VOCABULARY = (
    *("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>"),
    *UNIGRAM,
    *map(str, range(40)),
    "<mask>",
)
ALBERT_VOCABULARY = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", *UNIGRAM, *map(str, range(40)))
BIG_BIRD_VOCABULARY = ("<pad>", "</s>", "<s>", "<unk>", "[CLS]", "[SEP]", "[MASK]", *UNIGRAM, *map(str, range(40)))
# The class has its third piece for unknown text.
REMBERT_VOCABULARY = ("<pad>", "[MASK]", "<unk>", "[CLS]", "[SEP]", *UNIGRAM, *map(str, range(40)))
DEBERTA_VOCABULARY = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", *UNIGRAM, *map(str, range(40)))
XLNET_VOCABULARY = (
    "<unk>",
    "<s>",
    "</s>",
    "<cls>",
    "<sep>",
    "<pad>",
    "<mask>",
    "<eod>",
    "<eop>",
    *UNIGRAM,
    *map(str, range(40)),
)
# Of SentencePiece's own file, whose first pieces are special ones.
BERT_GENERATION_VOCABULARY = ("<pad>", "</s>", "<s>", "<unk>", "<::::>", *UNIGRAM, *map(str, range(40)))
FEW_MERGES = MERGES[:11]
LUKE_VOCABULARY = (  # and entities behind, which words do not have
    *("<s>", "<pad>", "</s>", "<unk>", *BYTES, *(merge.replace(" ", "") for merge in FEW_MERGES)),
    *("<mask>", "<ent>", "<ent2>"),
)
DEBERTA_BYTES_VOCABULARY = (
    *("[PAD]", "[CLS]", "[SEP]", "[UNK]", *BYTES, *(merge.replace(" ", "") for merge in FEW_MERGES), "[MASK]"),
)
QWEN_VOCABULARY = ("<|endoftext|>", *BYTES, *(merge.replace(" ", "") for merge in FEW_MERGES))
CLIP_MERGES = (
    *("t h", "th e</w>", "i n", "a n", "an d</w>", "in g</w>", "o n</w>", "e r</w>", "c a", "ca t</w>", "' s</w>"),
    *("Ã ©</w>", "! !</w>"),
)
CLIP_VOCABULARY = (
    *BYTES,
    *(f"{byte}</w>" for byte in BYTES),
    *(merge.replace(" ", "") for merge in CLIP_MERGES),
    *("<|startoftext|>", "<|endoftext|>"),
)
# Gemma's, in lower case; ids of words are those of most.
SIGLIP_MERGES = ("\u2581 t", "\u2581t h", "\u2581th e", "o n", "i n", "\u2581 a", "\u2581a n", "\u2581an d")
SIGLIP_VOCABULARY = (
    *("<pad>", "<eos>", "<bos>", "<unk>", "<mask>"),
    *("\u2581", *"abcdefghijklmnopqrstuvwxyz0123456789.,!?'-:;()", "\u00e9", "\u4e2d"),
    *(merge.replace(" ", "") for merge in SIGLIP_MERGES),
    *(f"<0x{byte:02X}>" for byte in range(256)),
)
SIGLIP_SETTINGS = {  # as in published folders
    **{"model_input_names": ["input_ids"], "padding_side": "right", "add_bos_token": False, "add_eos_token": True},
}
# Gemma's tokenizer as an encoder has it.
GEMMA_SETTINGS = {"cls_token": "<bos>", "sep_token": "<eos>"}
T5_EXTRA_IDS = 2
T5_VOCABULARY = (
    *("<pad>", "</s>", "<unk>", *UNIGRAM, *map(str, range(40))),
    *(f"<extra_id_{i}>" for i in reversed(range(T5_EXTRA_IDS))),
)
# ESM-2's, and as genomes have them words of several characters.
PROTEINS = (*("<cls>", "<pad>", "<eos>", "<unk>"), *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>")
ESM_VOCABULARY = (*PROTEINS, *("".join(bases) for bases in product("ACGT", repeat=3)))
# The class's own, in a table with more rows.
ESMC_VOCABULARY = (*PROTEINS[:31], "|", "<mask>", *(f"row {i}" for i in range(len(PROTEINS), 64)))
# PhoBERT's, of a few letters; `the` has no piece where a word goes on behind it.
FAIRSEQ_CODES = ("t h", "th e</w>", "th e", "i n", "a n", "in g</w>", "a t</w>", "o n</w>", "e r</w>", "an d</w>")
_FAIRSEQ_LETTERS = "etaoinshrdlucmp"
FAIRSEQ_VOCABULARY = (
    *("<s>", "<pad>", "</s>", "<unk>", *(f"{letter}@@" for letter in _FAIRSEQ_LETTERS), *_FAIRSEQ_LETTERS),
    *("th@@", "the", "in@@", "an@@", "ing", "at", "on", "er", "and", *map(str, range(22)), "<mask>"),
)
# XLM's and FlauBERT's; most of their own tokens behind the words.
XLM_VOCABULARY = (
    *("<s>", "</s>", "<pad>", "<unk>", "<special0>"),
    *(f"{letter}{end}" for letter in "etaoinshrdlucmp" for end in ("", "</w>")),
    *("the</w>", "in", "an", "ing</w>", "at</w>", "on</w>", "er</w>", "and</w>", ".</w>", ",</w>", "'</w>", "l'</w>"),
    *(f"{number}</w>" for number in range(17)),
    *(f"<special{i}>" for i in range(1, 10)),
)
_HERBERT = herbert_folders()["herbert, merges.txt"]
VOCABULARIES = {
    **dict.fromkeys(("bert", "roc_bert"), VOCABULARY),
    "mpnet": MPNET_VOCABULARY,
    "funnel": FUNNEL_VOCABULARY,
    "splinter": SPLINTER_VOCABULARY,
    "roberta": ROBERTA_VOCABULARY,
    "luke": LUKE_VOCABULARY,
    "xlm-roberta": XLM_ROBERTA_VOCABULARY,
    "camembert": CAMEMBERT_VOCABULARY,
    **dict.fromkeys(("albert", "fnet"), ALBERT_VOCABULARY),
    "big_bird": BIG_BIRD_VOCABULARY,
    "rembert": REMBERT_VOCABULARY,
    "deberta": DEBERTA_VOCABULARY,
    "deberta_bytes": DEBERTA_BYTES_VOCABULARY,
    "bert_generation": BERT_GENERATION_VOCABULARY,
    **dict.fromkeys(("qwen", "qwen3_5"), QWEN_VOCABULARY),
    "xlnet": XLNET_VOCABULARY,
    **dict.fromkeys(("xlm", "flaubert"), XLM_VOCABULARY),
    "canine": range(0x110000),
    "t5": T5_VOCABULARY,
    "fairseq": FAIRSEQ_VOCABULARY,
    "herbert": tuple(_HERBERT["vocab.json"]),
    "esm": ESM_VOCABULARY,
    "esmc": ESMC_VOCABULARY,
    "clip": CLIP_VOCABULARY,
    **dict.fromkeys(("siglip", "gemma"), SIGLIP_VOCABULARY),
}


def bert_template(classify: int, separate: int) -> dict[str, object]:
    """`[CLS] $A [SEP] $B [SEP]`, as tokenizer.json has it."""
    return pair_template({"[CLS]": classify, "[SEP]": separate}, second_segment=1)


def pair_template(special: dict[str, int], second_segment: int) -> dict[str, object]:
    """The same of two special tokens, which begin and end a text."""
    begin, end = special
    first, second = ({"Sequence": {"id": name, "type_id": i * second_segment}} for i, name in enumerate("AB"))
    cls, sep, last = (
        {"SpecialToken": {"id": name, "type_id": segment}}
        for name, segment in ((begin, 0), (end, 0), (end, second_segment))
    )
    return {
        "type": "TemplateProcessing",
        "single": [cls, first, sep],
        "pair": [cls, first, sep, second, last],
        "special_tokens": {text: {"id": text, "ids": [i], "tokens": [text]} for text, i in special.items()},
    }


def deberta_tokenizer(pieces: tuple[str, ...]) -> dict[str, object]:
    """The tokenizer.json that `transformers` 4 writes for the class, but for the compiled map; 5 writes another one."""
    special = pieces[:5]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    steps = [
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": text, **flags} for i, text in enumerate(special)],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [metaspace]},
        "post_processor": bert_template(special.index("[CLS]"), special.index("[SEP]")),
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": 3,
            "vocab": [[piece, -float(max(0, i - 4))] for i, piece in enumerate(pieces)],
            "byte_fallback": False,
        },
    }


def vocabulary_size(specials: Specials) -> int:
    """Rows of the word embedding."""
    return len(VOCABULARIES[specials.vocabulary])


def write_tokenizer(folder: Path, specials: Specials, max_tokens: int) -> None:
    """vocab.txt and tokenizer_config.json; for tokenizers of other kinds what the library's class saves."""
    if specials.vocabulary == "bert":
        (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in VOCABULARY), encoding="utf-8")
        write_json(folder / "tokenizer_config.json", tokenizer_config(max_length=max_tokens))
        return
    if specials.vocabulary == "esm":
        (folder / "vocab.txt").write_text("\n".join(ESM_VOCABULARY), encoding="utf-8")
        write_json(
            folder / "tokenizer_config.json", {"tokenizer_class": "EsmTokenizer", "model_max_length": max_tokens}
        )
        return
    if specials.vocabulary == "fairseq":
        words = (f"{piece} {i}\n" for i, piece in enumerate(FAIRSEQ_VOCABULARY[4:-1]))
        (folder / "vocab.txt").write_text("".join(words), encoding="utf-8")
        (folder / "bpe.codes").write_text("".join(f"{code} 9\n" for code in FAIRSEQ_CODES), encoding="utf-8")
        write_json(
            folder / "tokenizer_config.json", {"tokenizer_class": "PhobertTokenizer", "model_max_length": max_tokens}
        )
        return
    own = {"xlm": partial(_write_xlm, "XLMTokenizer"), "flaubert": partial(_write_xlm, "FlaubertTokenizer")}
    own |= {"bert_generation": _write_bert_generation, "herbert": _write_herbert, "roc_bert": write_roc_bert}
    writes = own.get(specials.vocabulary)
    if writes is not None:
        writes(folder, max_tokens)
        return
    import transformers

    if specials.vocabulary == "canine":
        transformers.CanineTokenizer(model_max_length=max_tokens).save_pretrained(folder)
        return
    if specials.vocabulary == "esmc":
        transformers.EsmcTokenizer(model_max_length=max_tokens).save_pretrained(folder)
        return
    pieces = VOCABULARIES[specials.vocabulary]
    ids = {piece: i for i, piece in enumerate(pieces)}
    few = dict.fromkeys(("deberta_bytes", "luke", "qwen", "qwen3_5"), FEW_MERGES)
    own = {"clip": CLIP_MERGES, **dict.fromkeys(("siglip", "gemma"), SIGLIP_MERGES)}
    merge_lines = (few | own).get(specials.vocabulary, MERGES)
    if folder.as_posix().endswith(ONLY_PIECES):
        write_json(folder / "vocab.json", ids)
        (folder / "merges.txt").write_text("\n".join(("#version: 0.2", *merge_lines, "")), encoding="utf-8")
        return
    if specials.vocabulary == "deberta":
        write_json(folder / "tokenizer.json", deberta_tokenizer(pieces))
        kept = {"tokenizer_class": "DebertaV2Tokenizer", "model_max_length": max_tokens, "do_lower_case": False}
        write_json(folder / "tokenizer_config.json", kept)
        return
    scores = [(piece, -float(i)) for i, piece in enumerate(pieces)]
    merges = [tuple(merge.split(" ")) for merge in merge_lines]
    scores_of_unknown = [(piece, 0.0 if piece == "<unk>" else score) for piece, score in scores]
    name, values = {
        "mpnet": ("MPNetTokenizer", {"vocab": ids}),
        "splinter": ("SplinterTokenizer", {"vocab": ids}),
        "funnel": ("FunnelTokenizer", {"vocab": ids, "model_input_names": _WITH_SEGMENTS}),
        "qwen": ("Qwen2Tokenizer", {"vocab": ids, "merges": merges}),
        "qwen3_5": ("Qwen3_5Tokenizer", {"vocab": ids, "merges": merges}),
        "clip": ("CLIPTokenizer", {"vocab": ids, "merges": merges}),
        "siglip": ("GemmaTokenizer", {"vocab": ids, "merges": merges, **SIGLIP_SETTINGS}),
        "gemma": ("GemmaTokenizer", {"vocab": ids, "merges": merges, **GEMMA_SETTINGS}),
        "roberta": ("RobertaTokenizer", {"vocab": ids, "merges": merges}),
        "luke": ("LukeTokenizer", {"vocab": ids, "merges": merges}),
        "deberta_bytes": ("DebertaTokenizer", {"vocab": ids, "merges": merges}),
        "xlm-roberta": ("XLMRobertaTokenizer", {"vocab": scores}),
        "camembert": ("CamembertTokenizer", {"vocab": scores}),
        "albert": ("AlbertTokenizer", {"vocab": scores}),
        "fnet": ("FNetTokenizer", {"vocab": scores}),
        "big_bird": ("BigBirdTokenizer", {"vocab": scores_of_unknown}),
        "rembert": ("RemBertTokenizer", {"vocab": scores}),
        "xlnet": ("XLNetTokenizer", {"vocab": scores}),
        "t5": ("T5Tokenizer", {"vocab": scores, "extra_ids": T5_EXTRA_IDS}),
    }[specials.vocabulary]
    getattr(transformers, name)(**values, model_max_length=max_tokens).save_pretrained(folder)
    if specials.vocabulary == "rembert":  # which the class makes when it reads a folder, and does not save
        assert specials.classify is not None
        file = folder / "tokenizer.json"
        described = json.loads(file.read_text(encoding="utf-8"))
        write_json(file, described | {"post_processor": bert_template(specials.classify, specials.separate)})
    if specials.vocabulary == "gemma":
        for name, changes in (
            ("tokenizer.json", {"post_processor": pair_template({"<bos>": 2, "<eos>": 1}, second_segment=0)}),
            ("tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"}),
        ):
            write_json(folder / name, json.loads((folder / name).read_text(encoding="utf-8")) | changes)
    if specials.vocabulary in ("qwen", "qwen3_5"):
        _append_end(folder / "tokenizer.json", pieces[specials.separate], specials.separate)


def _write_xlm(name: str, folder: Path, max_tokens: int) -> None:
    write_json(folder / "vocab.json", {piece: i for i, piece in enumerate(XLM_VOCABULARY)})
    (folder / "merges.txt").write_text("".join(f"{code} 9\n" for code in FAIRSEQ_CODES), encoding="utf-8")
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": name, "model_max_length": max_tokens})


def _write_herbert(folder: Path, max_tokens: int) -> None:
    write_json(folder / "vocab.json", _HERBERT["vocab.json"])
    (folder / "merges.txt").write_text(_HERBERT["merges.txt"], encoding="utf-8")
    write_json(
        folder / "tokenizer_config.json", {"tokenizer_class": "HerbertTokenizer", "model_max_length": max_tokens}
    )


def _write_bert_generation(folder: Path, max_tokens: int) -> None:
    first = [(piece, UNKNOWN if piece == "<unk>" else CONTROL) for piece in BERT_GENERATION_VOCABULARY[:5]]
    rest = [(piece, -1.0 - i) for i, piece in enumerate(BERT_GENERATION_VOCABULARY[5:])]
    (folder / "spiece.model").write_bytes(sentencepiece_file(first, rest))
    named = {"tokenizer_class": "BertGenerationTokenizer", "model_max_length": max_tokens}
    write_json(folder / "tokenizer_config.json", named)


def write_roc_bert(folder: Path, max_tokens: int) -> None:
    """BERT's words, of which some have no shape, others no pronunciation."""
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in VOCABULARY), encoding="utf-8")
    named = {"tokenizer_class": "RoCBertTokenizer", "model_max_length": max_tokens}
    write_json(folder / "tokenizer_config.json", named)
    for name, step, entries in (("word_shape.json", 3, 11), ("word_pronunciation.json", 4, 7)):
        numbers = {piece: i * step % entries for i, piece in enumerate(VOCABULARY) if i % step or i < 2}
        write_json(folder / name, numbers)


def _append_end(file: Path, end: str, number: int) -> None:
    """As Qwen3's embeddings have it, whose class puts nothing around a text by itself."""
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    token = {"SpecialToken": {"id": end, "type_id": 0}}
    template = {"type": "TemplateProcessing", "single": [first, token], "pair": [first, token, second, token]}
    special = {end: {"id": end, "ids": [number], "tokens": [end]}}
    described = json.loads(file.read_text(encoding="utf-8"))
    write_json(file, described | {"post_processor": template | {"special_tokens": special}})
