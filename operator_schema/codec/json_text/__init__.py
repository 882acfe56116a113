"""JSON text: reading it, and saying or mending what is wrong with it."""
