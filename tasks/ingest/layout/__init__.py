"""Lines become labelled blocks: sections, numbers, options, materials, furniture.

Rules for marks take `IndexedLines`: the lines of a paper, and what each begins with, noted in one pass. A rule goes straight to the
lines that may concern it and returns what it was given where it changes none.
"""
