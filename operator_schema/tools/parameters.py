"""Which parameters of a function does the model give, and which does your program inject?"""

from __future__ import annotations

from dataclasses import MISSING
from types import GenericAlias, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ForwardRef,
    Literal,
    NamedTuple,
    get_args,
    get_origin,
)

from ..findings import Finding, about_type
from ..introspect.annotations import is_unpacked
from ..introspect.classes import Declared, form_of
from ..introspect.hints import Scope, Unresolved, evaluate_forward
from ..introspect.leaves import SchemaLeaf, own_leaf, registered_leaf, schema_type
from ..introspect.object_nodes import declared_fields
from ..introspect.shipped_leaves import shipped_leaf
from ..introspect.shown_annotations import is_type, name_of
from ..message_text import listed, quote, received, show_error
from .binding import copy_of_default
from .injection import AnnotatedAlias, alternatives_of, has_registered, is_registered, members_of, takes_none
from .injection import skip as skip_mark
from .raw_arguments import RawArguments

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from types import FrameType

    from .binding import Injected
    from .signature import Callee, Parameter


class Parameters(NamedTuple):
    """The parameters of a function: the model gives some, and your program injects the others.

    Attributes:
        visible: the parameters that the model gives.
        declared: the same parameters as fields of an object.
        injected: the parameters that your program injects, as in a `CallPlan`.
        input_annotation: annotation of the only visible parameter, if it takes the whole input; else None.
        complaints: the complaints about them.
    """

    visible: list[Parameter]
    declared: list[Declared]
    injected: list[Injected]
    input_annotation: Any
    complaints: list[Finding]


class Signature(NamedTuple):
    """The evaluated annotations of a function.

    Attributes:
        receiver: the parameter that takes the instance or class, or None.
        hints: the types of the other parameters.
        returns: the type of its result; an `Unresolved` if a name in it isn't known yet.
        scope: the meanings of the remaining forward references.
    """

    receiver: Parameter | None
    hints: list[Any]
    returns: Any
    scope: Scope


def evaluate_signature(callee: Callee, namespace: Mapping[str, Any], frame: FrameType | None) -> Signature:
    """Evaluate the annotations of a function.

    The result refers to local variables around the function only if forward references still mention them,
    because a tool must not keep other objects alive.

    Args:
        callee: the function.
        namespace: names that annotations may use besides the names of the module.
        frame: the frame in which it is decorated.
    """
    source = callee.source
    around: Mapping[str, Any] = {}
    if "." in source.__qualname__:
        from .names_around import names_around  # a function of a module has none

        around = names_around(callee, frame)
    scope = Scope(callee.source, {**around, **namespace} if around else namespace)
    written = [p.annotation for p in callee.parameters]
    receiver = callee.receiver
    if receiver is not None:
        del written[0]
    hints = _evaluate([*written, callee.returns], scope)
    if around:
        from .names_around import mentioned_names

        rest = [callee.returns if isinstance(hint, Unresolved) else hint for hint in hints[-1:]]
        kept = mentioned_names([*hints[:-1], *rest], around)
        scope = Scope(callee.source, {**kept, **namespace})
    returns = hints.pop()
    return Signature(receiver, hints, returns, scope)


