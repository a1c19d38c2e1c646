"""Plain functions on text: tokens, secrets."""
