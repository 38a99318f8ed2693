/* forms.c - the forms there are, and what they share: which profiles they take, names of places. */
#include "export/export.h"
#include <riffle/text.h>
#include <riffle/view.h>
#include <stdarg.h>

static const struct rf_export_form forms[] = {
    {"callgrind", "costs by line, and calls, for callgrind_annotate and KCachegrind",
     "callgrind_annotate", .maker = &rf_export_callgrind},
    {"pprof", "places, values and stacks as pprof's protocol buffer", "go tool pprof",
     .maker = &rf_export_pprof, .is_binary = 1},
    {"collapsed", "stacks, one per line, with their samples", "flamegraph.pl",
     .maker = &rf_export_collapsed},
    {"speedscope", "stacks for the viewer speedscope, as JSON", "speedscope",
     .maker = &rf_export_speedscope},
    {"perf", "samples as perf script prints them",
     "stackcollapse-perf.pl, gprof2dot, riffle replay", .maker = &rf_export_perf},
    {"llvm", "LLVM's sample profile, for clang -fprofile-sample-use", "clang, llvm-profdata",
     .maker = &rf_export_llvm},
#ifdef RIFFLE_SQLITE
    {"sqlite", "everything as a database, with a view per question", "sqlite3",
     .maker = &rf_export_sqlite, .is_binary = 1},
#endif
    {.name = NULL},
};

const struct rf_export_form *rf_export_forms(void)
{
    return forms;
}

const struct rf_export_form *rf_export_find(const char *name)
{
    for (const struct rf_export_form *form = forms; form->name != NULL; form++)
        if (strcmp(form->name, name) == 0)
            return form;
    return NULL;
}

static rf_status write_with_state(const struct rf_export *export,
                                  const struct rf_export_maker *maker)
{
    void *state = maker->state_size > 0 ? rf_alloc_zeroed(&export->alloc, maker->state_size) : NULL;
    if (state == NULL && maker->state_size > 0)
        return RF_ENOMEM;
    rf_status status = maker->write(export, state);
    rf_alloc_free(&export->alloc, state, maker->state_size);
    if (status == RF_OK && (fflush(export->out) != 0 || ferror(export->out)))
        status = RF_EIO;
    return status;
}

rf_status rf_export_write(const struct rf_export_form *form, FILE *out, const struct rf_run *run,
                          const struct rf_export_setup *setup, struct rf_error *error)
{
    struct rf_export export = {out, run, setup, *rf_alloc_or_standard(NULL), error};
    if (run->n_profiles > 0 && run->profiles[0]->alloc.resize != NULL)
        export.alloc = run->profiles[0]->alloc;
    return write_with_state(&export, form->maker);
}

