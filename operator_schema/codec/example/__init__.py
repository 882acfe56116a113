"""Examples: a smallest value of a type that decodes."""
