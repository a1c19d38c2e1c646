"""What people write for an age and for a size, and how sizes are shown."""

import math
import re

import click

__all__ = ["age", "parse_age", "parse_size", "show_size", "size"]

_AGE_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_AGE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s?([smhdw])", re.ASCII)
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)\s?([kmgt]?)(i?)b?", re.ASCII)


def parse_age(text: str) -> float | None:
    """Seconds in an age; None when it is none.

    >>> parse_age("30d"), parse_age("1.5h"), parse_age("30")
    (2592000.0, 5400.0, None)
    """
    match = _AGE.fullmatch(text.strip().lower())
    return float(match[1]) * _AGE_SECONDS[match[2]] if match else None


def parse_size(text: str) -> int | None:
    """Bytes in a size: powers of 1000 (kB, MB, GB, TB) or of 1024 (KiB, MiB, GiB, TiB); None when it is none.

    >>> parse_size("500MB"), parse_size("1.5 GiB"), parse_size("4096"), parse_size("a lot")
    (500000000, 1610612736, 4096, None)
    """
    match = _SIZE.fullmatch(text.strip().lower().replace("_", "").replace(",", ""))
    if match is None or (match[3] and not match[2]):
        return None
    return math.floor(float(match[1]) * (1024 if match[3] else 1000) ** _UNITS[match[2]])


def show_size(size_bytes: int) -> str:
    """A size for people, in powers of 1000.

    >>> show_size(999), show_size(1_500), show_size(2_340_000_000)
    ('999 B', '1.5 kB', '2.3 GB')
    """
    amount, unit = float(size_bytes), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 999.95 or unit == "TB":
            break
        amount /= 1000
    return f"{size_bytes} B" if unit == "B" else f"{amount:.1f} {unit}"


def age(text: str) -> float:
    """Seconds in an age that an option was given.

    Raises:
        click.BadParameter: it is none.
    """
    if (seconds := parse_age(text)) is None:
        raise click.BadParameter(f"{text!r} is no age: write 30d, 12h, 45m or 2w")
    return seconds


def size(text: str) -> int:
    """Bytes in a size that an option was given.

    Raises:
        click.BadParameter: it is none.
    """
    if (size_bytes := parse_size(text)) is None:
        raise click.BadParameter(f"{text!r} is no size: write 500MB, 2GiB or a number of bytes")
    return size_bytes
