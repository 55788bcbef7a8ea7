"""A look at the source of a submission, for what has no business in one: it is never run for this.

What is not seen here gains nothing either: judging happens in another process. A remark tells the instructor that
somebody tried.
"""

import ast
from collections.abc import Iterator

_SECRET = ("fedlab_course.chapters.", "fedlab_course.check.", "fedlab_course.grading.", "fedlab_course.answering.")
_EXERCISES = "fedlab_course.check.exercises"
_ALLOWED = {"check", "or_solution"}  # what a chapter itself takes from the exercises
_LIBRARIES = {"np", "numpy", "torch", "fl", "fedlab_core", "fedlab_course", "exercises", "builtins", "IPython"}
_HOOKS = {"meta_path", "path_hooks", "displayhook", "excepthook", "modules", "settrace", "setprofile", "_getframe"}
_HOOKS |= {"addaudithook", "_current_frames"}
_FRAMES = {"currentframe", "stack", "getouterframes", "f_back", "f_globals", "f_locals", "tb_frame", "gi_frame"}
_DISPLAY = {"events", "display_pub", "display_formatter", "displayhook", "input_transformers_cleanup", "ask_exit"}
_DISPLAY |= {"ast_transformers", "run_cell", "kernel", "parent_header"}
_WORDS = ("application/vnd.fedlab", "NBGRADER_EXECUTION", "fedlab-answer")


def tampering(source: str) -> list[str]:
    """What a cell does to what judges it, in words; empty if nothing is seen."""
    try:
        tree = ast.parse(_python(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    try:
        return sorted({words for node in ast.walk(tree) for words in _seen(node)})
    except RecursionError:
        return ["is nested too deep to look at"]


def _python(source: str) -> str:
    """``source`` as Python: magics and commands of the shell are calls."""
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


def _seen(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (f"imports `{alias.name}`" for alias in node.names if _is_secret(alias.name))
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        names = [alias.name for alias in node.names if node.module != _EXERCISES or alias.name not in _ALLOWED]
        yield from (f"imports `{full}`" for name in names if _is_secret(full := f"{node.module}.{name}"))
    elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
        targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target]
        yield from (f"replaces `{ast.unparse(each)}`" for each in targets if _is_patched(each))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from (f"writes `{word}`" for word in _WORDS if word in node.value)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node)
    elif isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == "exercises":
        yield "replaces `exercises`"


def _is_secret(module: str) -> bool:
    """Whether a module, or something in one, holds solutions, checks, or what judges."""
    return module != _EXERCISES and f"{module}.".startswith(_SECRET)


def _is_patched(target: ast.AST) -> bool:
    """Whether an assignment changes what everybody uses: `np.allclose = …`, `sys.modules[…] = …`, `exercises = …`."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_is_patched(each) for each in target.elts)
    if isinstance(target, ast.Name):
        return target.id == "exercises"
    base = target.value if isinstance(target, (ast.Attribute, ast.Subscript)) else None
    if isinstance(target, ast.Attribute) and isinstance(base, ast.Name) and base.id in _LIBRARIES:
        return True
    return isinstance(target, ast.Attribute) and target.attr in {"__path__", "__code__", "__import__"}


def _attribute(node: ast.Attribute) -> Iterator[str]:
    of = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
    if of == "sys" and node.attr in _HOOKS:
        yield f"touches `sys.{node.attr}`"
    if of == "exercises" and node.attr not in _ALLOWED:
        yield f"asks for `exercises.{node.attr}`"
    if node.attr in _FRAMES and (of == "inspect" or node.attr.startswith(("f_", "tb_", "gi_"))):
        yield f"looks at frames (`{node.attr}`)"
    if node.attr in _DISPLAY and _calls(node.value, "get_ipython"):
        yield f"changes the shell (`{node.attr}`)"


def _call(node: ast.Call) -> Iterator[str]:
    if _calls(node, "setattr") and node.args and isinstance(node.args[0], ast.Name) and node.args[0].id in _LIBRARIES:
        yield f"replaces attributes of `{node.args[0].id}`"
    first = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
    if isinstance(first, str) and _is_secret(first):
        yield f"imports `{first}`"


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
