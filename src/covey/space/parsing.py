"""Parsing of constraints: a text becomes a tree of ``expressions``, or one line that says what is wrong.

Python's own parser reads the text, and a walk that knows a few kinds of nodes copies them; all others are
refused. Nothing is compiled or evaluated.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn

from covey.errors import shown
from covey.space.expressions import (
    FUNCTIONS,
    All,
    Call,
    Choice,
    Comparison,
    Literal,
    Name,
    Negative,
    Not,
    Number,
    Numeric,
    Operation,
    Same,
    Some,
    Sum,
    Truth,
    names_in,
)


@dataclass(frozen=True)
class Limits:
    """How large a constraint can be.

    Attributes:
        characters: a sum of some two hundred named parts has room.
        nodes: of Python's tree; keeps the time of an evaluation in bounds.
        depth: of brackets, calls and powers in each other; keeps every walk far from Python's own limit.
    """

    characters: int = 2000
    nodes: int = 1000
    depth: int = 30


LIMITS = Limits()

ACCEPTED = (
    "accepted are numbers, names of parameters, + - * / **, comparisons, and, or, not, "
    "abs exp log max min sqrt, and choices compared by == or !="
)

_COMPARISONS: Mapping[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_OPERATIONS: Mapping[type[ast.AST], str] = {ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_INSTEAD: Mapping[type[object], str] = {
    ast.BitAnd: "& (write and)",
    ast.BitOr: "| (write or)",
    ast.BitXor: "^ (write ** for a power)",
    ast.Invert: "~ (write not)",
}

_PIECES = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?P<quoted>[^`]*)`|(?P<comment>\#)""")
"""String literals, which are passed over; names in backquotes; the beginning of a comment."""


def parse(text: str, names: Mapping[str, Sequence[Hashable] | None]) -> Truth:
    """The tree of a constraint.

    Args:
        text: of the constraint; a name that is no Python identifier stands in backquotes.
        names: of the parameters, each with its choices, or None if it is a number.

    Raises:
        ValueError: if the text is not a constraint of these parameters; one line that says why, and where.
    """
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"a constraint must be a text such as 'a + b <= 1', got {shown(text)}")
    text = re.sub(r"\s", " ", text.strip())
    if len(text) > LIMITS.characters:
        _refuse(text, f"{len(text)} characters, at most {LIMITS.characters}")
    source = _blanked(text)
    tree = _tree(text, source)
    if sum(1 for _ in ast.walk(tree)) > LIMITS.nodes:
        _refuse(text, f"more than {LIMITS.nodes} parts")
    truth = _Reader(text, source, names).truth(tree, 0)
    if not names_in(truth):
        _refuse(text, "no parameter in it")
    return truth


def _refuse(text: str, found: str, position: int | None = None, accepted: str = ACCEPTED) -> NoReturn:
    where = "" if position is None else f" at character {position + 1}"
    raise ValueError(f"constraint {shown(text)}: found {found}{where}; {accepted}")


def _blanked(text: str) -> str:
    """The text with each name in backquotes as an identifier of as many characters."""

    def blank(piece: re.Match[str]) -> str:
        if piece["comment"]:
            _refuse(text, "'#'", piece.start())
        if piece["quoted"] is None:
            return piece[0]
        if not piece["quoted"]:
            _refuse(text, "a name without characters", piece.start())
        apart = " " if piece.start() else "_"  # Python takes a blank in front for an indent
        return f"{apart}{'_' * len(piece['quoted'])} "

    return _PIECES.sub(blank, text)


