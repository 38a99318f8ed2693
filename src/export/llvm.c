/* llvm.c - LLVM's sample profile as text, for clang -fprofile-sample-use.
 *
 *     find:5120:40                   a function: all counts in it, how often it was entered
 *      3: 640                        line 3 of the function ran 640 times
 *      3.2: 80                       a piece of that line: its discriminator
 *      5: 40 compare:30 copy:10      calls, by callee
 *      7: insert:1200                insert was inlined at line 7; its lines follow
 *       1: 400
 *
 * Lines count from the line where the function begins. Several instructions of one line and discriminator have one count,
 * the greatest of theirs: that is how often the line ran. Code that the compiler copied, by unrolling or vectorizing,
 * says how often in its discriminator, and its counts are multiplied by that.
 *
 * Where the real LLVM tools have samples, we have how often each instruction ran, exactly, from `insn -> pc`; and callees
 * from `call -> pc,target`. Functions without debug information have no lines and are left out. */
#include "export/export.h"
#include "base/order.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

enum { NO_PARENT = UINT32_MAX, OFFSET_MASK = 0xffff };

/* A function, or one inlined at a place of another. */
struct node {
    uint32_t parent, function; /* a node; a text */
    uint32_t offset, discriminator;
    uint64_t head, total;
};

/* How often a line of a node ran, or called a function. */
struct line {
    uint32_t node, offset, discriminator;
    uint32_t callee; /* a text; 0: the line itself */
    uint64_t count;
};

struct llvm {
    const struct rf_export *export;
    struct rf_export_texts names, node_keys, line_keys;
    struct node *nodes; /* a parent before its children */
    struct line *lines;
    uint32_t n_nodes, node_room, n_lines, line_room;
    uint32_t *order;   /* of nodes: by parent and place */
    uint64_t left_out; /* instructions without a line */
};

/* ---- discriminators: base, copies and number of the copy, each in 1, 7 or 14 bits ---- */

static uint32_t part_of(uint32_t discriminator)
{
    if (discriminator & 1)
        return 0;
    uint32_t rest = discriminator >> 1;
    return rest & 0x20 ? (rest >> 1 & 0xfe0) | (rest & 0x1f) : rest & 0x1f;
}

static uint32_t skip_part(uint32_t discriminator)
{
    if (discriminator & 1)
        return discriminator >> 1;
    return discriminator >> (discriminator & 0x40 ? 14 : 7);
}

static uint32_t copies_of(uint32_t discriminator)
{
    uint32_t copies = part_of(skip_part(discriminator));
    return copies > 0 ? copies : 1;
}

/* ---- collecting ---- */

static bool make_room(const struct llvm *llvm, void **array, uint32_t n, uint32_t *room,
                      size_t size)
{
    if (n < *room)
        return true;
    uint32_t more = *room == 0 ? 256 : 2 * *room;
    if (!rf_alloc_array(&llvm->export->alloc, array, *room, more, size))
        return false;
    *room = more;
    return true;
}

/* A name that the text can hold: no blanks, no controls, no colon. */
static bool is_fit(const char *name)
{
    size_t n = 0;
    while (isgraph((unsigned char)name[n]) && name[n] != ':' && name[n] != '@')
        n++;
    return n > 0 && name[n] == '\0';
}

static rf_status find_node(struct llvm *llvm, const struct node *wanted, uint32_t *number)
{
    char key[64];
    rf_format(key, sizeof key, "%u %u %u %u", wanted->parent, wanted->function, wanted->offset,
              wanted->discriminator);
    rf_status status = rf_export_text(&llvm->node_keys, key, number);
    if (status != RF_OK)
        return status;
    *number -= 1; /* text 0 is empty */
    if (*number < llvm->n_nodes)
        return RF_OK;
    void *nodes = llvm->nodes;
    if (!make_room(llvm, &nodes, llvm->n_nodes, &llvm->node_room, sizeof *wanted))
        return RF_ENOMEM;
    llvm->nodes = nodes;
    llvm->nodes[llvm->n_nodes++] = *wanted;
    return RF_OK;
}

enum how { GREATEST, SUM };

