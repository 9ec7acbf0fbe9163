"""Makes the extension module leyden._c: the whole interface of host/leyden.h, by cffi.

What Python knows of the library is what the compiler says the header declares, so the two cannot
differ. Beside it stand a few lines of C that threads of the library call while a job runs: none of
them takes Python's lock.
"""
import os
import re
import subprocess
import tempfile
from pathlib import Path

import cffi

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / os.environ.get("LEYDEN_BUILD", "build")
INCLUDED = [ROOT / "host", ROOT / "platform"]
SANITIZE = os.environ.get("LEYDEN_SANITIZE", "").split()  # the flags of that build, if it has some

DEFINED = """
static const double LEY_LEAST_TOLERANCE, LEY_MOST_TOLERANCE, LEY_USUAL_TOLERANCE, LEY_OWN_A;
static const double LEY_COULOMB_CONSTANT_AMBER, LEY_COULOMB_CONSTANT_CHARMM, LEY_COULOMB_CONSTANT_NAMD,
    LEY_COULOMB_CONSTANT_OPENMM;
void free(void *from_malloc);
"""

PROGRESS = """
/* How far a job is: the library's threads write it, Python reads it when it likes. */
typedef struct pyley_progress {
    ley_progress latest;
    int64_t calls;
    ...;
} pyley_progress;

pyley_progress *pyley_progress_create(void);
void pyley_progress_destroy(pyley_progress *progress);
void pyley_progress_take(void *progress, const ley_progress *latest);
int64_t pyley_progress_read(pyley_progress *progress, ley_progress *latest);
"""

# What averages of several processes add up (_ranks.py).
RANKS = 'extern "Python" int pyley_add_up(void *context, int64_t *words, size_t count, int to);'

SOURCE = r"""
#include <leyden.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct pyley_progress {
    ley_progress latest;
    int64_t calls;
    pthread_mutex_t lock;
} pyley_progress;

static pyley_progress *pyley_progress_create(void)
{
    pyley_progress *progress = calloc(1, sizeof *progress);
    if (progress != NULL)
        pthread_mutex_init(&progress->lock, NULL);
    return progress;
}

static void pyley_progress_destroy(pyley_progress *progress)
{
    if (progress != NULL)
        pthread_mutex_destroy(&progress->lock);
    free(progress);
}

static void pyley_progress_take(void *context, const ley_progress *latest)
{
    pyley_progress *progress = context;
    pthread_mutex_lock(&progress->lock);
    progress->latest = *latest;
    progress->calls++;
    pthread_mutex_unlock(&progress->lock);
}

/* How often there was news so far. */
static int64_t pyley_progress_read(pyley_progress *progress, ley_progress *latest)
{
    pthread_mutex_lock(&progress->lock);
    *latest = progress->latest;
    const int64_t calls = progress->calls;
    pthread_mutex_unlock(&progress->lock);
    return calls;
}
"""


def declarations():
    """What the header declares, as cffi reads it: without the headers of the C library."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            Path(empty, name).touch()
        command = [os.environ.get("CC", "cc"), "-E", "-P", "-nostdinc", f"-I{empty}",
                   *(f"-I{folder}" for folder in INCLUDED), str(ROOT / "host" / "leyden.h")]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text = text.replace('__attribute__((visibility("default")))', "")
    # cffi writes the types `const double x[3][3]` of a parameter and `const double (*x)[3]` of a
    # member as C does not take them: without `const` the compiler would warn of the latter.
    return re.sub(r"const (\w+ (\w+\[\d+\]|\(\*\w+\))\[\d+\])", r"\1", text)


ffi = cffi.FFI()
ffi.cdef(declarations())
ffi.cdef(DEFINED)
ffi.cdef(PROGRESS)
ffi.cdef(RANKS)
ffi.set_source(
    "leyden._c", SOURCE,
    include_dirs=[str(folder) for folder in INCLUDED],
    extra_objects=[str(BUILD / "libleyden.a")],
    depends=[str(BUILD / "libleyden.a"), *(str(header) for header in sorted((ROOT / "host").glob("leyden*.h")))],
    libraries=["OpenCL", "crypto", "z", "m", "dl", "pthread"],
    extra_compile_args=["-std=gnu11", "-Wno-unused-parameter", "-Wno-incompatible-pointer-types", *SANITIZE],
    # Another libleyden in the same process must not meet this one.
    extra_link_args=["-Wl,--exclude-libs,ALL", *SANITIZE] + ([] if SANITIZE else ["-Wl,--strip-debug"]),
)
