"""The one place that says which version this is."""

__all__ = ["VERSION"]

VERSION = "0.1.0"
