"""Commands that take a target, and the options of the function that makes its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import SchemaError
from ..wording import escape
from .lookup import find_factory
from .modules import WrongUse

if TYPE_CHECKING:
    from .factories import Factory

__all__ = ["TargetCommand", "factory_of", "given_to_factory"]

_FACTORY = f"{__name__}.factory"
_HELP = {"--help", "-h"}
_ASKED = {*_HELP, "--print-config"}


class TargetCommand(click.Command):
    """A command whose first argument is a target; its own options, then those of the target's function."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; the function is looked up only if they ask for it."""
        word, others = self._target_in(args)
        known = {opt for one in self.params for opt in (*one.opts, *one.secondary_opts)}
        unknown = any(other.startswith("--") and other.partition("=")[0] not in known for other in others)
        if word is not None and (unknown or not _ASKED.isdisjoint(args)):
            self._look_up(ctx, word, is_needed=unknown and _HELP.isdisjoint(args))
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """List its own parameters, and the options of the function."""
        own = super().get_params(ctx)
        factory: Factory | None = ctx.meta.get(_FACTORY)
        if factory is None:
            return own
        options = factory.options()
        taken = {word for one in own for word in (*one.opts, *one.secondary_opts)}
        for option in options:
            for word in (*option.opts, *option.secondary_opts):
                if word in taken:
                    message = f"{word} is an option already: rename that parameter of {escape(factory.name)}"
                    raise WrongUse(message)
        return [*own[:-1], *options, own[-1]]  # --help is the last one

    def _target_in(self, args: list[str]) -> tuple[str | None, list[str]]:
        """Return the first word that isn't an option or the value of one, and all words after it."""
        takes_value = {
            opt
            for one in self.params
            if isinstance(one, click.Option) and not one.is_flag
            for opt in one.opts
        }
        words = iter(args)
        for word in words:
            if not word.startswith("-"):
                return word, list(words)
            if word in takes_value:
                next(words, None)
        return None, []

    def _look_up(self, ctx: click.Context, word: str, *, is_needed: bool) -> None:
        target: Any = self.params[0].type.convert(word, self.params[0], ctx)
        try:
            ctx.meta[_FACTORY] = find_factory(target, show_traceback=False)
        except (SchemaError, WrongUse):
            if is_needed:
                raise  # it can't be said which options there are


def factory_of(ctx: click.Context) -> Factory | None:
    """Return the function that makes the tools of a command line, if its words ask for it."""
    found: Factory | None = ctx.meta.get(_FACTORY)
    return found


def given_to_factory(ctx: click.Context) -> dict[str, Any]:
    """Return what the function that makes the tools gets: parameter to JSON value."""
    factory = factory_of(ctx)
    return {} if factory is None else factory.given(ctx)