def read_parameters(
    callee: Callee, signature: Signature, options: Mapping[str, Any], owner: str
) -> Parameters:
    """Separate the parameters that the model gives from the injected ones.

    Args:
        callee: the function.
        signature: its evaluated annotations.
        options: the options of the tool: `skip`, `flatten` and `leaves`.
        owner: name of the tool, for complaints.
    """
    skip: Collection[str] = options.get("skip", ())
    receiver, hints, scope = signature.receiver, signature.hints, signature.scope
    written = callee.parameters if receiver is None else callee.parameters[1:]
    complaints: list[Finding] = []
    visible: list[Parameter] = []
    declared: list[Declared] = []
    injected: list[Injected] = [] if receiver is None else [(receiver, (), MISSING)]
    takes_raw, may_be_host = False, has_registered()
    for parameter, hint in zip(written, hints, strict=True):
        is_plain = isinstance(hint, (type, GenericAlias))
        is_marked = parameter.name in skip or (not is_plain and _is_marked(hint))
        if is_marked or (may_be_host and is_registered(hint)):
            kinds = _injected_types(parameter, hint, scope)
            injected.append((parameter, kinds, hint))
            if parameter.default is None and kinds and not takes_none(hint):
                complaints.append(_complain_default(parameter, hint, owner))
            continue
        if hint is RawArguments or (not is_plain and _may_be_raw(hint)):
            takes_raw = True
        complaint = _complain_parameter(parameter, hint, callee, owner, scope)
        if complaint is not None:
            complaints.append(complaint)
        own = parameter
        if type(parameter.default) not in _UNCHANGING:
            own = _with_safe_default(parameter, owner, complaints)
        visible.append(own)
        declared.append(_declare(own, Any if complaint is not None else hint, scope))
    if skip:
        complaints += _unknown_skips(skip, callee, owner)
    input_annotation = _input_annotation(visible, declared, options)
    if input_annotation is None and takes_raw:
        complaints.append(_complain_raw(visible, owner))
    return Parameters(visible, declared, injected, input_annotation, complaints)


def _evaluate(written: list[Any], scope: Scope) -> list[Any]:
    """Evaluate the annotations of a function, all at once if they are text."""
    texts = [hint for hint in written if type(hint) is str]
    hints = scope.evaluate_all(texts) if texts else written
    if 0 < len(texts) < len(written):
        values = iter(hints)
        hints = [next(values) if type(hint) is str else hint for hint in written]
    if _EVALUATED.issuperset(map(type, hints)):
        return hints
    return [hint if isinstance(hint, type) else evaluate_forward(hint, scope) for hint in hints]


_EVALUATED = frozenset(
    {type, GenericAlias, UnionType, NoneType, type(MISSING), AnnotatedAlias, type(Literal[0])}
)
"""Kinds of annotations that are never forward references."""


def _complain_raw(visible: Sequence[Parameter], owner: str) -> Finding:
    """Complain about raw arguments that are optional, or that stand beside other parameters."""
    message = "RawArguments takes all arguments, so no other parameter can take one"
    remedy = "Read the others with require and optional, or inject them: skip=(…)"
    if len(visible) == 1:
        message = "RawArguments is always given, so it can't be optional"
        remedy = "Annotate it with RawArguments alone, and give it no default"
    return about_type((), "unsupported", owner, message, remedy)


def _complain_default(parameter: Parameter, hint: Any, owner: str) -> Finding:
    """Complain about a parameter that would silently be None if the context has no value for it."""
    name, shown = parameter.name, name_of(alternatives_of(hint)[0])
    message = f"its default is None, but {shown} doesn't include None"
    optional = f"{name}: Annotated[{shown} | None, skip] = None"
    remedy = f"If it may be left out, write {optional}; if not, remove the default"
    return about_type((name,), "bad_default", owner, message, remedy)


def _injected_types(parameter: Parameter, hint: Any, scope: Scope) -> Sequence[Any]:
    """Return the types to look up in a context, as far as they are known."""
    if parameter.kind in {"rest", "extra"}:
        return ()  # `*args` and `**kwargs` take several values of their annotated type
    if isinstance(hint, AnnotatedAlias):
        hint = hint.__origin__
    if isinstance(hint, type):
        return (hint,)
    if hint is MISSING or isinstance(hint, Unresolved):
        return ()
    kinds = [_with_forward_arguments(evaluate_forward(kind, scope), scope) for kind in alternatives_of(hint)]
    return tuple(
        [inner for kind in kinds if not isinstance(kind, Unresolved) for inner in alternatives_of(kind)]
    )


