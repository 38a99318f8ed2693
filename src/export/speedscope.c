/* speedscope.c - stacks as speedscope's own JSON: a table of frames, samples as lists of frame numbers, weights.
 *
 *     {"shared": {"frames": [{"name", "file", "line"}]},
 *      "profiles": [{"type": "sampled", "samples": [[0, 1, 2]], "weights": [124]}]}
 *
 * Frames are written behind the samples, when all are known. */
#include "export/export.h"
#include <inttypes.h>
#include <riffle/report.h>

struct speedscope {
    const struct rf_export *export;
    struct rf_export_texts keys; /* function, file and line in one text: a frame */
    uint64_t *words;             /* by frame */
    uint32_t room;
    uint64_t total;
    size_t n_stacks;
    bool weights; /* the second pass */
    char text[RF_EXPORT_TEXT_MAX], key[2 * RF_EXPORT_TEXT_MAX];
};

static rf_status keep_word(struct speedscope *scope, uint32_t frame, uint64_t word)
{
    if (frame >= scope->room) {
        uint32_t room = 2 * frame + 64;
        void *words = scope->words;
        if (!rf_alloc_array(&scope->export->alloc, &words, scope->room, room, sizeof *scope->words))
            return RF_ENOMEM;
        scope->words = words;
        scope->room = room;
    }
    scope->words[frame] = word;
    return RF_OK;
}

/* Frames are functions: two addresses of one function are one frame. */
static rf_status frame_of(struct speedscope *scope, uint64_t word, uint32_t *frame)
{
    struct rf_export_place place;
    rf_export_find_place(scope->export, word, &place);
    rf_export_function(&place, scope->text);
    snprintf(scope->key, sizeof scope->key, "%s %s", scope->text, place.name.path);
    uint32_t before = scope->keys.n;
    rf_status status = rf_export_text(&scope->keys, scope->key, frame);
    if (status != RF_OK)
        return status;
    *frame -= 1; /* text 0 is empty */
    return scope->keys.n > before ? keep_word(scope, *frame, place.entry) : RF_OK;
}

static rf_status write_stack(void *context, const struct rf_export_stack *stack)
{
    struct speedscope *scope = context;
    FILE *out = scope->export->out;
    fputs(scope->n_stacks++ > 0 ? ",\n" : "\n", out);
    if (scope->weights) {
        fprintf(out, "%" PRIu64, stack->samples);
        return RF_OK;
    }
    rf_status status = RF_OK;
    scope->total += stack->samples;
    for (size_t i = 0; i < stack->n && status == RF_OK; i++) {
        uint32_t frame;
        status = frame_of(scope, stack->words[i], &frame);
        if (status == RF_OK)
            fprintf(out, i > 0 ? ",%" PRIu32 : "[%" PRIu32, frame);
    }
    fputc(']', out);
    return status;
}

static void write_frame(struct speedscope *scope, uint32_t frame)
{
    struct rf_export_place place;
    FILE *out = scope->export->out;
    rf_export_find_place(scope->export, scope->words[frame], &place);
    rf_export_function(&place, scope->text);
    fputs(frame > 0 ? ",\n{\"name\": " : "\n{\"name\": ", out);
    rf_write_json(out, scope->text);
    fputs(", \"file\": ", out);
    rf_write_json(out, place.name.file[0] != '\0' ? place.name.file : place.name.path);
    if (place.name.line != 0)
        fprintf(out, ", \"line\": %" PRIu32, place.name.line);
    fputc('}', out);
}

static rf_status write_profile(struct speedscope *scope, const struct rf_profile *profile)
{
    FILE *out = scope->export->out;
    fputs("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
          "\"exporter\": \"riffle " RIFFLE_VERSION "\",\n\"name\": ",
          out);
    rf_write_json(out, scope->export->run->command);
    fputs(",\n\"profiles\": [{\"type\": \"sampled\", \"name\": \"samples of the call stack\", "
          "\"unit\": \"none\", \"startValue\": 0,\n\"samples\": [",
          out);
    rf_status status = rf_export_stacks(scope->export, profile, write_stack, scope);
    scope->weights = true;
    scope->n_stacks = 0;
    fputs("],\n\"weights\": [", out);
    if (status == RF_OK)
        status = rf_export_stacks(scope->export, profile, write_stack, scope);
    fprintf(out, "],\n\"endValue\": %" PRIu64 "}],\n\"shared\": {\"frames\": [", scope->total);
    for (uint32_t i = 0; i + 1 < scope->keys.n && status == RF_OK; i++)
        write_frame(scope, i);
    fputs("]}}\n", out);
    return status;
}

static rf_status write_speedscope(const struct rf_export *export, void *state)
{
    struct speedscope *scope = state;
    const struct rf_profile *profile = rf_export_only_stacks(export, "speedscope");
    if (profile == NULL)
        return RF_ENOTSUP;
    scope->export = export;
    rf_status status = rf_export_texts_open(&scope->keys, &export->alloc);
    if (status == RF_OK)
        status = write_profile(scope, profile);
    rf_export_texts_close(&scope->keys);
    rf_alloc_free(&export->alloc, scope->words, scope->room * sizeof *scope->words);
    return status;
}

const struct rf_export_maker rf_export_speedscope = {sizeof(struct speedscope), write_speedscope};
