"""Keyword arguments, from the library's tables of parameters: names, types, defaults, ranges, texts."""
from __future__ import annotations

import functools
import inspect
import math
import operator
import textwrap
import warnings
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, TypeVar, cast

import numpy as np

from ._arrays import doubles
from ._c import ffi, lib
from ._errors import UsageError, switch_of, text_of
from ._guesses import OF_CHOICES, keyword, near


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _texts(array: Any) -> Tuple[str, ...]:
    found: List[str] = []
    while array != ffi.NULL and array[len(found)] != ffi.NULL:
        found.append(text_of(array[len(found)]) or "")
    return tuple(found)


@dataclass(frozen=True)
class Parameter:
    """A row of a table: a `ley_parameter`."""

    name: str
    alias: str  # another name, or ""
    former: Tuple[str, ...]
    type: int
    count: int
    default: Any  # None: nobody says, and the library decides
    choices: Tuple[str, ...]
    former_choices: Mapping[str, str]
    numbers: Mapping[str, float]  # that have names
    text: str
    methods: Tuple[str, ...]  # that take it; none: all
    c: Any

    @classmethod
    def of(cls, row: Any) -> "Parameter":
        former_choices: Dict[str, str] = {}
        while row.former_choices != ffi.NULL and row.former_choices[len(former_choices)].was != ffi.NULL:
            former = row.former_choices[len(former_choices)]
            former_choices[text_of(former.was) or ""] = text_of(getattr(former, "is")) or ""
        named: Dict[str, float] = {}
        while row.numbers != ffi.NULL and row.numbers[len(named)].name != ffi.NULL:
            named[text_of(row.numbers[len(named)].name) or ""] = row.numbers[len(named)].value
        choices = _texts(row.choices)
        numbers = [row.default_value[k] for k in range(max(row.count, 1))]
        if row.unset != ffi.NULL or row.given or row.type in (lib.LEY_PARAMETER_TEXT, lib.LEY_PARAMETER_OTHER):
            default = None
        elif choices:
            default = choices[int(numbers[0])]
        else:
            kind = {lib.LEY_PARAMETER_INTEGER: int, lib.LEY_PARAMETER_FLAG: bool}.get(row.type, float)
            numbers = [kind(n) for n in numbers]
            default = numbers[0] if row.count < 2 else tuple(numbers)
        unit = f", {text_of(row.unit)}" if row.unit != ffi.NULL else ""
        text = "; ".join(text_of(part) or "" for part in (row.sentence, row.details) if part != ffi.NULL) + unit
        if row.unset != ffi.NULL:
            text += f"; None: {text_of(row.unset)}"
        elif row.given and not choices:
            text += f"; None: {', '.join(f'{n:g}' for n in (numbers[:1] if row.one_for_all else numbers))}"
        methods = tuple((text_of(row.methods) or "").split(", ")) if row.methods != ffi.NULL else ()
        return cls(text_of(row.name) or "", text_of(row.alias) or "", _texts(row.former), row.type, row.count, default, choices, former_choices,
                   named, text, methods, row)

    @property
    def metavar(self) -> Optional[str]:
        """What texts call a value; None: its choices say it."""
        return None if self.choices else text_of(self.c.value if self.c.value != ffi.NULL else self.c.unit)

    @property
    def annotation(self) -> str:
        """Its type, as Python writes it."""
        number = {lib.LEY_PARAMETER_INTEGER: "int", lib.LEY_PARAMETER_REAL: "float"}.get(self.type)
        if self.choices:
            found = f"Literal[{', '.join(repr(choice) for choice in self.choices)}]"
        elif number is not None:
            found = number if self.count < 2 else f"Union[{number}, Sequence[{number}]]" if self.c.one_for_all else \
                f"Sequence[{number}]"
        else:
            found = "bool" if self.type == lib.LEY_PARAMETER_FLAG else "str"
        if self.numbers:
            found = f"Union[{found}, Literal[{', '.join(repr(name) for name in self.numbers)}]]"
        if self.c.word != ffi.NULL:
            found = f"Union[{found}, Literal[{text_of(self.c.word)!r}]]"
        return f"Optional[{found}]"

    def _refuse(self, value: Any) -> None:
        low, high = self.c.low, self.c.high
        bounds = f"{'above' if self.c.above_low else 'at least'} {low:g}"
        bounds += f" and at most {high:g}" if math.isfinite(high) else ""
        unit = text_of(self.c.unit) or ""
        milli = f" {unit} (did you mean {value / 1000:g}, which is {value:g} m{unit}?)" if unit == "mol/l" and \
            isinstance(value, (int, float)) and low <= value / 1000 <= high else ""
        raise UsageError(f"{self.name}: {value!r} is out of range: it must be {bounds}{milli}")

    def _number(self, value: Any) -> Any:
        """A number in its range."""
        if isinstance(value, str) and self.numbers:
            value = self.numbers.get(value, value)
        try:
            number = operator.index(value) if self.type == lib.LEY_PARAMETER_INTEGER else float(value)
        except (TypeError, ValueError):
            what = "whole number" if self.type == lib.LEY_PARAMETER_INTEGER else "number"
            named = f", or one of {', '.join(self.numbers)}," * bool(self.numbers)
            raise UsageError(f"{self.name}: a {what}{named} is needed, not {value!r:.60}{did_you_mean(value, list(self.numbers))}") from None
        is_in = self.c.low <= number <= self.c.high and not (self.c.above_low and number == self.c.low)
        if not is_in or not math.isfinite(number):
            self._refuse(value)
        return number

    def _choice(self, value: Any) -> str:
        if isinstance(value, str) and value in self.former_choices:
            warnings.warn(f"{self.name} {value!r} is called {self.former_choices[value]!r} now", DeprecationWarning,
                          stacklevel=5)
            value = self.former_choices[value]
        if not isinstance(value, str) or value not in self.choices:
            meant, choices = did_you_mean(OF_CHOICES.get(str(value), value), self.choices), ", ".join(self.choices)
            said = f"{value!r:.60} is none of {choices}" if isinstance(value, str) else f"one of {choices} is needed, not {value!r:.60}"
            raise UsageError(f"{self.name}: {said}{meant}")
        return str(value)

    def checked(self, value: Any) -> Any:
        """The value as the library takes it: a text, a number, or a list of numbers."""
        if self.choices:
            return self._choice(value)
        if self.type == lib.LEY_PARAMETER_OTHER:
            return value
        if self.type in (lib.LEY_PARAMETER_FLAG, lib.LEY_PARAMETER_TEXT):
            return switch_of(value, self.name) if self.type == lib.LEY_PARAMETER_FLAG else str(value)
        if self.c.word != ffi.NULL and isinstance(value, str) and value == text_of(self.c.word):
            return [math.nan] * max(self.count, 1)
        if self.count < 2:
            return self._number(value)
        if np.ndim(value) == 0 and self.c.one_for_all:
            value = [value] * self.count
        if len(doubles(value, self.name, (-1,))) != self.count:
            raise UsageError(f"{self.name}: {self.count} numbers are needed, not {value!r}")
        return [self._number(one) for one in value]

    def put(self, to: Any, value: Any) -> Any:
        """Sets the field of a struct to what checked() returned; what must live as long as the struct, or None."""
        field = text_of(self.c.field) or ""
        if self.type == lib.LEY_PARAMETER_TEXT:
            kept = ffi.NULL if self.choices and value == self.choices[0] else ffi.new("char[]", value.encode())
            setattr(to, field, kept)
            return kept
        if self.type == lib.LEY_PARAMETER_CHOICE:
            setattr(to, field, self.choices.index(value))
        elif self.count < 2:
            setattr(to, field, value)
        else:
            number = "double *" if self.type == lib.LEY_PARAMETER_REAL else "int64_t *"
            ffi.cast(number, ffi.addressof(to, field))[0:self.count] = value
        return None


