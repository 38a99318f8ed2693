/* field.h - the rows of riffle/fields.def as functions, for sources that select by themselves. */
#ifndef RF_EVENT_FIELD_H
#define RF_EVENT_FIELD_H

#include <stdbool.h>
#include <riffle/selector.h>

/* Bits 1 << enum rf_class. */
enum rf_class_set {
    RF_SET_NONE = 0,
    RF_SET_ACCESS = 1 << RF_CLASS_LOAD | 1 << RF_CLASS_STORE,
    RF_SET_LOAD = 1 << RF_CLASS_LOAD,
    RF_SET_STORE = 1 << RF_CLASS_STORE,
    RF_SET_RESULT = 1 << RF_CLASS_ALU,
    RF_SET_INSN = 1 << RF_CLASS_INSN,
    RF_SET_VALUED = RF_SET_ACCESS | RF_SET_RESULT,
    RF_SET_BRANCH = 1 << RF_CLASS_BRANCH,
    RF_SET_JUMPING = 1 << RF_CLASS_JUMP | 1 << RF_CLASS_CALL,
    RF_SET_TRANSFER = RF_SET_BRANCH | RF_SET_JUMPING | 1 << RF_CLASS_RETURN,
    RF_SET_FRAME = 1 << RF_CLASS_FRAME,
    RF_SET_ANY = RF_SET_FRAME - 1, /* of all that instructions do; frames are samples */
    RF_SET_ALL = RF_SET_ANY | RF_SET_FRAME,
};

/* The words of a record that may change each time its instruction runs. */
enum rf_field_word {
    RF_FIELD_WORD_NONE,
#define RF_FIELD_WORD(ID, member, letter) RF_FIELD_WORD_##ID,
#include <riffle/fields.def>
    RF_FIELD_WORDS
};

/* "pc", "addr", ...; NULL for RF_FIELD_NONE and numbers that are no field. */
const char *rf_field_name(unsigned field);

/* True if the field needs a whole record of this class. Otherwise the field is the word that rf_field_is
 * names, or it is known when the instruction is translated. */
bool rf_field_is_late(unsigned field, unsigned kind);
enum rf_field_word rf_field_is(unsigned field);

/* The word that the source must hand out with records of this class, if the field is asked for. */
enum rf_field_word rf_field_needs(unsigned field, unsigned kind);

/* The name of that word on the probe's command line. */
char rf_field_letter(enum rf_field_word word);

#endif
