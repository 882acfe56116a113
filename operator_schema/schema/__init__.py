"""JSON Schema: its keywords, how types are written in it, and what schemas of others mean."""
