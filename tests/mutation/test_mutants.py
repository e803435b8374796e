# SPDX-License-Identifier: Apache-2.0
"""What counts as a small change to a source file, and what is left alone."""

from __future__ import annotations

from operators import mutants_of


def changes(path: str, text: str) -> set[tuple[str, str]]:
    found = mutants_of(path, text)
    assert all(mutant.apply(text) != text for mutant in found)
    assert len({mutant.apply(text) for mutant in found}) == len(found)
    return {(mutant.old, mutant.new) for mutant in found}


def test_cpp() -> None:
    text = """#define N 1 + 2
// a + b
template <unsigned kN = 4>
void f(const char* text, std::vector<int>& out) {
    static_assert(1 + 1 == 2);
    if (a && b) out[i] = "1 + 1";
    n += 0x0F;
}
"""
    assert changes("x.cpp", text) == {
        ("&&", "||"),
        ("a && b", "!(a && b)"),
        ("+=", "-="),
        ("0x0F", "0xe"),
        ("0x0F", "0x10"),
        ("n += 0x0F", ""),
    }


def test_cpp_equality_is_negated_once() -> None:
    assert changes("x.cpp", "    if (a == b) return;\n") == {("==", "!=")}
    assert changes("x.cpp", "    while (a) b();\n") == {("a", "!(a)")}


def test_python() -> None:
    text = '''"""1 + 1"""
def f(x: int | None = 7) -> int | str:
    if x and y:
        d[0] = min(x, y)
    return x
'''
    assert changes("x.py", text) == {
        *(("7", "8"), ("7", "6"), ("0", "1"), ("and", "or"), ("min", "max")),
        *(("x and y", "not (x and y)"), ("d[0] = min(x, y)", "pass")),
    }


def test_the_second_of_its_kind_on_a_line() -> None:
    names = [mutant.change for mutant in mutants_of("x.cpp", "    a = b + c + d;\n")]
    assert "`+` -> `-`" in names
    assert "`+` -> `-` (2)" in names
