"""A shop as an MCP server without an SDK; its refusals are German and French texts."""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from typing import Any

FAULTS = frozenset(os.environ.get("FAULT", "").split(","))
"""Names of the faults that are switched on."""

CATEGORIES = ["bread", "cake", "drink"]
DATE_TIME = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])[Tt ]"
    r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
)
SHOWN = 20


class Refused(Exception):  # noqa: N818  # a refusal is the right answer
    """A call that the shop refuses, with the reason for the customer."""


def closed(properties: dict[str, Any], required: list[str], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        **more,
    }


ARTICLE_ID = {
    "type": "string",
    "minLength": 1,
    "maxLength": 40,
    "description": "The article_id of list_articles.",
}
ORDER_ID = {"type": "string", "minLength": 1, "maxLength": 40, "description": "The order_id of an order."}
ARTICLE = closed(
    {
        "article_id": {"type": "string"},
        "name": {"type": "string"},
        "category": {"type": "string", "enum": CATEGORIES},
        "price_cents": {"type": "integer", "minimum": 0},
        "views": {"type": "integer"},
    },
    ["article_id", "name", "category", "price_cents", "views"],
)
ORDER = closed(
    {
        "order_id": {"type": "string"},
        "article_id": {"type": "string"},
        "quantity": {"type": "integer"},
        "state": {"type": "string", "enum": ["open", "cancelled"]},
    },
    ["order_id", "article_id", "quantity", "state"],
)

TOOLS: dict[str, dict[str, Any]] = {
    "list_articles": {
        "description": "List the newest 20 articles of the shop.",
        "inputSchema": closed({}, []),
        "outputSchema": closed({"articles": {"type": "array", "items": ARTICLE}}, ["articles"]),
        "annotations": {"readOnlyHint": True},
    },
    "find_articles": {
        "description": "Find articles by a part of their name.",
        "inputSchema": closed(
            {
                "query": {"type": "string", "maxLength": 80, "description": "A part of the name."},
                "category": {
                    "anyOf": [{"type": "string", "enum": CATEGORIES}, {"type": "null"}],
                    "description": "Only articles of this category; null for all.",
                },
                "max_price": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 1_000_000_000_000,
                    "description": "The highest price in cents.",
                },
                "labels": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": 30},
                    "maxItems": 8,
                    "description": "Labels that an article must have.",
                },
            },
            ["query"],
        ),
        "outputSchema": closed({"articles": {"type": "array", "items": ARTICLE}}, ["articles"]),
        "annotations": {"readOnlyHint": True},
    },
    "get_article": {
        "description": "Show one article.",
        "inputSchema": closed({"article_id": ARTICLE_ID}, ["article_id"]),
        "outputSchema": ARTICLE,
        "annotations": {"readOnlyHint": True},
    },
    "add_article": {
        "description": "Add an article to the shop.",
        "inputSchema": closed(
            {
                "name": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 80,
                    "description": "The name on the sign.",
                },
                "category": {"type": "string", "enum": CATEGORIES, "description": "Its category."},
                "price_cents": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 1_000_000,
                    "description": "The price in cents.",
                },
                "details": closed(
                    {
                        "weight_g": {"type": "integer", "minimum": 1, "description": "The weight in grams."},
                        "note": {
                            "anyOf": [{"type": "string", "maxLength": 100}, {"type": "null"}],
                            "description": "A note for the baker.",
                        },
                    },
                    ["weight_g"],
                    description="More about the article.",
                ),
            },
            ["name", "category", "price_cents"],
        ),
        "outputSchema": ARTICLE,
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
    },
    "order": {
        "description": "Order an article.",
        "inputSchema": closed(
            {
                "article_id": ARTICLE_ID,
                "quantity": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1000,
                    "description": "How many pieces.",
                },
                "deliver_at": {"type": "string", "format": "date-time", "description": "When to deliver."},
                "gift": {"type": "boolean", "description": "Whether it gets wrapped."},
                "message": {"type": "string", "maxLength": 200, "description": "A text for the card."},
            },
            ["article_id", "quantity"],
        ),
        "outputSchema": ORDER,
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
    },
    "list_orders": {
        "description": "List the newest 20 orders.",
        "inputSchema": closed({}, []),
        "outputSchema": closed({"orders": {"type": "array", "items": ORDER}}, ["orders"]),
        "annotations": {"readOnlyHint": True},
    },
    "cancel_order": {
        "description": "Cancel an order, if it isn't cancelled yet.",
        "inputSchema": closed({"order_id": ORDER_ID}, ["order_id"]),
        "annotations": {"readOnlyHint": False, "idempotentHint": True},
    },
}

