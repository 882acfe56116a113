"""What the index reads of TypeScript, JavaScript, Java, C and C++."""

from __future__ import annotations

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.language import language_named, language_of
from operator_schema.code_tools.source_text import doc_text, span_text

TYPESCRIPT = """
import base, { Shape as Form, type Size } from "./shapes";
import * as fs from "node:fs";
import old = require("old");
export { area as surface } from "../area";
export * from "./more";
export * as tools from "./tools";

/* A rule for linters. */
/** A circle. */
@sealed
export default class Circle<T> extends base.Round implements Form {
  static readonly PI: number = 3.14;
  #radius = 1;
  // The way round.
  @cached(1)
  get around(): number { return this.#radius; }
  constructor(private readonly at: Point, name: string) { super(); }
  abstract draw(on: Canvas): void;
  grow = (by: number) => this.draw(by);
  [Symbol.iterator]() {}
}
declare namespace Geo.Flat { function plane(a: string): void; const LEVEL: number; }
declare module "m" { export interface Job { name: string; "a-b"?: number; run?(x: number): void } }
export const [one, { two, k: three = 3 }] = [1, 2], four = function () {};
export const five = class { m() {} };
enum Color { Red, Green = 2 }
declare global { var everywhere: string }
function over(a: string): void;
async function* over(a: any) {}
type Pair = [number, number];
let last = 5; // it comes last
export default { a: 1 };
"""
JAVA = """
package com.shop;
import java.util.*;
import static java.lang.Math.max;

/** A user. */
@Deprecated @Table(name = "users")
public final class User<T> extends Base<T> implements Named {
  public static final int LIMIT = 1, MORE[] = {2};
  private String name;
  /** Names it. */
  @Override
  public <U> List<U> named(int a, String... b) throws IOException { return a.b(this.c(max(1, 2))); }
  public User(int x) { super(x); }
  static { LOG.info("loaded"); }
  interface In { int m(); default void d() {} int K = 1; }
  enum Kind { A(1) { void q() {} }, B; int f; void g() {} }
  record Pair(int x, int y) { Pair { } static int z; }
  @interface Mark { int value() default 1; }
}
"""
C = """
#include <stdio.h>
#include "shop.h"
#define LIMIT 10
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#ifdef SHOP
/* Adds two numbers. */
static int
add(int a, int b)
{ return MAX(a, b); }
#endif
typedef struct { int a; char *b, c[3]; int (*call)(int); unsigned bit : 3; } Item;
typedef struct node { struct node *next; union { int i; double d; }; } node;
typedef int (*callback)(void *);
struct later;
enum color { RED, GREEN = 2 } favourite;
static const char *const names[] = {"a"}, *first;
extern int shared;
int prototype(void), *pointing(int), plain;
BEGIN_C_DECLS
SHOP_API int exported(int a);
PyAPI_FUNC(PyObject *) Py_Made(void);
extern int thrown(int a) __THROW __nonnull ((1));
"""
CPP = """
#include <vector>
namespace shop::core {
/// A cart.
template <typename T> class Cart : public Base<T> {
 public:
  Cart();
  ~Cart() = default;
  int size(int a) const noexcept { return items_->size(a); }
  virtual int *total() = 0;
  static constexpr int kMost = 1;
  bool operator==(const Cart &) const;
  operator bool() const;
  enum State { Open, Paid = 2 };
  enum class Way : int { Post };
  struct Line { int price; };
  using Lines = std::vector<Line>;
 private:
  T *items_, more_[3];
};
}
int shop::core::Cart<int>::size(int a) { return ::g(a); }
bool Cart::operator ()(int a) { return true; }
extern "C" { void plain(); }
template <> struct std::hash<Cart> {};
template <typename T> concept Small = sizeof(T) < 8;
namespace { int hidden; }
"""


def read(language, text):
    source = text.encode()
    parsed = language_named(language).parse(source)
    shown = [
        " ".join(
            filter(
                None,
                [one.kind, one.qualified, str(one.line), span_text(source, one.value).replace("\n", " ")],
            )
        )
        for one in parsed.declarations
    ]
    return shown, parsed


