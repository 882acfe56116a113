"""How models write calls, as their chat templates and the servers' parsers of them say.

Each form is a function of the calls, as pairs of a name and arguments, to the text. Sources:
https://docs.vllm.ai/en/latest/features/tool_calling.html, https://github.com/ggml-org/llama.cpp/tree/master/models/templates
and https://docs.ollama.com/capabilities/tool-calling.
"""

import json


def dumped(value):
    return json.dumps(value, ensure_ascii=False)


def text_of(value):
    """Return a value as it stands between tags: a text as it is, all others as JSON."""
    return value if isinstance(value, str) else dumped(value)


def objects(name="name", arguments="arguments", **more):
    return lambda calls: [{**more, name: tool, arguments: values} for tool, values in calls]


def one_by_one(write, between="\n"):
    return lambda calls: between.join([write(name, values) for name, values in calls])


def listed(make, indent=None):
    return lambda calls: json.dumps(make(calls), indent=indent)


def lines(make, between="\n", indent=None):
    return lambda calls: between.join([json.dumps(one, indent=indent) for one in make(calls)])


def keywords(values):
    return ", ".join([f"{key}={value!r}" for key, value in values.items()])


def parameters(values, form):
    return "".join([form.format(key=key, value=text_of(value)) for key, value in values.items()])


def qwen3_coder(name, values):
    inner = parameters(values, "<parameter={key}>\n{value}\n</parameter>\n")
    return f"<tool_call>\n<function={name}>\n{inner}</function>\n</tool_call>"


def invoked(prefix=""):
    def write(name, values):
        form = f'<{prefix}parameter name="{{key}}">{{value}}</{prefix}parameter>\n'
        return f'<{prefix}invoke name="{name}">\n{parameters(values, form)}</{prefix}invoke>'

    return one_by_one(write)


def glm(name, values):
    inner = parameters(values, "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
    return f"<tool_call>{name}\n{inner}</tool_call>"


def gemma_value(value):
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, list):
        return f"[{','.join(map(gemma_value, value))}]"
    return dumped(value)


def gemma(name, values):
    return f"call:{name}{{{','.join(f'{key}:{gemma_value(value)}' for key, value in values.items())}}}"


def between(begin, write, end):
    return lambda calls: begin + write(calls) + end


def each_between(begin, write, end):
    return lambda calls: "\n".join([begin + write([call]) + end for call in calls])


JSON = lines(objects())