GERMAN = {
    "missing": "Der Parameter {at} fehlt.",
    "unknown": "Den Parameter {at} gibt es nicht.",
    "type": "{at} hat den falschen Typ, erwartet wird: {is_}.",
    "enum": "{at} muss eines von {is_} sein.",
    "minimum": "{at} ist zu klein, mindestens {is_}.",
    "maximum": "{at} ist zu groß, höchstens {is_}.",
    "minLength": "{at} ist zu kurz, mindestens {is_} Zeichen.",
    "maxLength": "{at} ist zu lang, höchstens {is_} Zeichen.",
    "maxItems": "{at} hat zu viele Einträge, höchstens {is_}.",
    "format": "{at} ist kein Zeitpunkt mit Datum und Uhrzeit.",
    "any": "{at} passt zu keiner der erlaubten Formen: {is_}.",
}
FRENCH = {
    "missing": "Il manque le paramètre {at}.",
    "unknown": "Le paramètre {at} n'existe pas.",
    "type": "{at} n'est pas du bon type, attendu : {is_}.",
    "enum": "{at} doit être l'une des valeurs {is_}.",
    "minimum": "{at} est trop petit, au moins {is_}.",
    "maximum": "{at} est trop grand, au plus {is_}.",
    "minLength": "{at} est trop court, au moins {is_} caractères.",
    "maxLength": "{at} est trop long, au plus {is_} caractères.",
    "maxItems": "{at} a trop d'éléments, au plus {is_}.",
    "format": "{at} n'est pas une date avec l'heure.",
    "any": "{at} ne correspond à aucune forme permise : {is_}.",
}
FRENCH_TOOLS = ("order", "add_article", "cancel_order")

SIZES = {
    "minimum": lambda value, limit: value >= limit,
    "maximum": lambda value, limit: value <= limit,
    "minLength": lambda value, limit: len(value) >= limit,
    "maxLength": lambda value, limit: len(value) <= limit,
    "maxItems": lambda value, limit: len(value) <= limit,
}


def fits_type(value: Any, name: str) -> bool:
    if name == "integer":
        return not isinstance(value, bool) and (
            isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        )
    types = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}
    return isinstance(value, types[name])


def check(value: Any, schema: dict[str, Any], at: str, texts: dict[str, str]) -> None:
    """Refuse a value that its schema refuses."""

    def refuse(kind: str, is_: Any = "", where: str = at) -> None:
        raise Refused(texts[kind].format(at=where, is_=is_))

    if "anyOf" in schema:
        for branch in schema["anyOf"]:
            try:
                return check(value, branch, at, texts)
            except Refused:
                continue
        return refuse("any", json.dumps(schema["anyOf"]))
    if not fits_type(value, schema["type"]):
        return refuse("type", schema["type"])
    if "enum" in schema and value not in schema["enum"]:
        return refuse("enum", ", ".join(schema["enum"]))
    for kind, holds in SIZES.items():
        if kind in schema and not holds(value, schema[kind]):
            refuse(kind, schema[kind])
    if schema.get("format") == "date-time" and not DATE_TIME.fullmatch(value):
        refuse("format")
    for index, item in enumerate(value if schema["type"] == "array" else ()):
        check(item, schema["items"], f"{at}[{index}]", texts)
    if schema["type"] == "object":
        check_keys(value, schema, at, refuse, texts)
    return None


def check_keys(value: dict[str, Any], schema: dict[str, Any], at: str, refuse: Any, texts: Any) -> None:
    prefix = f"{at}." if at else ""
    for key in schema["required"]:
        if key not in value:
            refuse("missing", where=prefix + key)
    for key, item in value.items():
        if key not in schema["properties"]:
            refuse("unknown", where=prefix + key)
        check(item, schema["properties"][key], prefix + key, texts)


articles: dict[str, dict[str, Any]] = {
    f"art-{number}": {
        "article_id": f"art-{number}",
        "name": name,
        "category": category,
        "price_cents": price,
        "views": 0,
    }
    for number, (name, category, price) in enumerate(
        [("Roggenbrot", "bread", 420), ("Käsekuchen", "cake", 350), ("Apfelschorle", "drink", 250)], 1
    )
}
orders: dict[str, dict[str, Any]] = {}


