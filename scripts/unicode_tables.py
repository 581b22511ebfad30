#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unicode_tables.py [--check]: writes worker/trainer/text/unicode_tables.inc.

The Rust tokenizers read Unicode through five libraries of five ages. This
script starts from the Unicode 14 of Python 3.11 and corrects each property to
the age that decides there; the corrections were found by asking the reference
about every code point (docs/adr/0007-tokenizers.md).
"""
import pathlib
import sys
import unicodedata

TARGET = pathlib.Path(__file__).resolve().parent.parent / \
    "worker/trainer/text/unicode_tables.inc"
WANTED = "14.0.0"

# Names in the order of CharFlag in unicode.h: bit 0 is the first.
FLAGS = ("white_space", "dropped", "punctuation", "mark", "letter", "number",
         "joins", "prepends", "breaks", "combines", "decomposes", "lowers")


def ranges(text):
    """{code points} of "41-5A 61"."""
    found = set()
    for part in text.split():
        first, _, last = part.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return found


CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CATEGORY = {c: unicodedata.category(chr(c)) for c in CODE_POINTS}


def of(*categories):
    return {c for c in CODE_POINTS if CATEGORY[c].startswith(categories)}


# The table of the normaliser's categories stands at Unicode 8.
YOUNG_MARKS = ranges("""
7FD 898-89F 8CA-8E1 9FE AFA-AFF B55 C04 C3C D00 D3B-D3C D81 EBA 180F 1885-1886
1ABF-1ACE 1DF6-1DFB A82C A8C5 A8FF A9BD 10D24-10D27 10EAB-10EAC 10F46-10F50
10F82-10F85 11070 11073-11074 110C2 1112E-1112F 111C9 111CF 1123E 1133B
11438-1143F 11442-11444 11446 1145E 1182F-11837 11839-1183A 1193B-1193C 1193E
11943 119D4-119D7 119DA-119DB 119E0 11A01-11A0A 11A33-11A38 11A3B-11A3E 11A47
11A51-11A56 11A59-11A5B 11A8A-11A96 11A98-11A99 11C30-11C36 11C38-11C3D 11C3F
11C92-11CA7 11CAA-11CB0 11CB2-11CB3 11CB5-11CB6 11D31-11D36 11D3A 11D3C-11D3D
11D3F-11D45 11D47 11D90-11D91 11D95 11D97 11EF3-11EF4 C48 16F4F 16FE4
1CF00-1CF2D 1CF30-1CF46 1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024
1E026-1E02A 1E130-1E136 1E2AE 1E2EC-1E2EF 1E944-1E94A""")
YOUNG_PUNCTUATION = ranges("""
61D 9FD A76 C77 C84 1B7D-1B7E 2E43-2E4F 2E52-2E5D 10EAD 10F55-10F59
10F86-10F89 1144B-1144F 1145A-1145B 1145D 11660-1166C 116B9 1183B 11944-11946
119E2 11A3F-11A46 11A9A-11A9C 11A9E-11AA2 11C41-11C45 11C70-11C71 11EF7-11EF8
11FFF 12FF1-12FF2 16E97-16E9A 16FE2 1E95E-1E95F""")
YOUNG_FORMATS = ranges("890-891 8E2 110CD 13430-13438")
# The regular expressions of the byte-level split know Unicode 16.
NEW_LETTERS = ranges("""
1C89-1C8A A7CB-A7CD A7DA-A7DC 105C0-105F3 10D4A-10D65 10D6F-10D85 10EC2-10EC4
1123F-11240 11380-11389 1138B 1138E 11390-113B5 113B7 113D1 113D3 11BC0-11BE0
11F02 11F04-11F10 11F12-11F33 1342F 13441-13446 13460-143FA 16100-1611D
16D40-16D6C 18CFF 1B132 1B155 1DF25-1DF2A 1E030-1E06D 1E4D0-1E4EB 1E5D0-1E5ED
1E5F0 2B739 2EBF0-2EE5D 31350-323AF""")
NEW_NUMBERS = ranges("""
10D40-10D49 116D0-116E3 11BF0-11BF9 11F50-11F59 16130-16139 16D70-16D79
1CCF0-1CCF9 1D2C0-1D2D3 1E4F0-1E4F9 1E5F1-1E5FA""")
# Grapheme clusters: which spacing marks do not join, and what joins besides.
LONE_SPACING = ranges("""
102B-102C 1038 1062-1064 1067-106D 1083 1087-108C 108F 109A-109C 1A61
1A63-1A64 AA7B AA7D""")
ALSO_JOINING = ranges("""
200C-200D 897 CF3 E33 EB3 ECE 1ACF-1ADD 1AE0-1AEB FF9E-FF9F""")
PREPENDING = ranges("""
600-605 6DD 70F 890-891 8E2 D4E 110BD 110CD 111C2-111C3 1193F 11941 11A3A
11A84-11A89 11D46 11F02""")
# Canonical decomposition and classes stand at Unicode 9.
YOUNG_DECOMPOSITIONS = ranges("11938")
YOUNG_CLASSES = ranges("""
7FD 898-89F 8CA-8D3 9FE C3C D3B-D3C EBA 1715 1ABF-1ACE 1DF6-1DFA A82C
10D24-10D27 10EAB-10EAC 10F46-10F50 10F82-10F85 11070 1133B 1145E 11839-1183A
1193D-1193E 11943 119E0 11A34 11A47 11A99 11D42 11D44-11D45 11D97 16FF0-16FF1
1E130-1E136 1E2AE 1E2EC-1E2EF""")
# Lower case is of Unicode 17: first, last, distance.
NEW_LOWER = ((0x1C89, 0x1C89, 1), (0xA7CB, 0xA7CB, 0x264 - 0xA7CB),
             (0xA7CC, 0xA7CC, 1), (0xA7CE, 0xA7CE, 1), (0xA7D2, 0xA7D2, 1),
             (0xA7D4, 0xA7D4, 1), (0xA7DA, 0xA7DA, 1),
             (0xA7DC, 0xA7DC, 0x19B - 0xA7DC), (0x10D50, 0x10D65, 32),
             (0x16EA0, 0x16EB8, 27))


def lower_map():
    """{upper: lower} of one code point each; U+0130 is in unicode.cc."""
    lower = {c: ord(chr(c).lower()) for c in CODE_POINTS
             if chr(c).lower() != chr(c) and len(chr(c).lower()) == 1}
    for first, last, distance in NEW_LOWER:
        lower.update((c, c + distance) for c in range(first, last + 1))
    return lower


def decompositions():
    """{composed: its whole canonical decomposition}, Hangul left out."""
    return {c: [ord(d) for d in unicodedata.normalize("NFD", chr(c))]
            for c in CODE_POINTS if not 0xAC00 <= c <= 0xD7A3
            and c not in YOUNG_DECOMPOSITIONS
            and unicodedata.normalize("NFD", chr(c)) != chr(c)}


def compositions():
    """{(first, second): composed}, Hangul left out."""
    found = {}
    for c, whole in decompositions().items():
        text = "".join(map(chr, whole))
        if len(whole) < 2 or unicodedata.normalize("NFC", text) != chr(c):
            continue
        first = unicodedata.normalize("NFC", text[:-1])
        assert len(first) == 1, hex(c)
        found[ord(first), whole[-1]] = c
    return found


def classes():
    return {c: unicodedata.combining(chr(c)) for c in CODE_POINTS
            if unicodedata.combining(chr(c)) and c not in YOUNG_CLASSES}


def flag_sets():
    ascii_symbols = {c for c in range(128) if CATEGORY[c][0] == "S"}
    white = of("Zs", "Zl", "Zp") | ranges("9-D 85")
    formats = (of("Cf") - ranges("200C-200D")) - PREPENDING
    return {
        "white_space": white,
        "dropped": ((of("Cc", "Cf", "Co") | ranges("FFFD"))
                    - ranges("9 A D") - YOUNG_FORMATS),
        "punctuation": (of("P") | ascii_symbols | ranges("166D 111C9"))
        - (YOUNG_PUNCTUATION - ranges("111C9")),
        "mark": (of("Mn") | ranges("1734")) - YOUNG_MARKS,
        "letter": of("L") | NEW_LETTERS,
        "number": of("N") | NEW_NUMBERS,
        "joins": (of("M") | ALSO_JOINING) - LONE_SPACING,
        "prepends": PREPENDING,
        "breaks": of("Cc", "Zl", "Zp") | formats,
        "combines": set(classes()),
        "decomposes": set(decompositions()) | ranges("AC00-D7A3"),
        "lowers": set(lower_map()) | {0x130},
    }


def flag_rows():
    """Runs of equal flags, those without any left out."""
    sets = flag_sets()
    value = [0] * 0x110000
    for bit, name in enumerate(FLAGS):
        for c in sets[name]:
            value[c] |= 1 << bit
    first = 0
    for c in range(1, 0x110001):
        if c == 0x110000 or value[c] != value[first]:
            if value[first]:
                yield first, c - 1, value[first]
            first = c


def runs(mapping, strides):
    """(first, last, stride, value) that cover {code point: value}."""
    left = dict(mapping)
    for c in sorted(mapping):
        if c not in left:
            continue
        best = max(strides, key=lambda s: run_length(left, c, s))
        count = run_length(left, c, best)
        yield c, c + (count - 1) * best, best, left[c]
        for i in range(count):
            del left[c + i * best]


def run_length(mapping, first, stride):
    count = 1
    while mapping.get(first + count * stride) == mapping[first]:
        count += 1
    return count


def rows(name, kind, items):
    """One array, several rows a line."""
    lines, line = [], " "
    for item in items:
        if len(line) + len(item) > 78:
            lines.append(line)
            line = " "
        line += f" {item},"
    lines.append(line)
    return (f"const {kind} {name}[] = {{\n" + "\n".join(lines) + "\n};\n"
            f"const std::size_t {name}Count = std::size({name});\n")


def source():
    lower = {c: to - c for c, to in lower_map().items()}
    pool, entries = [], []
    for c, parts in sorted(decompositions().items()):
        entries.append(f"{{0x{c:X}, {len(pool)}, {len(parts)}}}")
        pool += parts
    return "\n".join((
        "// SPDX-License-Identifier: Apache-2.0",
        "// Made by scripts/unicode_tables.py; do not edit.",
        rows("kFlagRuns", "FlagRun",
             (f"{{0x{a:X}, 0x{b:X}, {v}}}" for a, b, v in flag_rows())),
        rows("kLowerRuns", "LowerRun",
             (f"{{0x{a:X}, 0x{b:X}, {s}, {v}}}"
              for a, b, s, v in runs(lower, (1, 2)))),
        rows("kClassRuns", "ClassRun",
             (f"{{0x{a:X}, 0x{b:X}, {v}}}"
              for a, b, _, v in runs(classes(), (1,)))),
        rows("kDecompositions", "Decomposition", entries),
        rows("kDecomposed", "char32_t", (f"0x{c:X}" for c in pool)),
        rows("kCompositions", "Composition",
             (f"{{0x{a:X}, 0x{b:X}, 0x{c:X}}}"
              for (a, b), c in sorted(compositions().items())))))


def main(arguments):
    if unicodedata.unidata_version != WANTED:
        print(f"unicode tables: needs a Python with Unicode {WANTED} (3.11), "
              f"this one has {unicodedata.unidata_version}")
        return 77
    text = source()
    if arguments == ["--check"]:
        same = TARGET.read_text(encoding="utf-8") == text
        print("unicode tables:", "as generated" if same else "DIFFER")
        return 0 if same else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
