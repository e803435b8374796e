# SPDX-License-Identifier: Apache-2.0
"""CanineTokenizer (Clark et al., 2021, arXiv:2103.06874), which has no vocabulary: the id of a character is its code
point. As `transformers` 5.23 has it; its special tokens are characters of the private use area, and U+0000."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....ir.character_models import CODE_POINTS, CodePointsModel
from ....ir.normalizer_spec import NoNormalizer
from ....ir.tokenizer_spec import AddedToken, SingleCharacterSegmenter, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens, read_tokens
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import check_are_added, check_unsupported, read_config
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..tokenizer_json.template import read_post_processor, template_of

TOKENIZER_CLASS = "CanineTokenizer"
_BEGIN, _END, _PADDING = "\ue000", "\ue001", "\0"
# In the order in which `transformers` adds them.
_TOKENS: dict[str, object] = {
    "bos_token": _BEGIN,
    "eos_token": _END,
    "sep_token": _END,
    "cls_token": _BEGIN,
    "pad_token": _PADDING,
    "mask_token": "\ue003",
}


def read_canine_folder(folder: CheckpointFolder) -> TokenizerSpec:
    """The checked tokenizer. Pairs have one segment: the class tells the model so, whatever `model_input_names` is."""
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    if folder.has(JSON_FILE):
        raise refusal("tokenizer-conflict", f"{TOKENIZER_CLASS} is made without this file", file=JSON_FILE)
    tokens = read_tokens(folder, config, None, _TOKENS, rebuilds=True)
    ids = _ids(tokens)
    added = tuple(_of_class(token, tokens) for token in tokens.of(ids))
    odd = next((token for token in added if token.id != ids[token.content]), None)
    if odd is not None:
        message = f"{shown(odd.content)} has the id {odd.id}, for {TOKENIZER_CLASS} it is {ids[odd.content]}"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    check_are_added(tokens.extra, {token.content: token for token in added if token.special}, CONFIG_FILE)
    begin, end = (ids[tokens.special[key]] for key in ("cls_token", "sep_token"))
    names = {"cls": begin, "sep": end}
    template = template_of("cls $A sep", "cls $A sep $B sep", names)
    return TokenizerSpec(
        normalizer=NoNormalizer(),
        segmenter=SingleCharacterSegmenter(),
        model=CodePointsModel(),
        template=read_post_processor(template, names).template,
        added_tokens=added,
        json="",
        notes=(*tokens.notes, *_notes(tokens, added)),
    )


def _of_class(token: AddedToken, tokens: FolderTokens) -> AddedToken:
    """With the flags of added_tokens_decoder; the class has none for tokens that files name otherwise."""
    listed = token in tokens.decoded
    return replace(token, normalized=False, lstrip=listed and token.lstrip, rstrip=listed and token.rstrip)


def _notes(tokens: FolderTokens, added: tuple[AddedToken, ...]) -> Iterator[str]:
    dropped = [token.content for token in tokens.named if token.lstrip or token.rstrip]
    if dropped:
        named = ", ".join(map(shown, dropped))
        yield f"{named}: takes no white space beside it, whatever the folder says, as {TOKENIZER_CLASS} does it"
    if any(token.lstrip or token.rstrip for token in added):
        yield f"U+001C to U+001F beside special tokens stay, {TOKENIZER_CLASS} takes them for white space"


def _ids(tokens: FolderTokens) -> dict[str, int]:
    """Of all tokens that files name: others than characters would have ids behind all code points."""
    contents = [*tokens.special.values(), *(token.content for token in (*tokens.decoded, *tokens.named))]
    longer = next((content for content in contents if len(content) != 1), None)
    if longer is not None:
        message = f"{shown(longer)} is no single character: its id would be behind the {CODE_POINTS} code points"
        raise refusal("added-token-unsupported", message, file=CONFIG_FILE)
    alone = next((token.content for token in (*tokens.decoded, *tokens.named) if token.single_word), None)
    if alone is not None:
        message = f"{shown(alone)} is a token only where it is a word (single_word): not supported here"
        raise refusal("added-token-unsupported", message, file=CONFIG_FILE)
    return {content: ord(content) for content in contents}
