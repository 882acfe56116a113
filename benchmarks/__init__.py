"""Benchmarks of operator_schema compared with other libraries: `make bench`, `make bench-quick`."""
