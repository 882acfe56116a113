"""JSON Schema: its keywords, how types are written in it, and how foreign schemas are read."""
