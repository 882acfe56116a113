"""What is known about a tool: what the model sees of it, and what your program may ask."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from ..introspect.docstrings import split_summary
from ..introspect.nodes import ObjectNode
from ..json_values import copy_json
from .binding import injected_type
from .methods import is_unbound
from .signature import is_coroutine_function

if TYPE_CHECKING:
    from collections.abc import Hashable
    from inspect import Signature
    from typing import Unpack

    from ..codec.codec import Codec
    from ..json_copies import Original
    from ..schema.style import SchemaStyle, StyleOptions
    from .binding import CallPlan
    from .metadata import Metadata
    from .results.output_type import OutputType
    from .results.structured_output import StructuredOutput
    from .switches import Enabled
    from .tool_annotations import ToolAnnotations

__all__ = ["ToolDefinition", "ToolProperties"]


_MOST_FORMS = 16
"""Forms that a tool keeps; a program needs one or two."""

Form = TypeVar("Form")


class ToolDefinition(TypedDict):
    """A tool in the form that providers start from."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ToolProperties:
    """The properties of a tool, all for reading only."""

    _metadata: Metadata
    _codec: Codec[Any]
    _output: OutputType
    _plan: CallPlan | None
    _function: Any
    _home: str
    _forms: dict[Any, Any]

    @property
    def name(self) -> str:
        """The name by which the model calls it."""
        return self._metadata.name

    @property
    def summary(self) -> str:
        """The first sentence of its documentation."""
        return self._metadata.documentation.summary

    @property
    def details(self) -> str | None:
        """Its documentation after the summary, or None."""
        return self._metadata.documentation.details

    @property
    def description(self) -> str:
        """Its whole documentation: summary and details."""
        return self._metadata.documentation.description

    @property
    def examples(self) -> tuple[Any, ...]:
        """Arguments of calls, as JSON values that the caller owns."""
        return tuple([copy_json(example) for example in self._metadata.examples])

    @property
    def tags(self) -> tuple[str, ...]:
        """Labels by which your program can choose tools."""
        return self._metadata.tags

    @property
    def timeout(self) -> float | None:
        """Seconds that a call may take; None leaves it to the executor."""
        return self._metadata.timeout

    @property
    def threads(self) -> bool | None:
        """Whether a function that isn't async runs in a thread; None leaves it to the executor."""
        return self._metadata.threads

    @property
    def max_content(self) -> float | None:
        """Characters that the text of a result may have; None leaves it to the executor."""
        return self._metadata.max_content

    @property
    def annotations(self) -> ToolAnnotations:
        """What it says about itself to the program that offers it; the model does not see it."""
        return self._metadata.annotations

    @property
    def takes_progress(self) -> bool:
        """Whether the function has a parameter for a `Progress`."""
        plan = self._plan
        return plan is not None and bool(plan.injected) and plan.takes_progress

    @property
    def enabled(self) -> Enabled:
        """Whether the model may call it, or a function that says so; None leaves it to the registry."""
        return self._metadata.enabled

    @property
    def described_by(self) -> str | None:
        """Name of the tool that gives the long documentation on demand, or None."""
        return self._metadata.described_by

    @property
    def describes_tools(self) -> bool:
        """Whether it gives the documentation of other tools, as one of `describe_tools` does."""
        return self._metadata.describes_tools

    @property
    def has_more(self) -> bool:
        """Whether there is more documentation than the summary and those of its parameters."""
        if self.details is not None or self._metadata.examples:
            return True
        root = self._codec.graph.resolve_root()
        fields = root.fields if isinstance(root, ObjectNode) else ()
        return any(field.examples or split_summary(field.description or "")[1] for field in fields)

    @property
    def is_unbound(self) -> bool:
        """Whether it is a method without its instance, as `Service.find` is."""
        return is_unbound(self._plan)

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function."""
        return self._plan is not None and is_coroutine_function(self._function)

    @property
    def has_function(self) -> bool:
        """Whether there is a function to call; if not, your program runs the call itself."""
        return self._plan is not None

    @property
    def codec(self) -> Codec[Any]:
        """The registered input type."""
        return self._codec

    @property
    def home(self) -> str:
        """Name of the module in which it was made, wherever its function was written."""
        return self._home

    @property
    def input_type(self) -> Any:
        """The dataclass of its arguments, or the annotation given for them."""
        return self._codec.decoded_type

    @property
    def output_type(self) -> Any:
        """The declared type of its result; None if none is declared or its name is not known."""
        return self._output.type

    @property
    def signature(self) -> Signature:
        """The signature of the function without what your program injects, with evaluated annotations.

        `inspect.signature(tool)` is that of the whole function. For a tool without a function it is the
        signature that makes an input.
        """
        from .visible_signature import visible_signature  # `inspect` takes longer to load than this package

        returns: Any = MISSING
        if self._output.is_declared:
            returns = self._output.type
            if returns is None and self._plan is not None:
                returns = self._plan.callee.returns  # as written, if it can't be evaluated
        return visible_signature(self._plan, self._codec.type, returns)

    @property
    def injected(self) -> tuple[str, ...]:
        """Names of the parameters that your program injects, in their order."""
        plan = self._plan
        return () if plan is None else tuple([parameter.name for parameter, _, _ in plan.injected])

    def injected_type(self, name: str) -> Any:
        """Return the annotation of a parameter that your program injects, without `skip`.

        Args:
            name: of the parameter.

        Returns:
            For example `bool | None`; `Any` if there is no annotation, or a name in it isn't known.

        Raises:
            ToolError: it isn't one of the injected parameters.
        """
        return injected_type(self.name, self._plan, name)

    def input_schema(self, **options: Unpack[StyleOptions]) -> dict[str, Any]:
        """Return the JSON Schema of its arguments, with `"type": "object"`, as a fresh dict.

        Args:
            inline, boolean_schemas, empty_schemas: as `json_schema` takes them.
        """
        document = self._codec.json_schema(**options)
        if "type" in document and "properties" in document:
            return document  # in its own order
        # Every provider wants both at the root, also where the input is a union.
        return {"type": "object", "properties": {}, **document}

    def output_schema(self, **options: Unpack[StyleOptions]) -> dict[str, Any] | None:
        """Return the JSON Schema of its result; None if no type is declared, or it has no schema.

        Args:
            inline, boolean_schemas, empty_schemas: as `json_schema` takes them.
        """
        codec = self._output.codec()
        return None if codec is None else codec.json_schema(**options)

    def structured_output(self) -> StructuredOutput | None:
        """Return how its result becomes a JSON object, for those who take nothing else.

        Returns:
            None if no type is declared, it has no schema, or it is `str` or `Any`: the text of such a
            result says as much. Otherwise `schema` is the JSON Schema of the object, and `of(result.json)`
            the object. A result that may be anything but an object is wrapped as `{"result": …}`.
        """
        from .results.structured_output import structured_output_of

        return structured_output_of(self._output.codec())

    def definition(self, **options: Unpack[StyleOptions]) -> ToolDefinition:
        """Return name, description and input schema, in the form that providers start from.

        Args:
            inline, boolean_schemas, empty_schemas: as `json_schema` takes them.

        Returns:
            A fresh dict. If another tool gives the details on demand (`described_by`), its
            description and those of the parameters are their summaries.
        """
        if not options:
            return self.definition_in(None)
        from ..schema.style import style_of

        return self.definition_in(style_of(options))

    def definition_in(self, style: SchemaStyle | None) -> ToolDefinition:
        """Return what `definition` returns, in a style; None stands for that of all who take everything."""
        key = None if style is None else (style.inline, style.boolean_schemas, style.empty_schemas)
        original: Original | None = self._forms.get(key)
        if original is None:
            from ..json_copies import Original

            original = self.keep_form(key, Original(self.new_definition(style)))
        copied: ToolDefinition = original.copy()
        return copied

    def kept_form(self, key: Hashable) -> Any:
        """Return what `keep_form` has kept under a key, or None."""
        return self._forms.get(key)

    def keep_form(self, key: Hashable, form: Form) -> Form:
        """Keep what was made of this tool, such as the form in which a provider gets it.

        The tool never changes, so it stays right as long as the tool is there. If two threads make the
        same form, the last of two equals stays. Methods of several instances share their forms.

        Returns:
            The form.
        """
        if len(self._forms) >= _MOST_FORMS:
            self._forms.clear()
        self._forms[key] = form
        return form

    def new_definition(self, style: SchemaStyle | None) -> ToolDefinition:
        """Make what `definition_in` returns; nothing of it is kept."""
        options: StyleOptions = {} if style is None else style.as_options()
        description, schema = self.description, self.input_schema(**options)
        if self.described_by is not None:
            description = self.summary
            for parameter in schema.get("properties", {}).values():
                if "description" in parameter:
                    parameter["description"] = split_summary(parameter["description"])[0]
        return {"name": self.name, "description": description, "input_schema": schema}
