"""What each annotation means: the tables of docs/annotations.md, row by row."""
