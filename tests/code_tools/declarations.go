// Declarations prints what Go's own parser reads of files, as JSON: one object a line for each file.
//
// go run declarations.go FILE...
package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
)

type declaration struct {
	Name  string `json:"name"`
	Owner string `json:"owner"`
	Kind  string `json:"kind"`
	Line  int    `json:"line"`
	Doc   string `json:"doc"`
	Value string `json:"value"`
}

type file struct {
	Path         string        `json:"path"`
	Error        string        `json:"error"`
	Declarations []declaration `json:"declarations"`
}

func receiver(expression ast.Expr) string {
	switch found := expression.(type) {
	case *ast.StarExpr:
		return receiver(found.X)
	case *ast.ParenExpr:
		return receiver(found.X)
	case *ast.IndexExpr:
		return receiver(found.X)
	case *ast.IndexListExpr:
		return receiver(found.X)
	case *ast.Ident:
		return found.Name
	}
	return ""
}

func read(path string) file {
	result := file{Path: path, Declarations: []declaration{}}
	source, err := os.ReadFile(path)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	places := token.NewFileSet()
	tree, err := parser.ParseFile(places, path, source, parser.ParseComments)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	// Lines of the file itself: a comment //line may say something else.
	line := func(position token.Pos) int { return places.PositionFor(position, false).Line }
	add := func(name, owner, kind string, position token.Pos, doc *ast.CommentGroup, value ast.Expr) {
		text := ""
		if value != nil {
			text = string(source[places.PositionFor(value.Pos(), false).Offset:places.PositionFor(value.End(), false).Offset])
		}
		result.Declarations = append(result.Declarations, declaration{name, owner, kind, line(position), doc.Text(), text})
	}
	for _, top := range tree.Decls {
		switch found := top.(type) {
		case *ast.FuncDecl:
			if found.Recv == nil || len(found.Recv.List) == 0 {
				add(found.Name.Name, "", "func", found.Pos(), found.Doc, nil)
			} else {
				add(found.Name.Name, receiver(found.Recv.List[0].Type), "method", found.Pos(), found.Doc, nil)
			}
		case *ast.GenDecl:
			for _, each := range found.Specs {
				switch spec := each.(type) {
				case *ast.TypeSpec:
					doc, kind := spec.Doc, "type"
					if doc == nil { // that of a group is about all that is in it
						doc = found.Doc
					}
					switch made := spec.Type.(type) {
					case *ast.StructType:
						kind = "struct"
					case *ast.InterfaceType:
						kind = "interface"
						for _, method := range made.Methods.List {
							for _, name := range method.Names {
								add(name.Name, spec.Name.Name, "method", name.Pos(), method.Doc, nil)
							}
						}
					}
					add(spec.Name.Name, "", kind, spec.Pos(), doc, nil)
				case *ast.ValueSpec:
					kind, doc := "var", spec.Doc
					if found.Tok == token.CONST {
						kind = "const"
					}
					if doc == nil { // that of a group is about all that is in it
						doc = found.Doc
					}
					for place, name := range spec.Names {
						if name.Name == "_" {
							continue
						}
						var value ast.Expr
						if len(spec.Values) == len(spec.Names) {
							value = spec.Values[place]
						}
						add(name.Name, "", kind, name.Pos(), doc, value)
					}
				}
			}
		}
	}
	return result
}

func main() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, path := range os.Args[1:] {
		if err := out.Encode(read(path)); err != nil {
			panic(err)
		}
	}
}