IN_JSON = {
    "an object": JSON,
    "an object over lines": lines(objects(), indent=2),
    "objects with semicolons": lines(objects(), between="; "),
    "objects with commas": lines(objects(), between=",\n"),
    "a list": listed(objects()),
    "a list over lines": listed(objects(), indent=4),
    "parameters": lines(objects(arguments="parameters")),
    "arguments before the name": lambda calls: "\n".join(
        [dumped({"arguments": values, "name": name}) for name, values in calls]
    ),
    "a type": lines(objects(arguments="parameters", type="function")),
    "tool_use": lines(objects(arguments="input", type="tool_use", id="toolu_1")),
    "an id": listed(objects(id="call_1")),
    "as OpenAI sends it": lambda calls: dumped(
        {
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": name, "arguments": dumped(values)}}
                for name, values in calls
            ]
        }
    ),
    "function": lines(lambda calls: [{"type": "function", "function": one} for one in objects()(calls)]),
    "Command R": listed(objects("tool_name", "parameters", tool_call_id="0")),
    "the name as function": lines(objects("function", "arguments")),
    "the name as tool": lines(objects("tool", "args")),
    "functions. before the name": lambda calls: JSON(
        [(f"functions.{name}", values) for name, values in calls]
    ),
    "a dict of Python": lambda calls: "\n".join([repr(one) for one in objects()(calls)]),
    "a list of Python": lambda calls: repr(objects()(calls)),
}
IN_PYTHON = {
    "a list of calls": lambda calls: (
        f"[{', '.join(f'{name}({keywords(values)})' for name, values in calls)}]"
    ),
    "lines of calls": one_by_one(lambda name, values: f"{name}({keywords(values)})"),
    "printed": one_by_one(lambda name, values: f"print(default_api.{name}({keywords(values)}))"),
}
WITH_TOKENS = {
    "Hermes and Qwen": each_between("<tool_call>\n", JSON, "\n</tool_call>"),
    "Hermes without an end": between("<tool_call>\n", JSON, ""),
    "an end alone": between("", JSON, "\n</tool_call>"),
    "Qwen3-Coder": one_by_one(qwen3_coder),
    "Qwen3-Coder without its tag": lambda calls: (
        one_by_one(qwen3_coder)(calls).replace("<tool_call>\n", "").replace("\n</tool_call>", "")
    ),
    "tools": between("<tools>\n", JSON, "\n</tools>"),
    "Llama's tag": one_by_one(lambda name, values: f"<function={name}>{dumped(values)}</function>"),
    "Llama's token": between("<|python_tag|>", lines(objects(arguments="parameters"), "; "), "<|eom_id|>"),
    "Llama 4": between("<|python_start|>", IN_PYTHON["a list of calls"], "<|python_end|>"),
    "Mistral": between("[TOOL_CALLS] ", IN_JSON["a list"], "</s>"),
    "Mistral since 2025": one_by_one(lambda name, values: f"[TOOL_CALLS]{name}[ARGS]{dumped(values)}", ""),
    "Mistral with ids": one_by_one(
        lambda name, values: f"[TOOL_CALLS]{name}[CALL_ID]a1b2c3d4e[ARGS]{dumped(values)}", ""
    ),
    "Mistral without its tokens": one_by_one(lambda name, values: f"{name}{dumped(values)}"),
    "Granite": between("<|tool_call|>", IN_JSON["a list"], ""),
    "Granite's old one": each_between("<function_call> ", JSON, ""),
    "DeepSeek V3": between(
        "<\uff5ctool▁calls▁begin\uff5c>",
        one_by_one(
            lambda name, values: (
                f"<\uff5ctool▁call▁begin\uff5c>function<\uff5ctool▁sep\uff5c>{name}\n```json\n{dumped(values)}\n```<\uff5ctool▁call▁end\uff5c>"
            )
        ),
        "<\uff5ctool▁calls▁end\uff5c><\uff5cend▁of▁sentence\uff5c>",
    ),
    "DeepSeek V3.1": between(
        "<\uff5ctool▁calls▁begin\uff5c>",
        one_by_one(
            lambda name, values: (
                f"<\uff5ctool▁call▁begin\uff5c>{name}<\uff5ctool▁sep\uff5c>{dumped(values)}<\uff5ctool▁call▁end\uff5c>"
            ),
            "",
        ),
        "<\uff5ctool▁calls▁end\uff5c>",
    ),
    "DeepSeek V3.2": between(
        "<\uff5cDSML\uff5cfunction_calls>\n",
        invoked("\uff5cDSML\uff5c"),
        "\n</\uff5cDSML\uff5cfunction_calls>",
    ),
    "Kimi": between(
        "<|tool_calls_section_begin|>",
        one_by_one(
            lambda name, values: (
                f"<|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>"
                f"{dumped(values)}<|tool_call_end|>"
            )
        ),
        "<|tool_calls_section_end|>",
    ),
    "GLM": one_by_one(glm),
    "MiniMax": between("<minimax:tool_call>\n", invoked(), "\n</minimax:tool_call>"),
    "Seed": lambda calls: (
        one_by_one(qwen3_coder)(calls)
        .replace("<tool_call>", "<seed:tool_call>")
        .replace("</tool_call>", "</seed:tool_call>")
    ),
    "function_calls": between("<function_calls>\n", invoked(), "\n</function_calls>"),
    "gpt-oss": one_by_one(
        lambda name, values: (
            f"<|start|>assistant<|channel|>commentary to=functions.{name} "
            f"<|constrain|>json<|message|>{dumped(values)}<|call|>"
        ),
        "",
    ),
    "gpt-oss without its start": one_by_one(
        lambda name, values: (
            f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{dumped(values)}"
        ),
        "<|call|><|start|>assistant",
    ),
    "Phi-4": between("functools", IN_JSON["a list"], ""),
    "Phi-4 with tokens": between("<|tool_call|>", IN_JSON["a list"], "<|/tool_call|>"),
    "Command R7B": between("<|START_ACTION|>", IN_JSON["Command R"], "<|END_ACTION|>"),
    "InternLM": each_between("<|action_start|><|plugin|>\n", JSON, "<|action_end|>"),
    "Nemotron": between("<TOOLCALL>", IN_JSON["a list"], "</TOOLCALL>"),
    "Hunyuan and Jamba": between("<tool_calls>\n", IN_JSON["a list"], "\n</tool_calls>"),
    "LongCat": each_between("<longcat_tool_call>", JSON, "</longcat_tool_call>"),
    "LFM": between("<|tool_call_start|>", IN_PYTHON["a list of calls"], "<|tool_call_end|>"),
    "Olmo": between("<function_calls>\n", IN_PYTHON["lines of calls"], "\n</function_calls>"),
    "LM Studio": each_between("[TOOL_REQUEST]\n", JSON, "\n[END_TOOL_REQUEST]"),
    "Gemma 4": each_between("<|tool_call>", one_by_one(gemma), "<tool_call|>"),
    "FunctionGemma": lambda calls: "".join(
        [
            f"<start_function_call>{gemma(*call)}<end_function_call>".replace('<|"|>', "<escape>")
            for call in calls
        ]
    ),
    "Ollama's other tag": each_between("[tool_call]\n", JSON, "\n[/tool_call]"),
    "a tool tag": each_between("<tool>", JSON, "</tool>"),
    "Qwen on MLX": one_by_one(lambda name, values: f"[Calling tool: {name}({dumped(values)})]"),
    "Gemma": between("```tool_code\n", IN_PYTHON["lines of calls"], "\n```"),
}
FORMS = {**IN_JSON, **IN_PYTHON, **WITH_TOKENS}

WRAPPERS = {
    "alone": lambda text: text,
    "with space": lambda text: f"\n\n {text}\n",
    "a block of JSON": lambda text: f"```json\n{text}\n```",
    "a block": lambda text: f"```\n{text}\n```\n",
    "a block in a tag": lambda text: f"<tool_call>\n```json\n{text}\n```\n</tool_call>",
    "a token at the end": lambda text: f"{text}<|im_end|>",
}
"""What may stand around a call in JSON."""


def texts():
    """Yield each form in each wrapper that it may have: its name, and the function that writes it."""
    for name, write in FORMS.items():
        for wrapper, wrap in WRAPPERS.items():
            if name in IN_JSON or wrapper in {"alone", "with space"}:
                yield f"{name}, {wrapper}", lambda calls, write=write, wrap=wrap: wrap(write(calls))
