"""Calls that a model wrote as text, because its provider couldn't read them, refused them or ignored them."""

from __future__ import annotations

import ast
import re
from json import JSONDecoder
from typing import TYPE_CHECKING, Any

from ..codec.json_text import RefusedTextError, check_depth
from ..immutable import Value
from ..introspect.node_kinds import json_types_of
from ..introspect.nodes import ObjectNode
from ..json_reading import distinct_keys
from ..json_values import is_array, is_finite, is_object, to_json_text, type_of
from ..tools import RawCall
from .response_json import read_json
from .rules import SCOPES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ..codec.codec import Codec
    from ..tools import Tool

_MAX_TEXT = 2**20
_MAX_PYTHON = 2**16
"""The most characters of Python code: its parser takes some two hundred bytes for each."""

_PREFIX = re.compile(r"[A-Z][a-z]+ [a-z ]*call: ")
_NAME = r"[\w.-]{1,200}"
_SPACE = r"\s{0,9}"
"""A few spaces: if two parts of an expression matched any number, they would try each way to share them."""
_PREFIXES = ("", "minimax:", "seed:", "steptml:", "antml:", "longcat_", "\uff5cDSML\uff5c")
"""Prefixes that models write before the names of tags."""
_SCOPE = f"(?:{'|'.join(_PREFIXES)})"
_LANGUAGES = (
    *("json", "xml", "text", "plaintext"),
    *("tool", "tool_call", "tool_calls", "tool_code", "function_call"),
)
"""Languages of code blocks with calls; a block with `python` shows code."""

_TOKEN = (
    rf"</?{_SCOPE}"
    r"(?i:tools?|tool[_-]?calls?|tool[_-]use|functions?[_-]?calls?)>"
    r"|<[|\uff5c]/?[\w▁]{1,60}[|\uff5c]?>|<tool_call\|>|<(?:start|end)_function_call>|<(?:end_of_)?turn\|?>"
    r"|\[/?(?i:tool_calls?)\]|\[(?:END_)?TOOL_REQUEST(?:_END)?\]"
    r"|functools(?=\[)|</s>"
    rf"|```(?:{'|'.join(_LANGUAGES)})?(?=[\s{{\[<]|\Z)"
)
"""The marks around calls: tags, special tokens of models, and the fences of code blocks.

Source: https://docs.vllm.ai/en/latest/features/tool_calling.html and the chat templates of the models.
"""
_AROUND = re.compile(rf"(?:[\s;,]+|{_TOKEN})*")
_NEXT_TOKEN = re.compile(_TOKEN)

_ELEMENT = re.compile(rf'<{_SCOPE}(?:function=|(?:invoke|function) name=)"?({_NAME})"?{_SPACE}>\s*')
_PARAMETER = re.compile(
    rf'<{_SCOPE}parameter(?:=| name=)"?([^\s">]++)"?[^>]*>\n?(.*?)\n?</{_SCOPE}parameter>\s*', re.DOTALL
)
_ELEMENT_END = re.compile(rf"</{_SCOPE}(?:function|invoke)>")
_KEYED = re.compile(rf"({_NAME})\s*(?=<arg_key>|</tool_call>)")
_KEY_AND_VALUE = re.compile(r"<arg_key>([^<]*)</arg_key>\s*<arg_value>(.*?)</arg_value>\s*", re.DOTALL)

