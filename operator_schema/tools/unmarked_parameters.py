"""Which parameter lacks its `skip` mark, so that one complaint says so in place of many?"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from ..findings import Finding, about_type
from ..introspect.shown_annotations import name_of
from ..message_text import clip, escape
from .injection import framework_of, host_class_in

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .parameters import Parameters

_SHOWN = 3
_MANY = 3
_INSTALLED = frozenset({"site-packages", "dist-packages"})


def with_unmarked(
    complaints: Sequence[Finding], parameters: Parameters, owner: str, accepted: Collection[str] = ()
) -> list[Finding]:
    """Return the complaints about a function's input, with only one about an unmarked parameter.

    A class of a framework has many fields that aren't JSON, but the complaints about them don't show the
    mistake. A class of your own keeps its complaints; the first of them also says how to mark it.

    Args:
        complaints: the complaints of the walk.
        parameters: the parameters of the function.
        owner: name of the tool.
        accepted: fields whose class has a schema, but belongs to a framework; empty for the input itself.
    """
    found = list(complaints)
    for parameter, declared in zip(parameters.visible, parameters.declared, strict=True):
        is_input = parameters.input_annotation is not None
        own = [
            one for one in found if one.code != "bad_option" and (is_input or _is_about(one, parameter.name))
        ]
        cls = host_class_in(declared.hint)
        is_accepted = ("" if is_input else parameter.name) in accepted
        if cls is None or not (own or is_accepted):
            continue
        place = found.index(own[0]) if own else len(found)
        one = _one_complaint(own, parameter.name, declared.hint, cls, owner)
        if one is not None:
            found = [each for each in found if each not in own]
            found.insert(place, one)
        elif own and any(len(each.path) > 1 - is_input and each.code == "unsupported" for each in own):
            mark = f"mark it: {_marked(parameter.name, declared.hint)}"
            remedy = f"{own[0].remedy}. If your program gives {parameter.name}, {mark}"
            found[place] = own[0].replace(remedy=remedy)
    return found


def _is_about(complaint: Finding, name: str) -> bool:
    return complaint.path[:1] == (name,)


def _one_complaint(own: Sequence[Finding], name: str, hint: Any, cls: type, owner: str) -> Finding | None:
    """Return one complaint in place of all complaints about a parameter; None to keep them all."""
    shown, package = name_of(cls), framework_of(cls)
    register = f"or call register_injected({shown}) once"
    if package is not None:
        message = f"{shown} of {package} is given by the framework, not by the model"
        remedy = f"Mark it: {_marked(name, hint)}, {register} before the tools are made"
        return about_type((name,), "unsupported", owner, message, remedy)
    if len(own) < _MANY or not _is_installed(cls):
        return None
    first = "; ".join([_in_short(each) for each in own[:_SHOWN]])
    more = f"; and {len(own) - _SHOWN} more" if len(own) > _SHOWN else ""
    message = (
        f"{shown} isn't a type that a model can give, with {len(own)} complaints about it: {first}{more}"
    )
    mark = f"mark it: {_marked(name, hint)}, {register}"
    remedy = f"If your program gives it, {mark}; if the model gives it, Codec({shown}) lists them all"
    return about_type((name,), "unsupported", owner, message, remedy)


def _marked(name: str, hint: Any) -> str:
    return f"{name}: Annotated[{clip(name_of(hint), 100)}, skip]"


def _in_short(complaint: Finding) -> str:
    path = escape(".".join(map(str, complaint.path)))
    return clip(f"{path}: {complaint.message}" if path else complaint.message, 120)


def _is_installed(cls: type) -> bool:
    """Return whether a class belongs to an installed library, not to the program."""
    file: object = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return isinstance(file, str) and not _INSTALLED.isdisjoint(re.split(r"[\\/]", file))
