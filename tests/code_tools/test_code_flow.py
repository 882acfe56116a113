"""A model reads a code base before it writes: the whole way, in Go and in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema import Executor, RawCall
from operator_schema.code_tools import CodeBase, code_tools
from operator_schema.code_tools.index import Index
from operator_schema.code_tools.source_text import ChangedError

GO = Path(__file__).parent / "go_sample"
OURS = Path(__file__).parents[2] / "operator_schema"


@pytest.fixture(scope="module")
def go():
    return CodeBase(GO)


@pytest.fixture(scope="module")
def ours():
    code = CodeBase(OURS)
    code.refresh()  # a call has 20 seconds for that, which a busy machine may need
    return code


def test_step_by_step_to_a_new_method_in_go():
    executor = Executor(code_tools(GO))

    def call(tool, **arguments):
        result = executor.run_sync(RawCall(None, tool, arguments))
        assert not result.is_error, result.content
        return json.loads(result.content)

    interface = call("inspect", name="UserRepository")
    assert interface["found"]
    assert interface["kind"] == "interface"
    assert [method["name"] for method in interface["methods"]] == ["GetByEmail", "Create", "Update", "Delete"]
    assert "Create(ctx context.Context, user *User) error" in interface["definition"]
    implementations = call("search", pattern="*UserRepository", kind="struct")
    assert [one["name"] for one in implementations["results"]] == [
        "PostgresUserRepository",
        "MockUserRepository",
    ]
    create = call("read_func", name="PostgresUserRepository.Create")
    assert "INSERT INTO users" in create["implementation"]
    similar = call("search", pattern="Create*", kind="method")
    assert {one["name"] for one in similar["results"]} >= {
        "ProductService.CreateProduct",
        "OrderService.CreateOrder",
    }
    product = call("read_func", name="ProductService.CreateProduct")
    assert 'errors.New("a product has a name")' in product["implementation"]
    checked = call("check_syntax", code="return user, nil", context="function_body")
    assert (checked["valid"], checked["errors"]) == (True, [])


def test_a_constant_has_its_value_and_its_namesakes(go):
    found = go.inspect("MaxRetries")
    assert (found["kind"], found["value"]) == ("const", "5")
    assert found["location"] == "orders/services.go:31"
    assert [(one["name"], one["location"]) for one in found["others"]] == [
        ("MaxRetries", "users/repository.go:11")
    ]
    other = go.inspect("users/repository.go:MaxRetries")
    assert (other["value"], other["doc"]) == ("3", "MaxRetries is how often a query is tried again.")
    assert "others" not in other
    assert go.inspect("users.MaxRetries")["value"] == "3"


def test_a_struct_has_its_fields_and_methods(go):
    found = go.inspect("User")
    assert found["kind"] == "struct"
    assert [field["name"] for field in found["fields"]] == ["ID", "Email", "CreatedAt", "Profile"]
    assert found["fields"][2] == {"name": "CreatedAt", "type": "time.Time"}
    service = go.inspect("UserService")
    assert [one["name"] for one in service["methods"]] == ["CreateUser", "note"]
    assert go.inspect("OrderService.CreateOrder")["signature"].startswith(
        "func (s *OrderService[T]) CreateOrder("
    )


def test_what_init_sets_is_a_field_but_its_variables_are_not(tmp_path):
    (tmp_path / "a.py").write_text(
        "class A:\n"
        "    size: int = 1\n"
        "    if True:\n"
        "        more = 2\n"
        "    def __init__(self, name):\n"
        "        local = other.name = name\n"
        "        if name:\n"
        "            rest, self.name = name\n"
        "            self.deep.name = 1\n"
    )
    fields = CodeBase(tmp_path).inspect("A")["fields"]
    assert [one["name"] for one in fields] == ["size", "more", "name"]


def test_what_a_function_uses_and_calls(go):
    found = go.read_func("CreateUser")
    assert found["name"] == "UserService.CreateUser"
    assert found["imports_used"] == ['"context"', '"fmt"', '"strings"', '"example.com/shop/storage"']
    calls = {one["name"]: one.get("location") for one in found["calls"]}
    assert calls["isEmail"] == "users/service.go:36"
    assert calls["s.note"] == "users/service.go:32"
    assert calls["storage.Flush"] == "storage/postgres.go:38"
    assert calls["strings.ToLower"] is None
    numbered = go.read_func("isEmail", line_numbers=True)["implementation"]
    assert numbered.splitlines()[0] == "36: func isEmail(text string) bool {"
    assert (
        go.read_func("isEmail", first_line=37)["implementation"].splitlines()[0].strip().startswith("return")
    )


def test_what_isnt_there_has_near_names(go):
    assert go.inspect("UserRepositry") == {
        "found": False,
        "name": "UserRepositry",
        "reason": "not declared",
        "nearest": ["UserRepository", "MockUserRepository", "PostgresUserRepository"],
        "note": 'No file that is read declares "UserRepositry".',
    }
    missed = go.read_func("CreateUsr")
    assert (missed["found"], missed["nearest"][0]) == (False, "UserService.CreateUser")
    assert go.read_func("User")["note"] == "This name is a struct, not a function: call inspect."


def test_our_own_package(ours):
    codec = ours.inspect("Codec")
    assert (codec["kind"], codec["location"].partition(":")[0]) == ("class", "codec/codec.py")
    assert codec["definition"].endswith("\n    ...")
    assert "doc" not in codec  # the definition has it
    methods = {one["name"]: one["signature"] for one in codec["methods"]}
    assert methods["decode"] == "def decode(self, value: object) -> T"
    renderers = ours.search("*Renderer", kind="class")
    assert renderers["results"][0]["name"] == "Renderer"
    decode = ours.read_func("Codec.decode")
    calls = {one["name"]: one.get("location", "") for one in decode["calls"]}
    assert calls["self._decode_interpreted"].startswith("codec/codec.py:")
    assert ours.inspect("Value.replace")["kind"] == "method"
    assert ours.inspect("Kind")["kind"] == "type"
    assert "rest" not in {one["name"] for one in ours.inspect("Value")["fields"]}


def test_search_counts_takes_both_cases_and_kinds(ours):
    found = ours.search("*", limit=3)
    assert len(found["results"]) == 3
    assert found["more"] == 1000
    assert "longer" in found["note"]
    assert ours.search("codec_of?name")["results"][0]["name"] == "codec_of_name"
    assert ours.search("CODEC_OF_NAME")["results"][0]["name"] == "codec_of_name"
    assert {one["kind"] for one in ours.search("*Wire", kind="struct")["results"]} == {"class"}
    assert {one["kind"] for one in ours.search("History", kind="interface")["results"]} == {"protocol"}
    assert ours.search("ChatWire", kind="func") == {
        "results": [],
        "reason": "of another kind",
        "note": "Nothing of this kind fits, but the class ChatWire does: leave the kind out.",
    }
    assert all(one["name"].startswith("Codec.") for one in ours.search("Codec.dec*")["results"])
    assert ours.search("*") == ours.search("*")


@pytest.mark.parametrize(
    "arguments", [{"pattern": "x" * 201}, {"pattern": "*", "limit": 0}, {"pattern": "*", "limit": 201}]
)
def test_search_refuses_what_is_out_of_bounds(ours, arguments):
    with pytest.raises(ValueError, match=r"at most 200|from 1 to 200"):
        ours.search(**arguments)


def _texts():
    for each in code_tools(GO):
        for name, schema in each.input_schema()["properties"].items():
            parts = schema.get("anyOf", [schema])
            if any(part.get("type") == "string" and "enum" not in part for part in parts):
                yield each.name, name, schema


@pytest.mark.parametrize(
    ("tool", "argument", "schema"), list(_texts()), ids=lambda part: part if isinstance(part, str) else ""
)
def test_a_text_that_is_too_long_is_refused_with_its_limit(tool, argument, schema):
    most = schema["maxLength"]
    tools = code_tools(GO)
    needed = dict.fromkeys(tools[tool].input_schema().get("required", ()), "x")
    refused = Executor(tools).run_sync(RawCall(None, tool, {**needed, argument: "x" * (most + 1)}))
    assert refused.is_error
    assert f"{argument}:" in refused.content
    assert str(most) in refused.content.replace(",", "")
    taken = Executor(tools).run_sync(RawCall(None, tool, {**needed, argument: "x" * most}))
    assert not taken.is_error or "isn't a function to put code in" in taken.content


def test_a_model_reads_that_files_keep_changing(monkeypatch):
    def changing(*_, **__):
        raise ChangedError

    monkeypatch.setattr("operator_schema.code_tools.code_base.describe_declaration", changing)
    result = Executor(code_tools(GO)).run_sync(RawCall(None, "inspect", {"name": "UserRepository"}))
    assert result.content == "the files change while they are read: try again"


@pytest.mark.slow("asks each tool with each budget")
@pytest.mark.parametrize("budget", [1000, 3000])
def test_every_result_fits_the_budget(budget):
    base = CodeBase(OURS / "codec", budget=budget)
    index = Index(str(OURS / "codec"))
    index.refresh()
    names = sorted(set(index.names()))
    for number, name in enumerate(names[::3]):
        for result in (base.inspect(name), base.read_func(name, line_numbers=bool(number % 2))):
            assert len(json.dumps(result, ensure_ascii=False)) <= budget, name
    for pattern in ("*", "*e*", "_*"):
        assert len(json.dumps(base.search(pattern, limit=200), ensure_ascii=False)) <= budget


def test_a_long_function_is_read_on_where_it_was_cut(tmp_path):
    lines = ["def long():", *[f"    x{number} = {number}" for number in range(200)]]
    (tmp_path / "a.py").write_text("\n" + "\n".join(lines) + "\n")
    base = CodeBase(tmp_path, budget=2000)
    read, line = [], None
    while len(read) < len(lines):
        found = base.read_func("long", first_line=line)
        read += found["implementation"].splitlines()
        if "note" in found:
            line = int(found["note"].partition("first_line = ")[2].partition(".")[0])
            assert line == len(read) + 2
    assert read == lines


SHOP = """\
from typing import overload