def _tree(text: str, source: str) -> ast.expr:
    """Python's tree of a text whose names are identifiers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes and the like, which concern code
            return ast.parse(source, mode="eval").body
    except SyntaxError as error:
        without = _PIECES.sub(lambda piece: " " * len(piece[0]), source)
        if single := re.search(r"(?<![=<>!:])=(?!=)", without):
            _refuse(text, "a single = (write == to compare)", single.start())
        where = min(max(error.offset or 1, 1), len(text)) - 1
        _refuse(text, f"what cannot be read ({error.msg})", where)
    except (ValueError, RecursionError, MemoryError) as error:
        _refuse(text, f"what cannot be read ({type(error).__name__})")


@dataclass(frozen=True)
class _Reader:
    """A walk over Python's tree of one text."""

    text: str
    source: str
    names: Mapping[str, Sequence[Hashable] | None]

    def refuse(self, found: str, position: int, accepted: str = ACCEPTED) -> NoReturn:
        _refuse(self.text, found, position, accepted)

    def place(self, node: ast.expr, end: bool = False) -> int:
        """The character at which a node begins, or ends; Python counts bytes."""
        offset = node.end_col_offset if end else node.col_offset
        return len(self.source.encode()[:offset].decode())

    def written(self, node: ast.expr) -> str:
        """The text of a node as the user wrote it; Python would change some letters of a name."""
        return self.text[self.place(node) : self.place(node, end=True)]

    def named(self, node: ast.Name) -> str:
        return self.written(node).strip("`")

    def refuse_node(self, node: ast.expr, depth: int) -> NoReturn:
        if depth > LIMITS.depth:
            self.refuse(f"more than {LIMITS.depth} levels of brackets", self.place(node))
        instead = _INSTEAD.get(type(getattr(node, "op", node)))
        self.refuse(instead or shown(self.written(node)), self.place(node))

    def truth(self, node: ast.expr, depth: int) -> Truth:
        """A comparison, or comparisons joined."""
        if depth > LIMITS.depth:
            self.refuse_node(node, depth)
        match node:
            case ast.BoolOp(op, values):
                parts = tuple(self.truth(value, depth + 1) for value in values)
                return All(parts) if isinstance(op, ast.And) else Some(parts)
            case ast.UnaryOp(ast.Not(), operand):
                return Not(self.truth(operand, depth + 1))
            case ast.Compare(left, ops, comparators):
                sides = [left, *comparators]
                pairs = zip(sides, ops, sides[1:], strict=False)
                links = tuple(self.comparison(a, op, b, depth + 1) for a, op, b in pairs)
                return links[0] if len(links) == 1 else All(links)
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow()):
                pass
            case ast.Constant() | ast.Name():
                pass
            case _:
                self.refuse_node(node, depth)
        found = f"{shown(self.written(node))} where a comparison is needed"
        self.refuse(found, self.place(node), "accepted is a comparison, or several joined by and, or, not")
        return None

    def comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr, depth: int) -> Truth:
        if type(op) not in _COMPARISONS:
            self.refuse(f"{type(op).__name__.lower()!r}", self.place(left))
        written = _COMPARISONS[type(op)]
        if not (self.is_choice(left) or self.is_choice(right)):
            return Comparison(written, self.number(left, depth), self.number(right, depth))
        if written not in ("==", "!="):
            self.refuse(f"{written} with a choice", self.place(left), "choices are compared by == or !=")
        sides = self.chosen(left, right), self.chosen(right, left)
        if isinstance(sides[0], Literal) and isinstance(sides[1], Literal):
            self.refuse("two values compared", self.place(left))
        return Same(*sides) if written == "==" else Not(Same(*sides))

    def is_choice(self, node: ast.expr) -> bool:
        """Whether a side of a comparison is a choice, or can only be the value of one."""
        match node:
            case ast.Name():
                return self.names.get(self.named(node)) is not None
            case ast.Constant(value):
                return value is None or isinstance(value, (str, bool))
        return False

    def chosen(self, node: ast.expr, other: ast.expr) -> Choice | Literal:
        """A side of a comparison of choices, whose other side says which values there are."""
        if isinstance(node, ast.Name) and self.known(node):
            return Choice(self.named(node))
        match node:
            case ast.Constant(str() | bool() | None as value):
                literal = Literal(value)
            case _:
                number = self.number(node, 0)
                if not isinstance(number, Number):
                    found = f"{shown(self.written(node))} beside a choice"
                    self.refuse(found, self.place(node), "a choice is compared with one of its values")
                literal = Literal(number.value)
        self.check_value(literal, node, other)
        return literal

    def check_value(self, literal: Literal, node: ast.expr, other: ast.expr) -> None:
        if not isinstance(other, ast.Name) or not self.known(other):
            return
        choices = self.names[self.named(other)] or ()
        if literal.value not in choices:
            texts = [choice for choice in choices if isinstance(choice, str)]
            near = _meant(str(literal.value), texts)
            found = f"{shown(literal.value)}, which is no choice of {shown(self.named(other))}{near}"
            self.refuse(found, self.place(node), f"its choices are {shown(list(choices))}")

    def known(self, node: ast.Name) -> bool:
        """Whether a name is that of a choice; refused if it is nobody's."""
        name = self.named(node)
        if name not in self.names:
            found = f"the unknown name {shown(name)}{_meant(name, list(self.names))}"
            self.refuse(found, self.place(node), f"the parameters are {shown(list(self.names))}")
        return self.names[name] is not None

    def number(self, node: ast.expr, depth: int) -> Numeric:
        """Arithmetic of numbers and of parameters that are numbers."""
        if depth > LIMITS.depth:
            self.refuse_node(node, depth)
        match node:
            case ast.Constant(bool()):
                pass
            case ast.Constant(int() | float() as value):
                return Number(self.finite(node, value))
            case ast.Name():
                if not self.known(node):
                    return Name(self.named(node))
                found = f"the choice {shown(self.named(node))} where a number is needed"
                self.refuse(found, self.place(node))
            case ast.UnaryOp(ast.USub(), operand):
                inner = self.number(operand, depth + 1)
                return Number(-inner.value) if isinstance(inner, Number) else Negative(inner)
            case ast.UnaryOp(ast.UAdd(), operand):
                return self.number(operand, depth + 1)
            case ast.BinOp(_, ast.Add() | ast.Sub(), _):
                return self.sum(node, depth)
            case ast.BinOp(left, op, right) if type(op) in _OPERATIONS:
                operator = _OPERATIONS[type(op)]
                return Operation(operator, self.number(left, depth + 1), self.number(right, depth + 1))
            case ast.Call(ast.Name(function), arguments, []) if function in FUNCTIONS:
                least, most = (2, len(arguments)) if function in ("min", "max") else (1, 1)
                if not least <= len(arguments) <= most:
                    found = f"{function} of {len(arguments)} arguments"
                    self.refuse(found, self.place(node), "min and max take two or more, the others one")
                return Call(function, tuple(self.number(one, depth + 1) for one in arguments))
        self.refuse_node(node, depth)
        return None

    def sum(self, node: ast.expr, depth: int) -> Sum:
        """Terms of a sum, which Python's tree nests to the left."""
        terms: list[Numeric] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            term = self.number(node.right, depth + 1)
            terms.append(Negative(term) if isinstance(node.op, ast.Sub) else term)
            node = node.left
        terms.append(self.number(node, depth + 1))
        return Sum(tuple(reversed(terms)))

    def finite(self, node: ast.expr, value: float) -> float:
        """A literal as float64, in which all arithmetic is."""
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if number == float("inf"):
            self.refuse(f"{shown(self.written(node))}, past 1e308", self.place(node))
        return number


def _meant(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