def heads(language, text):
    source = text.encode()
    return {
        one.qualified: " ".join(span_text(source, one.head).split())
        for one in language_named(language).parse(source).declarations
        if one.head.end
    }


def docs(language, text):
    source = text.encode()
    return {
        one.qualified: doc_text(source, one)
        for one in language_named(language).parse(source).declarations
        if one.doc.end
    }


def test_typescript():
    shown, parsed = read("typescript", TYPESCRIPT)
    assert not parsed.is_broken
    assert shown == [
        "class Circle 12",
        "var Circle.PI 13 3.14",
        "var Circle.#radius 14 1",
        "method Circle.around 17",
        "method Circle.constructor 18",
        "var Circle.at 18",
        "method Circle.draw 19",
        "method Circle.grow 20",
        "method Circle.[Symbol.iterator] 21",
        "func Geo.Flat.plane 23",
        "const Geo.Flat.LEVEL 23",
        "interface Job 24",
        "var Job.name 24",
        "var Job.a-b 24",
        "method Job.run 24",
        "const one 25 [1, 2]",
        "const two 25 [1, 2]",
        "const three 25 [1, 2]",
        "func four 25",
        "class five 26",
        "method five.m 26",
        "type Color 27",
        "const Color.Red 27",
        "const Color.Green 27 2",
        "var everywhere 28",
        "func over 29",
        "func over 30",
        "type Pair 31 [number, number]",
        "var last 32 5",
    ]
    assert [(one.name, one.target) for one in parsed.imports] == [
        ("base", "./shapes#base"),
        ("Form", "./shapes#Shape"),
        ("Size", "./shapes#Size"),
        ("fs", "node:fs"),
        ("old", "old"),
        ("surface", "../area#area"),
        ("*", "./more"),
        ("tools", "./tools"),
    ]
    assert docs("typescript", TYPESCRIPT) == {"Circle": "A circle.", "Circle.around": "The way round."}
    said = heads("typescript", TYPESCRIPT)
    assert said["Circle"] == "class Circle<T> extends base.Round implements Form"
    assert said["Circle.around"] == "get around(): number"
    assert said["Circle.grow"] == "grow = (by: number) =>"
    assert said["four"] == "four = function ()"


def test_java():
    shown, parsed = read("java", JAVA)
    assert not parsed.is_broken
    assert shown == [
        "class User 8",
        "const User.LIMIT 9 1",
        "const User.MORE 9 {2}",
        "var User.name 10",
        "method User.named 13",
        "method User.User 14",
        "interface User.In 16",
        "method User.In.m 16",
        "method User.In.d 16",
        "const User.In.K 16 1",
        "type User.Kind 17",
        "const User.Kind.A 17 (1)",
        "const User.Kind.B 17",
        "var User.Kind.f 17",
        "method User.Kind.g 17",
        "class User.Pair 18",
        "var User.Pair.x 18",
        "var User.Pair.y 18",
        "method User.Pair.Pair 18",
        "var User.Pair.z 18",
        "interface User.Mark 19",
        "method User.Mark.value 19 1",
    ]
    assert [(one.name, one.target, one.text) for one in parsed.imports] == [
        ("*", "java.util", "import java.util.*"),
        ("max", "java.lang.Math.max", "import static java.lang.Math.max"),
    ]
    assert docs("java", JAVA) == {"User": "A user.", "User.named": "Names it."}
    said = heads("java", JAVA)
    assert said["User"] == "public final class User<T> extends Base<T> implements Named"
    assert said["User.named"] == "public <U> List<U> named(int a, String... b) throws IOException"


def test_c():
    shown, _ = read("c", C)
    assert shown == [
        "const LIMIT 4 10",
        "func MAX 5 ((a) > (b) ? (a) : (b))",
        "func add 9",
        "struct Item 12",
        "var Item.a 12",
        "var Item.b 12",
        "var Item.c 12",
        "var Item.call 12",
        "var Item.bit 12",
        "struct node 13",
        "var node.next 13",
        "var node.i 13",
        "var node.d 13",
        "type callback 14",
        "type color 16",
        "var favourite 16",
        "const RED 16",
        "const GREEN 16 2",
        'const names 17 {"a"}',
        "const first 17",
        "var shared 18",
        "func prototype 19",
        "func pointing 19",
        "var plain 19",
        "func exported 21",
        "func Py_Made 22",
        "func thrown 23",
    ]
    assert docs("c", C) == {"add": "Adds two numbers."}
    said = heads("c", C)
    assert (said["add"], said["MAX"]) == ("static int add(int a, int b)", "#define MAX(a, b)")
    assert said["exported"] == "int exported(int a)"


