"""Benchmarks of operator_schema beside its peers: `make bench`, `make bench-quick`."""
