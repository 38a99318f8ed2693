/* note.c - the note of programs that have hooks for blocks: a library of its own, which `riffle cc` links where it compiles
 * such hooks. */
#include "hooks.h"

RF_HOOKS_NOTED(RF_HOOKS_NOTE_BLOCKS);
