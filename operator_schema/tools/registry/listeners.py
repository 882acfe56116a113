"""Those who want to know when a registry changes."""

from __future__ import annotations

from _thread import RLock
from types import MethodType
from typing import TYPE_CHECKING, Any

from ...immutable import Value
from ...wording import received
from ..awaitables import close_awaitable, is_awaitable
from ..log import ERROR, write_log
from ..signature import is_coroutine_function, is_generator_function

if TYPE_CHECKING:
    from collections.abc import Callable

    Listener = Callable[["RegistryChange"], object]

__all__ = ["Listeners", "RegistryChange"]


class RegistryChange(Value):
    """What has changed in a registry.

    Attributes:
        added: names of the tools that were added, in their order.
        removed: names of the tools that were removed.
        switched: names of the tools that another switch decides about now; whether the model may call
            them may be the same as before.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    switched: tuple[str, ...] = ()


class Listeners:
    """Functions that are called with each change.

    A bound method is referred to weakly, if its instance allows that.
    """

    __slots__ = ("_lock", "_subscriptions")

    def __init__(self) -> None:
        self._lock = RLock()  # an instance that goes meanwhile may unsubscribe, in this thread
        self._subscriptions: tuple[_Subscription, ...] = ()

    def add(self, listener: Listener) -> Callable[[], None]:
        """Add a plain function.

        Returns:
            A function that removes it.

        Raises:
            TypeError: it isn't a plain function.
        """
        _check_listener(listener)
        subscription = _Subscription(listener)
        with self._lock:
            alive = [one for one in self._subscriptions if one.listener() is not None]
            self._subscriptions = (*alive, subscription)

        def unsubscribe() -> None:
            subscription.listener = _nobody
            with self._lock:
                self._subscriptions = tuple([one for one in self._subscriptions if one is not subscription])

        return unsubscribe

    def tell(self, **names: tuple[str, ...]) -> None:
        """Call each listener; one that fails is logged, and the others are called all the same.

        Args:
            names: the attributes of `RegistryChange`; nobody is called if all are empty.
        """
        if not self._subscriptions or not any(names.values()):
            return
        change = RegistryChange(**names)
        for subscription in self._subscriptions:
            listener = subscription.listener()
            if listener is not None:
                _call(listener, change)


class _Subscription:
    """A listener until it is unsubscribed, or until the instance whose method it is, is gone."""

    __slots__ = ("listener",)

    def __init__(self, listener: Listener) -> None:
        self.listener: Callable[[], Listener | None] = _reference(listener)


def _nobody() -> None:
    return None


def _reference(listener: Listener) -> Callable[[], Listener | None]:
    if isinstance(listener, MethodType):
        from weakref import WeakMethod

        try:
            return WeakMethod(listener)
        except TypeError:
            pass  # its instance has no room for weak references
    return lambda: listener


def _check_listener(listener: object) -> None:
    what = received(listener)
    if callable(listener):
        if not is_coroutine_function(listener) and not is_generator_function(listener):
            return
        what = "one that is async or a generator"
    message = f"a listener is a plain function (def) that takes the change, not {what}"
    raise TypeError(message)


def _call(listener: Listener, change: RegistryChange) -> None:
    try:
        answer: Any = listener(change)
        if is_awaitable(answer):
            close_awaitable(answer)
            message = "a listener is a plain function: what it returns isn't awaited"
            raise TypeError(message)  # noqa: TRY301  # logged like every other failure
    except Exception as error:  # noqa: BLE001  # a listener is your program's own code
        write_log(ERROR, "a listener of the registry failed", error=error)
