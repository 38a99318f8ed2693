/* handlers.h - what the handlers on the simulated core and the host share. */
#ifndef RF_DISE_GUEST_HANDLERS_H
#define RF_DISE_GUEST_HANDLERS_H

enum { RF_DISE_BUFFER = 1024 };

struct rf_dise_buffer {
    unsigned long long n;
    struct {
        unsigned long long pc, word;
    } entries[RF_DISE_BUFFER];
};

/* The words of the table at the beginning of the code; offsets from there. */
enum { RF_DISE_DATA_BEGINS, RF_DISE_DATA_ENDS, RF_DISE_THE_BUFFER, RF_DISE_FIRST_ENTRY };

#endif
