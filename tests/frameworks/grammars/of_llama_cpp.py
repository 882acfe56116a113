"""llama.cpp's own converter: its server gets a tool, and makes the grammar of its arguments.

The server is real, and so is its grammar. Its model knows nothing: all of its weights are zero, and its
tokens are the 256 bytes. xgrammar, which reads the same notation, walks through the grammar.
"""

from __future__ import annotations

import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import xllamacpp
from grammars.engine import END, Grammar, RefusedSchemaError
from grammars.of_xgrammar import XGrammar

TEMPLATE = """\
{%- for tool in tools or [] %}{{ tool | tojson }}
{% endfor %}For each call, answer <tool_call>
{"name": <name>, "arguments": <arguments>}
</tool_call>
{%- for message in messages %}<|im_start|>{{ message.role }}
{%- if message.content %}
{{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""How a model writes calls, like Qwen's: the server finds out from it how to read them."""

WIDTH = 32
MOST_TOKENS = 32_768


def write_model(path: Path) -> None:
    """Write a model of one layer that finds each token equally likely."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(MOST_TOKENS)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH)
    writer.add_vocab_size(END + 1)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*_written_bytes(), "<|end|>"])
    writer.add_token_types([gguf.TokenType.NORMAL] * END + [gguf.TokenType.CONTROL])
    writer.add_token_merges(["a b"])  # it may not have none
    writer.add_eos_token_id(END)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    square = np.zeros((WIDTH, WIDTH), dtype=np.float32)
    vocabulary = np.zeros((END + 1, WIDTH), dtype=np.float32)
    for name in ("token_embd", "output"):
        writer.add_tensor(f"{name}.weight", vocabulary)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, dtype=np.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        writer.add_tensor(f"blk.0.{name}.weight", square)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _written_bytes() -> list[str]:
    """Return how GPT-2's vocabulary writes each byte: those that can't be seen as later characters."""
    seen = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in seen else next(others)) for byte in range(256)]


@cache  # to end one while others begin can block for ever
def _server() -> Any:
    """Start the server, once in a process."""
    parameters = xllamacpp.CommonParams()
    parameters.n_ctx = MOST_TOKENS
    parameters.n_parallel = 1
    parameters.port = 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    with tempfile.TemporaryDirectory() as folder:  # the server reads it while it is made
        model = Path(folder) / "nothing.gguf"
        write_model(model)
        parameters.model.path = str(model)
        return xllamacpp.Server(parameters)


class LlamaCpp:
    """Makes grammars by the chat endpoint, for a request that has to call a tool."""

    name = "xllamacpp"

    def __init__(self) -> None:
        self.server = _server()
        self.reader = XGrammar()

    def grammar_of(self, schema: dict[str, Any]) -> str:
        """Return the grammar of an answer that has to call a tool.

        Raises:
            RefusedSchemaError: the server refuses the request.
        """
        return str(self.settings_of(schema, "required")["grammar"])

    def settings_of(self, schema: dict[str, Any], choice: Any) -> dict[str, Any]:
        """Return the settings of the server for a request.

        Args:
            schema: of the arguments of its only tool.
            choice: its `tool_choice`.

        Raises:
            RefusedSchemaError: the server refuses it.
        """
        function = {"name": "f", "description": "It does nothing.", "parameters": schema}
        body = {
            "messages": [{"role": "user", "content": "Call it."}],
            "tools": [{"type": "function", "function": function}],
            "tool_choice": choice,
            "max_tokens": 1,
            "verbose": True,
        }
        try:
            answer = self.server.handle_chat_completions(body)
        except ValueError as error:
            raise RefusedSchemaError(str(error)) from error
        if "error" in answer:
            raise RefusedSchemaError(answer["error"]["message"])
        found: dict[str, Any] = answer["__verbose"]["generation_settings"]
        return found

    def completion(self, schema: dict[str, Any]) -> str:
        """Return a text of the other endpoint, which uses llguidance if the server is built with it."""
        answer = self.server.handle_completions(
            {"prompt": "x", "json_schema": schema, "max_tokens": 30, "temperature": 1.0, "seed": 5}
        )
        return str(answer["choices"][0]["text"])

    def compile(self, schema: dict[str, Any]) -> Grammar:
        """Make a grammar of the arguments alone, without what the model writes around them."""
        if not schema:
            raise RefusedSchemaError("an empty schema would be read as an object")
        whole = self.grammar_of(schema)
        (arguments,) = re.findall(r'"\\"arguments\\"" space ":" space (\S+) space "}"', whole)
        rules = [line for line in whole.splitlines() if not line.startswith(("root ", "until-"))]
        return self.reader.compile_rules("\n".join([f"root ::= {arguments}", *rules]))
