#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_reference.py [--check]

Writes docs/reference/python.md from the docstrings of python/frostline: what
frostline/__init__.py exports, and the modules that a user imports by name. Nothing
is imported. With --check nothing is written, and a page that differs is an error.
A public name without a docstring is one in any case."""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "frostline"
PAGE = ROOT / "docs" / "reference" / "python.md"
# Classes and functions of other modules that users name in their own code.
MODULES = {"layers": "frostline.layers", "hf": "frostline.hf", "optuna": "frostline.optuna",
           "records": "frostline.records", "errors": "frostline.errors"}
CALLED_BACK = "on_"  # what transformers calls, and no user
WITHOUT_METHODS = ("optuna",)  # Optuna calls them
OPENING = """<!-- Written by scripts/python_reference.py from python/frostline: change it there. -->
# Python reference

What `import frostline` has, from its docstrings. To learn it, start with the [tutorial](../tutorials/python.md); the ways from a training script to a worker
are in [your-trainer.md](../how-to/your-trainer.md). Every exception is a `frostline.Error`; [what goes wrong](../how-to/your-trainer.md#what-goes-wrong).
"""


def parsed(module):
    return ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))


def exported():
    """(module, name) of what frostline/__init__.py takes from its modules."""
    block = next(node for node in parsed("__init__").body
                 if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    return [(line.module, name.name) for line in block.body
            if isinstance(line, ast.ImportFrom) and line.module for name in line.names]


def public(body, kinds):
    return [node for node in body
            if isinstance(node, kinds) and node.name != "main"
            and not node.name.startswith(("_", CALLED_BACK))]


def text(node, where, lost):
    """A docstring as Markdown: lines that are set in are code."""
    if not ast.get_docstring(node):
        lost.append(where)
        return []
    lines, code = [], False
    margin = 0 if isinstance(node, ast.Module) else node.body[0].col_offset
    said = ast.get_docstring(node, clean=False).splitlines()
    for line in [said[0], *(line[margin:] for line in said[1:])]:
        if line.startswith("    ") != code and line:
            lines.append("```python" if not code else "```")
            code = not code
        lines.append((line[4:] if code else line).rstrip())
    if code:
        lines.append("```")
    # An empty line before the end of a block belongs behind it.
    return re.sub(r"\n\n```(\n|$)", r"\n```\n\1", "\n".join(lines)).strip().splitlines()


def signature(node, of=""):
    marks = [ast.unparse(one) for one in node.decorator_list]
    if "property" in marks:
        return f"{of}{node.name}"
    arguments = node.args
    if of and "staticmethod" not in marks and arguments.args:
        arguments = ast.parse(f"def f({ast.unparse(arguments)}): pass").body[0].args
        arguments.args = arguments.args[1:]
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs,
                arguments.vararg, arguments.kwarg):
        if one is not None:
            one.annotation = None
    yields = any(isinstance(one, ast.Yield) for one in ast.walk(node))
    wait = "await " if isinstance(node, ast.AsyncFunctionDef) and not yields else ""
    return f"{wait}{of}{node.name}({ast.unparse(arguments)})"


def members(node, lost):
    lines, functions = [], (ast.FunctionDef, ast.AsyncFunctionDef)
    of = node.name.lower() + "."
    for one in public(node.body, functions):
        lines += ["", f"#### `{signature(one, of)}`", "",
                  *text(one, f"{node.name}.{one.name}", lost)]
    return lines


def entry(node, lost):
    if isinstance(node, ast.ClassDef):
        return ["", f"### {node.name}", "", *text(node, node.name, lost), *members(node, lost)]
    return ["", f"### `{signature(node)}`", "", *text(node, node.name, lost)]


def errors(tree):
    """Classes of errors are rows: the id that each has of itself, and when it comes."""
    lines = ["", "| class | id | |", "| --- | --- | --- |"]
    for node in public(tree.body, ast.ClassDef):
        ids = [line.value.value for line in node.body if isinstance(line, ast.Assign)
               and line.targets[0].id == "id"]
        said = " ".join((ast.get_docstring(node) or "").split())
        lines.append(f"| `{node.name}` | {ids[0] if ids else ''} | {said} |")
    return lines


def page():
    """The whole page, and the names that have no docstring."""
    lines, lost = [OPENING.rstrip(), "", "## frostline"], []
    for module, name in exported():
        if module == "errors":
            continue
        kinds = (ast.ClassDef, ast.FunctionDef)
        node = next(one for one in public(parsed(module).body, kinds) if one.name == name)
        lines += entry(node, lost)
    for module, title in MODULES.items():
        tree = parsed(module)
        lines += ["", f"## {title}", "", *text(tree, title, lost)]
        if module == "errors":
            lines += errors(tree)
            continue
        for node in public(tree.body, (ast.ClassDef, ast.FunctionDef)):
            if module in WITHOUT_METHODS:
                lines += ["", f"### {node.name}", "", *text(node, node.name, lost)]
            else:
                lines += entry(node, lost)
    return "\n".join(lines) + "\n", lost


def main(arguments):
    made, lost = page()
    if lost:
        print(f"python_reference: without a docstring: {', '.join(lost)}", file=sys.stderr)
        return 1
    if arguments == ["--check"]:
        if made != PAGE.read_text(encoding="utf-8"):
            print("python_reference: docs/reference/python.md is not what the docstrings "
                  "say: run scripts/python_reference.py", file=sys.stderr)
            return 1
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
