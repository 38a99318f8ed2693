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
 * option of ours, --called, and is put where the program will look for it.
 *
 * A program may execute itself as /proc/self/exe. To the system that is the probe. So the path that the core gets is
 * that of the program's own file:
 *
 *     execve("/proc/self/exe")  -->  is it the file that this process runs?  -->  execve("/usr/bin/busybox")
 *
 * Cannot: execute /proc/N/exe of another profiled process. The core fails to load the probe as a program. */
#include "probe.h"
#include "pub_tool_xarray.h"
#include "source/target_kind.h"

/* Of the core. */
extern XArray *VG_(args_for_valgrind); /* what it hands on to itself through an exec */
extern Int VG_(cl_exec_fd);            /* the program's own file */
SysRes VG_(am_mmap_anon_float_client)(SizeT bytes, Int rights);

Bool __real_vgPlain_should_we_trace_this_child(const HChar *path, const HChar **arguments);
Bool __wrap_vgPlain_should_we_trace_this_child(const HChar *path, const HChar **arguments);
SysRes __real_vgPlain_pre_exec_check(const HChar *path, Int *out, Bool untraced);
SysRes __wrap_vgPlain_pre_exec_check(const HChar *path, Int *out, Bool untraced);
SysRes VG_(mk_SysRes_Success)(UWord value);

/* The first members of what the core knows of a system call, as in its priv_types_n_macros.h. */
struct call {
    Word number;
    UWord arguments[8];
};
typedef void before_call(ThreadId thread, void *layout, struct call *call, void *status,
                         UWord *flags);
before_call __real_vgSysWrap_generic_sys_execve_before, __wrap_vgSysWrap_generic_sys_execve_before;
before_call __real_vgSysWrap_linux_sys_execveat_before, __wrap_vgSysWrap_linux_sys_execveat_before;

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

/* Replace the option, or add it. The name follows a colon and may be empty. NULL: there is no name. */
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

/* The core reads a program before it executes it, even one that it will not trace. But the right to execute it is
 * enough to execute it. */
SysRes __wrap_vgPlain_pre_exec_check(const HChar *path, Int *out, Bool untraced)
{
    SysRes checked = __real_vgPlain_pre_exec_check(path, out, untraced);
    if (sr_isError(checked) && sr_Err(checked) == VKI_EACCES && untraced && is_executable(path))
        return VG_(mk_SysRes_Success)(0);
    return checked;
}

/* ---- a program that executes itself ---- */

enum { PATH_BYTES = 4096 };

static Bool same_file(const HChar *path, const HChar *other)
{
    struct vg_stat x, y;
    return !sr_isError(VG_(stat)(path, &x)) && !sr_isError(VG_(stat)(other, &y)) &&
           x.dev == y.dev && x.ino == y.ino;
}

/* /proc/N/... of a process that is not this one */
static Bool is_of_another(const HChar *path)
{
    static const HChar proc[] = "/proc/";
    HChar own[64], *end;
    struct vg_stat stat = {0};
    if (VG_(strncmp)(path, proc, sizeof proc - 1) != 0)
        return False;
    ULong number = (ULong)VG_(strtoll10)(path + sizeof proc - 1, &end);
    if (end == path + sizeof proc - 1)
        return False;
    VG_(sprintf)(own, "/proc/self/task/%llu", number);
    return sr_isError(VG_(stat)(own, &stat));
}

/* The path of the program's file. When it was removed, a path that leads to it as long as the descriptor is open. */
static void find_own_file(HChar path[PATH_BYTES])
{
    HChar open[64];
    VG_(sprintf)(open, "/proc/self/fd/%d", VG_(cl_exec_fd));
    SSizeT n = VG_(readlink)(open, path, PATH_BYTES - 1);
    path[n > 0 ? n : 0] = 0;
    if (same_file(path, open))
        return;
    VG_(strcpy)(path, open);
    ring_syscall(__NR_fcntl, (ULong)VG_(cl_exec_fd), VKI_F_SETFD, 0, 0);
}

/* The core wants the path in the program's memory. If exec fails, the page stays for the next time. */
static HChar *client_page(void)
{
    static HChar *page;
    if (page == NULL) {
        SysRes mapped = VG_(am_mmap_anon_float_client)(PATH_BYTES, VKI_PROT_READ | VKI_PROT_WRITE);
        page = sr_isError(mapped) ? NULL : (HChar *)sr_Res(mapped);
    }
    return page;
}

/* Replace the path if it leads to the probe. */
static void rename_own_file(const HChar *asked, UWord *argument)
{
    if (VG_(cl_exec_fd) < 0 || is_of_another(asked) || !same_file(asked, "/proc/self/exe"))
        return;
    HChar *path = client_page();
    if (path == NULL)
        return;
    find_own_file(path);
    *argument = (UWord)path;
}

/* Copy a path from the program's memory. The address may be wrong: then False. */
static Bool take_path(HChar path[PATH_BYTES], UWord address, SizeT at)
{
    for (; at < PATH_BYTES; at++, address++) {
        if (!VG_(am_is_valid_for_client)(address, 1, VKI_PROT_READ))
            return False;
        path[at] = *(const HChar *)address;
        if (path[at] == 0)
            return True;
    }
    return False;
}

void __wrap_vgSysWrap_generic_sys_execve_before(ThreadId thread, void *layout, struct call *call,
                                                void *status, UWord *flags)
{
    static HChar path[PATH_BYTES];
    if (take_path(path, call->arguments[0], 0))
        rename_own_file(path, &call->arguments[0]);
    __real_vgSysWrap_generic_sys_execve_before(thread, layout, call, status, flags);
}

/* The path may be relative to a descriptor, or empty, when the descriptor is the file. */
void __wrap_vgSysWrap_linux_sys_execveat_before(ThreadId thread, void *layout, struct call *call,
                                                void *status, UWord *flags)
{
    static HChar path[PATH_BYTES];
    UWord address = call->arguments[1];
    Int fd = (Int)call->arguments[0];
    if (take_path(path, address, 0)) {
        SizeT n = path[0] == '/' || fd < 0
                      ? 0
                      : VG_(sprintf)(path, "/proc/self/fd/%d%s", fd, path[0] != 0 ? "/" : "");
        if (take_path(path, address, n))
            rename_own_file(path, &call->arguments[1]);
    }
    __real_vgSysWrap_linux_sys_execveat_before(thread, layout, call, status, flags);
}
