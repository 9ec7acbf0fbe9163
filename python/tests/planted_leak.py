"""Memory that is lost on purpose. `test_python.sh` runs this under the address sanitizer, by its
name alone, and sees that the search for leaks finds what the library made and what the extension
did. Of each there are many, as some may still be seen on a stack that is no longer used."""
from leyden._c import ffi, lib

MANY = 20


def test_molecules_are_lost():
    box, error, x = ffi.new("ley_atoms **"), ffi.new("ley_error *"), ffi.new("double[24]")
    for _ in range(MANY):
        assert lib.ley_atoms_create(8, x, x, ffi.NULL, box, error) == 0
    box[0] = ffi.NULL


def test_progress_is_lost():
    for _ in range(MANY):
        lib.pyley_progress_create()
