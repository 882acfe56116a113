"""The dataclass of a function's parameters: `WebSearchInput` for `web_search`.

The class is made when the function is decorated, and turned into a dataclass when it is first used as
one: `dataclass` takes longer than everything else that happens to a function.
"""

from __future__ import annotations

import copy
from _thread import RLock  # `threading` itself isn't needed
from dataclasses import dataclass, field
from types import MethodType
from typing import TYPE_CHECKING, Any

from ..introspect.classes import SOURCE
from ..introspect.node_kinds import visit
from ..introspect.nodes import ObjectNode, UnionNode
from .injection import RawArguments

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from ..codec.codec import Codec
    from ..introspect.classes import ParameterSource
    from ..introspect.nodes import Graph
    from .signature import Parameter

__all__ = ["Input", "class_of_inputs", "copy_of_default", "install", "keeps_not_all", "make_input_type"]


class Input:
    """The parameters of one call; each function has a dataclass of its own that derives from this."""

    if TYPE_CHECKING:  # `typing.get_type_hints` looks here too
        __function__: ClassVar[str]
        __parameters__: ClassVar[Sequence[Parameter]]
        __reserved__: ClassVar[frozenset[str]]

    __hash__ = None  # type: ignore[assignment]  # as for every dataclass that can change


class _WrittenByDataclass:
    """An attribute that `dataclass` writes; asking for it turns the class into a dataclass first."""

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
        name: of the class.
        qualname: its qualified name.
        module: of the function.
        source: what the walk reads.
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
    """Copy a default that can change; return any other as it is.

    Raises:
        Exception: it can't be copied.
    """
    return copy.deepcopy(default) if _may_change(default) else default


def _may_change(default: object) -> bool:
    """Return whether a default is a list or the like, or holds one as a tuple may."""
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

    If its name is taken there, its place is the attribute of the tool: `read.input_type`.
    """
    present: object = names.setdefault(cls.__name__, cls)
    if present is cls:
        return
    # The cell of a notebook that is run again makes its tools again.
    if isinstance(present, type) and issubclass(present, Input) and present.__function__ == cls.__function__:
        names[cls.__name__] = cls
    else:
        cls.__qualname__ = f"{cls.__function__}.input_type"


# --- the inputs of any tool ----------------------------------------------------------------------


def class_of_inputs(codec: Codec[Any]) -> type[Any]:
    """Return the class of the instances that a codec makes."""
    node = codec.graph.resolve_root()
    if isinstance(node, UnionNode):  # of plain dicts: unions of classes have no function
        node = codec.graph.resolve(node.members[0])
    if not isinstance(node, ObjectNode) or codec.decoded_type is RawArguments:
        return RawArguments
    taken: type[Any] = dict if node.form == "typed_dict" else node.type
    return taken


def keeps_not_all(graph: Graph) -> bool:
    """Return whether there is an `InitVar` in the type, which an instance doesn't keep."""
    nodes = visit([graph.root, *graph.definitions.values()])
    return any(field.init_only for node in nodes if isinstance(node, ObjectNode) for field in node.fields)
