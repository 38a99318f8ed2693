/* corpus.c - stands in for libFuzzer: every file of the folders on the command line, one after the
 * other, and every prefix of the short ones. */
#include "fuzz.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { PREFIXES_MAX = 512 };

static int run_file(const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t cut = 0; cut < n && n <= PREFIXES_MAX; cut++)
        LLVMFuzzerTestOneInput(bytes, cut);
    LLVMFuzzerTestOneInput(bytes, n);
    return 1;
}

static int run_folder(const char *folder)
{
    DIR *open_folder = opendir(folder);
    int files = 0;
    if (open_folder == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(open_folder)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            files += run_file(path);
    }
    closedir(open_folder);
    return files;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++)
        files += run_folder(argv[i]);
    printf("%d files\n", files);
    return files == 0;
}
