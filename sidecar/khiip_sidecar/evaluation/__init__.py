"""How well recall finds what people judged: a collection of questions, measures, comparisons."""
