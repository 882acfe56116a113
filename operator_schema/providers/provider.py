"""A model provider: what it gets of tools and results, and what is read from its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..complaints import Complaint
from ..errors import SchemaError
from ..immutable import Value
from ..json_values import is_array, to_json_text
from ..rounds.transcript import Turn
from ..tools.calls import ToolResult
from ..wording import quote, received
from .checked_answers import (
    answer_without_nulls,
    check_depth,
    checked_answer,
    renamed,
    renamed_call,
    what_is_wrong,
)
from .dialect import Rules
from .errors import ResponseError
from .offered import checked_choice, descriptions_of, fixed, names_of, own_choice, shown_tools
from .response_json import json_of, what_came
from .strictness import checked_strict
from .wire import Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..rounds.offer import ToolChoice
    from ..schema_styles import SchemaStyle
    from ..tools.calls import RawCall
    from ..tools.tool import Tool
    from .answer import Answer
    from .dialect import Dialect
    from .dialect_limits import Size
    from .dialect_schema import DialectSchema, Loss
    from .names import NameRule
    from .offered import Tools
    from .report import Report, ToolReport
    from .stream import Stream
    from .strictness import Fit, Strict
    from .tool_forms import ToolForm
    from .wire import Wire

__all__ = ["Provider"]

_UNIONS = frozenset({"anyOf", "oneOf", "allOf"})
"""What stands at the root of the schema of a union."""


class Provider(Value):
    """The wire form of one provider; everything is plain dicts, and nothing is sent.

    Attributes:
        name: for messages.
        wire: makes and reads its form.
        names: which names of tools it takes.
        style: what its schemas may hold.
        takes_unions: whether the arguments of a tool may be a union.
        dialect: what its strict mode takes of JSON Schema; None where it has none, or it isn't known.
        always: what it takes in any mode; None for all of JSON Schema, in the style.
        rules: what it checks beside the schemas, in any mode.
    """

    name: str
    wire: Wire
    names: NameRule
    style: SchemaStyle
    takes_unions: bool
    dialect: Dialect | None = None
    always: Dialect | None = None
    rules: Rules = Rules()  # it is immutable

    def request(
        self, tools: Tools, /, choice: ToolChoice | None = None, *, strict: Strict = False
    ) -> dict[str, Any]:
        """Return the part of a request's body that offers tools.

        Args:
            tools: what `toolset.offer` returns, a toolset or registry (what it offers by default), or a
                list of tools.
            choice: what the model has to do with them; None for the choice of the offer, or for any.
            strict: whether the provider has to hold the model to the schemas. What its strict mode can't say
                is told in the descriptions, and checked when the arguments are decoded, as always. With
                `"auto"` it holds it to those that its strict mode takes; `report` says which.

        Returns:
            A fresh dict, to be merged into the body; empty without tools.

        Raises:
            SchemaError: the provider can't take a tool, or two tools would have the same name.
            TypeError: something isn't a tool, or the choice isn't a `ToolChoice`.
            ValueError: `strict=True`, where no strict mode of the provider is known.
        """
        self._check_strict(strict)
        offered = fixed(tools)
        shown = shown_tools(offered)
        choice = own_choice(offered) if choice is None else checked_choice(choice, shown)
        modes = [fit.strict for fit in self._fits(shown, strict)]
        forms = self._forms(shown, modes)
        if len({form.name for form in forms}) < len(forms):
            self.names.wire_names([tool.name for tool in shown], self.name)  # raises an error that says which
        self._check_size([form.size for form in forms if form.size is not None])
        sent = [form.original.copy() for form in forms]
        described = descriptions_of(offered)
        texts = [described.get(tool.name, form.description) for tool, form in zip(shown, forms, strict=True)]
        self._check([*self._too_many(shown), *self._too_long(shown, texts)], self.name)
        for place, tool in enumerate(shown if described else ()):
            if tool.name in described:
                (form,) = self._made([tool], [modes[place]], description=described[tool.name])
                sent[place] = form.original.copy()
        named = self.names.wire_name(choice.name) if choice.mode == "named" and choice.name else None
        return self.wire.request(sent, Wanted(choice.mode, named, any(modes)))

    def _fits(self, tools: Sequence[Tool[..., Any]], strict: Strict) -> list[Fit]:
        """Return which tools of a request are strict."""
        from .strictness import Fit, strict_where_possible

        if strict != "auto":
            return [Fit(strict)] * len(tools)
        tried = [] if self.dialect is None else [self._tried(tool) for tool in tools]
        fits = tried or [()] * len(tools)
        return strict_where_possible(
            self.dialect, self.name, [(tool.name, fit) for tool, fit in zip(tools, fits, strict=True)]
        )

    def _tried(self, tool: Tool[..., Any]) -> Size | tuple[Complaint, ...]:
        """Return how much of the strict mode a tool takes, or why it doesn't take the tool."""
        key = (self.name, "tried")
        kept: tuple[Provider, Size | tuple[Complaint, ...]] | None = tool.kept_form(key)
        if kept is None or not (kept[0] is self or kept[0] == self):
            kept = tool.keep_form(key, (self, self._size_or_complaints(tool)))
        return kept[1]

    def _size_or_complaints(self, tool: Tool[..., Any]) -> Size | tuple[Complaint, ...]:
        try:
            (form,) = self._forms([tool], [True])
        except SchemaError as error:
            return tuple(error.complaints)
        return () if form.size is None else form.size

    def _forms(self, tools: Sequence[Tool[..., Any]], modes: Sequence[bool]) -> list[ToolForm]:
        """List the forms in which it gets tools, strict or not; each tool keeps its own."""
        keys = [(self.name, mode) for mode in modes]
        kept: list[Any] = [tool.kept_form(key) for tool, key in zip(tools, keys, strict=True)]
        known = [form is not None and (form.provider is self or form.provider == self) for form in kept]
        if all(known):
            return kept
        missing = [place for place, is_known in enumerate(known) if not is_known]
        made = iter(self._made([tools[place] for place in missing], [modes[place] for place in missing]))
        return [
            form if is_known else tool.keep_form(key, next(made))
            for tool, key, form, is_known in zip(tools, keys, kept, known, strict=True)
        ]

    def _made(
        self, tools: Sequence[Tool[..., Any]], modes: Sequence[bool], *, description: str | None = None
    ) -> list[ToolForm]:
        """Make the forms in which it gets tools.

        Args:
            tools: in the order of the request.
            modes: whether each is strict.
            description: in place of the tool's own.
        """
        from ..json_copies import Original
        from .dialect_limits import size_of
        from .tool_forms import ToolForm

        made: list[ToolForm] = []
        for tool, strict, written in zip(tools, modes, self._schemas(tools, modes), strict=True):
            schema = None if written is None else written.schema
            definition = tool.new_definition(self.style)
            if not (
                schema is not None or self.takes_unions or _UNIONS.isdisjoint(definition["input_schema"])
            ):
                raise _refuse_union(tool.name, self.name)
            name = definition["name"] = self.names.wire_name(tool.name)
            whole = definition["input_schema"] if schema is None else schema
            definition["input_schema"] = self._with_wire_keys(tool, whole)
            own_text = definition["description"]
            definition["description"] = own_text if description is None else description
            original = Original(self.wire.tool(definition, strict=strict))
            size = None if schema is None or not strict else size_of(schema)
            made.append(ToolForm(self, name, original, size, own_text))
        return made

    def _with_wire_keys(self, tool: Tool[..., Any], schema: dict[str, Any]) -> dict[str, Any]:
        """Return a schema whose properties have names that the provider takes.

        Raises:
            SchemaError: two properties would have the same name.
        """
        names = self._wire_keys(tool)
        if not names:
            return schema
        from .property_names import property_names, schema_with_keys

        owners = {name: name for name in property_names(schema) if name not in names}
        for own, wire in names.items():
            if owners.setdefault(wire, own) != own:
                message = (
                    f"{quote(own)} and {quote(owners[wire])} would both be {quote(wire)} for {self.name}"
                )
                complaint = Complaint((), "bad_name", tool.name, message, "Give one of them another name")
                raise SchemaError(tool.name, [complaint], "tool")
        return schema_with_keys(schema, names)

    def _wire_keys(self, tool: Tool[..., Any]) -> Mapping[str, str]:
        """Return the name on the wire of each property whose own name the provider doesn't take."""
        rule = self.rules.keys
        if rule is None:
            return {}
        found: Mapping[str, str] | None = tool.kept_form(("keys", rule))
        if found is None:
            from .property_names import property_names

            own = property_names(tool.new_definition(self.style)["input_schema"])
            found = tool.keep_form(
                ("keys", rule), {one: rule.wire_name(one) for one in own if not rule.takes(one)}
            )
        return found

    def _own_keys(self, tools: Sequence[Tool[..., Any]]) -> dict[str, str]:
        if self.rules.keys is None:
            return {}
        return {wire: own for tool in tools for own, wire in self._wire_keys(tool).items()}

    def _too_many(self, tools: Sequence[Tool[..., Any]]) -> list[Complaint]:
        most = self.rules.most_tools
        if most is None or len(tools) <= most:
            return []
        message = f"there are {len(tools):,} tools, of which a request takes {most:,}"
        return [Complaint((), "too_large", self.name, message, "Offer fewer: toolset.offer(…)")]

    def _too_long(self, tools: Sequence[Tool[..., Any]], texts: Sequence[str]) -> list[Complaint]:
        most = self.rules.longest_description
        if most is None:
            return []
        remedy = "Shorten it; details can go to the parameters, or to tool.documentation"
        return [
            Complaint(
                (),
                "too_large",
                tool.name,
                f"its description has {len(text):,} characters, of which {self.name} takes {most:,}",
                remedy,
            )
            for tool, text in zip(tools, texts, strict=True)
            if len(text) > most
        ]

    def report(self, tools: Tools, /, *, strict: Strict = False) -> Report:
        """Tell what the provider gets of tools: what is kept, told in words, weakened, refused or renamed.

        Unlike `request`, it lists what is refused.

        Args:
            tools: as for `request`.
            strict: as for `request`.

        Raises:
            TypeError: something isn't a tool.
            ValueError: `strict=True`, where no strict mode of the provider is known.
        """
        from .report import Report
        from .tokens import is_estimate

        self._check_strict(strict)
        offered = fixed(tools)
        texts = descriptions_of(offered)
        shown = shown_tools(offered)
        refused = self._too_many(shown)
        try:
            self.names.wire_names([tool.name for tool in shown], self.name)
        except SchemaError as error:
            refused += error.complaints
        fits = self._fits(shown, strict)
        found = [
            self._reported(tool, texts.get(tool.name), fit) for tool, fit in zip(shown, fits, strict=True)
        ]
        try:
            self._check_size([size for _, size in found if size is not None])
        except SchemaError as error:
            refused += error.complaints
        return Report(self.name, strict, tuple([one for one, _ in found]), tuple(refused), is_estimate())

    def _reported(
        self, tool: Tool[..., Any], description: str | None, fit: Fit
    ) -> tuple[ToolReport, Size | None]:
        """Return what it gets of a tool, and what that counts against the limits of the strict mode."""
        from ..introspect.places import places_of
        from .report import ToolReport
        from .tokens import count_tokens

        places = dict.fromkeys([place.path for place in places_of(tool.codec.graph) if place.path])
        losses = self._losses(tool, strict=fit.strict)
        name = self.names.wire_name(tool.name)

        def reported(refused: Sequence[Complaint], size: int | None, tokens: int | None) -> ToolReport:
            return ToolReport(
                tool.name,
                name,
                tuple(places),
                losses,
                tuple(refused),
                size,
                tokens,
                fit.strict,
                fit.reasons,
            )

        try:
            (form,) = self._made([tool], [fit.strict], description=description)
        except SchemaError as error:
            return reported(error.complaints, None, None), None
        too_long = self._too_long([tool], [form.description if description is None else description])
        if too_long:
            return reported(too_long, None, None), form.size
        text = to_json_text(form.original.copy())
        return reported((), len(text.encode(errors="replace")), count_tokens(text)), form.size

    def _losses(self, tool: Tool[..., Any], *, strict: bool) -> tuple[Loss, ...]:
        from ..introspect.places import places_of
        from .dialect_schema import Loss, dialect_schema

        dialect = self._dialect_in(strict=strict)
        lost = () if dialect is None else dialect_schema(tool.codec, dialect, tool.name, self.name).losses
        names = self._wire_keys(tool)
        if not names:
            return lost
        renamed_places = {
            place.path: names[place.field.key]
            for place in places_of(tool.codec.graph)
            if place.field is not None and place.field.key in names
        }
        return (*lost, *[Loss(path, "renamed", wire) for path, wire in renamed_places.items()])

    def _check_strict(self, strict: Strict) -> None:
        """Check what is given as `strict`.

        Raises:
            TypeError: it is neither a bool nor `auto`.
            ValueError: it is True, and no strict mode of the provider is known.
        """
        if checked_strict(strict) is True and self.dialect is None:
            message = f"no strict mode of {self.name} is known: leave strict out"
            raise ValueError(message)

    def _dialect_in(self, *, strict: bool) -> Dialect | None:
        """Return the dialect of a tool, strict or not; None for all of JSON Schema."""
        return self.dialect if strict else self.always

    def _schemas(self, tools: Sequence[Tool[..., Any]], modes: Sequence[bool]) -> list[DialectSchema | None]:
        """Return the schema of each tool in its dialect; None where that is all of JSON Schema."""
        from .dialect_schema import dialect_schema

        found: list[DialectSchema | None] = []
        for tool, strict in zip(tools, modes, strict=True):
            dialect = self._dialect_in(strict=strict)
            what = self._called(strict=strict)
            found.append(None if dialect is None else dialect_schema(tool.codec, dialect, tool.name, what))
        complaints = [complaint for one in found if one is not None for complaint in one.complaints]
        self._check(complaints, self._called(strict=all(modes)))
        return found

    def _called(self, *, strict: bool) -> str:
        return f"the strict mode of {self.name}" if strict else self.name

    def _check_size(self, sizes: Sequence[Size]) -> None:
        """Check that strict tools aren't too much for one request."""
        from .dialect_limits import over_limits

        remedy = "Offer fewer tools, or leave strict out"
        over = over_limits(self.dialect, sizes) if self.dialect is not None else []
        complaints = [Complaint((), "too_large", self.name, f"there are {what}", remedy) for what in over]
        self._check(complaints, self._called(strict=True))

    @staticmethod
    def _check(complaints: Sequence[Complaint], what: str) -> None:
        if complaints:
            raise SchemaError(what, complaints, "tool")

    def answers(
        self, response: Any, /, tools: Tools | None = None, *, strict: Strict = False
    ) -> tuple[Answer, ...]:
        """Read a response: an answer for each choice or candidate in it.

        Args:
            response: a dict, JSON text, or the object of the provider's SDK.
            tools: that the request offered, so that calls get the tools' own names where the provider
                doesn't take these.
            strict: as for `request`. In a strict mode, the model may have to send null where it leaves out a
                property; with the tools given, such a null is left out of the arguments.

        Raises:
            ResponseError: it is an error of the provider, or has another form.
            ValueError: `strict` without the tools.
        """
        if checked_strict(strict) and tools is None:
            message = f"strict={strict!r} takes back the nulls of tools: give the tools of the request too"
            raise ValueError(message)
        body = json_of(response)
        if body is None:
            message = f"a response is a JSON object, not {what_came(response)}"
            raise ResponseError(self.name, message)
        try:
            check_depth(body)
            found = [checked_answer(answer).with_cut_marked() for answer in self.wire.answers(body)]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ResponseError(self.name, what_is_wrong(body, error)) from None
        if tools is None:
            return tuple(found)
        offered = shown_tools(tools)
        own, keys = self._own_names(offered), self._own_keys(offered)
        own_named = [renamed(answer, own, keys) for answer in found] if own or keys else found
        nullable = self._with_null_for_left_out(offered, strict)
        return tuple(
            [answer_without_nulls(answer, nullable) for answer in own_named] if nullable else own_named
        )

    def _with_null_for_left_out(
        self, tools: Sequence[Tool[..., Any]], strict: Strict
    ) -> dict[str, Tool[..., Any]]:
        """Return the tools, by name, for which the model has to send null where it leaves something out."""
        possible = (self.dialect, self.always) if strict == "auto" else (self._dialect_in(strict=strict),)
        if all(dialect is None or dialect.required == "any" for dialect in possible):
            return {}
        dialects = [self._dialect_in(strict=fit.strict) for fit in self._fits(tools, strict)]
        return {
            tool.name: tool
            for tool, dialect in zip(tools, dialects, strict=True)
            if dialect is not None and dialect.required != "any"
        }

    def answer(self, response: Any, /, tools: Tools | None = None, *, strict: Strict = False) -> Answer:
        """Read the first answer of a response; see `answers`."""
        answers = self.answers(response, tools, strict=strict)
        if not answers:
            raise ResponseError(self.name, "there is no answer in the response")
        return answers[0]

    def calls(self, response: Any, /, tools: Tools | None = None, *, strict: Strict = False) -> list[RawCall]:
        """List the calls in the first answer of a response; `answer` has its text and why it stopped."""
        return list(self.answer(response, tools, strict=strict).calls)

    def stream(self, tools: Tools | None = None, /, *, strict: Strict = False) -> Stream:
        """Return what reads one streamed response.

        Args:
            tools: as for `answers`; with them, calls show what is known of their arguments so far, typed.
            strict: as for `answers`.
        """
        from .stream import Stream
        from .streamed_call import StreamedCalls

        offered = None if tools is None else shown_tools(tools)
        own = {} if offered is None else self._own_names(offered)
        codecs = {tool.name: tool.codec for tool in offered or ()}
        calls = StreamedCalls(own, codecs, self._own_keys(offered or ()))

        def read(response: Mapping[str, Any]) -> tuple[Answer, ...]:
            return self.answers(response, offered, strict=strict)

        return Stream(self.name, self.wire.merger(calls), calls, read)

    def results(self, results: Sequence[ToolResult], /, tools: Tools | None = None) -> list[dict[str, Any]]:
        """Return the messages or items that hold results, to be sent after the answer's `message`.

        Args:
            results: of all calls of one answer, in their order.
            tools: as for `answers`.

        Raises:
            TypeError: one isn't a `ToolResult`.
        """
        results = _checked_results(results)
        wire_names = {} if tools is None else self._wire_names(tools)
        sent = [
            result.replace(name=wire_names[result.name], parts=result.parts)
            if wire_names.get(result.name, result.name) != result.name
            else result
            for result in results
        ]
        return self.wire.results(sent)

    def turn(self, turn: Turn, /, tools: Tools | None = None) -> list[dict[str, Any]]:
        """Return the messages or items of a committed turn: the calls, then the results.

        Args:
            turn: what `commit` returned. If its round was made of this provider's answer, or with
                `assistant=answer.message`, that message goes first; otherwise one is made of the calls, also
                where another provider's message would be there.
            tools: as for `answers`.

        Raises:
            TypeError: it isn't a committed turn.
        """
        if not isinstance(turn, Turn):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may give a plan
            message = f"turn takes what plan.commit(…) returns, a Turn, not {received(turn)}"
            raise TypeError(message)
        said = turn.assistant
        if tools is not None:
            tools = fixed(tools)
        if not self._says(said, len(turn.calls)):
            wire_names = {} if tools is None else self._wire_names(tools)
            keys = {
                wire: own for own, wire in self._own_keys([] if tools is None else shown_tools(tools)).items()
            }
            calls = [renamed_call(call, wire_names, keys) for call in turn.calls]
            said = self.wire.calls_message(calls)
        return [*said, *self.results(turn.results, tools)]

    def _says(self, said: Any, calls: int) -> bool:
        """Return whether messages are of this provider's form: whether they have so many calls."""
        if not is_array(said):
            return False
        try:
            return sum([self.wire.calls_in(message) for message in said]) >= calls
        except (TypeError, AttributeError):
            return False

    def _wire_names(self, tools: Tools) -> dict[str, str]:
        return self.names.wire_names(names_of(tools), self.name)

    def _own_names(self, tools: Tools) -> dict[str, str]:
        return {wire: own for own, wire in self._wire_names(tools).items() if wire != own}

    def __repr__(self) -> str:
        return f"<Provider {self.name}>"


