"""How is a function, or a method, called with an input and injected values, and what is its input type?"""

from __future__ import annotations

import copy
from _thread import RLock  # `threading` itself isn't needed
from collections import ChainMap
from dataclasses import MISSING, dataclass, field
from types import MethodType
from typing import TYPE_CHECKING, Any, cast

from ..errors import SchemaError
from ..findings import about_type
from ..introspect.classes import SOURCE
from ..introspect.nodes import ObjectNode, UnionNode
from ..message_text import one_line, quote
from .injection import Progress
from .metadata import snake_case
from .raw_arguments import RawArguments
from .signature import is_generator_function, takes

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence
    from typing import ClassVar

    from ..codec.codec import Codec
    from ..introspect.classes import ParameterSource
    from ..introspect.nodes import Graph
    from .calls import DecodedCall
    from .signature import Callee, Parameter

    Injected = tuple[Parameter, Sequence[Any], Any]


class CallPlan:
    """The plan for calling the function of a tool.

    Attributes:
        callee: the function and its parameters.
        injected: the parameters that your program injects, each with its possible types (as far as known) and
            its evaluated annotation.
        input_parameter: name of the parameter that takes the input itself; None if each field of the
            input has a parameter of its own.
    """

    __slots__ = ("_takes_progress", "callee", "injected", "input_parameter")

    def __init__(self, callee: Callee, injected: Sequence[Injected], input_parameter: str | None) -> None:
        self.callee = callee
        self.injected = injected
        self.input_parameter = input_parameter
        self._takes_progress: bool | None = None

    @property
    def takes_progress(self) -> bool:
        """Whether your program injects a `Progress`."""
        if self._takes_progress is None:
            self._takes_progress = len(self.without_progress()) < len(self.injected)
        return self._takes_progress

    def without_progress(self) -> Sequence[Injected]:
        """Return the parameters that your program injects, except for a `Progress`."""
        return [each for each in self.injected if all(kind is not Progress for kind in each[1])]


def call_arguments(
    parameters: Sequence[Parameter], injected: Mapping[str, Any], input_parameter: str | None, given: Any
) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """Arrange an input and the injected values for a call.

    Args:
        parameters: the parameters of the function.
        injected: parameter name to value.
        input_parameter: name of the parameter that takes the input itself, or None.
        given: the input.

    Returns:
        The arguments by position, the arguments by name, and the extra ones by name, which must not repeat
        another name.
    """
    positional: list[Any] = []
    named: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for parameter in parameters:
        name, kind = parameter.name, parameter.kind
        if name in injected:
            value = injected[name]
        elif name == input_parameter:
            value = given
        else:
            value = getattr(given, name, MISSING)
        if value is MISSING:
            continue  # injected `*args` and `**kwargs` that are not given
        if kind == "rest":
            positional.extend(value)
        elif kind == "extra":
            extra = dict(value)
        elif kind == "keyword_only":
            named[name] = value
        else:
            positional.append(value)
    return positional, named, extra


_POSITIONAL = frozenset({"positional_only", "positional"})


def bound(plan: CallPlan | None, function: Any, instance: Any, owner: Any) -> tuple[Any, CallPlan] | None:
    """Bind a function to an instance or class, as attribute access does.

    Args:
        plan: the plan of the call; None for a tool without a function.
        function: the function of the tool.
        instance: the instance whose attribute it is, or None.
        owner: the class whose attribute it is, or None.

    Returns:
        The bound function and its plan; None if there is nothing to bind.
    """
    if plan is None or plan.callee.binds == "nothing":
        return None
    if plan.callee.binds == "class":
        instance = instance.__class__ if owner is None else owner
    bind = getattr(function.__class__, "__get__", None)
    if instance is None or bind is None or plan.callee.is_bound:
        return None
    receiver, first = plan.callee.receiver, plan.callee.parameters[:1]
    injected = [entry for entry in plan.injected if entry[0] is not receiver]
    # `*args` takes the instance too, and more after it.
    taken = 1 if first and first[0].kind in _POSITIONAL else 0
    callee = plan.callee.replace(parameters=plan.callee.parameters[taken:], is_bound=True)
    return bind(function, instance), CallPlan(callee, injected, plan.input_parameter)


