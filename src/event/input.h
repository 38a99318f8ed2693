/* input.h - read all that was asked for: one system call may be interrupted by a signal, or give less.
 *
 *     if (rf_input_at(fd, &header, sizeof header, 0) != sizeof header)
 *         ...                                     the file is shorter, or cannot be read
 *
 * Both return how many bytes there were, which is less than n at the end of the file alone; -1 with errno. */
#ifndef RF_EVENT_INPUT_H
#define RF_EVENT_INPUT_H

#include <stddef.h>
#include <sys/types.h>

ssize_t rf_input_read(int fd, void *bytes, size_t n);
ssize_t rf_input_at(int fd, void *bytes, size_t n, off_t offset);

#endif
