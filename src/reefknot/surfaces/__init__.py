"""The doors: each translates, calls one flow and translates back; no rules stand here."""