class Shop:
    \"\"\"Sells.\"\"\"

    @property
    def open(self): return not self.closed
    @app.route("/", name="x")
    @staticmethod
    def sell(name): ...

@overload
def price(of: str) -> int: ...
@overload
def price(of: int) -> int: ...
def price(of): return ask(of)[0].total() + ", ".join(of) + price(1)
"""


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text(
        "from .api import Shop as Store\nfrom .empty import *\nfrom . import *\nfrom .api import *\n"
    )
    (tmp_path / "shop" / "api.py").write_text(SHOP)
    (tmp_path / "shop" / "main.py").write_text(
        "import shop\n"
        "from shop import Store\n"
        "def main():\n"
        "    Store.sell(1)\n"
        "    shop.price(2)\n"
        "    shop.other()\n"
    )
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "examples").mkdir()
    (tmp_path / "a" / "examples" / "a.py").write_text("class Shop: ...\n")
    return CodeBase(tmp_path)


def test_overloads_come_after_the_function_that_they_describe(shop):
    found = shop.read_func("price")
    assert found["implementation"].startswith("def price(of): return")
    assert [one["signature"] for one in found["others"]] == [
        "@overload def price(of: str) -> int",
        "@overload def price(of: int) -> int",
    ]
    assert [(one["name"], one.get("location")) for one in found["calls"]] == [
        ("….total", None),
        ("ask", None),
        ("….join", None),
        ("price", "shop/api.py:16"),
    ]


def test_decorators_are_named_since_they_change_how_something_is_called(shop):
    found = shop.inspect("Shop")
    assert found["location"] == "shop/api.py:3"  # not that of an example
    assert found["definition"] == 'class Shop:\n    """Sells."""\n    ...'
    assert [one["signature"] for one in found["methods"]] == [
        "@property def open(self)",
        '@app.route("/", name="x") @staticmethod def sell(name)',
    ]


def test_calls_of_what_a_package_exports_have_places(shop):
    calls = shop.read_func("main")["calls"]
    assert [(one["name"], one.get("location")) for one in calls] == [
        ("Store.sell", "shop/api.py:10"),
        ("shop.price", "shop/api.py:16"),
        ("shop.other", None),
    ]


def test_modules_that_export_from_each_other_end(tmp_path):
    (tmp_path / "a.py").write_text("from b import x\ndef f(): x()\n")
    (tmp_path / "b.py").write_text("from a import x\n")
    assert CodeBase(tmp_path).read_func("f")["calls"] == [{"name": "x"}]


def test_of_many_namesakes_only_the_first_have_signatures(tmp_path):
    for number in range(70):
        (tmp_path / f"m{number:02}.py").write_text("def same(x): ...\n")
    found = CodeBase(tmp_path).inspect("same")
    assert ["signature" in one for one in found["others"]] == [True] * 10 + [False] * 40
    assert found["note"] == "19 of 69 declarations of this name are left out: give the path too, path:name."


def test_of_many_methods_those_left_out_can_be_searched_for(tmp_path):
    body = "".join(f"    def m{number:03}(self): ...\n" for number in range(100))
    (tmp_path / "a.py").write_text(f"class Many:\n{body}")
    base = CodeBase(tmp_path, budget=2000)
    found = base.inspect("Many")
    left = 100 - len(found["methods"])
    assert found["note"] == f"{left} of 100 methods are left out: search for Many.*."
    more = base.search("Many.*", limit=100)
    assert len(more["results"]) + more["more"] == 100


def test_what_a_file_declares(go, ours):
    found = go.search("users/service.go:*")
    assert [one["name"] for one in found["results"]] == [
        "UserService",
        "UserService.CreateUser",
        "UserService.note",
        "isEmail",
    ]
    assert [one["name"] for one in go.search("service.go:*", kind="func")["results"]] == ["isEmail"]
    assert go.search("service.go:*User*", limit=1)["more"] == 1
    missing = {"reason": "no such file", "note": "There is no file nothing.go below the root."}
    assert go.search("nothing.go:*") == {"results": [], **missing}
    assert go.search(":")["reason"] == "not understood"
    note = "This is a file: search for codec/codec.py:* to list what it declares."
    assert ours.inspect("codec/codec.py") == {
        "found": False,
        "name": "codec/codec.py",
        "reason": "a file",
        "note": note,
    }


def test_a_search_that_finds_little_tells_of_other_cases(tmp_path):
    (tmp_path / "a.py").write_text("class Budget: ...\nclass BUDGETS: ...\ndef budget(): ...\n_1 = 2\n")
    base = CodeBase(tmp_path)
    found = base.search("*budget*")
    assert [one["name"] for one in found["results"]] == ["budget"]
    assert found["note"] == 'In other upper or lower case there are also "Budget", "BUDGETS".'
    assert "note" not in base.search("_1")
    assert "note" not in base.search("*budget*", kind="func")


def test_the_root_may_be_the_package_that_a_name_begins_with(ours):
    assert ours.inspect("operator_schema.codec.codec.Codec")["location"].startswith("codec/codec.py:")
    assert ours.inspect("operator_schema.schema.render.Renderer")["found"]
    assert not ours.inspect("schema_of.schema.Renderer")["found"]


def test_methods_of_all_bases_are_found(tmp_path):
    files = {
        "base.py": "class Top:\n    def top(self): ...\nclass Meta(type):\n    def odd(self): ...\n",
        "middle.py": "import base as b\nclass Middle(b.Top, Generic[T]):\n    def middle(self): ...\n",
        "low.py": (
            "from middle import Middle\nfrom base import Meta\n"
            "class Loop(Low): ...\n"
            "class Low(Loop, Middle[dict[str, Meta]], metaclass=Meta):\n"
            "    def f(self): self.top(self.middle()).x(self.odd(), self.f())\n"
            "    def top(self): super().top(super().top.x(), super().f()).y()\n"
        ),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    calls = CodeBase(tmp_path).read_func("Low.f")["calls"]
    assert {one["name"]: one.get("location") for one in calls} == {
        "….x": None,
        "self.top": "low.py:6",
        "self.middle": "middle.py:3",
        "self.odd": None,
        "self.f": "low.py:5",
    }
    calls = CodeBase(tmp_path).read_func("low.Low.top")["calls"]
    assert {one["name"]: one.get("location") for one in calls} == {
        "….y": None,
        "super().top": "base.py:2",
        "super().top.x": None,
        "super().f": None,
        "super": None,
    }


@pytest.mark.parametrize(
    ("files", "call", "place"),
    [
        ({"__init__.py": "def f(): g()", "b.py": "def g(): ..."}, "g", None),
        ({"__init__.py": "def f(): g()\n\ndef g(): ...", "b.py": "def g(): ..."}, "g", "__init__.py:3"),
        (
            {"c.py": "import a\ndef f(): a.g()", "a.py": "def g(): ...", "x/a.py": "def g(): ..."},
            "a.g",
            "a.py:1",
        ),
        ({"c.py": "import a\ndef f(): a.g()", "src/a.py": "def g(): ..."}, "a.g", "src/a.py:1"),
        ({"c.py": "import p.a\ndef f(): p.a.g()", "a.py": "def g(): ..."}, "p.a.g", "a.py:1"),
        (
            {"c.py": "import p.a\ndef f(): p.a.g()", "a.py": "def g(): ...", "p/__init__.py": ""},
            "p.a.g",
            None,
        ),
        ({"c.py": "def f(): g()\n" + "def g(): ...\n" * 3}, "g", "c.py:2"),
        ({"a.py": "def f(): B.g()\nclass B:\n def g(self): ..."}, "B.g", "a.py:3"),
        ({"a.go": "package p\nfunc f(b c) { b.G() }\ntype b int\nfunc (b) G() {}"}, "b.G", None),
    ],
)
def test_a_call_has_the_place_of_its_full_name(tmp_path, files, call, place):
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(f"{text}\n")
    (called,) = CodeBase(tmp_path).read_func("f")["calls"]
    assert (called["name"], called.get("location")) == (call, place)


@pytest.mark.parametrize(
    ("bases", "place"),
    [
        ("B", "a.py:1"),
        ("X, k=B", None),
        ("X, k=B, *B", None),
        ("X[B], Y[Z[B]]", None),
        ("X[Z[B]], B", "a.py:1"),
        ("X=[B], metaclass=B", None),
        (", ".join([*[f"X{i}" for i in range(59)], "B"]), "a.py:1"),
        (", ".join([*[f"X{i}" for i in range(60)], "B"]), None),
    ],
)
def test_a_method_is_that_of_a_base_and_of_no_argument(tmp_path, bases, place):
    (tmp_path / "a.py").write_text(
        f"class B:\n def g(self): ...\nclass A({bases}):\n def f(self): self.g()\n"
    )
    (called,) = CodeBase(tmp_path).read_func("A.f")["calls"]
    assert called.get("location") == (None if place is None else "a.py:2")


def test_of_a_long_chain_of_calls_the_end_is_told(tmp_path):
    (tmp_path / "a.py").write_text(f"def f():\n a{'.b()' * 200}\n {'c' * 301}()\n {'d.' * 149}de()\n")
    names = [one["name"] for one in CodeBase(tmp_path).read_func("f")["calls"]]
    assert names == ["….b", "a.b", f"…{'c' * 300}", "d." * 149 + "de"]


def test_a_type_or_value_that_many_fields_share_is_cut(tmp_path):
    kind = f"struct {{ {'b int; ' * 60}}}"
    (tmp_path / "a.go").write_text(f"package p\ntype A struct {{\n x, y {kind}\n z int\n}}\n")
    x, y, z = CodeBase(tmp_path).inspect("A")["fields"]
    assert x == {"name": "x", "type": f"{kind[:300]}…"}
    assert y["type"] == x["type"]
    assert z == {"name": "z", "type": "int"}
    value = f"[{', '.join(['1'] * 200)}]"
    (tmp_path / "b.py").write_text(f"class B:\n x = y = {value}\n z = '{'é' * 98}'\n")
    fields = CodeBase(tmp_path).inspect("B")["fields"]
    assert [one["value"] for one in fields] == [f"{value[:100]}…", f"{value[:100]}…", f"'{'é' * 98}'"]


@pytest.mark.parametrize(("length", "is_told"), [(300, True), (301, False)])
def test_imports_from_a_name_without_end_are_left_out(tmp_path, length, is_told):
    (tmp_path / "a.py").write_text(f"from {'a' * length} import b, c\ndef f(): b(), c()\n")
    (tmp_path / "a.rs").write_text(f"use {'a' * (length - 2)}::{{b, c}};\nfn g() {{ b(); c(); }}\n")
    base = CodeBase(tmp_path)
    assert ["imports_used" in base.read_func(name) for name in ("f", "g")] == [is_told, is_told]
