/* texts.c - texts by number, each once: formats with tables of names refer to them so. */
#include "export/export.h"

enum { FIRST_ROOM = 64 };

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

static uint32_t *place_of(const struct rf_export_texts *texts, const char *text)
{
    for (uint64_t at = hash_text(text);; at++) {
        uint32_t *place = &texts->hashed[at & (texts->n_hashed - 1)];
        if (*place == 0 || strcmp(texts->at[*place - 1], text) == 0)
            return place;
    }
}

/* Room for twice as many; the table of hashes is kept half empty. */
static bool grow(struct rf_export_texts *texts)
{
    uint32_t room = texts->room == 0 ? FIRST_ROOM : 2 * texts->room;
    void *at = texts->at;
    if (!rf_alloc_array(&texts->alloc, &at, texts->room, room, sizeof *texts->at))
        return false;
    texts->at = at;
    texts->room = room;
    uint32_t *hashed = rf_alloc_zeroed(&texts->alloc, 2 * (size_t)room * sizeof *hashed);
    if (hashed == NULL)
        return false;
    rf_alloc_free(&texts->alloc, texts->hashed, texts->n_hashed * sizeof *hashed);
    texts->hashed = hashed;
    texts->n_hashed = 2 * room;
    for (uint32_t i = 0; i < texts->n; i++)
        *place_of(texts, texts->at[i]) = i + 1;
    return true;
}

rf_status rf_export_texts_open(struct rf_export_texts *texts, const struct rf_alloc *alloc)
{
    uint32_t number;
    *texts = (struct rf_export_texts){.alloc = *alloc};
    return rf_export_text(texts, "", &number);
}

void rf_export_texts_close(struct rf_export_texts *texts)
{
    for (uint32_t i = 0; i < texts->n; i++)
        rf_alloc_free(&texts->alloc, texts->at[i], strlen(texts->at[i]) + 1);
    rf_alloc_free(&texts->alloc, texts->at, texts->room * sizeof *texts->at);
    rf_alloc_free(&texts->alloc, texts->hashed, texts->n_hashed * sizeof *texts->hashed);
}

rf_status rf_export_text(struct rf_export_texts *texts, const char *text, uint32_t *number)
{
    if (texts->n == texts->room && !grow(texts))
        return RF_ENOMEM;
    uint32_t *place = place_of(texts, text);
    if (*place == 0) {
        size_t size = strlen(text) + 1;
        char *copy = rf_alloc_get(&texts->alloc, size);
        if (copy == NULL)
            return RF_ENOMEM;
        texts->at[texts->n++] = memcpy(copy, text, size);
        *place = texts->n;
    }
    *number = *place - 1;
    return RF_OK;
}
