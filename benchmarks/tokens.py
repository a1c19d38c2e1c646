"""Token counters on real texts: their speed, and how far the estimate and the family factors are off, by kind.

    REEFKNOT_SHARED=../shared python benchmarks/tokens.py [--families]

Reads the folders `corpus` and `transcripts/neutral` of the shared folder; texts of fewer than 100 characters are left
out. `--families` needs the package `ctok` (Python 3.12), an unofficial offline count of Claude's tokens, and takes a
sample of at most 4,000 characters from twelve texts of each kind: it counts 0.1 MB/s.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from random import Random

from masking import corpus_texts, transcript_texts

from reefknot.text.tokens import EstimatedCounter, ExactCounter, TokenCounter

MIN_CHARS = 100
MAX_CHARS = 2_000_000  # of one text
SEED = 5
FAMILY_VERSIONS = {"claude-3": "3.0", "claude-4": "4.8"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", action="store_true", help="measure the factors of other model families")
    options = parser.parse_args()
    shared = Path(os.environ.get("REEFKNOT_SHARED", "../shared"))
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for group, texts in (("corpus", corpus_texts(shared)), ("transcripts", transcript_texts(shared))):
        for kind, text in texts:
            if len(text) >= MIN_CHARS:
                kinds[f"{group} {kind}"].append(text[:MAX_CHARS])
    if options.families:
        report_families(kinds)
    else:
        report_estimate(kinds)


def timed(counter: TokenCounter, texts: Sequence[str], title: str) -> list[int]:
    counter.count("")
    start = time.process_time()
    counts = [counter.count(text) for text in texts]
    seconds = time.process_time() - start
    characters = sum(map(len, texts))
    print(f"{title}: {len(texts):,} texts, {characters / 1e6:.1f} M characters, {characters / seconds / 1e6:.0f} MB/s")
    return counts


def report_estimate(kinds: Mapping[str, Sequence[str]]) -> None:
    everything = [text for texts in kinds.values() for text in texts]
    exact = timed(ExactCounter(), everything, "exact")
    estimated = timed(EstimatedCounter(), everything, "estimate")
    quarters = [-(-len(text) // 4) for text in everything]
    print("| kind | texts | tokens | estimate: median | p90 | in total | characters / 4: median | p90 | in total |")
    print("|---" * 9 + "|")
    at = 0
    for kind, texts in kinds.items():
        part = slice(at, at + len(texts))
        print(row(kind, exact[part], estimated[part], quarters[part]))
        at += len(texts)
    print(row("all", exact, estimated, quarters))


def row(kind: str, exact: Sequence[int], estimated: Sequence[int], quarters: Sequence[int]) -> str:
    cells = [f"{len(exact):,}", f"{sum(exact):,}"]
    for other in (estimated, quarters):
        off = errors(exact, other)
        cells += [f"{quantile(off, 0.5):.1%}", f"{quantile(off, 0.9):.1%}", f"{sum(other) / sum(exact) - 1:+.1%}"]
    return f"| {kind} | {' | '.join(cells)} |"


def errors(exact: Sequence[int], other: Sequence[int]) -> list[float]:
    return sorted(abs(more / true - 1) for more, true in zip(other, exact, strict=True))


def quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def report_families(kinds: Mapping[str, Sequence[str]]) -> None:
    count_claude = import_module("ctok").token_count
    random = Random(SEED)
    sample: list[str] = []
    for texts in kinds.values():
        for text in random.sample(list(texts), min(12, len(texts))):
            start = random.randrange(max(1, len(text) - 4_000))
            sample.append(text[start : start + 4_000].encode("utf-8", "replace").decode())
    exact = ExactCounter().count_many(sample)
    print(f"{len(sample)} pieces of text, {sum(exact):,} o200k tokens")
    for family, version in FAMILY_VERSIONS.items():
        theirs = [count_claude(text, version) for text in sample]
        factor = sum(theirs) / sum(exact)
        off = errors(theirs, [round(tokens * factor) for tokens in exact])
        ratios = sorted(more / true for more, true in zip(theirs, exact, strict=True))
        print(
            f"{family} ({version}): factor {factor:.3f}, of single texts {quantile(ratios, 0.1):.2f} to "
            f"{quantile(ratios, 0.9):.2f}; error median {quantile(off, 0.5):.1%}, p90 {quantile(off, 0.9):.1%}"
        )


if __name__ == "__main__":
    main()
