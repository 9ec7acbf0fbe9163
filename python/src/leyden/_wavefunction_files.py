"""Wavefunctions of other programs, objects of pyscf and files by qc-iodata and cclib, as the library's arrays."""
from __future__ import annotations

import contextlib
import gzip
import logging
import math
import os
import re
import sys
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._errors import Error, FileError, InputError, UsageError

Arrays = Dict[str, Any]  # by their names in the archive, docs/formats.md

_BOHR_A, _HARTREE_EV = 0.529177210903, 27.211386245988
_LETTERS = list("spdfghi")
_WANTED = ("Molden, FCHK, WFN, WFX, MKL, Mwfn and CP2K's files of atoms by qc-iodata, outputs of programs by cclib, "
           "checkpoints by pyscf")
# Formats of iodata that have orbitals, by endings of names.
_FORMATS = {".molden": "molden", ".molden.input": "molden", ".fchk": "fchk", ".fch": "fchk", ".wfn": "wfn", ".wfx": "wfx",
            ".mkl": "molekel", ".mwfn": "mwfn", ".cp2k.out": "cp2klog"}


class _Shell(NamedTuple):
    """Functions of one contraction, as they stand in a file."""

    atom: int
    l: int
    is_pure: bool
    exponents: Any
    coefficients: Any  # of primitives of norm 1
    names: Sequence[str]  # "xy" or "c2", with "-" in front of what is less that function
    factors: Any = 1.0  # by which functions are larger than the library's


def _functions(l: int, is_pure: bool) -> List[str]:
    """Those of a shell in the library's order: "xx", "xy", ...; "c0", "c1", "s1", ..., of cos and sin of m phi."""
    if is_pure:
        return ["c0"] + [f"{kind}{m}" for m in range(1, l + 1) for kind in "cs"]
    return ["x" * i + "y" * j + "z" * (l - i - j) for i in range(l, -1, -1) for j in range(l - i, -1, -1)]


def _order_of(shells: Sequence[_Shell]) -> Tuple[List[int], np.ndarray]:
    """Where the library's functions are among a file's, and what the coefficients there are to be multiplied by."""
    order: List[int] = []
    factors: List[Any] = [np.zeros(0)]
    for shell in shells:
        names = [name.lstrip("-") for name in shell.names]
        index = [names.index(name) for name in _functions(shell.l, shell.is_pure)]
        signs = np.array([-1.0 if name.startswith("-") else 1.0 for name in shell.names])
        order += [len(order) + i for i in index]
        factors.append((signs * shell.factors)[index])
    return order, np.concatenate(factors)


def _assembled(shells: Sequence[_Shell], orbitals: Any) -> Arrays:
    """Shells and orbitals, (orbitals, functions), from a file's order to the library's."""
    order, factors = _order_of(shells)
    orbitals = np.asarray(orbitals)
    if not shells or orbitals.ndim != 2 or orbitals.shape[1] != len(order):
        raise InputError(f"the shells have {len(order)} functions, and the orbitals' coefficients are of the shape "
                         f"{orbitals.shape}")
    return {"shell_atom": [shell.atom for shell in shells], "shell_l": [shell.l for shell in shells],
            "shell_pure": [int(shell.is_pure) for shell in shells],
            "shell_first_primitive": np.cumsum([0] + [len(shell.exponents) for shell in shells]),
            "exponents": np.concatenate([shell.exponents for shell in shells]),
            "coefficients": np.concatenate([shell.coefficients for shell in shells]),
            "orbitals": orbitals[:, order] * factors}


def needed(module: str, package: str, what: str) -> Any:
    """A module. ImportError, with what to type, where it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what it imports itself
            return __import__(module, fromlist=["_"])
    except ImportError:
        raise ImportError(f"{package} is not installed, which reads {what}: pip install {package}") from None


@contextlib.contextmanager
def _about(path: str, package: str, opened: str = "") -> Iterator[None]:
    """What is wrong with a file, in one line with its name, whoever says so."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (Error, MemoryError, ImportError):
        raise
    except Exception as error:  # pylint: disable=broad-except
        cause = error.__cause__  # iodata has its own error for all others
        if isinstance(cause, InputError):
            raise InputError(f"{path}: {cause}") from None
        said = "; ".join(f"{type(one).__name__}: {one}" for one in (error, cause) if one is not None)
        text = " ".join(said.split()).replace(opened or path, os.path.basename(path))
        raise InputError(f"{path}: {package} cannot read it: {text}; is the file whole?") from None