static rf_status add_line(struct llvm *llvm, const struct line *line, enum how how)
{
    char key[64];
    uint32_t number;
    rf_format(key, sizeof key, "%u %u %u %u", line->node, line->offset, line->discriminator,
              line->callee);
    rf_status status = rf_export_text(&llvm->line_keys, key, &number);
    if (status != RF_OK)
        return status;
    number -= 1;
    void *lines = llvm->lines;
    if (!make_room(llvm, &lines, llvm->n_lines, &llvm->line_room, sizeof *line))
        return RF_ENOMEM;
    llvm->lines = lines;
    if (number == llvm->n_lines) {
        llvm->lines[llvm->n_lines++] = *line;
        return RF_OK;
    }
    struct line *old = &llvm->lines[number];
    old->count = how == SUM                 ? old->count + line->count
                 : line->count > old->count ? line->count
                                            : old->count;
    return RF_OK;
}

static rf_status step_in(struct llvm *llvm, const struct rf_frame *frame, const struct line *at,
                         uint32_t *node)
{
    struct node wanted = {
        .parent = at->node, .offset = at->offset, .discriminator = at->discriminator};
    rf_status status = rf_export_text(&llvm->names, frame->linkage, &wanted.function);
    return status == RF_OK ? find_node(llvm, &wanted, node) : status;
}

static bool is_known(const struct rf_frame *frame)
{
    return frame->start != 0 && frame->line != 0 && is_fit(frame->linkage);
}

/* The place of an instruction: a node and a line in it, its count 0. RF_ENOTSUP: it has none. */
static rf_status find_line(struct llvm *llvm, const struct rf_export_place *place,
                           struct line *line, uint32_t *copies)
{
    const struct rf_place_name *name = &place->name;
    const struct rf_frame own = rf_place_frame(name);
    rf_status status = RF_OK;
    *line = (struct line){.node = NO_PARENT};
    for (size_t i = name->n_inlined + 1; i-- > 0 && status == RF_OK;) {
        const struct rf_frame *frame = i < name->n_inlined ? &name->inlined[i] : &own;
        uint32_t node;
        if (!is_known(frame))
            return RF_ENOTSUP;
        status = step_in(llvm, frame, line, &node);
        *line = (struct line){.node = node,
                              .offset = (frame->line - frame->start) & OFFSET_MASK,
                              .discriminator = part_of(frame->discriminator)};
        *copies = copies_of(frame->discriminator);
    }
    return status;
}

static rf_status add_site(struct llvm *llvm, const struct rf_export_site *site)
{
    struct rf_export_place place;
    struct line line;
    uint32_t copies;
    rf_export_find_place(llvm->export, site->word, &place);
    rf_status status = find_line(llvm, &place, &line, &copies);
    if (status == RF_ENOTSUP) {
        llvm->left_out += site->count;
        return RF_OK;
    }
    if (status != RF_OK)
        return status;
    uint32_t root = line.node;
    while (llvm->nodes[root].parent != NO_PARENT)
        root = llvm->nodes[root].parent;
    if (site->word == place.entry)
        llvm->nodes[root].head += site->count;
    line.count = site->count * copies;
    return add_line(llvm, &line, GREATEST);
}

static rf_status add_call(struct llvm *llvm, const struct rf_item *item)
{
    struct rf_export_place from, to;
    struct line line;
    uint32_t copies;
    rf_export_find_place(llvm->export, item->a, &from);
    rf_export_find_place(llvm->export, item->b, &to);
    const char *callee = to.name.linkage[0] != '\0' ? to.name.linkage : to.name.function;
    if (!is_fit(callee))
        return RF_OK;
    rf_status status = find_line(llvm, &from, &line, &copies);
    if (status == RF_OK)
        status = rf_export_text(&llvm->names, callee, &line.callee);
    line.count = item->count;
    if (status == RF_OK)
        status = add_line(llvm, &line, SUM);
    return status == RF_ENOTSUP ? RF_OK : status;
}

static rf_status add_calls(struct llvm *llvm, const struct rf_profile *profile)
{
    size_t n = 2 * profile->n_items, size = n * sizeof(uint64_t);
    uint64_t *words = n > 0 ? rf_alloc_get(&llvm->export->alloc, size) : NULL;
    if (words == NULL)
        return n > 0 ? RF_ENOMEM : RF_OK;
    for (size_t i = 0; i < profile->n_items; i++) {
        words[2 * i] = profile->items[i].a;
        words[2 * i + 1] = profile->items[i].b;
    }
    rf_status status = rf_export_prepare(llvm->export, words, n);
    rf_alloc_free(&llvm->export->alloc, words, size);
    for (size_t i = 0; i < profile->n_items && status == RF_OK; i++)
        status = add_call(llvm, &profile->items[i]);
    return status;
}

