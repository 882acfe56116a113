"""One turn of tool calls: offered, decided on, run, and committed as a whole."""
