"""A client's bytes to a transcript and back; what is not edited comes back byte for byte."""