static bool is_code(const struct rf_profile *profile)
{
    struct rf_selector selector;
    return rf_profile_selector(profile, &selector) == RF_OK && profile->shape == RF_SHAPE_TUPLE &&
           selector.classes == 1u << RF_CLASS_INSN && selector.n_conditions == 0 &&
           selector.weight == RF_FIELD_NONE && selector.project_a == RF_FIELD_PC &&
           selector.project_b == RF_FIELD_NONE;
}

static bool takes(const struct rf_profile *profile)
{
    return is_code(profile) || rf_export_is_calls(profile);
}

static rf_status collect(struct llvm *llvm)
{
    const struct rf_run *run = llvm->export->run;
    rf_status status = RF_OK;
    bool found = false;
    for (size_t i = 0; i < run->n_profiles && status == RF_OK; i++) {
        struct rf_export_sites sites;
        if (rf_export_is_calls(run->profiles[i]))
            status = add_calls(llvm, run->profiles[i]);
        if (!is_code(run->profiles[i]) || status != RF_OK)
            continue;
        found = true;
        status = rf_export_sites_open(&sites, llvm->export, run->profiles[i]);
        for (size_t k = 0; k < sites.n && status == RF_OK; k++)
            status = add_site(llvm, &sites.at[k]);
        rf_export_sites_close(&sites, llvm->export);
    }
    if (status == RF_OK && !found)
        return rf_fail(
            llvm->export->error, RF_ENOTSUP,
            "llvm is made of how often instructions ran, and this file does not tell it; "
            "run with -p code -p calls");
    if (status == RF_OK && llvm->n_nodes == 0)
        return rf_fail(llvm->export->error, RF_ENOTSUP,
                       "no instruction has a line; build the program with -g "
                       "-fdebug-info-for-profiling");
    return status;
}

/* ---- writing ---- */

static int compare(uint32_t left, uint32_t right)
{
    return (left > right) - (left < right);
}

static int by_node(const void *left, const void *right)
{
    const struct line *l = left, *r = right;
    int order = compare(l->node, r->node);
    order = order != 0 ? order : compare(l->offset, r->offset);
    order = order != 0 ? order : compare(l->discriminator, r->discriminator);
    return order != 0 ? order : compare(l->callee, r->callee);
}

static int by_parent(const void *left, const void *right, void *context)
{
    const struct llvm *llvm = context;
    const struct node *l = &llvm->nodes[*(const uint32_t *)left];
    const struct node *r = &llvm->nodes[*(const uint32_t *)right];
    int order = compare(l->parent, r->parent);
    if (order == 0 && l->parent == NO_PARENT)
        return strcmp(llvm->names.at[l->function], llvm->names.at[r->function]);
    order = order != 0 ? order : compare(l->offset, r->offset);
    order = order != 0 ? order : compare(l->discriminator, r->discriminator);
    return order != 0 ? order : compare(l->function, r->function);
}

/* Totals are of all lines, inlined ones included. A child comes behind its parent. */
static void add_up(struct llvm *llvm)
{
    for (uint32_t i = 0; i < llvm->n_lines; i++)
        if (llvm->lines[i].callee == 0)
            llvm->nodes[llvm->lines[i].node].total += llvm->lines[i].count;
    for (uint32_t i = llvm->n_nodes; i-- > 0;)
        if (llvm->nodes[i].parent != NO_PARENT)
            llvm->nodes[llvm->nodes[i].parent].total += llvm->nodes[i].total;
}

static void write_place(const struct llvm *llvm, unsigned depth, uint32_t offset,
                        uint32_t discriminator)
{
    fprintf(llvm->export->out, "%*s%" PRIu32, (int)depth, "", offset);
    if (discriminator != 0)
        fprintf(llvm->export->out, ".%" PRIu32, discriminator);
    fputs(": ", llvm->export->out);
}

static bool line_before(const void *lines, size_t i, uint64_t node)
{
    return ((const struct line *)lines)[i].node < node;
}

static uint32_t first_line_of(const struct llvm *llvm, uint32_t node)
{
    return (uint32_t)rf_search(llvm->lines, llvm->n_lines, node, line_before);
}