def _with_forward_arguments(hint: Any, scope: Scope) -> Any:
    """Return a generic type with its textual arguments evaluated: `RunContext["Db"]`."""
    args = getattr(hint, "__args__", ())
    if isinstance(hint, type) or not any(isinstance(arg, (str, ForwardRef)) for arg in args):
        return hint
    known = [evaluate_forward(arg, scope) for arg in args]
    return hint.__origin__[tuple([Any if isinstance(arg, Unresolved) else arg for arg in known])]


def _is_marked(hint: Any) -> bool:
    for member in members_of(hint):
        if isinstance(member, AnnotatedAlias) and any(item is skip_mark for item in member.__metadata__):
            return True
    return False


def _may_be_raw(hint: Any) -> bool:
    for member in members_of(hint):
        if isinstance(member, AnnotatedAlias):
            if _may_be_raw(member.__origin__):
                return True
        elif member is RawArguments:
            return True
    return False


_UNCHANGING = frozenset({type(MISSING), type(None), bool, int, float, str})


def _with_safe_default(parameter: Parameter, owner: str, complaints: list[Finding]) -> Parameter:
    """Copy a mutable default, so that a direct call can't change it for the model."""
    if parameter.default is skip_mark:
        return parameter.replace(default=MISSING)
    try:
        default = copy_of_default(parameter.default)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # copying runs the code of whatever is in it
        message = f"its default {received(parameter.default)} can't be copied: {show_error(error)}"
        remedy = "Give None, and make the value in the function"
        complaints.append(about_type((parameter.name,), "bad_default", owner, message, remedy))
        default = None
    return parameter if default is parameter.default else parameter.replace(default=default)


def _complain_mark(parameter: Parameter, hint: Any, owner: str) -> Finding | None:
    """Complain about a `skip` in the wrong place; it belongs after the type in `Annotated`."""
    name = parameter.name
    if hint is skip_mark:
        message = "skip is a mark, not a type"
        remedy = f"Write {name}: Annotated[T, skip], for your type T"
        return about_type((name,), "unsupported", owner, message, remedy)
    is_annotated = isinstance(hint, AnnotatedAlias)
    if is_annotated and hint.__origin__ is skip_mark:
        shown = next((name_of(item) for item in hint.__metadata__ if is_type(item)), "T")
        message = "skip comes before the type in Annotated"
        return about_type((name,), "unsupported", owner, message, f"Write {name}: Annotated[{shown}, skip]")
    if parameter.default is skip_mark:
        message = "skip is a mark for the annotation, not a default"
        shown = name_of(hint) if isinstance(hint, type) else "T"
        remedy = f"Write {name}: Annotated[{shown}, skip], without a default"
        return about_type((name,), "bad_default", owner, message, remedy)
    if is_annotated and description_in(hint) == "skip":
        message = 'its description is the text "skip"'
        remedy = "Write skip without quotes (from operator_schema import skip), or describe the parameter"
        return about_type((name,), "bad_description", owner, message, remedy)
    return None


def _complain_parameter(
    parameter: Parameter, hint: Any, callee: Callee, owner: str, scope: Scope
) -> Finding | None:
    name = parameter.name
    misplaced = _complain_mark(parameter, hint, owner)
    if misplaced is not None:
        return misplaced
    if hint is MISSING:
        stars = {"rest": "*", "extra": "**"}.get(parameter.kind, "")
        message = "it has no annotation" if not stars else f"{stars}{name} has no annotation"
        remedy = f"Annotate it, or let your program inject it: skip=({quote(name)},)"
        if stars and "<locals>" in callee.source.__qualname__:
            remedy = f"If a decorator made this function, use functools.wraps in it. {remedy}"
        return about_type((name,), "unannotated", owner, message, remedy)
    if name.startswith("__") and name.endswith("__"):
        message = "names with two underscores on both sides belong to Python"
        return about_type((name,), "bad_name", owner, message, "Give it another name")
    unpacks = parameter.kind == "extra" and is_unpacked(hint)
    if unpacks and form_of(_unpacked(hint, scope)) != "typed_dict":
        message = f"{name_of(get_args(hint)[0])} in Unpack isn't a TypedDict"
        remedy = f"Give Unpack a TypedDict (PEP 692), or annotate **{name} with the type of its values"
        return about_type((name,), "unsupported", owner, message, remedy)
    return None


