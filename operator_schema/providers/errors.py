"""What can go wrong with a provider's response."""

from __future__ import annotations

__all__ = ["ResponseError"]


class ResponseError(ValueError):
    """A response can't be read: it is an error of the provider, or has another form.

    Attributes:
        provider: its name.
        message: what is wrong.
    """

    def __init__(self, provider: str, message: str) -> None:
        super().__init__(provider, message)
        self.provider = provider
        self.message = message

    def __str__(self) -> str:
        """Write the provider and the message."""
        return f"{self.provider}: {self.message}"
