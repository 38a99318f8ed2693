/* hooks.c - programs that were compiled by `riffle cc`.
 *
 * They have a note, which strip leaves: name "riffle", type 1, and which layout of the ring they know. A second one, of type 2,
 * says that they have hooks for blocks, too. What is wanted goes to the run-time in the environment, as NAME=VALUE with a separator that no path has:
 *
 *     RIFFLE_HOOKS=ring-fd=1027 ring-path=/proc/812/fd/4 want=load:v,call: merge= follow= ... */
#include "source/hooks.h"
#include "event/input.h"
#include "source/ring_layout.h"
#include "source/spawn.h"
#include "event/field.h"
#include "base/error.h"
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    NOTE_HOOKS = 1,
    NOTE_BLOCKS = 2,
    NOTE_OTHER = 31,
    NOTES_MAX = 64 * 1024,
    SEGMENTS_MAX = 256
};

#define SEPARATOR "\x1f"

/* ---- the note ---- */

static uint32_t read_32(const unsigned char *at)
{
    uint32_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

static size_t rounded(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* 1 << type of the notes of ours in this piece of a file; NOTE_OTHER: of one with another layout. */
static unsigned find_notes(const unsigned char *notes, size_t n)
{
    enum { HEAD = 12 };
    unsigned found = 0;
    for (size_t at = 0; n - at >= HEAD;) {
        size_t name = read_32(notes + at), bytes = read_32(notes + at + 4);
        uint32_t type = read_32(notes + at + 8);
        if (name > n || bytes > n || HEAD + rounded(name) + rounded(bytes) > n - at)
            break;
        if (name == sizeof "riffle" && memcmp(notes + at + HEAD, "riffle", name) == 0 &&
            type < NOTE_OTHER) {
            size_t value = at + HEAD + rounded(name);
            bool fits = bytes == 4 && read_32(notes + value) == RF_RING_LAYOUT;
            found |= 1u << type | (fits ? 0 : 1u << NOTE_OTHER);
        }
        at += HEAD + rounded(name) + rounded(bytes);
    }
    return found;
}

static unsigned notes_of_segment(int fd, const Elf64_Phdr *segment)
{
    unsigned char notes[4096];
    size_t n = segment->p_filesz < sizeof notes ? segment->p_filesz : sizeof notes;
    if (segment->p_type != PT_NOTE ||
        rf_input_at(fd, notes, n, (off_t)segment->p_offset) != (ssize_t)n)
        return 0;
    return find_notes(notes, n);
}

static unsigned notes_of_file(int fd)
{
    Elf64_Ehdr header;
    unsigned found = 0;
    if (rf_input_at(fd, &header, sizeof header, 0) != sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof(Elf64_Phdr))
        return 0;
    for (unsigned i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++) {
        Elf64_Phdr segment;
        if (rf_input_at(fd, &segment, sizeof segment,
                        (off_t)(header.e_phoff + i * sizeof segment)) == sizeof segment)
            found |= notes_of_segment(fd, &segment);
    }
    return found;
}

static unsigned notes_of(const char *name)
{
    char path[4096];
    int fd = rf_probe_find(path, sizeof path, name) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    unsigned found = notes_of_file(fd);
    close(fd);
    return found;
}

int rf_probe_has_hooks(const char *name)
{
    return notes_of(name) >> NOTE_HOOKS & 1;
}

rf_status rf_hooks_check(const char *name, struct rf_error *error)
{
    if ((notes_of(name) >> NOTE_OTHER & 1) == 0)
        return RF_OK;
    return rf_fail(error, RF_ENOTSUP,
                   "'%s' was linked by 'riffle cc' of another version of riffle, whose hooks this "
                   "one does not know: build it again, or use --probe",
                   name);
}

/* ---- what hooks can tell ---- */

static bool reads(const struct rf_probe_setup *setup, unsigned kind, unsigned field)
{
    for (size_t i = 0; i < setup->n_selectors; i++)
        if ((setup->selectors[i].classes >> kind & 1) && (setup->selectors[i].fields >> field & 1))
            return true;
    return false;
}

/* A hook tells of a call from within the callee: where it begins is not known. */
static bool asks_for_entries(const struct rf_probe_setup *setup)
{
    for (size_t i = 0; i < setup->n_selectors; i++) {
        const struct rf_selector *selector = &setup->selectors[i];
        for (size_t k = 0; k < selector->n_conditions; k++)
            if ((selector->classes >> RF_CLASS_CALL & 1) && !selector->conditions[k].is_range &&
                selector->conditions[k].field == RF_FIELD_TARGET)
                return true;
    }
    return false;
}

static const char *what_is_missing(const struct rf_probe_setup *setup)
{
    uint32_t classes = rf_probe_classes(setup);
    uint32_t known = 1u << RF_CLASS_LOAD | 1u << RF_CLASS_STORE | 1u << RF_CLASS_CALL;
    bool has_blocks = notes_of(setup->argv[0]) >> NOTE_BLOCKS & 1;
    if ((classes & 1u << RF_CLASS_BRANCH) != 0 && !has_blocks)
        return "know blocks only in a program that was compiled with RIFFLE_CC_BLOCKS=1";
    if ((classes & ~(known | 1u << RF_CLASS_BRANCH | 1u << RF_CLASS_JUMP)) != 0 ||
        ((classes & 1u << RF_CLASS_JUMP) != 0 && (classes & 1u << RF_CLASS_BRANCH) == 0))
        return "know loads, stores and calls alone";
    if (reads(setup, RF_CLASS_STORE, RF_FIELD_VALUE) ||
        reads(setup, RF_CLASS_STORE, RF_FIELD_SILENT))
        return "do not know what a store will write";
    if (reads(setup, RF_CLASS_BRANCH, RF_FIELD_TAKEN))
        return "know which block follows which, not whether a branch was taken";
    if (asks_for_entries(setup))
        return "tell of a call from within the function, not from its first address";
    if (setup->functions != NULL && setup->functions[0] != NULL)
        return "do not know functions by name";
    if (setup->n_patterns > 0 || rf_probe_clocks(setup) > 1 || setup->bursts[0].phases)
        return "have neither productions nor phases";
    return NULL;
}

int rf_probe_hooks_suffice(const struct rf_probe_setup *setup, char *why, size_t size)
{
    const char *missing = what_is_missing(setup);
    if (missing != NULL)
        rf_format(why, size, "%s", missing);
    return missing == NULL;
}

/* ---- options ---- */

struct text {
    char *to;
    size_t n;
};

static void add(struct text *text, const char *name, const char *value)
{
    if (text->n < RF_HOOKS_TEXT)
        text->n += rf_format(text->to + text->n, RF_HOOKS_TEXT - text->n, "%s%s=%s",
                             text->n > 0 ? SEPARATOR : "", name, value);
}

static void add_ring(struct text *text, int ring_fd, int ring_number)
{
    char value[64];
    rf_format(value, sizeof value, "%d", ring_number);
    add(text, "ring-fd", value);
    rf_format(value, sizeof value, "/proc/%d/fd/%d", (int)getpid(), ring_fd);
    add(text, "ring-path", value);
}

static void add_want(struct text *text, const struct rf_probe_setup *setup)
{
    char value[RF_SPAWN_WANT];
    rf_spawn_want(setup, false, value);
    add(text, "want", value);
}

static void add_groups(struct text *text, const struct rf_probe_setup *setup)
{
    uint8_t groups[RF_WORD_CLASSES];
    char value[64] = "";
    size_t n = 0, n_groups = rf_probe_groups(setup, groups);
    if (setup->bursts[0].burst == 0)
        return;
    for (size_t i = 0; i < n_groups; i++)
        n += rf_format(value + n, sizeof value - n, "%s%x", n > 0 ? "," : "", groups[i]);
    add(text, "groups", value);
}

static void add_places(struct text *text, const struct rf_probe_setup *setup)
{
    const struct rf_probe_range *range = setup->ranges;
    for (; range != NULL && (range->low | range->high) != 0; range++) {
        char value[64];
        rf_format(value, sizeof value, "%llx-%llx", (unsigned long long)range->low,
                  (unsigned long long)range->high);
        add(text, "range", value);
    }
    for (const char *const *module = setup->modules; module != NULL && *module != NULL; module++)
        add(text, "module", *module);
}

/* Equal events may be merged where no selector wants them in their order. */
static bool may_merge(const struct rf_probe_setup *setup)
{
    uint32_t all = setup->n_selectors < 32 ? (UINT32_C(1) << setup->n_selectors) - 1 : ~UINT32_C(0);
    return !setup->records && setup->bursts[0].burst == 0 && (setup->any_order & all) == all;
}

bool rf_hooks_options(char to[RF_HOOKS_TEXT], const struct rf_probe_setup *setup, int ring_fd,
                      int ring_number)
{
    struct text text = {to, 0};
    bool threads = false;
    for (size_t i = 0; i < setup->n_selectors; i++)
        threads |= (setup->selectors[i].fields >> RF_FIELD_THREAD & 1) != 0;
    add_ring(&text, ring_fd, ring_number);
    add_want(&text, setup);
    add_groups(&text, setup);
    add_places(&text, setup);
    const struct {
        const char *name;
        bool is;
    } flags[] = {{"merge", may_merge(setup)},
                 {"lossy", setup->lossy != 0},
                 {"follow", !setup->no_follow},
                 {"threads", threads}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].is)
            add(&text, flags[i].name, "");
    return text.n < RF_HOOKS_TEXT;
}