# ---- pyscf ---------------------------------------------------------------------------------------


def _odd_product(n: int) -> int:
    """n!! of an odd number."""
    return math.prod(range(n, 0, -2))


def _pyscf_factors(l: int) -> Any:
    """Cartesian functions of pyscf, from d on, are normalised without the angles: their norms are the integrals of
    (x^i y^j z^k)^2 over the sphere, 4 pi (2i - 1)!! (2j - 1)!! (2k - 1)!! / (2l + 1)!!."""
    if l < 2:
        return 1.0
    powers = [[2 * name.count(axis) - 1 for axis in "xyz"] for name in _functions(l, False)]
    return np.sqrt([4 * np.pi * math.prod(map(_odd_product, row)) / _odd_product(2 * l + 1) for row in powers])


def _pyscf_shells(mol: Any) -> List[_Shell]:
    """Pure functions are those of m = -l to l, but for p: x, y, z. Cartesian ones have the library's order."""
    found = []
    for number in range(mol.nbas):
        l = int(mol.bas_angular(number))
        is_pure = l >= 2 and not mol.cart
        names = [f"s{-m}" if m < 0 else f"c{m}" for m in range(-l, l + 1)] if is_pure else _functions(l, False)
        for column in np.asarray(mol.bas_ctr_coeff(number)).T:
            found.append(_Shell(int(mol.bas_atom(number)), l, is_pure, np.asarray(mol.bas_exp(number)), column, names,
                                1.0 if is_pure else _pyscf_factors(l)))
    return found


def _by_spins(rows: Any, extents: int) -> List[Any]:
    """Of pyscf's arrays, a GPU's too: alpha and beta, or one of both spins."""
    rows = rows.get() if hasattr(rows, "get") else rows
    is_split = isinstance(rows, (tuple, list)) or np.ndim(rows) > extents
    return [np.asarray(one.get() if hasattr(one, "get") else one) for one in (rows if is_split else [rows])]


def of_pyscf(source: Any, mo_coeff: Any = None, mo_occ: Any = None, mo_energy: Any = None) -> Arrays:
    """Of a mean-field object, or of a Mole with arrays. Errors: UsageError."""
    mol = getattr(source, "mol", source)
    if not hasattr(mol, "bas_ctr_coeff"):
        raise UsageError(f"from_pyscf(): an object of pyscf is needed, mf after mf.kernel(), not {type(source).__name__}")
    if hasattr(mol, "lattice_vectors"):
        raise UsageError("from_pyscf(): orbitals of periodic cells are sums over images, which are not computed")
    mo_occ = getattr(source, "mo_occ", None) if mo_occ is None else mo_occ
    if mo_coeff is None:
        mo_coeff = getattr(source, "mo_coeff", None)
        mo_energy = getattr(source, "mo_energy", None) if mo_energy is None else mo_energy
    if mo_coeff is None:
        raise UsageError("from_pyscf(): there are no orbitals: run mf.kernel() before, or give mo_coeff= and mo_occ=")
    if mo_occ is None:
        raise UsageError("from_pyscf(): there are no occupations: give mo_occ=; CASSCF has some with mc.natorb = True")
    sets = _by_spins(mo_coeff, 2)
    if sets[0].shape[0] == 2 * mol.nao:
        raise UsageError("from_pyscf(): generalized orbitals (GHF, GKS) are spinors, which are not computed")
    if any(np.iscomplexobj(one) and np.abs(one.imag).max() > 1e-10 for one in sets):
        raise UsageError("from_pyscf(): complex orbitals are not computed")
    spins = [np.full(one.shape[1], sign if len(sets) > 1 else 0) for one, sign in zip(sets, (1, -1))]
    charges = np.asarray(mol.atom_charges(), float)
    return {**_assembled(_pyscf_shells(mol), np.concatenate([one.real.T for one in sets])),
            "numbers": charges + [mol.atom_nelec_core(i) for i in range(mol.natm)], "charges": charges,
            "positions_bohr": mol.atom_coords(), "spins": np.concatenate(spins),
            "occupations": np.concatenate(_by_spins(mo_occ, 1)),
            "energies": None if mo_energy is None else np.concatenate(_by_spins(mo_energy, 1))}