def check_first_parameter(tool: str, plan: CallPlan | None, owner: type[Any]) -> None:
    """Refuse a method if the model would have to give its instance.

    Args:
        tool: name of the tool.
        plan: the plan of the call.
        owner: the class in which the tool is an attribute.

    Raises:
        SchemaError: the first parameter takes the instance, but the model would have to give it.
    """
    callee = None if plan is None else plan.callee
    if callee is None or callee.binds == "nothing" or callee.is_bound or callee.receiver is not None:
        return
    # A class may also have tools that were made elsewhere.
    is_method = callee.source.__qualname__.rpartition(".")[0] == owner.__qualname__
    first = callee.parameters[0] if callee.parameters else None
    if first is None or not is_method or first.kind not in _POSITIONAL:
        return
    message = f"{quote(first.name)} takes the instance in a method, but its annotation lets the model give it"
    remedy = f"Remove the annotation of {quote(first.name)}, name it self, or use @staticmethod"
    complaint = about_type((first.name,), "unsupported", one_line(tool, 100), message, remedy)
    raise SchemaError(tool, [complaint])


def is_unbound(plan: CallPlan | None) -> bool:
    """Return whether the function is a method without its instance, as `Service.find` is."""
    return plan is not None and plan.callee.binds == "instance" and plan.callee.receiver is not None


def unbound_message(qualname: str) -> str:
    """Return the message that says how to use a method as a tool.

    Args:
        qualname: qualified name of the method.
    """
    owner, _, name = qualname.rpartition(".")
    owner = owner.rpartition(".")[2]
    instance = snake_case(owner) or "instance"
    message = f"{owner}.{name} is a method without its instance; give {instance}.{name}"
    return f"{message}, where {instance} is an instance of {owner}"


def why_not_asked(function: Any, given: str, instead: str = "return the answer") -> str | None:
    """Return why a program's function can't be asked with one argument; None if it can.

    Args:
        function: anything that can be called.
        given: what the argument is, for the message.
        instead: what to do in place of `yield`, for the message.

    Returns:
        The rest of a sentence that begins with the function.
    """
    if takes(function, 1):
        return f"is a generator: {instead}, rather than yield" if is_generator_function(function) else None
    qualname: Any = getattr(function, "__qualname__", "")
    names = getattr(getattr(function, "__code__", None), "co_varnames", ())
    owner = qualname.rpartition(".")[0] if isinstance(qualname, str) else ""
    if owner and not owner.endswith("<locals>") and names[:1] == ("self",) and takes(function, 2):
        return unbound_message(qualname).partition(" ")[2]
    return f"has to take one argument, {given}"


def context_of(decoded: DecodedCall, context: Mapping[Any, Any] | None) -> Mapping[Any, Any] | None:
    """Return the context of one call: the common context, and the answers for this call."""
    if not decoded.answers:
        return context
    if context is None:
        return decoded.answers
    # Not a copy: a mapping may make its values when it is asked for them.
    return ChainMap({**decoded.answers}, cast("MutableMapping[Any, Any]", context))


class Input:
    """The parameters of one call; each function has its own dataclass derived from this class."""

    if TYPE_CHECKING:  # `typing.get_type_hints` looks here too
        __function__: ClassVar[str]
        __parameters__: ClassVar[Sequence[Parameter]]
        __reserved__: ClassVar[frozenset[str]]

    __hash__ = None  # type: ignore[assignment]  # as for every dataclass that can change


