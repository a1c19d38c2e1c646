"""What the library talks about: frozen values, and nothing that reads or writes."""