def _of_checkpoint(path: str) -> Arrays:
    chkfile = needed("pyscf.lib.chkfile", "pyscf", "its checkpoints")
    with _about(path, "pyscf"):
        mol, found = chkfile.load_mol(path), chkfile.load(path, "scf")
        return of_pyscf(mol, found["mo_coeff"], found["mo_occ"], found.get("mo_energy"))


# ---- qc-iodata -----------------------------------------------------------------------------------


def _iodata_shells(basis: Any) -> List[_Shell]:
    if basis.primitive_normalization != "L2":
        raise InputError(f"its primitives are normalised as densities are ({basis.primitive_normalization})")
    found = []
    for shell in basis.shells:
        for l, kind, column in zip(shell.angmoms, shell.kinds, np.asarray(shell.coeffs).T):
            names = basis.conventions[int(l), kind]
            if kind == "c":  # "1" of s functions, "-yxx"
                names = ["-" * name.startswith("-") + "".join(sorted(name.strip("-1"))) for name in names]
            found.append(_Shell(int(shell.icenter), int(l), kind == "p", np.asarray(shell.exponents), column, names))
    return found


def _with_spins(mo: Any) -> Any:
    """Orbitals of each spin by itself, where the electrons of both do not say how many there are of each."""
    if mo.kind != "restricted" or mo.occs_aminusb is None or \
            np.allclose(mo.occs_aminusb, np.minimum(mo.occs, 2 - mo.occs), atol=1e-6):
        return mo
    return needed("iodata.orbitals", "qc-iodata", "this").convert_to_unrestricted(mo)


def of_iodata(data: Any) -> Arrays:
    """Of an IOData. Errors: InputError."""
    if getattr(data, "mo", None) is None or data.mo.coeffs is None or getattr(data, "obasis", None) is None:
        raise InputError("it has no orbitals, or no basis")
    if data.mo.kind == "generalized":
        raise InputError("generalized orbitals are spinors, which are not computed")
    if data.mo.occs is None:
        raise InputError("it has no occupations: Wavefunction.from_arrays() takes arrays with some")
    mo = _with_spins(data.mo)
    return {**_assembled(_iodata_shells(data.obasis), np.asarray(mo.coeffs).T), "numbers": data.atnums,
            "charges": data.atnums if data.atcorenums is None else data.atcorenums, "positions_bohr": data.atcoords,
            "energies": mo.energies, "occupations": mo.occs,
            "spins": [0] * mo.norba if mo.kind == "restricted" else [1] * mo.norba + [-1] * mo.norbb}


def matrix_of_iodata(data: Any, name: str) -> np.ndarray:
    """A density matrix of an IOData in the library's functions. Errors: UsageError."""
    matrices = getattr(data, "one_rdms", None) or {}
    if name not in matrices:
        raise UsageError(f"density: {name!r} is none of its density matrices: {', '.join(map(repr, matrices)) or 'it has none'}")
    order, factors = _order_of(_iodata_shells(data.obasis))
    return np.asarray(matrices[name])[np.ix_(order, order)] * np.multiply.outer(factors, factors)


@contextlib.contextmanager
def _overlaps_by(overlaps_of: Callable[[Arrays], np.ndarray]) -> Iterator[None]:
    """qc-iodata tells dialects by overlaps, which it computes in Python, minutes for hundreds of functions: the library's
    take their place."""
    module = sys.modules.get("iodata.formats.molden")
    theirs = getattr(module, "compute_overlap", None)

    def ours(basis: Any, places: Any, *_: Any) -> np.ndarray:
        shells = _iodata_shells(basis)
        order, signs = _order_of(shells)
        back = np.argsort(order)
        found = overlaps_of({**_assembled(shells, np.zeros((1, len(order)))), "positions_bohr": places,
                             "charges": np.ones(len(places)), "occupations": [0]})
        return np.asarray(found[np.ix_(back, back)] * np.multiply.outer(signs[back], signs[back]))

    if theirs is not None:
        setattr(module, "compute_overlap", ours)
    try:
        yield
    finally:
        if theirs is not None:
            setattr(module, "compute_overlap", theirs)


