"""Our tools inside frameworks and protocols of others: one module each, imported only by its name."""
