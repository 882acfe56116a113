"""How each contestant does each job: a module each, functions by the name of the job.

A module that lacks a function can't do that job. The libraries' own extras (JSON Schema, text) are
imported in the functions that need them, as a program would that does no more than that.

- `decoder(cls)`: JSON values in, instances out
- `json_decoder(cls)`: JSON text (bytes) in, instances out
- `encoder(cls)`: instances in, JSON values out
- `register(cls)`: what is kept of a registered type
- `schema(cls)`: the type registered, and its JSON Schema made
- `report(cls)`: a function that decodes what can't be decoded and returns the full report
- `STYLE`: how fields are described (see `fresh.fresh_module`); without it, they are not
"""
