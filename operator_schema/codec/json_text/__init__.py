"""JSON text: reading it, explaining what is wrong with it, fixing it."""