def _unpacked(hint: Any, scope: Scope) -> Any:
    """Return the class in `Unpack[…]`."""
    return class_of(evaluate_forward(get_args(hint)[0], scope))


def _declare(parameter: Parameter, hint: Any, scope: Scope) -> Declared:
    if parameter.kind == "rest":
        return Declared(parameter.name, tuple[hint, ...], scope, has_factory=True)
    if parameter.kind == "extra":
        if is_unpacked(hint):  # PEP 692
            keys = _unpacked(hint, scope)
            # Its annotations may be text, which `__required_keys__` ignores.
            fields = declared_fields(keys, "typed_dict", {}, keys, scope.outside().names, scope)
            may_be_empty = not any(field.required for field in fields.values())
            return Declared(parameter.name, get_args(hint)[0], scope, has_factory=may_be_empty)
        return Declared(parameter.name, dict[str, hint], scope, has_factory=True)
    return Declared(parameter.name, hint, scope, parameter.default)


def _unknown_skips(skip: Collection[str], callee: Callee, owner: str) -> list[Finding]:
    names = [parameter.name for parameter in callee.parameters]
    complaints: list[Finding] = []
    for name in skip:
        if name not in names:
            from ..similar_names import nearest

            near = nearest(name, names)
            message = f"skip names {quote(name)}, which isn't a parameter"
            remedy = f"The parameters are {listed([quote(n) for n in names]) or 'none'}"
            complaints.append(
                about_type((), "bad_option", owner, message, remedy, quote(near) if near else None)
            )
    return complaints


def _input_annotation(
    visible: Sequence[Parameter], declared: Sequence[Declared], options: Mapping[str, Any]
) -> Any:
    """Return the annotation of the only visible parameter if its fields become the parameters of the tool."""
    if len(visible) != 1 or visible[0].kind in {"rest", "extra"} or visible[0].default is not MISSING:
        return None
    hint = schema_type(declared[0].hint)
    cls = class_of(hint)
    if cls is RawArguments:
        return hint
    if options.get("flatten") is False or not isinstance(cls, type) or form_of(cls) is None:
        return None
    if _has_leaf(hint, cls) or any(leaf.type is cls for leaf in options.get("leaves", ())):
        return None
    while get_origin(hint) is Annotated:
        hint = hint.__origin__
    return hint


def description_in(hint: Any) -> str | None:
    """Return the description in the metadata of an annotation: the last string or `Doc` (PEP 727)."""
    if not isinstance(hint, AnnotatedAlias):
        return None
    metadata: tuple[Any, ...] = hint.__metadata__
    texts = [item if isinstance(item, str) else getattr(item, "documentation", None) for item in metadata]
    return next((text for text in reversed(texts) if isinstance(text, str)), None)


def class_of(hint: Any) -> Any:
    """Return the class of an annotation, without metadata and arguments."""
    if isinstance(hint, type):
        return hint
    origin = get_origin(hint)
    while origin is Annotated:
        hint = hint.__origin__
        origin = get_origin(hint)
    return origin or hint


def _has_leaf(hint: Any, cls: type) -> bool:
    metadata: tuple[Any, ...] = getattr(hint, "__metadata__", ())
    if any(isinstance(item, SchemaLeaf) for item in metadata):
        return True
    return own_leaf(cls) is not None or registered_leaf(cls) is not None or shipped_leaf(cls) is not None
