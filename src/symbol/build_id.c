/* build_id.c - which build a file is: the note that the linker left in it, else a checksum of its code.
 *
 * It is read from every file that a profiled program maps, so this happens here and not in a child. Only the
 * header, the program headers, the notes and, where no note has an id, the code of a 64-bit ELF file are read, into
 * buffers of fixed size; no length in the file is trusted.
 *
 *     ELF header -> program header PT_NOTE -> name size, text size, type; "GNU\0"; the id
 *                -> program headers and what is mapped to be executed -> checksum
 *
 * A checksum takes in at most 16 MiB of code, which takes a few milliseconds. Stripping a file does not change it. */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "event/input.h"
#include "base/checksum.h"
#include "base/error.h"
#include "symbol/symbol.h"

enum { HEADERS_MAX = 128, NOTES_MAX = 4096, ID_MAX = 64, CODE_MAX = 16 << 20 };

static size_t align4(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* The id among n bytes of notes, as hex; 0: there is none. */
static size_t find_note(const uint8_t *notes, size_t n, char *text, size_t size)
{
    for (size_t at = 0; n - at >= 12;) {
        size_t name = rf_load32(notes + at), id = rf_load32(notes + at + 4);
        uint32_t type = rf_load32(notes + at + 8);
        at += 12;
        if (name > NOTES_MAX || id > NOTES_MAX || align4(name) > n - at ||
            id > n - at - align4(name))
            return 0;
        const uint8_t *bytes = notes + at + align4(name);
        if (type == NT_GNU_BUILD_ID && name == 4 && memcmp(notes + at, "GNU", 4) == 0 &&
            id <= ID_MAX) {
            for (size_t i = 0; i < id && 2 * i < size; i++)
                rf_format(text + 2 * i, size - 2 * i, "%02x", (unsigned)bytes[i]);
            return 2 * id;
        }
        at += align4(name) + align4(id);
        if (at > n)
            return 0;
    }
    return 0;
}

static bool read_header(int fd, Elf64_Ehdr *header)
{
    return rf_input_at(fd, header, sizeof *header, 0) == (ssize_t)sizeof *header &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_phentsize == sizeof(Elf64_Phdr);
}

/* The i-th program header; false behind the last, or where it lies outside the file. */
static bool read_segment(int fd, const Elf64_Ehdr *header, unsigned i, Elf64_Phdr *segment)
{
    off_t at = (off_t)(header->e_phoff + i * sizeof *segment);
    return i < header->e_phnum && i < HEADERS_MAX && at >= 0 &&
           rf_input_at(fd, segment, sizeof *segment, at) == (ssize_t)sizeof *segment &&
           (off_t)segment->p_offset >= 0;
}

static size_t read_notes(int fd, const Elf64_Ehdr *header, char *text, size_t size)
{
    Elf64_Phdr segment;
    uint8_t notes[NOTES_MAX];
    for (unsigned i = 0; read_segment(fd, header, i, &segment); i++) {
        if (segment.p_type != PT_NOTE)
            continue;
        size_t wanted = segment.p_filesz < sizeof notes ? segment.p_filesz : sizeof notes;
        ssize_t got = rf_input_at(fd, notes, wanted, (off_t)segment.p_offset);
        size_t length = got > 0 ? find_note(notes, (size_t)got, text, size) : 0;
        if (length > 0)
            return length;
    }
    return 0;
}

/* `room` is how much code may still be read. */
static uint64_t sum_segment(int fd, const Elf64_Phdr *segment, uint64_t sum, size_t *room)
{
    uint8_t code[64 * 1024];
    uint64_t left = segment->p_filesz < *room ? segment->p_filesz : *room;
    off_t at = (off_t)segment->p_offset;
    while (left > 0) {
        ssize_t got = rf_input_at(fd, code, left < sizeof code ? left : sizeof code, at);
        if (got <= 0)
            break;
        sum = rf_checksum_word(sum, rf_checksum(code, (size_t)got));
        at += got;
        left -= (size_t)got;
        *room -= (size_t)got;
    }
    return sum;
}

static size_t sum_code(int fd, const Elf64_Ehdr *header, char *text, size_t size)
{
    Elf64_Phdr segment;
    uint64_t sum = rf_checksum_begin();
    size_t room = CODE_MAX;
    for (unsigned i = 0; read_segment(fd, header, i, &segment); i++) {
        sum = rf_checksum_word(sum, rf_checksum(&segment, sizeof segment));
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
            sum = sum_segment(fd, &segment, sum, &room);
    }
    if (room == CODE_MAX)
        return 0;
    return rf_format(text, size, "code-%016llx", (unsigned long long)sum);
}

size_t rf_symbols_build_id(const char *path, char *text, size_t size)
{
    struct stat about;
    Elf64_Ehdr header;
    size_t length = 0;
    if (size > 0)
        text[0] = '\0';
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return 0;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && read_header(fd, &header)) {
        length = read_notes(fd, &header, text, size);
        if (length == 0)
            length = sum_code(fd, &header, text, size);
    }
    close(fd);
    return length;
}