def _checked_results(results: Any) -> list[ToolResult]:
    """List results, as they were given.

    Raises:
        TypeError: one isn't a `ToolResult`.
    """
    if isinstance(results, ToolResult):
        message = "results takes a list: write [result]"
        raise TypeError(message)
    given: Any = results
    found: list[Any] = list(given) if hasattr(given, "__iter__") else [given]
    for result in found:
        if not isinstance(result, ToolResult):
            message = f"results takes what an executor returns, ToolResults, not {received(result)}"
            raise TypeError(message + _way_from(result))
    return found


def _way_from(given: object) -> str:
    """Return what to write for something of a round that stands where its results are expected."""
    from ..rounds.round import Round
    from ..rounds.tool_call import ToolCall

    if isinstance(given, Round):
        return ": turn(plan.commit(…)) writes a round"
    if isinstance(given, Turn):
        return ": turn(…) writes it"
    if isinstance(given, ToolCall) and given.state == "handled":
        return ": give its result"
    return ""


def _refuse_union(tool: str, provider: str) -> SchemaError:
    message = f"{provider} takes only arguments with a list of properties, and these are a union"
    remedy = "Give the union to one parameter: a dataclass with a field of this type"
    return SchemaError(tool, [Complaint((), "unsupported", tool, message, remedy)])
