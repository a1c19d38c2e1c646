"""What a tool call does, by its name and input: a real parse of shell texts, what they read, what they change.

Nothing here knows transcripts or budgets; `reefknot.compact.reads` decides what a re-run still gives back.
"""
