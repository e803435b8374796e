# SPDX-License-Identifier: Apache-2.0
"""Small changes to a source file that its tests should notice: which there are, and how to make one."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

# Binary operators; the second of a pair is what it becomes.
SWAPS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "/": ("*",),
    "//": ("*",),
    "%": ("*",),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|",),
    "|": ("&",),
    "^": ("&",),
    "+=": ("-=",),
    "-=": ("+=",),
    "|=": ("&=",),
    "&=": ("|=",),
    "++": ("--",),
    "--": ("++",),
    "&&": ("||",),
    "||": ("&&",),
    "and": ("or",),
    "or": ("and",),
    "min": ("max",),
    "max": ("min",),
    "true": ("false",),
    "false": ("true",),
    "True": ("False",),
    "False": ("True",),
}
UNSPACED = {"++", "--", "min", "max", "true", "false", "True", "False"}  # the others are written between spaces


@dataclass(frozen=True)
class Mutant:
    """Replaces [begin, end) of the file's text."""

    path: str
    line: int
    begin: int
    end: int
    old: str
    new: str
    occurrence: int  # of this very change on its line, from 1

    @property
    def change(self) -> str:
        """The change in words; with the line's text it names the mutant when line numbers have moved."""
        return f"`{self.old}` -> `{self.new}`" + (f" ({self.occurrence})" if self.occurrence > 1 else "")

    def apply(self, text: str) -> str:
        assert text[self.begin : self.end] == self.old
        return text[: self.begin] + self.new + text[self.end :]


def mutants_of(path: str, text: str) -> list[Mutant]:
    """Every mutant of a file, in the order of the text."""
    find = _python if path.endswith(".py") else _cpp
    seen: dict[tuple[int, str, str], int] = {}
    found = []
    for begin, end, new in sorted(set(find(text))):
        line = text.count("\n", 0, begin) + 1
        key = (line, text[begin:end], new)
        seen[key] = seen.get(key, 0) + 1
        found.append(Mutant(path, line, begin, end, text[begin:end], new, seen[key]))
    return found


_CPP_SKIPPED = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'
      | ^[ \t]*\#(?:\\\n|[^\n])*
      | ^[ \t]*(?:static_assert\b[^;]*;|using\ [^;]*;|ETCH_COUNT_KERNEL_CALL[^;]*;|template\ <[^\n]*)""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_CPP_OPERATOR = re.compile(r"(?<= )(?:<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\|=|&=|[-+*/%<>&|^])(?= )|\+\+|--")
_INTEGER = re.compile(r"(?<![\w.])(0x[0-9A-Fa-f]+|\d+)(?=(?:u|U|l|L)*\b)(?!\.\d|\.f|\.)")
_WORD = re.compile(r"\b(?:true|false|min|max)\b")
_CPP_CONDITION = re.compile(r"\b(?:if|while) \((?!constexpr)")
_CPP_STATEMENT = re.compile(
    r"^[ ]+(?!return\b|break\b|continue\b|case\b|else\b|const\b|constexpr\b)([^\s/#{}][^\n{}]*);$", re.M
)


def _cpp(text: str) -> Iterator[tuple[int, int, str]]:
    # The scanned text has blanks for what is no code, so that places stay what they are.
    code = _CPP_SKIPPED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in _CPP_OPERATOR.finditer(code):
        yield from ((*match.span(), new) for new in SWAPS[match[0]])
    for match in _WORD.finditer(code):
        yield from ((*match.span(), new) for new in SWAPS[match[0]])
    for match in _INTEGER.finditer(code):
        yield from ((*match.span(1), new) for new in _neighbours(match[1]))
    for match in _CPP_CONDITION.finditer(code):
        end = _closing(code, match.end())
        if not _is_equality(code[match.end() : end]):
            yield match.end(), end, f"!({text[match.end() : end]})"
    for match in _CPP_STATEMENT.finditer(code):
        if _is_whole(match[1]):
            yield match.start(1), match.end(1), ""


def _is_equality(condition: str) -> bool:
    """One `==` or `!=`, whose swap is the same mutant as the negation."""
    return len(re.findall("[=!]=", condition)) == 1 and not re.search(r"&&|\|\|| and | or |\?", condition)


def _is_whole(statement: str) -> bool:
    """An assignment, an increment or a call, not the last line of something longer and not a declaration."""
    balanced = statement.count("(") == statement.count(")")
    assigns = re.match(r"(?:[\w.\[\]>*+-]+|[\w.]+\[[^=]*\]) (?:[-+*/|&^]|<<|>>)?= ", statement)
    calls = re.match(r"[\w.:>-]+(?:<[^()]*>)?\(", statement)
    return balanced and bool(assigns or calls or re.match(r"\+\+|--|[\w.]+(?:\+\+|--)$", statement))


def _closing(code: str, at: int) -> int:
    """Where the parenthesis opened before `at` closes."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1
    return at - 1


def _neighbours(number: str) -> list[str]:
    value = int(number, 0)
    near = [value + 1] if value == 0 else [value + 1, value - 1]
    return [hex(one) if number.startswith("0x") else str(one) for one in near]


def _python(text: str) -> Iterator[tuple[int, int, str]]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    tree = ast.parse(text)
    quiet = [span for node in ast.walk(tree) for span in _types_of(node, place)]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin, end = place(*token.start), place(*token.end)
        if any(first <= begin < last for first, last in quiet):
            continue
        if token.type in (tokenize.OP, tokenize.NAME) and token.string in SWAPS:
            spaced = text[begin - 1] == " " == text[end]
            if token.string in UNSPACED or spaced:
                yield from ((begin, end, new) for new in SWAPS[token.string])
        elif token.type == tokenize.NUMBER and token.string.isdigit():
            yield from ((begin, end, new) for new in _neighbours(token.string))
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.comprehension):
            tests = node.ifs if isinstance(node, ast.comprehension) else [node.test]
            for test in tests:
                begin, end = place(test.lineno, test.col_offset), place(test.end_lineno or 0, test.end_col_offset or 0)
                if not _is_equality(text[begin:end]):
                    yield begin, end, f"not ({text[begin:end]})"
        is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        is_store = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
        if is_call or is_store or isinstance(node, ast.AugAssign | ast.Raise | ast.Break | ast.Continue):
            yield place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0), "pass"


def _types_of(node: ast.AST, place) -> Iterator[tuple[int, int]]:  # noqa: ANN001
    """Annotations and type arguments, which decide nothing at run time."""
    parts = [getattr(node, name, None) for name in ("annotation", "returns")]
    for part in parts:
        if isinstance(part, ast.expr):
            yield place(part.lineno, part.col_offset), place(part.end_lineno or 0, part.end_col_offset or 0)
