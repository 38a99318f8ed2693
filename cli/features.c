/* features.c - riffle --version: what this program was built with. */
#include "command.h"

static void put(const char *name, bool is_there, const char *what)
{
    printf("  %-8s %-4s %s\n", name, is_there ? "yes" : "no", what);
}

void cli_version(void)
{
    bool sqlite = rf_export_find("sqlite") != NULL;
    printf("riffle %s\n", RIFFLE_VERSION);
    put("probe", RIFFLE_PROBE_FOLDER[0] != '\0',
        "riffle run, by Valgrind: programs need not be recompiled");
    put("names", RIFFLE_HAS_LIBDW, "functions, files and lines, by libdw");
    put("mangled", RIFFLE_HAS_LIBIBERTY, "C++ and Rust names as people write them, by libiberty");
    put("mpi", RIFFLE_HAS_MPI, "riffle mpi, by the module riffle-mpi.so");
    put("sqlite", sqlite, "riffle export --to sqlite");
    put("zlib", RIFFLE_HAS_ZLIB, "pprof files are compressed");
}