def did_you_mean(word: Any, names: Sequence[str]) -> str:
    """ " (did you mean 'spacing'?)", or nothing."""
    found = near(str(word), names) or near(str(word).lower(), names)
    return f" (did you mean {found!r}?)" if found else ""


def _tables() -> Dict[str, Dict[str, Parameter]]:
    found: Dict[str, Dict[str, Parameter]] = {}
    while lib.ley_parameter_table_get(len(found)) != ffi.NULL:
        table = lib.ley_parameter_table_get(len(found))
        rows = (Parameter.of(table.rows[k]) for k in range(table.count))
        found[text_of(table.of) or ""] = {row.name: row for row in rows}
    return found


TABLES = _tables()


def take(to: Any, of: str, given: Mapping[str, Any], keep: List[Any]) -> int:
    """Sets what is given of a struct's parameters. Which these are, as its bits say."""
    fixed = 0
    for name, row in TABLES[of].items():
        if given.get(name) is not None:
            if row.c.field != ffi.NULL:
                keep.append(row.put(to, given[name]))
            fixed |= row.c.given
    return fixed


class Keywords:
    """The keyword arguments of a function: its own, and parameters of these structs, but for some."""

    def __init__(self, function: Callable[..., Any], structs: Sequence[str], without: Sequence[str],
                 former: Mapping[str, str], elsewhere: Mapping[str, str]) -> None:
        self.name = function.__qualname__.replace(".__init__", "")  # as it is called
        self.former, self.elsewhere = former, elsewhere
        self.rows = {name: row for of in structs for name, row in TABLES[of].items() if name not in without}
        own = inspect.signature(function).parameters.values()
        self.own = {p.name: p for p in own if p.kind != inspect.Parameter.VAR_KEYWORD}
        self.more = {name: row for name, row in self.rows.items() if name not in self.own}
        aliases = {row.alias: row.name for row in self.rows.values() if row.alias and row.alias not in self.own}
        self.aliases = {**aliases, **({"device": "engine"} if "engine" in self.own else {})}

    @property
    def signature(self) -> inspect.Signature:
        rows = (inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=row.default, annotation=row.annotation)
                for name, row in self.more.items())
        return inspect.Signature([*self.own.values(), *rows])

    @property
    def text(self) -> str:
        """For the docstring: what each is."""
        return "\n".join(textwrap.fill(f"{name}: {row.text}{f'; also `{row.alias}`' * (row.alias in self.aliases)}.", 100, initial_indent=" " * 8, subsequent_indent=" " * 12)
                         for name, row in self.more.items())

    def take(self, given: Dict[str, Any]) -> Dict[str, Any]:
        """What is given, by its names of now, checked. Errors: TypeError for a word that nobody knows."""
        now = {**self.aliases, **{former: row.name for row in self.rows.values() for former in row.former}, **self.former}
        found: Dict[str, Any] = {}
        for word, value in given.items():
            name = now.get(word, word)
            if name not in self.own and name not in self.rows:
                instead = text_of(lib.ley_parameter_gone(word.encode()))
                if instead is not None:
                    raise TypeError(f"{self.name}(): {word} is gone: {instead}")
                if word in self.elsewhere:
                    raise TypeError(f"{self.name}() got an unexpected keyword argument {word!r}: {self.elsewhere[word]}")
                names = [*self.own, *self.more, *self.aliases]
                meant = keyword(word, names)
                raise TypeError(f"{self.name}() got an unexpected keyword argument {word!r}"
                                + (f" (did you mean {meant}?)" if meant else did_you_mean(word, names)))
            if name != word and word not in self.aliases:
                warnings.warn(f"{word} is called {name} now", DeprecationWarning, stacklevel=3)
            if name in found:
                raise TypeError(f"{self.name}() got {name} twice")
            found[name] = value if value is None or name in self.own else self.rows[name].checked(value)
        return found


