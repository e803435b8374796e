# SPDX-License-Identifier: Apache-2.0
"""The post-processor of a tokenizer.json as a template: TemplateProcessing, RoBERTa's, BERT's, ByteLevel's, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ....ir.template_spec import Template, TemplatePart, bert_template
from ....ir.tokenizer_spec import Trimming
from ...refusal import refusal, shown
from .fields import FILE, only_fields, typed

_TYPES = ("TemplateProcessing", "RobertaProcessing", "BertProcessing", "ByteLevel", "Sequence")
_PLACES: tuple[Literal["A", "B"], ...] = ("A", "B")
_FIRST, _SECOND = ({"Sequence": {"id": place, "type_id": 0}} for place in _PLACES)
_ONE_SEGMENT = {"type": "TemplateProcessing", "single": [_FIRST], "pair": [_FIRST, _SECOND], "special_tokens": {}}


@dataclass(frozen=True)
class PostProcessing:
    """The template, and what is done to offsets before it is applied."""

    template: Template
    trimming: Trimming | None = None


def read_post_processor(value: object, ids: dict[str, int]) -> PostProcessing:
    """`ids` of all pieces and added tokens."""
    if value is None:
        return PostProcessing(_bare())
    processor = typed(value, "post_processor", *_TYPES)
    if processor["type"] == "Sequence":
        return _sequence(processor, ids)
    if processor["type"] == "ByteLevel":
        return _byte_level(processor)
    if processor["type"] == "TemplateProcessing":
        return PostProcessing(_template(processor, ids))
    known = {"type", "sep", "cls"}
    if processor["type"] == "RobertaProcessing":
        known |= {"trim_offsets", "add_prefix_space"}
    only_fields(processor, "post_processor", known, required=known)
    classify, separate = (_token(processor[key], ids) for key in ("cls", "sep"))
    if processor["type"] == "BertProcessing":
        return PostProcessing(bert_template(classify, separate))
    single = (TemplatePart(classify, 0), TemplatePart("A", 0), TemplatePart(separate, 0))
    pair = (*single, TemplatePart(separate, 0), TemplatePart("B", 0), TemplatePart(separate, 0))
    return PostProcessing(Template(single, pair), read_trimming(processor))


def template_of(single: str, pair: str, ids: dict[str, int], second_segment: int = 0) -> dict[str, Any]:
    """The post_processor whose templates are written as in `[CLS] $A [SEP]`; from $B on tokens are of this segment."""

    def parts(text: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        segment = 0
        for name in text.split():
            segment = second_segment if name == "$B" else segment
            kind, shorter = ("Sequence", name[1:]) if name[0] == "$" else ("SpecialToken", name)
            found.append({kind: {"id": shorter, "type_id": segment}})
        return found

    names = {name for name in pair.split() if name[0] != "$"}
    missing = sorted(names - set(ids))
    if missing:
        raise refusal("missing-special-token", f"the vocabulary has no {shown(missing[0])}")
    return {
        "type": "TemplateProcessing",
        "single": parts(single),
        "pair": parts(pair),
        "special_tokens": {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in sorted(names)},
    }


def template_between(ends: dict[str, str], ids: dict[str, int]) -> dict[str, Any]:
    """The post_processor that puts each text between these tokens, `bos` and `eos` where they are asked for."""

    def parts(name: str, segment: int) -> list[dict[str, Any]]:
        found = [("SpecialToken", ends.get("bos")), ("Sequence", name), ("SpecialToken", ends.get("eos"))]
        return [{kind: {"id": text, "type_id": segment}} for kind, text in found if text is not None]

    single = parts("A", 0)
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": single + parts("B", 1),
        "special_tokens": {text: {"id": text, "ids": [ids[text]], "tokens": [text]} for text in ends.values()},
    }


def read_trimming(processor: dict[str, Any]) -> Trimming | None:
    """What its two settings say of offsets."""
    for key in ("trim_offsets", "add_prefix_space"):
        if not isinstance(processor[key], bool):
            message = f"post_processor.{key} must be true/false, got {shown(processor[key])}"
            raise refusal("tokenizer-type", message, file=FILE)
    return Trimming(processor["add_prefix_space"]) if processor["trim_offsets"] else None


def _bare() -> Template:
    return Template((TemplatePart("A", 0),), (TemplatePart("A", 0), TemplatePart("B", 1)))


def _byte_level(processor: dict[str, Any]) -> PostProcessing:
    known = {"type", "add_prefix_space", "trim_offsets", "use_regex"}
    only_fields(processor, "post_processor", known, required=known - {"use_regex"})
    return PostProcessing(_bare(), read_trimming(processor))


def _sequence(processor: dict[str, Any], ids: dict[str, int]) -> PostProcessing:
    """ByteLevel, then a template: what newer files hold."""
    only_fields(processor, "post_processor", {"type", "processors"}, required={"processors"})
    parts = processor["processors"]
    if not isinstance(parts, list) or [part.get("type") if isinstance(part, dict) else part for part in parts] != [
        "ByteLevel",
        "TemplateProcessing",
    ]:
        message = "post_processor 'Sequence' is supported of ByteLevel and TemplateProcessing only"
        raise refusal("tokenizer-post-processor", message, file=FILE)
    return PostProcessing(_template(parts[1], ids), _byte_level(parts[0]).trimming)


def _token(pair: object, ids: dict[str, int]) -> int:
    if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) is int):
        raise refusal("tokenizer-type", "post_processor: expected a pair of token and id", file=FILE)
    return _checked(pair[0], pair[1], ids)


def _checked(token: str, number: object, ids: dict[str, int]) -> int:
    if type(number) is not int or ids.get(token) != number:
        raise refusal(
            "special-token-conflict",
            f"post_processor gives {shown(token)} the id {shown(number)}, the vocabulary {shown(ids.get(token))}",
            file=FILE,
        )
    return number


def _template(processor: dict[str, Any], ids: dict[str, int]) -> Template:
    known = {"type", "single", "pair", "special_tokens"}
    only_fields(processor, "post_processor", known, required=known)
    table = processor["special_tokens"]
    if not isinstance(table, dict):
        raise refusal("tokenizer-template", "post_processor.special_tokens must be an object", file=FILE)
    single, pair = (_parts(processor[which], which, table, ids) for which in ("single", "pair"))
    for which, parts, places in (("single", single, "A"), ("pair", pair, "AB")):
        if "".join(part.content for part in parts if isinstance(part.content, str)) != places:
            message = f"post_processor.{which} must hold {' then '.join(places)}, each once"
            raise refusal("tokenizer-template", message, file=FILE)
    return Template(single, pair)


def _parts(value: object, which: str, table: dict[str, Any], ids: dict[str, int]) -> tuple[TemplatePart, ...]:
    parts: list[TemplatePart] = []
    for item in value if isinstance(value, list) else [None]:
        kind, body = next(iter(item.items())) if isinstance(item, dict) and len(item) == 1 else (None, None)
        if not isinstance(body, dict) or set(body) != {"id", "type_id"}:
            raise refusal("tokenizer-template", f"post_processor.{which} has a part that is not understood", file=FILE)
        segment = body["type_id"]
        if type(segment) is not int or not 0 <= segment < 256:
            raise refusal("tokenizer-template", f"post_processor.{which} has the type {shown(segment)}", file=FILE)
        if kind == "Sequence" and body["id"] in _PLACES:
            parts.append(TemplatePart(body["id"], segment))
        elif kind == "SpecialToken" and isinstance(body["id"], str):
            parts += [TemplatePart(number, segment) for number in _special(body["id"], table, ids)]
        else:
            raise refusal("tokenizer-template", f"post_processor.{which} has a part that is not understood", file=FILE)
    return tuple(parts)


def _special(name: str, table: dict[str, Any], ids: dict[str, int]) -> list[int]:
    """The ids of a special token of the template, which may stand for several."""
    entry = table.get(name)
    numbers = entry.get("ids") if isinstance(entry, dict) else None
    tokens = entry.get("tokens") if isinstance(entry, dict) else None
    if (
        not isinstance(numbers, list)
        or not isinstance(tokens, list)
        or len(numbers) != len(tokens)
        or not numbers
        or not all(isinstance(token, str) for token in tokens)
    ):
        message = f"post_processor.special_tokens: {shown(name)} must have as many ids as tokens"
        raise refusal("tokenizer-template", message, file=FILE)
    return [_checked(token, number, ids) for token, number in zip(tokens, numbers, strict=True)]


def without_segments(described: dict[str, Any]) -> dict[str, Any]:
    """With every token of a template in the first segment, as a model sees it that is not told of segments. Where there
    is no template, with one that says so."""

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: 0 if key == "type_id" else changed(item) for key, item in value.items()}
        return [changed(item) for item in value] if isinstance(value, list) else value

    processor = changed(described.get("post_processor"))
    if processor is None:
        processor = _ONE_SEGMENT
    elif isinstance(processor, dict) and processor.get("type") == "ByteLevel":
        processor = {"type": "Sequence", "processors": [processor, _ONE_SEGMENT]}
    return {**described, "post_processor": processor}
