"""An estimate of o200k tokens from character classes alone."""

__all__ = ["MARGIN", "estimate_tokens"]

MARGIN = 0.5


def estimate_tokens(text: str) -> int:
    """About how many o200k tokens a text has."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4