def _loaded(iodata: Any, path: str, fmt: str, overlaps_of: Callable[[Arrays], np.ndarray]) -> Tuple[Any, str]:
    """An IOData, and from which dialect it was mended. What is of no known dialect is as the file has it."""
    with _overlaps_by(overlaps_of), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            data = iodata.load_one(path, fmt=fmt)
        except iodata.utils.LoadError:
            if fmt not in ("molden", "molekel"):
                raise
            data = iodata.load_one(path, fmt=fmt, norm_threshold=math.inf)  # fails again but for norms
    remarks = [re.sub(r"\.? \([^()]*\)$", "", " ".join(str(one.message).split())) for one in said
               if issubclass(one.category, iodata.utils.LoadWarning)]
    return data, "; ".join(remarks)


# ---- Molden files that use what the format allows, and qc-iodata does not read -------------------


def _sections(text: str) -> List[Tuple[str, List[str]]]:
    """"[gto]" and so on, in lower case, each with its lines; the first one has no name."""
    found: List[Tuple[str, List[str]]] = [("", [])]
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            found.append((line.strip().lower(), []))
        else:
            found[-1][1].append(line)
    return found


def _in_e(number: str) -> str:
    return number.replace("D", "E").replace("d", "e")


def _split_shells(lines: List[str]) -> Tuple[List[str], List[int]]:
    """sp shells as two; and the angular momentum of each shell."""
    made: List[str] = []
    momenta: List[int] = []
    at = 0
    while at < len(lines):
        words = lines[at].split()
        if len(words) < 2 or not words[0].isalpha() or not words[1].isdigit():
            made.append(lines[at])
            at += 1
            continue
        kind, count = words[0].lower(), int(words[1])
        rows = [_in_e(line).split() for line in lines[at + 1:at + 1 + count]]
        if len(rows) < count:
            raise InputError(f"[GTO]: {lines[at].strip()!r:.40} is to have {count} primitives, and the file ends behind {len(rows)}")
        for column, letter in enumerate(["s", "p"] if kind == "sp" else [kind], 1):
            momenta.append(_LETTERS.index(letter))
            made += [f"{letter} {count} 1.00", *(f"{row[0]} {row[column]}" for row in rows)]
        at += 1 + count
    return made, momenta


def _whole_orbitals(lines: List[str], functions: int) -> List[str]:
    """Orbitals with the coefficients that are left out, which are 0, with an energy and a spin."""
    text = "\n".join(lines).lower()
    orbitals = [len(re.findall(rf"^ *{key} *=", text, re.MULTILINE)) for key in ("occup", "ene", "spin")]
    if sum("=" not in line and line.strip() != "" for line in lines) == orbitals[0] * functions and \
            orbitals == orbitals[:1] * 3 and re.search(r"\d *d[+-]?\d", text) is None:
        return ["[MO]", *lines]  # all are there
    made: List[str] = ["[MO]"]
    head: Dict[str, str] = {}
    values: Dict[int, str] = {}

    def end() -> None:
        if max(values, default=0) > functions:
            raise InputError(f"[MO]: a coefficient has the number {max(values)}, and the shells have {functions} functions")
        if head:
            made.extend(f" {key}={value}" for key, value in {"ene": " 0.0", "spin": " Alpha", **head}.items())
            made.extend(f" {k} {values.get(k, '0.0')}" for k in range(1, functions + 1))
        head.clear()
        values.clear()

    for line in lines:
        words = line.split()
        if "=" in line:
            if values:
                end()
            key, _, value = line.partition("=")
            head[key.strip().lower()] = value
        elif len(words) == 2 and words[0].isdigit():
            values[int(words[0])] = _in_e(words[1])
        elif words:
            raise InputError(f"[MO]: {line.strip()!r:.40} is neither a word with its value nor a coefficient with its number")
    end()
    return made


