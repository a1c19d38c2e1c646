"""What `mask` masks in real tool outputs and transcripts: counts by family, and each case for a person to judge.

    REEFKNOT_SHARED=../shared python benchmarks/masking.py [--list] [--family NAME] [--context 60]

Reads the folders `corpus` and `transcripts/neutral` of the shared folder. A case is shown without its secret: what
stood around it, the secret's length and the kinds of characters in it. Equal cases are shown once, with how often they
occur.
"""

import argparse
import gzip
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from reefknot.model.encoding import to_text
from reefknot.text.secrets import mask


def corpus_texts(shared: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(path for path in (shared / "corpus").rglob("*") if path.is_file()):
        data = path.read_bytes()
        yield path.parent.name, to_text(gzip.decompress(data) if path.suffix == ".gz" else data)


def transcript_texts(shared: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((shared / "transcripts" / "neutral").glob("*.json.gz")):
        session = json.loads(gzip.decompress(path.read_bytes()))
        for message in session["messages"]:
            yield session["format"], message.get("text") or ""
            for call in message.get("calls") or ():
                yield session["format"], json.dumps(call["input"], ensure_ascii=False)
            for result in message.get("results") or ():
                yield session["format"], result["text"] or ""


def shape(secret: str) -> str:
    """A secret's length and kinds of characters, and its first three, which name its kind."""
    kinds = [
        name for name, test in (("a", str.islower), ("A", str.isupper), ("0", str.isdigit)) if any(map(test, secret))
    ]
    if any(not character.isalnum() for character in secret):
        kinds.append("-")
    return f"<{len(secret)}:{''.join(kinds)}:{secret[:3]}~>"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="show every distinct case")
    parser.add_argument("--family", help="only this one")
    parser.add_argument("--context", type=int, default=60, help="characters before each secret")
    parser.add_argument("--show", action="store_true", help="show the secrets too")
    options = parser.parse_args()
    shared = Path(os.environ.get("REEFKNOT_SHARED", "../shared"))
    for title, texts in (("corpus", corpus_texts(shared)), ("transcripts", transcript_texts(shared))):
        report(title, texts, options)


def report(title: str, texts: Iterator[tuple[str, str]], options: argparse.Namespace) -> None:
    families: Counter[str] = Counter()
    cases: Counter[tuple[str, str, str]] = Counter()  # (family, source, context) -> how often
    characters, seconds, count, masked_texts = 0, 0.0, 0, 0
    for source, text in texts:
        start = time.process_time()
        masked = mask(text)
        seconds += time.process_time() - start
        characters, count = characters + len(text), count + 1
        masked_texts += masked.count > 0
        families.update(masked.families)
        shift = 0
        for begin, end in masked.spans:
            marker = masked.text[begin + shift :].split("]", 1)[0] + "]"
            shift += len(marker) - (end - begin)
            secret = text[begin:end] if options.show else shape(text[begin:end])
            before = text[max(0, begin - options.context) : begin].replace("\n", "⏎")
            cases[marker.removeprefix("[REDACTED:")[:-1], source, f"{before}{secret}{text[end : end + 12]!r}"] += 1
    speed = characters / seconds / 1e6
    print(
        f"{title}: {count:,} texts, {characters / 1e6:.1f} M characters, {speed:.0f} MB/s; {masked_texts} texts masked"
    )
    for family, number in sorted(families.items()):
        distinct = sum(1 for case in cases if case[0] == family)
        print(f"  {family:16} {number:6,} masks, {distinct:5,} distinct")
        if options.list and options.family in (None, family):
            for (_, source, context), times in sorted((case, n) for case, n in cases.items() if case[0] == family):
                print(f"    {times:4} {source:14} {context}")


if __name__ == "__main__":
    main()
