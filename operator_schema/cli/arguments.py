"""Arguments and options that several commands take."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, get_args

import click

from ..codec.options import UnknownFields
from ..misnamed import names_meant
from ..wording import escape
from .lookup import ObjectName

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "NAME",
    "REGISTRY",
    "TOOL",
    "TYPE",
    "NearChoice",
    "traceback_option",
    "unknown_fields_option",
]


class _NameType(click.ParamType[ObjectName]):
    """`MODULE:NAME`, where NAME may have dots.

    Args:
        kind: the metavar of the name.
        sample: an example of the whole.
        optional: whether the module alone is enough.
    """

    def __init__(self, kind: str, sample: str, *, optional: bool = False) -> None:
        self.name = f"MODULE[:{kind}]" if optional else f"MODULE:{kind}"
        self._kind = kind
        self._sample = sample
        self._optional = optional

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ObjectName:
        text = str(value)
        module, colon, path = text.partition(":")
        self._check_module(module, path, param, ctx)
        if not colon and not self._optional:
            self.fail(f"{escape(text)!r} isn't {self.name}{self._hint(module)}", param, ctx)
        # The name of a tool may have a - in it.
        steps = (path.replace("-", "_") if self._kind == "TOOL" else path).split(".")
        if colon and not all(step.isidentifier() for step in steps):
            reason = f"{self._kind} must be a name, or names with dots between them"
            self.fail(f"{escape(text)!r} isn't {self.name}: {reason}", param, ctx)
        return ObjectName(module, path)

    def _hint(self, module: str) -> str:
        parent, _, last = module.rpartition(".")
        if parent and last.isidentifier() and not _is_path(module):
            return f"; did you mean {escape(parent)}:{last}?"
        return f", such as {self._sample}"

    def _check_module(
        self, module: str, path: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> None:
        if _is_path(module):
            file = os.path.relpath(module.removesuffix(".py"))
            name = os.path.basename(file) if file.startswith(os.pardir) else file.replace(os.sep, ".")  # noqa: PTH119  # only text
            if path or not self._optional:
                name = f"{name}:{path or self._kind}"
            self.fail(f"{escape(module)!r} is a path; give MODULE by its name: {escape(name)}", param, ctx)
        if not all(module.split(".")):
            self.fail(f"{escape(module)!r} isn't the name of a module", param, ctx)


def _is_path(text: str) -> bool:
    return text.endswith(".py") or os.sep in text or "/" in text


TYPE = _NameType("TYPE", "tools:WebSearch")
TOOL = _NameType("TOOL", "tools:web_search")
NAME = _NameType("NAME", "app:make_context")
REGISTRY = _NameType("REGISTRY", "app:registry", optional=True)


class NearChoice(click.Choice[str]):
    """One of some words; a wrong one is answered with those that were probably meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word.

        Raises:
            click.BadParameter: it is none of them.
        """
        meant = names_meant(value, self.choices) if value not in self.choices else []
        if meant:
            self.fail(f"there is no {escape(value)}; did you mean {' or '.join(meant)}?", param, ctx)
        return super().convert(value, param, ctx)


def traceback_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --traceback."""
    text = "If a module can't be imported, or a tool fails, show the whole traceback."
    return click.option("--traceback", "show_traceback", is_flag=True, help=text)(command)


def unknown_fields_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --unknown-fields."""
    return click.option(
        "--unknown-fields",
        type=NearChoice(get_args(UnknownFields)),
        default="ignore",
        help="What to do with a key that names no field (default: ignore).",
    )(command)
