/* magic.h - the first eight bytes of our files; one letter tells them apart.
 *
 * As in PNG, no text begins with these bytes, and they show a transfer that changed line ends or stripped
 * the eighth bit. */
#ifndef RF_BASE_MAGIC_H
#define RF_BASE_MAGIC_H

enum { RF_MAGIC_SIZE = 8 };

#define RF_MAGIC(letter)                                                                           \
    {                                                                                              \
        0x89, 'R', 'F', letter, '\r', '\n', 0x1a, '\n'                                             \
    }
#define RF_MAGIC_TRACE   RF_MAGIC('T')
#define RF_MAGIC_PROFILE RF_MAGIC('P')

#endif
