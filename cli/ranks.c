/* ranks.c - whether this process is a rank of an MPI job, and the module that speaks MPI. */
#include "ranks.h"
#include "say.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_ranks_find(int *rank, int *size)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *number = getenv(names[i][0]), *of = getenv(names[i][1]);
        if (number == NULL || of == NULL)
            continue;
        *rank = atoi(number);
        *size = atoi(of);
        return *size > 0 && *rank >= 0 && *rank < *size;
    }
    return 0;
}

static bool load_from(const struct cli_mpi **mpi, const char *folder, const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        access(path, R_OK) != 0)
        return false;
    static void *module; /* until the end: plug-ins of MPI look for libmpi there */
    module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    *mpi = module != NULL ? dlsym(module, CLI_MPI_TABLE) : NULL;
    return *mpi != NULL;
}

static int refuse(void)
{
    const char *why = dlerror(); /* none where no such file was found */
    if (!RIFFLE_HAS_MPI)
        why = "riffle was built without MPI";
    return cli_fail(CLI_FAILED, "mpi: riffle-mpi.so cannot be loaded: %s",
                    why != NULL ? why : "it is not where riffle is");
}

int cli_ranks_load(const struct cli_mpi **mpi)
{
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) > 0 && strrchr(self, '/') != NULL)
        *strrchr(self, '/') = '\0';
    bool loaded = load_from(mpi, self, "cli/riffle-mpi.so") ||
                  load_from(mpi, self, RIFFLE_MPI_BESIDE "/riffle-mpi.so") ||
                  load_from(mpi, RIFFLE_MPI_FOLDER, "riffle-mpi.so");
    return loaded ? CLI_OK : refuse();
}
