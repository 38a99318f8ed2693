/* field.c - the table behind riffle/fields.def. */
#include "event/field.h"

static const struct row {
    struct rf_field_info info;
    uint8_t word; /* enum rf_field_word */
    uint32_t late;
} rows[RF_FIELD_COUNT] = {
#define RF_FIELD(ID, name, classes, meaning, word, late, value, brief)                             \
    [RF_FIELD_##ID] = {{#name, brief, RF_SET_##classes, RF_MEANS_##meaning},                       \
                       RF_FIELD_WORD_##word,                                                       \
                       RF_SET_##late},
#include <riffle/fields.def>
};

const struct rf_field_info *rf_field_info(unsigned field)
{
    return field > RF_FIELD_NONE && field < RF_FIELD_COUNT ? &rows[field].info : NULL;
}

uint64_t rf_field_of(const struct rf_record *r, unsigned field)
{
    switch (field) {
#define RF_FIELD(ID, name, classes, meaning, word, late, value, brief)                             \
    case RF_FIELD_##ID:                                                                            \
        return (value);
#include <riffle/fields.def>
    default:
        return 0;
    }
}

const char *rf_field_name(unsigned field)
{
    const struct rf_field_info *info = rf_field_info(field);
    return info != NULL ? info->name : NULL;
}

bool rf_field_is_late(unsigned field, unsigned kind)
{
    return rows[field].late >> kind & 1;
}

enum rf_field_word rf_field_is(unsigned field)
{
    return rows[field].late == 0 ? rows[field].word : RF_FIELD_WORD_NONE;
}

enum rf_field_word rf_field_needs(unsigned field, unsigned kind)
{
    const struct row *row = &rows[field];
    uint32_t classes = row->late != 0 ? row->late : row->info.classes;
    return classes >> kind & 1 ? row->word : RF_FIELD_WORD_NONE;
}

char rf_field_letter(enum rf_field_word word)
{
    static const char letters[RF_FIELD_WORDS] = {
#define RF_FIELD_WORD(ID, member, letter) [RF_FIELD_WORD_##ID] = letter,
#include <riffle/fields.def>
    };
    return letters[word];
}
