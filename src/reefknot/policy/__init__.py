"""Loading of settings, and what may be changed, asked or sent: the rules that people set."""
