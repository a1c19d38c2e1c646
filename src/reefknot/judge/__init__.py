"""Who answers the questions of a plan; in this version the rules of `compact` do."""