def _count(momenta: Sequence[int], pure: Sequence[int]) -> int:
    return sum(2 * l + 1 if l in pure else (l + 1) * (l + 2) // 2 for l in momenta)


def molden_text(text: str) -> str:
    """A Molden file with sp shells, coefficients that are 0, spins and exponents written out."""
    sections = _sections(text)
    if any(name.startswith("[sto]") for name, _ in sections):
        raise InputError("its functions are Slater's, [STO]; those that are computed are Gaussian, [GTO]")
    missing = [word for word in ("[Atoms]", "[GTO]", "[MO]") if not any(name.startswith(word.lower()) for name, _ in sections)]
    if missing:
        raise InputError(f"it has no section {missing[0]}; is the file whole?")
    tags = {2: ("[5d]", "[5d7f]", "[5d10f]"), 3: ("[5d]", "[5d7f]", "[7f]"), 4: ("[9g]",), 5: ("[9g]",)}
    pure = [l for l, words in tags.items() if any(name.startswith(words) for name, _ in sections)]
    shells, momenta = _split_shells([line for name, lines in sections if name.startswith("[gto]") for line in lines])
    made: List[str] = []
    for name, lines in sections:
        if name.startswith("[molden format]"):
            made.append("[Molden Format]")
        elif name.startswith("[gto]"):
            made += ["[GTO]", *shells, ""]
        elif name.startswith("[mo]"):
            functions, if_pure = _count(momenta, pure), _count(momenta, list(tags))
            if functions != if_pure == max((int(line.split()[0]) for line in lines if line.strip()[:1].isdigit()), default=0):
                raise InputError(f"its orbitals have {if_pure} coefficients, as of pure functions, and nothing says that they "
                                 "are: put the lines [5D7F] and [9G] in front of [GTO]")
            made += _whole_orbitals(lines, functions)
        elif name == "[atoms]":
            raise InputError("[Atoms] has no unit: put Angs or AU behind it")
        else:
            made += [name, *lines] if name else lines
    return "\n".join(made) + "\n"


# ---- cclib ---------------------------------------------------------------------------------------

_PURE_NAME = re.compile(r"[DFGHI] ?([+-]? ?\d)$")
_CARTESIAN_NAME = re.compile(r"[PDFGHI]?([XYZ]+)$")
_ORCA_D = {"DZ2": "c0", "DXZ": "c1", "DYZ": "s1", "DX2Y2": "c2", "DXY": "s2"}


def _cclib_function(name: str, is_orca: bool) -> str:
    """ "xy", "c2" or "" (s), of "C1_3XY", "C1_10D+2", "C1_1S"."""
    word = name.split("_", 1)[-1].upper().lstrip("0123456789")
    if is_orca and word in _ORCA_D:
        return _ORCA_D[word]
    pure, cartesian = _PURE_NAME.search(word), _CARTESIAN_NAME.search(word)
    if pure is not None:
        m = int(pure.group(1).replace(" ", ""))
        return f"s{-m}" if m < 0 else f"c{m}"
    if cartesian is not None:
        return "".join(sorted(cartesian.group(1).lower()))
    if word != "S":
        raise InputError(f"the name {name!r} does not say which function of its shell it is")
    return ""


def _cclib_shells(data: Any) -> List[_Shell]:
    """Functions are in the order of their names. ORCA's of m = 3 and 4 have the other sign."""
    is_orca = getattr(data, "metadata", {}).get("package") == "ORCA"
    names = [_cclib_function(name, is_orca) for name in data.aonames]
    found: List[_Shell] = []
    at = 0
    for atom, shells in enumerate(data.gbasis):
        for letter, primitives in shells:
            l = _LETTERS.index(letter.lower())
            is_pure = l >= 2 and "".join(names[at:at + 1])[:1] in ("c", "s")
            expected = _functions(l, is_pure)
            own = names[at:at + len(expected)]
            at += len(expected)
            if sorted(own) != sorted(expected):
                raise InputError(f"shell {len(found) + 1} is of type {letter}, and its functions are {', '.join(own)}")
            if is_orca and is_pure:
                own = [f"-{name}" if name[1] in "34" else name for name in own]
            exponents, coefficients = np.array(primitives, float).T
            found.append(_Shell(atom, l, is_pure, exponents, coefficients, own))
    return found


def _normalised(arrays: Arrays) -> Arrays:
    """Contractions of norm 1, which programs use and do not always print: sum over p, q of
    d_p d_q (2 sqrt(a_p a_q) / (a_p + a_q))^(l + 3/2) is 1."""
    first, coefficients = arrays["shell_first_primitive"], np.array(arrays["coefficients"], float)
    for l, start, end in zip(arrays["shell_l"], first[:-1], first[1:]):
        a, d = arrays["exponents"][start:end], coefficients[start:end]
        coefficients[start:end] /= np.sqrt(d @ (2 * np.sqrt(np.outer(a, a)) / np.add.outer(a, a)) ** (l + 1.5) @ d)
    return {**arrays, "coefficients": coefficients}


def of_cclib(data: Any) -> Arrays:
    """Of a ccData. Errors: InputError."""
    missing = [name for name in ("atomnos", "atomcoords", "gbasis", "aonames", "mocoeffs", "homos") if not hasattr(data, name)]
    if missing:
        raise InputError(f"it has no {', '.join(missing)}: let the program print its basis and all orbitals (Gaussian: gfprint "
                         "pop=full), or write a Molden or FCHK file")
    sets, homos = [np.asarray(one, float) for one in data.mocoeffs], list(data.homos)
    is_split = len(sets) > 1
    electrons = 1 if len(homos) > 1 or is_split else 2  # of an orbital, for each HOMO
    occupations = [sum(electrons * (np.arange(len(rows)) <= homo) for homo in (homos[k:k + 1] or homos if is_split else homos))
                   for k, rows in enumerate(sets)]
    numbers = np.asarray(data.atomnos)
    return _normalised({
        **_assembled(_cclib_shells(data), np.concatenate(sets)), "numbers": numbers,
        "charges": numbers - np.asarray(getattr(data, "coreelectrons", 0)),
        "positions_bohr": np.asarray(data.atomcoords)[-1] / _BOHR_A, "occupations": np.concatenate(occupations),
        "energies": np.concatenate(data.moenergies) / _HARTREE_EV if hasattr(data, "moenergies") else None,
        "spins": np.concatenate([np.full(len(rows), sign if is_split else 0) for rows, sign in zip(sets, (1, -1))])})


def _of_output(path: str) -> Arrays:
    cclib = needed("cclib.io", "cclib", "outputs of programs")
    logger = logging.getLogger("cclib")  # which speaks on standard error
    level = logger.level
    with _about(path, "cclib"):
        logger.setLevel(logging.CRITICAL + 1)
        try:
            data = cclib.ccread(path, loglevel=logging.CRITICAL)
        finally:
            logger.setLevel(level)
        if data is None:
            raise InputError(f"neither qc-iodata nor cclib knows this file: wavefunctions are read from {_WANTED}")
        return of_cclib(data)


# ---- Files ---------------------------------------------------------------------------------------


def _content_of(path: str) -> Tuple[str, bytes]:
    """The file's name without .gz, and what is in it."""
    try:
        with open(path, "rb") as file:
            content = file.read()
        if content[:2] == b"\x1f\x8b":
            return path[:-3] if path.endswith(".gz") else path, gzip.decompress(content)
    except (OSError, EOFError) as error:
        raise FileError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return path, content


def _format_of(name: str, content: bytes) -> Optional[str]:
    """The name of iodata's format; None: it has none with orbitals."""
    if re.match(rb"(\xef\xbb\xbf)?\s*\[molden format\]", content[:4096], re.IGNORECASE):
        return "molden"
    if re.search(rb"^Number of (atoms|basis functions) {4,}I +\d", content[:65536], re.MULTILINE):
        return "fchk"
    return next((fmt for ending, fmt in _FORMATS.items() if name.lower().endswith(ending)), None)


def is_wavefunction(path: str) -> bool:
    """Whether it is a file that qc-iodata reads."""
    is_packed = path.endswith(".gz")
    with contextlib.suppress(OSError, EOFError), (gzip.open if is_packed else open)(path, "rb") as file:
        return _format_of(path[:-3] if is_packed else path, file.read(65536)) is not None
    return False


def read(path: str, overlaps_of: Callable[[Arrays], np.ndarray]) -> Tuple[Arrays, str]:
    """Of a file of another program; and from which dialect it was mended. Overlaps are those of functions. Errors: ImportError for a package that is not
    installed, FileError, InputError."""
    name, content = _content_of(path)
    if content.startswith(b"\x89HDF"):
        return _of_checkpoint(path), ""
    fmt = _format_of(name, content)
    if fmt is None:
        return _of_output(path), ""
    iodata = needed("iodata", "qc-iodata", "Molden, FCHK, WFN, WFX and other files of wavefunctions")
    with tempfile.TemporaryDirectory() as folder:
        opened = os.path.join(folder, os.path.basename(name))
        with _about(path, "qc-iodata", opened):
            if fmt == "fchk" and any(section not in content for section in (b"Shell types", b"Alpha MO coefficients")):
                raise InputError("this FCHK file has no basis or no orbitals: formchk of the job's checkpoint writes both")
            if fmt == "molden":
                content = molden_text(content.decode("utf-8-sig", "replace").lstrip()).encode()
            with open(opened, "wb") as file:
                file.write(content)
            data, remark = _loaded(iodata, opened, fmt, overlaps_of)
            return of_iodata(data), remark