def test_cpp():
    shown, parsed = read("cpp", CPP)
    assert not parsed.is_broken
    assert shown == [
        "class shop.core.Cart 5",
        "method shop.core.Cart.Cart 7",
        "method shop.core.Cart.~Cart 8",
        "method shop.core.Cart.size 9",
        "method shop.core.Cart.total 10",
        "const shop.core.Cart.kMost 11 1",
        "method shop.core.Cart.operator== 12",
        "method shop.core.Cart.operator bool 13",
        "type shop.core.Cart.State 14",
        "const shop.core.Cart.Open 14",
        "const shop.core.Cart.Paid 14 2",
        "type shop.core.Cart.Way 15",
        "const shop.core.Cart.Way.Post 15",
        "struct shop.core.Cart.Line 16",
        "var shop.core.Cart.Line.price 16",
        "type shop.core.Cart.Lines 17",
        "var shop.core.Cart.items_ 19",
        "var shop.core.Cart.more_ 19",
        "method shop.core.Cart.size 22",
        "method Cart.operator() 23",
        "func plain 24",
        "struct std.hash 25",
        "type Small 26",
        "var hidden 27",
    ]
    assert docs("cpp", CPP) == {"shop.core.Cart": "A cart."}
    assert heads("cpp", CPP)["shop.core.Cart"] == "template <typename T> class Cart : public Base<T>"


def test_a_header_that_is_cpp_is_read_as_cpp():
    assert read("c", CPP)[0] == read("cpp", CPP)[0]


def test_javascript_and_jsx():
    shown, parsed = read(
        "javascript", "export const App = () => <p>it's</p>;\nclass A { static x = 1; m() {} }\n"
    )
    assert not parsed.is_broken
    assert shown == ["func App 1", "class A 2", "var A.x 2 1", "method A.m 2"]
    assert [language_of(f"a{suffix}").name for suffix in (".tsx", ".jsx", ".mjs", ".cts", ".h", ".hpp")] == [
        *("tsx", "javascript", "javascript", "typescript", "c", "cpp")
    ]


@pytest.mark.parametrize(
    ("language", "text", "bases"),
    [
        ("typescript", TYPESCRIPT, [("Circle", "base.Round"), ("Circle", "Form")]),
        ("typescript", "interface A extends B<C>, d.E {}", [("A", "B"), ("A", "d.E")]),
        ("java", JAVA, [("User", "Base"), ("User", "Named")]),
        ("java", "interface A extends B, c.D<E> {}", [("A", "B"), ("A", "c.D")]),
        ("cpp", CPP, [("shop.core.Cart", "Base")]),
        ("cpp", "struct A : B, virtual public c::D<E> {};", [("A", "B"), ("A", "c.D")]),
        ("c", C, []),
    ],
)
def test_bases(language, text, bases):
    assert [tuple(one) for one in read(language, text)[1].bases] == bases


@pytest.mark.parametrize(
    ("language", "text", "kind"),
    [
        ("typescript", "function f(a: b.C<D>) { return { a: E }; }", "b.C"),
        ("typescript", "function f(a: B) { let a = 1; }", ""),
        ("typescript", "const f = (a?: B) => 1;", "B"),
        ("java", "void f(Base<T> a) { int b = 1; }", "Base"),
        ("java", "void f() { Base a = g(); for (Other a : b) {} }", ""),
        ("java", "void f() { var a = g(); }", ""),
        ("cpp", "void f(const b::C<D> &a) {}", "b.C"),
        ("cpp", "void f() { auto a = g(); }", ""),
        ("c", "void f(struct item *b) { node *a = 0; }", "node"),
    ],
)
def test_the_type_of_a_name(language, text, kind):
    assert language_named(language).type_of(text.encode(), "a") == kind


