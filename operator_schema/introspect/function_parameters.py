"""Parameters of a function as the fields of an object, kept on the class that is made for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..immutable import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .classes import Declared

__all__ = ["ParameterSource"]


class ParameterSource(Value):
    """What the walk needs of the function behind a class.

    Attributes:
        declared: the parameters that the model gives, in order.
        doc: the docstring of the function, or None.
        others: names that the docstring may describe too, such as those that the host gives.
    """

    declared: Sequence[Declared]
    doc: str | None
    others: Sequence[str]

    if not TYPE_CHECKING:

        def __new__(cls, declared, doc, others):
            self = cls._draft()
            self.declared = declared
            self.doc = doc
            self.others = others
            self.__class__ = cls
            return self
