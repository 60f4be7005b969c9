"""Search by text: folding, terms, MATCH strings, ranking, highlights."""