class _WrittenByDataclass:
    """An attribute that `dataclass` normally sets; reading it turns the class into a dataclass first."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type[Input]) -> Any:
        asked = (
            instance if isinstance(instance, type) else owner
        )  # a class: `inspect.signature` on Python 3.13
        cls: type[Input] | None = next((base for base in asked.__mro__ if SOURCE in base.__dict__), None)
        if cls is None:
            raise AttributeError(self._name)
        _make_dataclass(cls)
        if asked is instance:
            return MethodType(getattr(asked, self._name), asked)
        return getattr(owner if instance is None else instance, self._name)


for _name in ("__dataclass_fields__", "__match_args__", "__init__", "__repr__", "__eq__"):
    setattr(Input, _name, _WrittenByDataclass(_name))

_making = RLock()


def _make_dataclass(cls: type[Input]) -> None:
    with _making:
        if "__dataclass_params__" not in cls.__dict__:
            for parameter in cls.__parameters__:
                setattr(cls, parameter.name, _field(parameter))
            dataclass(cls)


def make_input_type(
    name: str,
    qualname: str,
    module: str,
    source: ParameterSource,
    parameters: Sequence[Parameter],
    reserved: frozenset[str],
    function: str,
) -> type[Input]:
    """Make the dataclass of the parameters of a function.

    Args:
        name: name of the class.
        qualname: its qualified name.
        module: module of the function.
        source: the class that the walk reads.
        parameters: the parameters that `source` declares, in the same order.
        reserved: names that `**kwargs` may not hold; empty if there is no such parameter.
        function: qualified name of the function.
    """
    namespace: dict[str, Any] = {
        "__module__": module,
        "__qualname__": qualname,
        "__doc__": source.doc or f"The parameters of {name}.",
        "__annotations__": {declared.name: declared.hint for declared in source.declared},
        "__function__": function,
        "__parameters__": parameters,
        SOURCE: source,
    }
    if reserved:
        namespace["__reserved__"] = reserved
        namespace["__post_init__"] = _refuse_reserved
    return type(name, (Input,), namespace)


def _refuse_reserved(given: Input) -> None:
    """Refuse a name in `**kwargs` that another parameter has."""
    extra = getattr(given, given.__parameters__[-1].name)
    taken = [name for name in extra if name in given.__reserved__]
    if taken:
        message = f"{taken[0]!r} is a parameter of its own and can't be one of the extra ones"
        raise ValueError(message)


def copy_of_default(default: Any) -> Any:
    """Copy a mutable default; return any other unchanged.

    Raises:
        Exception: the default can't be copied.
    """
    return copy.deepcopy(default) if _may_change(default) else default


def _may_change(default: object) -> bool:
    """Return whether a default is mutable, such as a list, or contains something mutable, as a tuple may."""
    if type(default).__hash__ is None:
        return True
    try:
        hash(default)
    except Exception:  # noqa: BLE001  # a class's own code runs in it
        return True
    return False


def _field(parameter: Parameter) -> Any:
    default = parameter.default
    if parameter.kind == "rest":
        return field(default=(), kw_only=True)
    if parameter.kind == "extra":
        return field(default_factory=dict[str, Any], kw_only=True)
    by_name = parameter.kind == "keyword_only"
    if _may_change(default):
        # Otherwise every call would share one list.
        return field(default_factory=lambda: copy.deepcopy(default), kw_only=by_name)
    return field(default=default, kw_only=by_name)


def install(cls: type[Input], names: dict[str, Any]) -> None:
    """Put a class into the module of its function.

    If its name is taken there, pickle can find it through the tool: `read.input_type`.
    """
    present: object = names.setdefault(cls.__name__, cls)
    if present is cls:
        return
    # Running the cell of a notebook again makes its tools again.
    if isinstance(present, type) and issubclass(present, Input) and present.__function__ == cls.__function__:
        names[cls.__name__] = cls
    else:
        cls.__qualname__ = f"{cls.__function__}.input_type"


# --- the inputs of any tool ----------------------------------------------------------------------


def class_of_inputs(codec: Codec[Any]) -> type[Any]:
    """Return the class of a codec's instances."""
    node = codec.graph.resolve_root()
    if isinstance(node, UnionNode):  # unions of classes have no function, so these are plain dicts
        node = codec.graph.resolve(node.members[0])
    if not isinstance(node, ObjectNode) or codec.decoded_type is RawArguments:
        return RawArguments
    taken: type[Any] = dict if node.form == "typed_dict" else node.type
    return taken


def keeps_all(graph: Graph) -> bool:
    """Return whether instances keep the values of all arguments; the value of an `InitVar` isn't kept."""
    from ..introspect.node_kinds import visit  # few programs encode inputs

    nodes = visit([graph.root, *graph.definitions.values()])
    return not any(field.init_only for node in nodes if isinstance(node, ObjectNode) for field in node.fields)
