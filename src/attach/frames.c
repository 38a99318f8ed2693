/* frames.c - walk from frame to frame.
 *
 *     rbp --> | rbp of the caller | return address | ...            at each higher addresses
 *
 * A chain ends where the next frame does not lie above the last one, or where the return address is no code. Code
 * that was compiled without frame pointers uses rbp for other things: there the chain ends at once, and the stack is one
 * frame. A function that has not set up its frame yet hides its caller. */
#include "attach/frames.h"

enum { RSP = 4, RBP = 5 };
#define FRAME_MAX (UINT64_C(1) << 20) /* bytes of one frame */

size_t rf_frames(struct rf_stepper *stepper, const struct rf_maps *maps,
                 uint64_t frames[RF_FRAMES_MAX])
{
    const uint64_t *registers = rf_stepper_registers(stepper);
    uint64_t low = registers[RSP], frame = registers[RBP], words[2];
    size_t n = 0;
    frames[n++] = rf_stepper_pc(stepper);
    while (n < RF_FRAMES_MAX && frame >= low && frame - low < FRAME_MAX && frame % 8 == 0 &&
           rf_pages_read(rf_stepper_pages(stepper), frame, words, sizeof words) &&
           rf_maps_has_code(maps, words[1])) {
        frames[n++] = words[1] - 1; /* within the call */
        low = frame + sizeof words;
        frame = words[0];
    }
    return n;
}