def with_parameters(*structs: str, without: Sequence[str] = (),
                    former: Mapping[str, str] = MappingProxyType({}),
                    elsewhere: Mapping[str, str] = MappingProxyType({})) -> Callable[[_Function], _Function]:
    """Gives a function the parameters of these structs as keyword arguments, which it gets checked.

    `without`: those that it does not take. `former`: its own arguments of the release before, by their names of now.
    `elsewhere`: words that are another function's, and which.
    """

    def decorate(function: _Function) -> _Function:
        keywords = Keywords(function, structs, without, former, elsewhere)

        @functools.wraps(function)
        def call(*arguments: Any, **given: Any) -> Any:
            return function(*arguments, **keywords.take(given))

        call.__signature__ = keywords.signature  # type: ignore[attr-defined]
        call.__doc__ = (function.__doc__ or "").replace("        {parameters}", keywords.text)
        call.keywords = keywords  # type: ignore[attr-defined]
        return cast(_Function, call)

    return decorate


def stub(functions: Sequence[Callable[..., Any]]) -> str:
    """What type checkers are told of the functions' keywords: the file _keywords.pyi."""
    lines = ['"""Made by python/make_keywords.py from the library\'s tables of parameters."""',
             "from typing import Any, Literal, Optional, Sequence, TypedDict, Union", ""]
    for function in functions:
        keywords = function.keywords  # type: ignore[attr-defined]
        lines += [f"class {keywords.name.split('.')[-1].capitalize()}Keywords(TypedDict, total=False):"]
        lines += [f"    {name}: {row.annotation}" for name, row in keywords.more.items()]
        lines += [f"    {alias}: {keywords.more[name].annotation if name in keywords.more else 'Any'}"
                  for alias, name in keywords.aliases.items()] + [""]
    return "\n".join(lines)