/* Lines of a node with their callees, which stand behind their line. A call whose line was not counted has its sum. */
static void write_lines(const struct llvm *llvm, uint32_t node, unsigned depth)
{
    FILE *out = llvm->export->out;
    for (uint32_t i = first_line_of(llvm, node), end;
         i < llvm->n_lines && llvm->lines[i].node == node; i = end) {
        const struct line *line = &llvm->lines[i];
        write_place(llvm, depth, line->offset, line->discriminator);
        fprintf(out, "%" PRIu64, line->count);
        for (end = i + (line->callee == 0); end < llvm->n_lines && llvm->lines[end].node == node &&
                                            llvm->lines[end].offset == line->offset &&
                                            llvm->lines[end].discriminator == line->discriminator;
             end++)
            fprintf(out, " %s:%" PRIu64, llvm->names.at[llvm->lines[end].callee],
                    llvm->lines[end].count);
        fputc('\n', out);
    }
}

static bool node_before(const void *context, size_t i, uint64_t parent)
{
    const struct llvm *llvm = context;
    return llvm->nodes[llvm->order[i]].parent < parent;
}

static uint32_t first_child(const struct llvm *llvm, uint32_t parent)
{
    return (uint32_t)rf_search(llvm, llvm->n_nodes, parent, node_before);
}

static void write_nodes(const struct llvm *llvm, uint32_t parent, unsigned depth)
{
    for (uint32_t i = first_child(llvm, parent);
         i < llvm->n_nodes && llvm->nodes[llvm->order[i]].parent == parent &&
         !ferror(llvm->export->out);
         i++) {
        const struct node *node = &llvm->nodes[llvm->order[i]];
        if (depth > 0)
            write_place(llvm, depth, node->offset, node->discriminator);
        fprintf(llvm->export->out, "%s:%" PRIu64, llvm->names.at[node->function], node->total);
        if (depth == 0)
            fprintf(llvm->export->out, ":%" PRIu64, node->head);
        fputc('\n', llvm->export->out);
        write_lines(llvm, llvm->order[i], depth + 1);
        write_nodes(llvm, llvm->order[i], depth + 1);
    }
}

static rf_status write_all(struct llvm *llvm)
{
    llvm->order = rf_alloc_get(&llvm->export->alloc, llvm->n_nodes * sizeof *llvm->order);
    if (llvm->order == NULL)
        return RF_ENOMEM;
    for (uint32_t i = 0; i < llvm->n_nodes; i++)
        llvm->order[i] = i;
    add_up(llvm);
    qsort(llvm->lines, llvm->n_lines, sizeof *llvm->lines, by_node);
    qsort_r(llvm->order, llvm->n_nodes, sizeof *llvm->order, by_parent, llvm);
    write_nodes(llvm, NO_PARENT, 0);
    rf_alloc_free(&llvm->export->alloc, llvm->order, llvm->n_nodes * sizeof *llvm->order);
    return RF_OK;
}

static void free_llvm(struct llvm *llvm)
{
    const struct rf_alloc alloc = llvm->export->alloc;
    rf_export_texts_close(&llvm->names);
    rf_export_texts_close(&llvm->node_keys);
    rf_export_texts_close(&llvm->line_keys);
    rf_alloc_free(&alloc, llvm->nodes, llvm->node_room * sizeof *llvm->nodes);
    rf_alloc_free(&alloc, llvm->lines, llvm->line_room * sizeof *llvm->lines);
}

static rf_status open_texts(struct llvm *llvm)
{
    struct rf_export_texts *const texts[] = {&llvm->names, &llvm->node_keys, &llvm->line_keys};
    rf_status status = RF_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == RF_OK; i++)
        status = rf_export_texts_open(texts[i], &llvm->export->alloc);
    return status;
}

static rf_status write_llvm(const struct rf_export *export, void *state)
{
    struct llvm *llvm = state;
    llvm->export = export;
    rf_status status = open_texts(llvm);
    if (status == RF_OK)
        status = collect(llvm);
    if (status == RF_OK) {
        rf_export_tell_left_out(export, takes);
        if (llvm->left_out > 0)
            rf_export_tell(export, "%llu executed instructions have no line and are left out",
                           (unsigned long long)llvm->left_out);
        status = write_all(llvm);
    }
    free_llvm(llvm);
    return status;
}

const struct rf_export_maker rf_export_llvm = {sizeof(struct llvm), write_llvm};