_HEAD = re.compile(
    rf"<function=({_NAME})[\s>,:=(\[]*(?=\{{)|"
    rf"\[Calling tool:? ?({_NAME})\(\s*(?=\{{)|"
    rf"({_NAME}?)(?::\d{{1,9}})?{_SPACE}<\|tool_call_argument_begin\|>\s*"
    rf"|(?:function)?<\uff5ctool[▁_]sep\uff5c>({_NAME}){_SPACE}(?:```json)?\s*(?=\{{)"
    rf"|(?!function<)({_NAME})<\uff5ctool[▁_]sep\uff5c>\s*"
    rf"|({_NAME})(?:\[CALL_ID\]\w{{1,99}})?\[ARGS\]\s*"
    rf"|(?:assistant<\|channel\|>)?(?:(?:commentary|analysis) )?to=({_NAME})"
    rf"(?:<\|channel\|>(?:commentary|analysis))?{_SPACE}(?:<\|constrain\|>)?(?:json|code)?"
    rf"{_SPACE}<\|message\|>\s*"
)
"""A name before the JSON text of its arguments, as Llama, Kimi, DeepSeek, Mistral and gpt-oss write it."""
_BARE = re.compile(rf"({_NAME})\s*(?=\{{)")
"""The same where the server has left out the special tokens."""
_END = re.compile(r"[\s)\]]*</?function>|\)\]")
_BROKEN_END = re.compile(rf"{_TOKEN}|</?function>|<function=")
_OBJECT = re.compile(rf'\{{\s*"name"\s*:\s*"({_NAME})"\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{{)')
_BRACES = re.compile(r"[\s}]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_TAG = re.compile(r"[<\[]")
_GEMMA = re.compile(rf"call:({_NAME})\s*(?=\{{)")
_GEMMA_QUOTE = r"<\|\"\|>|<escape>"
_GEMMA_MARK = re.compile(rf"{_GEMMA_QUOTE}|[{{}}\[\]]")
_GEMMA_KEY = re.compile(r"([{,]\s*)([^\s{}\[\],:\"]+)\s*:")
_PYTHON = re.compile(r"[A-Za-z_\[{]")

_NAMES = ("name", "tool_name", "function_name", "tool", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_BESIDE = frozenset({"id", "type", "index", "call_id", "tool_call_id", "status"})
"""Keys that a call may have besides its name and its arguments."""
_TYPES = frozenset({"function", "function_call", "tool_call", "tool_use"})
_WRAPPERS = ("function", "function_call", "tool_call")

# The beginnings of texts that may become calls, for streams.
_TAGS = (
    *("tool", "tools", "tool_use", "tool-use"),
    *[
        f"{kind}{between}{call}"
        for kind in ("tool", "function", "functions")
        for between in ("", "_", "-")
        for call in ("call", "calls")
    ],
)
_OPENINGS = (
    *("<|", "<\uff5c", "function<\uff5ctool", "functools[", "to=", "commentary to=", "analysis to="),
    *("assistant<|channel|>", "<arg_key>", "[Calling tool"),
    *[
        f"<{prefix}{element}"
        for prefix in _PREFIXES
        for element in ("function=", "function name=", "invoke name=")
    ],
)
"""After these texts, calls follow in any case."""
_BEGINNINGS = (
    *_OPENINGS,
    *("[TOOL_CALLS]", "[/TOOL_CALLS]", "[TOOL_REQUEST]", "[END_TOOL_REQUEST]", "[TOOL_REQUEST_END]"),
    *("[tool_calls]", "[/tool_calls]", "[tool_call]", "[/tool_call]"),
    *("</s>", "print(", "call:", "<tool_call|>", "<turn|>", "<end_of_turn>"),
    *("<start_function_call>", "<end_function_call>"),
    *[f"```{language}" for language in _LANGUAGES],
    *[f"<{slash}{prefix}{tag}>".lower() for slash in ("", "/") for prefix in _PREFIXES for tag in _TAGS],
)
_FIRST_KEY = re.compile(r"""\{\s*["'](\w*)(?:(["'])(?:\s*:\s*(?:["']([^"']*)(["'])?)?)?)?""")
_FIRST_KEYS = frozenset({*_NAMES, *_ARGUMENTS, *_BESIDE, *_WRAPPERS, "tool_calls"})
_AFTER_NAME = re.compile(r"(?::\d{0,9})?\s*(?:[({\[<]|\Z)")


class _NoCallError(Exception):
    """A part of a text isn't a call."""


class _Written(Value):
    """A call in its written form.

    Attributes:
        name: the name of the tool.
        arguments: the arguments as JSON value or text.
        are_texts: whether each argument is written as text, whatever its type.
    """

    name: str
    arguments: Any
    are_texts: bool = False


def written_calls(text: str) -> list[RawCall]:
    """Return the calls in a text that contains only calls; none if it contains anything else.

    The known forms are: JSON, alone or in a list; calls in Python; `<function=NAME>{…}</function>` of Llama;
    the elements of Qwen3-Coder, MiniMax and GLM; and names before JSON, as Kimi, DeepSeek, Mistral and
    gpt-oss write them. All of these may be in code blocks, or between the tags and special tokens of models.
    """
    inner = _PREFIX.sub("", text.strip(), count=1)
    calls, end = _read(inner)
    if end < len(inner):
        return []
    return [RawCall(None, call.name.rpartition(".")[2], call.arguments) for call in calls]


def _read(text: str) -> tuple[list[_Written], int]:
    """Return the calls at the beginning of a text, and the position of the first other text."""
    found: list[_Written] = []
    if len(text) > _MAX_TEXT:
        return found, 0
    try:
        check_depth(text)
    except RefusedTextError:
        return found, 0
    end, at = 0, _end_of(_AROUND, text, 0)
    try:
        while at < len(text):
            try:
                calls, end = _calls_at(text, at)
            except _NoCallError:
                calls, end = _broken(text, at, is_tagged=_TAG.search(text, end, at) is not None)
            if not is_finite([call.arguments for call in calls]):
                break  # JSON has no such number, so no request could contain the call again
            found += calls
            at = _end_of(_AROUND, text, end)
    except _NoCallError:
        pass
    return found, at


def _end_of(form: re.Pattern[str], text: str, at: int) -> int:
    found = form.match(text, at)
    return at if found is None else found.end()


def _calls_at(text: str, at: int) -> tuple[list[_Written], int]:
    """Read the calls at a position of a text; return them and the position of their end.

    Raises:
        _NoCallError: there is other text.
    """
    for read in (_json, _element, _keyed, _gemma):
        if (found := read(text, at)) is not None:
            return found
    return _after_head(text, at) or _python(text, at)


def _json(text: str, at: int) -> tuple[list[_Written], int] | None:
    """Read a call as a JSON object, or a list of calls."""
    if text[at] not in "{[" or (found := _json_value(text, at)) is None:
        return None
    value, end = found
    return _value_calls(value), _end_of(_BRACES, text, end)  # small models miscount the closing braces


def _json_value(text: str, at: int) -> tuple[Any, int] | None:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


_DECODER = JSONDecoder(object_pairs_hook=distinct_keys, parse_constant=_refuse)


def _value_calls(value: Any) -> list[_Written]:
    """Read the calls in a JSON value."""
    if is_object(value) and value.keys() == {"tool_calls"}:
        value = value["tool_calls"]
    return [_value_call(one) for one in (value if is_array(value) else [value])]


def _value_call(value: Any) -> _Written:
    """Read a call from a JSON object that has a name, arguments, and few other keys.

    Raises:
        _NoCallError: the object is something else, such as data with a name, or the definition of a tool.
    """
    if not is_object(value):
        raise _NoCallError
    for key in _WRAPPERS:
        if is_object(value.get(key)) and _is_beside(value, {key}):
            return _value_call(value[key])
    names = [key for key in _NAMES if key in value]
    held = [key for key in _ARGUMENTS if key in value]
    if len(names) != 1 or len(held) != 1 or not _is_beside(value, {names[0], held[0]}):
        raise _NoCallError
    name, arguments = value[names[0]], value[held[0]]
    if not isinstance(name, str) or not name or not _are_arguments(arguments):
        raise _NoCallError
    return _Written(name, arguments)


def _is_beside(value: Mapping[str, Any], keys: Collection[str]) -> bool:
    """Return whether the other keys of an object are only those that a call may have."""
    kind = value.get("type", "function")
    return value.keys() - keys <= _BESIDE and isinstance(kind, str) and kind in _TYPES


def _are_arguments(value: Any) -> bool:
    return value is None or is_object(value) or (isinstance(value, str) and value.lstrip().startswith("{"))


def _element(text: str, at: int) -> tuple[list[_Written], int] | None:
    """Read `<function=NAME><parameter=KEY>…</parameter></function>`, or `<invoke name="NAME">`."""
    begin = _ELEMENT.match(text, at)
    if begin is None:
        return None
    values, end = _texts(_PARAMETER, text, begin.end())
    closed = _ELEMENT_END.match(text, end)
    return None if closed is None else ([_Written(begin.group(1), values, are_texts=True)], closed.end())


def _keyed(text: str, at: int) -> tuple[list[_Written], int] | None:
    """Read `NAME<arg_key>KEY</arg_key><arg_value>…</arg_value>`."""
    begin = _KEYED.match(text, at)
    if begin is None:
        return None
    values, end = _texts(_KEY_AND_VALUE, text, begin.end())
    return [_Written(begin.group(1), values, are_texts=True)], end


def _texts(form: re.Pattern[str], text: str, at: int) -> tuple[dict[str, str], int]:
    """Return keys and texts that follow each other, and the position of their end."""
    values: dict[str, str] = {}
    while (found := form.match(text, at)) is not None:
        key, value = found.groups()
        if key in values:
            raise _NoCallError
        values[key], at = value, found.end()
    return values, at


def _gemma(text: str, at: int) -> tuple[list[_Written], int] | None:
    """Read `call:NAME{KEY:<|"|>…<|"|>,KEY:1}`: JSON with unquoted keys and its own quotation marks.

    Source: https://ai.google.dev/gemma/docs/capabilities/function-calling
    """
    begin = _GEMMA.match(text, at)
    end = None if begin is None else _gemma_end(text, begin.end())
    if begin is None or end is None:
        return None
    parts = re.split(_GEMMA_QUOTE, text[begin.end() : end])
    written = [
        to_json_text(part) if place % 2 else _GEMMA_KEY.sub(r'\1"\2":', part)
        for place, part in enumerate(parts)
    ]
    arguments = read_json("".join(written))
    return None if arguments is None else ([_Written(begin.group(1), arguments)], end)


def _gemma_end(text: str, at: int) -> int | None:
    """Return where the object of Gemma ends that begins at a position; None if it doesn't end."""
    depth, is_in_text = 0, False
    for mark in _GEMMA_MARK.finditer(text, at):
        if len(mark.group()) > 1:
            is_in_text = not is_in_text
        elif not is_in_text:
            depth += 1 if mark.group() in "{[" else -1
            if depth == 0:
                return mark.end()
    return None


def _after_head(text: str, at: int) -> tuple[list[_Written], int] | None:
    """Read a name and the JSON text of its arguments; after a special token, the JSON may be faulty."""
    marked = _HEAD.match(text, at)
    begin = marked or _BARE.match(text, at)
    if begin is None:
        return None
    name = next(name for name in begin.groups() if name is not None)
    found = _json_value(text, begin.end()) if text.startswith("{", begin.end()) else None
    if found is not None:
        return [_Written(name, text[begin.end() : found[1]])], _end_of(_END, text, found[1])
    return None if marked is None else _unread(name, text, begin.end())


def _unread(name: str, text: str, at: int) -> tuple[list[_Written], int]:
    """Return a call whose arguments aren't JSON, and their end: repair or the model has to correct them."""
    broken = _BROKEN_END.search(text, at)
    end = len(text) if broken is None else broken.start()
    return [_Written(name, _without_outer_braces(text[at:end].rstrip(" \t\r\n)]")))], _end_of(_END, text, end)


def _without_outer_braces(arguments: str) -> str:
    """Return the text of arguments without surplus braces, and without those of the object around them."""
    outside = _STRING.sub("", arguments)
    for _ in range(outside.count("}") - outside.count("{")):
        if not arguments.endswith("}"):
            break
        arguments = arguments[:-1].rstrip()
    return arguments


def _broken(text: str, at: int, *, is_tagged: bool) -> tuple[list[_Written], int]:
    """Read a JSON object that lacks its end or, in a tag, one with unreadable arguments.

    Without a tag, the text may be an example with something like `…` in place of the arguments.

    Raises:
        _NoCallError: there is other text.
    """
    begin = _OBJECT.match(text, at)
    if begin is None:
        raise _NoCallError
    found = _json_value(text, begin.end())
    if found is not None:
        return [_Written(begin.group(1), found[0])], _end_of(_BRACES, text, found[1])
    if not is_tagged:
        raise _NoCallError
    return _unread(begin.group(1), text, begin.end())


def _python(text: str, at: int) -> tuple[list[_Written], int]:
    """Read calls as Python code whose arguments are literals with names."""
    if _PYTHON.match(text, at) is None:
        raise _NoCallError
    following = _NEXT_TOKEN.search(text, at)
    end = len(text) if following is None else following.start()
    if end - at > _MAX_PYTHON:
        raise _NoCallError
    code = text[at:end].strip()
    try:
        calls = [call for statement in ast.parse(code).body for call in _python_calls(statement)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # each is what `ast.parse` may raise
        raise _NoCallError from None
    if "#" in code and _has_comment(code):
        raise _NoCallError
    return calls, end


def _has_comment(code: str) -> bool:
    """Return whether Python code contains a comment: then it is an example."""
    from tokenize import COMMENT, generate_tokens

    return any(
        token.type == COMMENT for token in generate_tokens(iter(code.splitlines(keepends=True)).__next__)
    )


def _python_calls(statement: ast.stmt) -> Iterable[_Written]:
    match statement:
        case ast.Expr(ast.Dict() | ast.List([ast.Dict(), *_]) as written):
            return _value_calls(_value(written))
        case ast.Expr(ast.Call(ast.Name("print"), found, [])) | ast.Expr(ast.List(found)):
            return [_python_call(one) for one in found]
        case ast.Expr(one):
            return [_python_call(one)]
        case _:
            raise _NoCallError


def _python_call(expression: ast.expr) -> _Written:
    match expression:
        case ast.Call(ast.Attribute(ast.Name(scope), name), []):
            return _Written(f"{scope}.{name}", _keywords(expression))
        case ast.Call(ast.Name(name), []):
            return _Written(name, _keywords(expression))
        case _:
            raise _NoCallError


def _keywords(call: ast.Call) -> dict[str, Any]:
    """Return the arguments of a call, each of which has a name."""
    found = {keyword.arg: _value(keyword.value) for keyword in call.keywords}
    if None in found or len(found) < len(call.keywords):
        raise _NoCallError
    return {str(name): value for name, value in found.items()}


def _value(node: ast.expr | None) -> Any:
    """Return the JSON value of a literal.

    A class with named values is an object, in Gemini's form. Any other call would have to be run first.

    Raises:
        _NoCallError: the expression isn't a literal.
    """
    match node:
        case ast.Constant(str() | bool() | int() | float() | None as value):
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
            return -number
        case ast.List(elements) | ast.Tuple(elements):
            return [_value(one) for one in elements]
        case ast.Dict(keys, values) if all(isinstance(key, ast.Constant) for key in keys):
            return distinct_keys(
                [(_text(key), _value(value)) for key, value in zip(keys, values, strict=True)]
            )
        case ast.Call(ast.Name(name) | ast.Attribute(ast.Name(), name), [], [_, *_]) if name[:1].isupper():
            return _keywords(node)
        case ast.Name("true" | "false" | "null" as word):
            return {"true": True, "false": False, "null": None}[word]
        case _:
            raise _NoCallError


def _text(key: ast.expr | None) -> str:
    found = _value(key)
    if isinstance(found, str):
        return found
    raise _NoCallError


# --- in the text of an answer --------------------------------------------------------------------


def calls_in_text(
    text: str, offered: Mapping[str, Tool[..., Any]], own_keys: Mapping[str, str]
) -> list[tuple[str, Any]]:
    """Return the names and arguments of the calls in an answer whose whole text is calls of offered tools.

    Args:
        text: the text of the answer.
        offered: the tools by their names on the wire.
        own_keys: the own names of properties by those on the wire, if these differ.

    Returns:
        An empty list for any other text.
    """
    calls, end = _read(text)
    try:
        return [_offered_call(call, offered, own_keys) for call in calls] if end == len(text) else []
    except _NoCallError:
        return []


def may_go_on(begin: str, offered: Collection[str]) -> bool:
    """Return whether a text with this beginning may turn out to be calls of offered tools.

    Args:
        begin: the beginning of the text.
        offered: the names of the tools.
    """
    rest = begin[_end_of(_AROUND, begin, 0) :]
    if (head := _HEAD.match(rest)) is not None:
        return _known(next(name for name in head.groups() if name is not None), offered) is not None
    if not rest or _is_beginning(rest):
        return True
    rest = rest.removeprefix("call:").removeprefix("[").removeprefix("print(").lstrip()
    if not rest or rest.startswith("{"):
        return not rest or _may_be_object(rest, offered)
    names = _written_names(offered)
    return any(
        name.startswith(rest) or (rest.startswith(name) and _AFTER_NAME.match(rest, len(name)) is not None)
        for name in names
    )


def _is_beginning(text: str) -> bool:
    """Return whether a text begins like a tag around calls, or contains the opening of one."""
    if text.startswith(_OPENINGS):
        return True
    folded = text.lower() if text.startswith("<") else text
    return any(one.startswith(folded) for one in _BEGINNINGS)


def _written_names(offered: Collection[str]) -> list[str]:
    return [scope + name for scope in ("", *SCOPES) for name in offered]


def _may_be_object(rest: str, offered: Collection[str]) -> bool:
    """Return whether an object may become a call, judging by its first key, and a text under that key."""
    found = _FIRST_KEY.match(rest)
    if found is None:
        return rest == "{" or rest[1:].isspace()
    key, key_end, value, value_end = found.groups()
    if not key_end:
        return found.end() == len(rest) and any(one.startswith(key) for one in _FIRST_KEYS)
    if key not in _FIRST_KEYS:
        return False
    if value is None or "\\" in value or key not in {*_NAMES, "type"}:
        return True
    if key == "type":
        return value in _TYPES if value_end else any(one.startswith(value) for one in _TYPES)
    if value_end:
        return _known(value, offered) is not None
    return any(name.startswith(value) for name in _written_names(offered))


def _offered_call(
    call: _Written, offered: Mapping[str, Tool[..., Any]], own_keys: Mapping[str, str]
) -> tuple[str, Any]:
    """Return name and arguments of a call of an offered tool.

    Raises:
        _NoCallError: the call is something else.
    """
    name = _known(call.name, offered)
    if name is None:
        raise _NoCallError
    of_own = _types_of(offered[name].codec)
    types = {**of_own, **{wire: of_own[own] for wire, own in own_keys.items() if own in of_own}}
    if call.are_texts:
        return name, {key: _typed(value, types.get(key, ())) for key, value in call.arguments.items()}
    if _is_definition(call.arguments, types):
        raise _NoCallError
    return name, call.arguments


def _known(name: str, offered: Collection[str]) -> str | None:
    """Return the name of an offered tool as it is written, possibly after `functions.` and the like."""
    names = [name, *[name.removeprefix(scope) for scope in SCOPES]]
    return next((found for found in names if found in offered), None)


def _types_of(codec: Codec[Any]) -> dict[str, Collection[str]]:
    """Return the JSON types of each parameter; empty if the input is a union."""
    graph = codec.graph
    root = graph.resolve_root()
    fields = root.fields if isinstance(root, ObjectNode) else ()
    return {field.key: json_types_of(field.node, graph.definitions) for field in fields}


def _typed(text: str, types: Collection[str]) -> Any:
    """Return the value that a text means; the text itself if the parameter takes text."""
    value = read_json(text.strip(), text)
    is_text = "string" in types and (isinstance(value, str) or type_of(value) not in types)
    return text if is_text or not is_finite(value) else value


def _is_definition(arguments: Any, types: Mapping[str, Collection[str]]) -> bool:
    """Return whether the arguments are a JSON Schema, as in the definition of a tool."""
    if not is_object(arguments) or not arguments:
        return False
    if arguments.get("type") == "object" and not arguments.keys() <= types.keys():
        return True
    return all(
        is_object(value) and value.get("type") in _SCHEMA_TYPES and "object" not in types.get(key, ())
        for key, value in arguments.items()
    )


_SCHEMA_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