def newest(entries: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return list(entries.values())[-SHOWN:]


def article_of(article_id: str, text: str) -> dict[str, Any]:
    if article_id not in articles:
        raise Refused(text.format(article_id))
    return articles[article_id]


def list_articles() -> dict[str, Any]:
    return {"articles": newest(articles)}


def find_articles(
    query: str, category: str | None = None, max_price: int = 10**12, labels: list[str] | None = None
) -> dict[str, Any]:
    found = [
        each
        for each in articles.values()
        if query in each["name"]
        and category in {None, each["category"]}
        and each["price_cents"] <= max_price
        and not labels
    ]
    return {"articles": found[-SHOWN:]}


def get_article(article_id: str) -> dict[str, Any]:
    article = article_of(article_id, "Einen Artikel mit article_id {!r} führen wir nicht.")
    if "read_only_writes" in FAULTS:
        article["views"] += 1
    if "wrong_output" in FAULTS:
        return {**article, "price_cents": f"{article['price_cents'] / 100:.2f} €"}
    return article


def add_article(
    name: str, category: str, price_cents: int = 0, details: dict[str, Any] | None = None
) -> dict[str, Any]:
    del details
    article_id = f"art-{len(articles) + 1}"
    articles[article_id] = {
        "article_id": article_id,
        "name": name,
        "category": category,
        "price_cents": int(price_cents),
        "views": 0,
    }
    return articles[article_id]


def order(article_id: str, quantity: int, **options: Any) -> dict[str, Any]:
    if "hangs" in FAULTS and options.get("gift"):
        sys.stdin.read()
        sys.exit()
    if "optional_required" in FAULTS and "message" not in options:
        raise Refused("Il manque le paramètre message.")
    article_of(article_id, "Il n'y a pas d'article avec article_id {!r}.")
    order_id = f"cmd-{len(orders) + 1}"
    orders[order_id] = {
        "order_id": order_id,
        "article_id": article_id,
        "quantity": int(quantity),
        "state": "open",
    }
    return orders[order_id]


def list_orders() -> dict[str, Any]:
    return {"orders": newest(orders)}


def cancel_order(order_id: str) -> dict[str, Any]:
    if order_id not in orders:
        raise Refused(f"Erreur : la commande order_id {order_id!r} n'existe pas.")
    orders[order_id]["state"] = "cancelled"
    return orders[order_id]


FUNCTIONS = {
    function.__name__: function
    for function in (list_articles, find_articles, get_article, add_article, order, list_orders, cancel_order)
}


def refuse_by_fault(name: str, arguments: dict[str, Any]) -> None:
    """Refuse what the schema allows, if such a fault is switched on."""
    if name == "find_articles":
        if "enum_member" in FAULTS and arguments.get("category") == "drink":
            raise Refused("category muss eines von bread, cake sein.")
        if "null_refused" in FAULTS and "category" in arguments and arguments["category"] is None:
            raise Refused("category hat den falschen Typ, erwartet wird: string.")
        if "large_number" in FAULTS and arguments.get("max_price", 0) >= 2**31:
            raise Refused("max_price ist zu groß, höchstens 2147483647.")
        if "non_ascii" in FAULTS and not arguments["query"].isascii():
            raise Refused("query darf nur Zeichen von ASCII enthalten.")
        if "empty_list" in FAULTS and arguments.get("labels") == []:
            raise Refused("labels hat zu wenige Einträge, mindestens 1.")
    if name == "add_article" and "nested_null" in FAULTS:
        details = arguments.get("details", {})
        if "note" in details and details["note"] is None:
            raise Refused("details.note n'est pas du bon type, attendu : string.")


def schema_used(name: str) -> dict[str, Any]:
    """Return the schema by which the calls of a tool are judged: a fault may take a part of it away."""
    schema = TOOLS[name]["inputSchema"]
    if name == "add_article" and "missing_accepted" in FAULTS:
        return {**schema, "required": ["name", "category"]}
    if name == "order" and "out_of_range_accepted" in FAULTS:
        return {**schema, "properties": {**schema["properties"], "quantity": {"type": "integer"}}}
    return schema


def traceback_of(wanted: Any) -> str:
    """Return what Python says when it folds something that isn't a text; it names no parameter."""
    try:
        return str(wanted.casefold())
    except AttributeError:
        return traceback.format_exc()


def call(name: str, arguments: Any) -> dict[str, Any]:
    """Call a tool; return the result of tools/call."""
    wanted = arguments.get("article_id")
    if "traceback" in FAULTS and name == "get_article" and not isinstance(wanted, str):
        return {"content": [{"type": "text", "text": traceback_of(wanted)}], "isError": True}
    try:
        check(arguments, schema_used(name), "", FRENCH if name in FRENCH_TOOLS else GERMAN)
        refuse_by_fault(name, arguments)
        result = FUNCTIONS[name](**arguments)
    except Refused as refused:
        flag = {} if name == "cancel_order" and "unflagged" in FAULTS else {"isError": True}
        return {"content": [{"type": "text", "text": str(refused)}], **flag}
    content = [{"type": "text", "text": json.dumps(result)}]
    return (
        {"content": content, "structuredContent": result}
        if "outputSchema" in TOOLS[name]
        else {"content": content}
    )


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the part of an answer that isn't its id."""
    if method == "initialize":
        info = {"name": "shop", "version": "1"}
        return {
            "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        }
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [{"name": name, **tool} for name, tool in TOOLS.items()]}}
    if method == "tools/call":
        if params.get("name") not in TOOLS:
            return {"error": {"code": -32602, "message": f"Das Werkzeug {params.get('name')} gibt es nicht."}}
        return {"result": call(params["name"], params.get("arguments") or {})}
    return {"error": {"code": -32601, "message": f"Die Methode {method} gibt es nicht."}}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            reply = answer(message["method"], message.get("params") or {})
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