void rf_export_tell(const struct rf_export *export, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    rf_format_list(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (export->setup->tell != NULL)
        export->setup->tell(export->setup->context, sentence);
}

/* ---- profiles ---- */

bool rf_export_is_stacks(const struct rf_profile *profile)
{
    struct rf_words words;
    rf_view_words(&words, profile);
    return words.a.field == RF_FIELD_PC && words.b.field == RF_FIELD_CONTEXT;
}

bool rf_export_is_calls(const struct rf_profile *profile)
{
    struct rf_selector selector;
    return rf_profile_selector(profile, &selector) == RF_OK && profile->shape == RF_SHAPE_TUPLE &&
           selector.classes == 1u << RF_CLASS_CALL && selector.n_conditions == 0 &&
           selector.project_a == RF_FIELD_PC && selector.project_b == RF_FIELD_TARGET;
}

bool rf_export_is_by_pc(const struct rf_profile *profile)
{
    struct rf_words words;
    rf_view_words(&words, profile);
    return words.by_pc && profile->shape == RF_SHAPE_TUPLE && !rf_export_is_stacks(profile) &&
           !rf_profile_is_companion(profile);
}

const struct rf_profile *rf_export_stacks_of(const struct rf_export *export)
{
    for (size_t i = 0; i < export->run->n_profiles; i++)
        if (rf_export_is_stacks(export->run->profiles[i]))
            return export->run->profiles[i];
    return NULL;
}

const struct rf_profile *rf_export_only_stacks(const struct rf_export *export, const char *form)
{
    const struct rf_profile *profile = rf_export_stacks_of(export);
    if (profile != NULL)
        rf_export_tell_left_out(export, rf_export_is_stacks);
    else
        rf_fail(export->error, RF_ENOTSUP,
                "%s is made of samples of the call stack, and this file has none; run with -p "
                "stacks",
                form);
    return profile;
}

void rf_export_tell_left_out(const struct rf_export *export,
                             bool (*takes)(const struct rf_profile *profile))
{
    for (size_t i = 0; i < export->run->n_profiles; i++) {
        const struct rf_profile *profile = export->run->profiles[i];
        if (!takes(profile) && !rf_profile_is_companion(profile))
            rf_export_tell(export, "the profile '%s' has no place in this form and is left out",
                           profile->selector[0] != '\0' ? profile->selector : "tuples");
    }
}

static void print_event(const struct rf_profile *profile, char name[RF_EXPORT_NAME_MAX])
{
    struct rf_selector selector;
    bool plain = rf_profile_selector(profile, &selector) == RF_OK && selector.n_conditions == 0 &&
                 selector.weight == RF_FIELD_NONE && selector.classes == 1u << RF_CLASS_INSN;
    rf_format(name, RF_EXPORT_NAME_MAX, "%s", plain ? "Ir" : rf_view_noun(profile, 2));
    for (char *c = name; *c != '\0'; c++)
        if (*c == ' ' || *c == '-')
            *c = '_';
}

void rf_export_event(const struct rf_export *export, size_t profile, char name[RF_EXPORT_NAME_MAX])
{
    char other[RF_EXPORT_NAME_MAX];
    print_event(export->run->profiles[profile], name);
    for (size_t i = 0; i < profile; i++) {
        print_event(export->run->profiles[i], other);
        if (strcmp(name, other) == 0 && !rf_profile_is_companion(export->run->profiles[i])) {
            size_t n = strlen(name);
            rf_format(name + n, RF_EXPORT_NAME_MAX - n, "_%zu", profile + 1);
            return;
        }
    }
}

/* ---- places ---- */

void rf_export_find_place(const struct rf_export *export, uint64_t word,
                          struct rf_export_place *place)
{
    *place = (struct rf_export_place){.entry = word, .address = rf_view_address(word)};
    rf_symbols_lookup(export->setup->symbols, word, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME,
                      &place->name);
    if (place->name.function[0] != '\0')
        place->entry = word - place->name.offset;
    else if (place->name.begin != 0)
        place->entry = word - (place->name.link - place->name.begin);
}

rf_status rf_export_prepare(const struct rf_export *export, const uint64_t *words, size_t n)
{
    size_t size = n * sizeof *words;
    struct rf_export_place place;
    if (export->setup->symbols == NULL || n == 0)
        return RF_OK;
    rf_status status = rf_symbols_prepare(export->setup->symbols, words, n);
    uint64_t *entries = status == RF_OK ? rf_alloc_get(&export->alloc, size) : NULL;
    if (entries == NULL)
        return status != RF_OK ? status : RF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        rf_export_find_place(export, words[i], &place);
        entries[i] = place.entry;
    }
    status = rf_symbols_prepare(export->setup->symbols, entries, n);
    rf_alloc_free(&export->alloc, entries, size);
    return status;
}

rf_status rf_export_prepare_items(const struct rf_export *export, const struct rf_profile *profile,
                                  enum rf_export_word word)
{
    size_t size = profile->n_items * sizeof(uint64_t);
    uint64_t *words = rf_alloc_get(&export->alloc, size);
    if (words == NULL)
        return size > 0 ? RF_ENOMEM : RF_OK;
    for (size_t i = 0; i < profile->n_items; i++)
        words[i] = word == RF_EXPORT_A ? profile->items[i].a : profile->items[i].b;
    rf_status status = rf_export_prepare(export, words, profile->n_items);
    rf_alloc_free(&export->alloc, words, size);
    return status;
}

void rf_export_function(const struct rf_export_place *place, char text[RF_EXPORT_TEXT_MAX])
{
    size_t n;
    if (place->name.function[0] != '\0') {
        rf_text_readable(text, RF_EXPORT_TEXT_MAX, place->name.function);
    } else if (place->name.module[0] != '\0') {
        n = rf_text_readable(text, RF_EXPORT_TEXT_MAX - 32, place->name.module);
        n = n < RF_EXPORT_TEXT_MAX - 32 ? n : strlen(text);
        uint64_t begin = place->name.begin != 0 ? place->name.begin : place->name.offset;
        rf_format(text + n, 32, "+0x%llx", (unsigned long long)begin);
    } else {
        rf_format(text, RF_EXPORT_TEXT_MAX, "0x%llx", (unsigned long long)place->address);
    }
}

struct rf_frame rf_export_innermost(const struct rf_export_place *place)
{
    const struct rf_place_name *name = &place->name;
    if (name->n_inlined > 0)
        return name->inlined[0];
    return rf_place_frame(name);
}
