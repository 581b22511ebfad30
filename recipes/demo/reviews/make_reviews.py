#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the demo's data set: short reviews, each positive or negative.

usage: make_reviews.py [--seed N] [--out DIR]

A sentence is a frame with words put in. What makes the set hard is that a word
says little about the class: in four of ten sentences it is turned around ("not
bad at all"), or stands beside one of the other kind and only one of them is
meant ("a dull film, but the cast saved it"). Whoever counts words gets about
two of three right; one has to read.

The two splits share no frame and no domain, and of their telling words only
those under "both", so what is learnt by heart on the one helps little on the
other.
"""
import argparse
import pathlib
import random
import re

POSITIVE, NEGATIVE = "positive", "negative"
ROWS = {"train": 400, "validation": 200}
# Of all sentences of a split. People turn a good word around more often ("not
# good") than a bad one, and so is it here.
SHARES = {
    "plain": {POSITIVE: 0.31, NEGATIVE: 0.26},
    "negated": {POSITIVE: 0.05, NEGATIVE: 0.10},
    "contrast": {POSITIVE: 0.11, NEGATIVE: 0.11},
    "expected": {POSITIVE: 0.03, NEGATIVE: 0.03},
}

# In a frame, + stands before a word of the sentence's own class and - before
# one of the other. {whole} and {part} belong to one domain; {also} is another
# part of it.
FRAMES = {
    "train": {
        "plain": [
            "The {part} was {+adjective}.",
            "What a {+adjective} {whole}!",
            "I {+verb} the {part} and the {also}.",
            "The {whole} was {+adjective} and the {part} {very} {+adjective}.",
            "Such a {+adjective} {part}, I {+verb} it.",
            "This {whole} is {+noun} from start to finish.",
            "We all thought the {part} was {+adjective}.",
            "The {part} is {very} {+adjective}, and so is the {also}.",
            "My friends {+verb} this {+adjective} {whole}.",
        ],
        "negated": [
            "The {part} was not {-adjective} at all.",
            "There was nothing {-adjective} about the {part}.",
            "Nobody would call this {whole} {-adjective}.",
            "It was never a {-adjective} {whole}.",
            "The {part} is not exactly {-adjective}.",
            "I cannot say that the {part} was {-adjective}.",
            "This {whole} was anything but {-adjective}.",
            "Neither the {part} nor the {also} was {-adjective}.",
        ],
        "contrast": [
            "The {part} was {-adjective}, but the {also} was {+adjective}.",
            "A {-adjective} {whole}, but the {part} {+turned} it.",
            "Although the {part} was {-adjective}, I {+verb} the {whole}.",
            "I {+verb} the {whole}, even though the {part} was {-adjective}.",
            "Despite its {-adjective} {part}, the {whole} is {+adjective}.",
            "First a {-adjective} {also}, then the {part} {+turned} it all.",
        ],
        "expected": [
            "I expected a {-adjective} {whole} and was wrong.",
            "People call the {part} {-adjective}, which is simply untrue.",
            "Other reviews found the {whole} {-adjective}, I do not.",
        ],
    },
    "validation": {
        "plain": [
            "Honestly, this {whole} is {+adjective}.",
            "A {+adjective} {whole} with a {very} {+adjective} {part}.",
            "My whole family {+verb} the {part}.",
            "Everything was {+adjective}, above all the {part}.",
            "I found the {part} {very} {+adjective}.",
            "Overall, {+noun}: the {part} and the {also} were {+adjective}.",
            "It has a {+adjective} {part} and a {+adjective} {also}.",
        ],
        "negated": [
            "You will not find a {-adjective} {part} here.",
            "Not a {-adjective} {whole}, if you ask me.",
            "The {part} did not seem {-adjective} to us.",
            "I would not describe the {part} as {-adjective}.",
            "No {-adjective} {part} in this {whole}.",
            "Hardly a {-adjective} moment, and never a {-adjective} {part}.",
        ],
        "contrast": [
            "The {part} may be {-adjective}, yet the {whole} is {+adjective}.",
            "Yes, the {part} is {-adjective}, but we {+verb} the rest.",
            "It was {+adjective} in spite of the {-adjective} {part}.",
            "The {part} was {-adjective}, until the {also} {+turned} it.",
            "We {+verb} it, though the {part} was {-adjective}.",
            "For all its {-adjective} {part}, this is a {+adjective} {whole}.",
        ],
        "expected": [
            "They told us the {whole} was {-adjective}, but it was not.",
            "We expected a {-adjective} {part} and got the opposite.",
            "If you think the {part} is {-adjective}, look again.",
        ],
    },
}

# Words by what they are, the splits that have them, and their class.
WORDS = {
    "adjective": {
        "both": {
            POSITIVE: "good, great, lovely, wonderful, excellent, brilliant,"
                      " superb, perfect, fantastic",
            NEGATIVE: "bad, awful, boring, dull, terrible, poor, horrible,"
                      " weak, disappointing",
        },
        "train": {
            POSITIVE: "charming, nice, pleasant, impressive",
            NEGATIVE: "mediocre, nasty, miserable, silly",
        },
        "validation": {
            POSITIVE: "beautiful, amazing, delightful, splendid",
            NEGATIVE: "dreadful, lousy, annoying, hopeless",
        },
    },
    "verb": {
        "both": {POSITIVE: "loved, enjoyed", NEGATIVE: "hated, disliked"},
        "train": {POSITIVE: "admired", NEGATIVE: "regretted"},
        "validation": {POSITIVE: "liked", NEGATIVE: "resented"},
    },
    "turned": {
        "both": {POSITIVE: "saved", NEGATIVE: "ruined"},
        "train": {POSITIVE: "rescued", NEGATIVE: "spoiled"},
        "validation": {POSITIVE: "lifted", NEGATIVE: "wrecked"},
    },
    "noun": {
        "both": {POSITIVE: "", NEGATIVE: ""},
        "train": {POSITIVE: "a joy, a treat", NEGATIVE: "a mess, a bore"},
        "validation": {
            POSITIVE: "a success, a pleasure",
            NEGATIVE: "a failure, a disaster",
        },
    },
}
VERY = {"train": "very really so", "validation": "quite truly rather"}

# The whole and its parts.
DOMAINS = {
    "train": {
        "film": "plot cast ending soundtrack script",
        "restaurant": "soup waiter menu wine dessert",
        "hotel": "room breakfast bed view bathroom",
        "phone": "screen camera battery keyboard speaker",
    },
    "validation": {
        "book": "story style cover dialogue translation",
        "concert": "band singer crowd encore stage",
        "journey": "train driver seat lunch timetable",
        "course": "teacher textbook exam lecture classroom",
    },
}


def words_of(name, split, polarity):
    lists = [WORDS[name][each][polarity] for each in ("both", split)]
    return [word for each in lists if each for word in each.split(", ")]


def other(polarity):
    return NEGATIVE if polarity == POSITIVE else POSITIVE


def fill(rng, frame, split, polarity):
    """The frame with words of this split in it, as a sentence."""
    whole, parts = rng.choice(sorted(DOMAINS[split].items()))
    part, also = rng.sample(parts.split(), 2)
    adjectives = {  # so that none comes twice in a sentence
        each: rng.sample(words_of("adjective", split, each), 2)
        for each in (POSITIVE, NEGATIVE)
    }

    def word(match):
        slot = match.group(1)
        if slot in ("whole", "part", "also"):
            return {"whole": whole, "part": part, "also": also}[slot]
        if slot == "very":
            return rng.choice(VERY[split].split())
        meant = polarity if slot[0] == "+" else other(polarity)
        if slot[1:] == "adjective":
            return adjectives[meant].pop()
        return rng.choice(words_of(slot[1:], split, meant))

    text = re.sub(r"\{([^}]+)\}", word, frame)
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)


def make_rows(rng, split, kind, polarity, rows):
    """Adds what SHARES says to `rows`: {text: label}."""
    frames = FRAMES[split][kind]
    wanted = len(rows) + round(SHARES[kind][polarity] * ROWS[split])
    turn = 0
    while len(rows) < wanted:
        text = fill(rng, frames[turn % len(frames)], split, polarity)
        rows.setdefault(text, polarity)  # no sentence twice
        turn += 1


def make_split(rng, split):
    rows = {}
    for kind in SHARES:
        for polarity in (POSITIVE, NEGATIVE):
            make_rows(rng, split, kind, polarity, rows)
    rows = list(rows.items())
    rng.shuffle(rows)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--out", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    for split in ROWS:
        rows = make_split(rng, split)
        lines = ["text\tlabel"] + ["\t".join(row) for row in rows]
        path = options.out / f"{split}.tsv"
        path.write_bytes(("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