BROKEN = [
    ("typescript", "class A { bad(: {} }\nfunction good() {}\n", "good"),
    ("java", "class A { void bad( { } void good() {} }\n", "A.good"),
    ("c", "int bad(int {\n}\n" + "\n" * 600 + "int good(void) { return 1; }\n", "good"),
    (
        "c",
        "#if A\nint f(int a) {\n#else\nint f(long a) {\n#endif\n}\n"
        + " " * 600
        + "\n}\nint good(void) {\n}\n",
        "good",
    ),
    ("cpp", "class A { int bad(; };\nint good() { return 1; }\n", "good"),
]


@pytest.mark.parametrize(("language", "text", "name"), BROKEN)
def test_broken_files_are_read_as_far_as_possible(language, text, name):
    parsed = language_named(language).parse(text.encode())
    found = next(one for one in parsed.declarations if one.qualified == name)
    whole = span_text(text.encode(), found.whole)
    assert name.rpartition(".")[2] in whole
    assert found.line == text[: text.index(whole)].count("\n") + 1


FILES = {
    "web/shapes.ts": """export class Round {
  side = 1;
  area(): number { return this.half() * 2; }
  half() { return 1; }
}
""",
    "web/app.ts": """import { Round } from "./shapes";
import { x } from "y";
export function main(r: Round) { return Round.of(r); }
""",
    "src/shop/User.java": """package shop;
class User {
  int age;
  int older() { return this.more(age); }
  int more(int a) { return a; }
}
""",
    "lib/list.c": """struct item { int a; char *b; };
int size(void) { return 1; }
int twice(void) { return size() * 2; }
""",
    "lib/list.hpp": """class List {
  int n_ = 0;
  int size() { return this->count(); }
  int count() { return n_; }
};
""",
}


@pytest.fixture
def code(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return CodeBase(tmp_path)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("Round", [{"name": "side", "value": "1"}]),
        ("User", [{"name": "age", "type": "int"}]),
        ("item", [{"name": "a", "type": "int"}, {"name": "b", "type": "char"}]),
        ("List", [{"name": "n_", "type": "int", "value": "0"}]),
    ],
)
def test_fields(code, name, fields):
    assert code.inspect(name)["fields"] == fields


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("Round.area", [("this.half", "web/shapes.ts:4")]),
        ("User.older", [("this.more", "src/shop/User.java:5")]),
        ("twice", [("size", "lib/list.c:2")]),
        ("List.size", [("this.count", "lib/list.hpp:4")]),
    ],
)
def test_calls(code, name, calls):
    found = code.read_func(name)
    assert [(one["name"], one.get("location")) for one in found["calls"]] == calls


def test_imports_of_a_function(code):
    assert code.read_func("main")["imports_used"] == ['import { Round } from "./shapes"']


def test_targets_of_imports():
    typescript, java, c = map(language_named, ("typescript", "java", "c"))
    assert typescript.import_target("./shapes#Round", "web/app.ts") == "web.shapes.Round"
    assert typescript.import_target("../lib/index.js", "web/app.ts") == "lib"
    assert typescript.import_target("react#use", "web/app.ts") == "react.use"
    assert [typescript.module_of(path) for path in ("a/index.ts", "a/b.d.ts", "index.tsx")] == [
        "a",
        "a.b",
        "",
    ]
    assert (java.module_of("src/shop/User.java"), java.import_target("a.B", "C.java")) == ("src.shop", "a.B")
    assert (c.module_of("lib/list.c"), c.import_target("lib/list.h", "a.c")) == ("lib.list", "lib.list")
    assert c.import_target('"list.h"', "lib/a.c") == "lib.list"
    assert c.import_target('"lib/list.h"', "src/a.c") == "lib.list"
    assert typescript.imports(b'export { a } from "b";')[0].name == "a"
    assert java.imports(b"import a.B;")[0].name == "B"
    assert c.imports(b"#include <a.h>\nint a;")[0].target == "a.h"


def test_a_component_of_a_record_is_no_more_than_the_record(tmp_path):
    (tmp_path / "A.java").write_text("class Before {}\n\nrecord Point(int x, int y) {}\n", encoding="utf-8")
    found = CodeBase(tmp_path).inspect("Point.x")
    assert found["definition"] == "record Point(int x, int y) {}"
