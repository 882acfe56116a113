"""How values go in and out: decoders, encoders and the codec that holds them."""
