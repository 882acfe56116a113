"""The questions, one module for each: `TITLE`, `HOW` it is measured, `UNIT`, and `run(plan)`."""

from __future__ import annotations

from . import (
    answers,
    calls,
    encode,
    failing_decode,
    first_decode,
    functions,
    growth,
    hot_decode,
    hot_decode_json,
    import_time,
    memory,
    registration,
    requests,
    schema_size,
    start_up,
    start_up_instructions,
)

QUESTIONS = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        import_time,
        start_up,
        start_up_instructions,
        registration,
        first_decode,
        hot_decode,
        hot_decode_json,
        failing_decode,
        encode,
        memory,
        growth,
        schema_size,
        functions,
        requests,
        calls,
        answers,
    )
}
