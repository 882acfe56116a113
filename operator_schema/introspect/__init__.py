"""What a type means: annotations in, a graph of nodes out."""
