"""Originals by the digest of their bytes: write, read back, compare, then believe."""
