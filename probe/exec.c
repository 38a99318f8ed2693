/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exec.c - what becomes of a process that executes another program.
 *
 *     execve("/usr/bin/su")  -->  core: trace this child?  -->  ours: setuid, cannot be; tell the collector
 *                                                               exec goes on, without Valgrind
 *
 * The core would refuse a setuid program and fail to start a 32-bit one. Natively both run; so they run here,
 * too, but unprofiled. The linker puts our answer in front of the core's (--wrap in assemble).
 *
 * The core also forgets the name that a program is called by, argv[0], and uses its path. The name goes along as an
 * option of ours, --called, and is put where the program will look for it. */
#include "probe.h"
#include "pub_tool_xarray.h"
#include "source/target_kind.h"

extern XArray *VG_(args_for_valgrind); /* of the core: what it hands on to itself through an exec */

Bool __real_vgPlain_should_we_trace_this_child(const HChar *path, const HChar **arguments);
Bool __wrap_vgPlain_should_we_trace_this_child(const HChar *path, const HChar **arguments);
SysRes __real_vgPlain_pre_exec_check(const HChar *path, Int *out, Bool untraced);
SysRes __wrap_vgPlain_pre_exec_check(const HChar *path, Int *out, Bool untraced);
SysRes VG_(mk_SysRes_Success)(UWord value);

static void look(struct rf_target_file *file)
{
    static const HChar capabilities[] = "security.capability";
    struct vg_stat stat = {0};
    SysRes status = VG_(stat)(file->path, &stat);
    file->n = 0;
    file->is_there = !sr_isError(status) && VKI_S_ISREG(stat.mode);
    if (!file->is_there)
        return;
    file->mode = stat.mode;
    file->has_capabilities =
        ring_syscall(__NR_getxattr, (ULong)file->path, (ULong)capabilities, 0, 0) > 0;
    SysRes fd = VG_(open)(file->path, VKI_O_RDONLY, 0);
    file->is_readable = !sr_isError(fd);
    if (!file->is_readable)
        return;
    Int n = VG_(read)((Int)sr_Res(fd), file->head, sizeof file->head);
    VG_(close)((Int)sr_Res(fd));
    file->n = n > 0 ? (UInt)n : 0;
}

static void tell_unprofiled(enum rf_target_kind kind, const HChar *path)
{
    SizeT n = VG_(strlen)(path);
    UInt words = 2 + (UInt)(n / 8 + 1);
    ULong *to = ring_reserve(words);
    VG_(memset)(to, 0, words * 8);
    to[0] = RF_WORD_HEADER(RF_WORD_UNPROFILED, words);
    to[1] = kind;
    VG_(memcpy)(to + 2, path, n);
    ring_commit(words);
}

static const HChar called[] = "--called=";

/* Replace the option, or add it. A colon stands before the name, which may be empty; NULL: none. */
static void hand_on_name(const HChar *name)
{
    SizeT n = sizeof called - 1, room = n + 2 + (name != NULL ? VG_(strlen)(name) : 0);
    HChar *option = VG_(malloc)("riffle.called", room);
    VG_(snprintf)
    (option, (Int)room, "%s%s%s", called, name != NULL ? ":" : "", name != NULL ? name : "");
    for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_valgrind)); i++) {
        HChar **known = VG_(indexXA)(VG_(args_for_valgrind), i);
        if (VG_(strncmp)(*known, called, n) == 0) {
            *known = option;
            return;
        }
    }
    VG_(addToXA)(VG_(args_for_valgrind), &option);
}

void exec_take_name(ThreadId thread)
{
    const HChar *name = probe_options.called;
    HChar **arguments = (HChar **)(VG_(get_SP)(thread) + sizeof(Word)); /* behind argc */
    probe_options.called = NULL;
    if (name == NULL || name[0] == 0 || VG_(strlen)(name + 1) > VG_(strlen)(arguments[0]))
        return;
    VG_(strcpy)(arguments[0], name + 1);
}

Bool __wrap_vgPlain_should_we_trace_this_child(const HChar *path, const HChar **arguments)
{
    static struct rf_target_file file;
    if (!__real_vgPlain_should_we_trace_this_child(path, arguments))
        return False;
    if (path == NULL || VG_(strlen)(path) >= sizeof file.path)
        return True;
    VG_(strcpy)(file.path, path);
    enum rf_target_kind kind = rf_target_kind(&file, look);
    if (kind != RF_TARGET_FINE) {
        tell_unprofiled(kind, path);
        return False;
    }
    Bool is_script =
        VG_(strcmp)(file.path, path) != 0; /* the system calls its interpreter by its path */
    hand_on_name(is_script || arguments == NULL ? NULL : arguments[0]);
    return True;
}

static Bool is_executable(const HChar *path)
{
    enum { MAY_EXECUTE = 1 };
    struct vg_stat stat = {0};
    return !sr_isError(VG_(stat)(path, &stat)) && VKI_S_ISREG(stat.mode) &&
           ring_syscall(__NR_access, (ULong)path, MAY_EXECUTE, 0, 0) == 0;
}

/* The core reads a program before it executes it, even one that it will not trace. To execute it is enough that it
 * may be executed. */
SysRes __wrap_vgPlain_pre_exec_check(const HChar *path, Int *out, Bool untraced)
{
    SysRes checked = __real_vgPlain_pre_exec_check(path, out, untraced);
    if (sr_isError(checked) && sr_Err(checked) == VKI_EACCES && untraced && is_executable(path))
        return VG_(mk_SysRes_Success)(0);
    return checked;
}
