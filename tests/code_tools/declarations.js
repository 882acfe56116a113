// Prints what the compiler of TypeScript reads of files, a line of JSON for each: their declarations.
//
// node declarations.js FOLDER_OF_TYPESCRIPT FILE...
"use strict";
const fs = require("fs");
const ts = require(process.argv[2]);
const K = ts.SyntaxKind;

function read(path) {
  const text = fs.readFileSync(path, "utf8");
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const words = (node) => node.getText(file).replace(/^(["'])(.*)\1$/s, "$2");

  function tell(node, name, kind, owner, value, whole) {
    const line = file.getLineAndCharacterOfPosition(name.getStart(file)).line + 1;
    const docs = ((whole || node).jsDoc || []).map((doc) => text.slice(doc.pos, doc.end));
    const said = value ? value.getText(file) : "";
    found.push({ name: words(name), kind, owner, line, value: said, doc: docs.length ? docs[docs.length - 1] : "" });
  }

  const callable = (node) => node && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));

  function bound(pattern, kind, owner, value, whole) {
    if (ts.isIdentifier(pattern)) return tell(pattern, pattern, kind, owner, value, whole);
    for (const one of pattern.elements) if (one.name) bound(one.name, kind, owner, value, whole);
  }

  function variables(node, owner) {
    const kind = node.declarationList.flags & ts.NodeFlags.Const ? "const" : "var";
    for (const one of node.declarationList.declarations) {
      if (!ts.isIdentifier(one.name)) bound(one.name, kind, owner, one.initializer, node);
      else if (callable(one.initializer)) tell(one, one.name, "func", owner, null, node);
      else if (one.initializer && ts.isClassExpression(one.initializer)) {
        tell(one, one.name, "class", owner, null, node);
        one.initializer.members.forEach((member) => inside(member, join(owner, one.name.text)));
      } else tell(one, one.name, kind, owner, one.initializer, node);
    }
  }

  const join = (owner, name) => (owner ? `${owner}.${name}` : name);

  function inside(node, owner) {
    if (ts.isConstructorDeclaration(node)) {
      const at = node.getChildren(file).find((child) => child.kind === K.ConstructorKeyword);
      tell(node, at || node, "method", owner);
      for (const one of node.parameters) if (ts.isParameterPropertyDeclaration(one, node)) tell(one, one.name, "var", owner);
    } else if (ts.isMethodDeclaration(node) || ts.isMethodSignature(node) || ts.isAccessor(node)) tell(node, node.name, "method", owner);
    else if (ts.isPropertyDeclaration(node) || ts.isPropertySignature(node)) {
      const isMethod = callable(node.initializer);
      tell(node, node.name, isMethod ? "method" : "var", owner, isMethod ? null : node.initializer);
    } else if (ts.isEnumMember(node)) tell(node, node.name, "const", owner, node.initializer);
  }

  function block(node, owner) {
    if (node.statements) node.statements.forEach((one) => top(one, owner));
    else top(node, owner);
  }

  function top(node, owner) {
    if (ts.isVariableStatement(node)) variables(node, owner);
    else if (ts.isFunctionDeclaration(node) && node.name) tell(node, node.name, "func", owner);
    else if (ts.isTypeAliasDeclaration(node)) tell(node, node.name, "type", owner, node.type);
    else if ((ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isEnumDeclaration(node)) && node.name) {
      tell(node, node.name, ts.isClassDeclaration(node) ? "class" : ts.isEnumDeclaration(node) ? "type" : "interface", owner);
      node.members.forEach((member) => inside(member, join(owner, node.name.text)));
    } else if (ts.isModuleDeclaration(node) && node.body) {
      const isNamed = ts.isIdentifier(node.name) && !(node.flags & ts.NodeFlags.GlobalAugmentation);
      block(node.body, isNamed ? join(owner, node.name.text) : owner);
    }
  }

  file.statements.forEach((one) => top(one, ""));
  return { path, error: file.parseDiagnostics.length, declarations: found };
}

for (const path of process.argv.slice(3)) console.log(JSON.stringify(read(path)));
