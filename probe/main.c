/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - a Valgrind tool that streams the events of a program to `riffle run`.
 *
 *     riffle run ... -- program          starts     valgrind --tool=riffle --ring-fd=.. --want=.. program
 *
 * --want names the classes and what is to be told of each, `load:av,branch:c,call:ct`: a address, v value, t target;
 * c: events are counted, and told only where a word of them changes; s: all are told though they are counted. --bursts
 * asks for bursts, and names the sets of classes that are counted together between them; --clocks says how many sets of
 * bursts come and go on their own. The other messages are about what Valgrind tells: files that are mapped and unmapped,
 * threads that take turns, processes that fork. */
#include "probe.h"
#include "pub_tool_stacktrace.h"

/* Of the core, which declares them to itself only. */
extern Int VG_(fd_soft_limit);
extern Int VG_(getrlimit)(Int resource, struct vki_rlimit *limit);
extern Int VG_(setrlimit)(Int resource, const struct vki_rlimit *limit);

struct options probe_options = {.ring_fd = -1, .follow = True, .n_clocks = 1};

static const HChar *const class_names[RF_WORD_CLASSES] = {"load", "store",  "branch", "jump",
                                                          "call", "return", "alu",    "insn"};

/* ---- options ---- */

static UInt field_bit(HChar letter)
{
    switch (letter) {
    case 'a':
        return WANT_ADDR;
    case 'v':
        return WANT_VALUE;
    case 't':
        return WANT_TARGET;
    case 'c':
        return WANT_COUNT;
    case 's':
        return WANT_STREAM;
    default:
        return 0;
    }
}

/* One `class:fields` of the list; returns what follows, NULL when it makes no sense. */
static const HChar *parse_class(const HChar *text)
{
    for (UInt kind = 0; kind < RF_WORD_CLASSES; kind++) {
        SizeT n = VG_(strlen)(class_names[kind]);
        if (VG_(strncmp)(text, class_names[kind], n) != 0 || text[n] != ':')
            continue;
        probe_options.want[kind] |= WANT_CLASS;
        for (text += n + 1; *text != 0 && *text != ','; text++) {
            if (field_bit(*text) == 0)
                return NULL;
            probe_options.want[kind] |= field_bit(*text);
        }
        probe_options.counts |= (probe_options.want[kind] & WANT_COUNT) != 0;
        return *text == ',' ? text + 1 : text;
    }
    return NULL;
}

static Bool parse_want(const HChar *text)
{
    while (text != NULL && *text != 0)
        text = parse_class(text);
    return text != NULL;
}

static Bool parse_range(const HChar *text)
{
    HChar *end;
    if (probe_options.n_ranges == RANGES_MAX)
        return False;
    ULong low = VG_(strtoull16)(text, &end);
    if (*end != '-')
        return False;
    probe_options.range_low[probe_options.n_ranges] = low;
    probe_options.range_high[probe_options.n_ranges++] = VG_(strtoull16)(end + 1, &end);
    return *end == 0;
}

/* Sets of classes in hexadecimal: `1,c,10`. */
static Bool parse_groups(const HChar *text)
{
    HChar *end;
    for (probe_options.n_groups = 0; *text != 0; text = *end == ',' ? end + 1 : end) {
        if (probe_options.n_groups == RF_WORD_CLASSES)
            return False;
        probe_options.groups[probe_options.n_groups++] = (UInt)VG_(strtoull16)(text, &end);
        if (end == text || (*end != ',' && *end != 0))
            return False;
    }
    probe_options.bursts = True;
    return True;
}

static Bool add_name(const HChar **names, Int *n, const HChar *name)
{
    if (*n == NAMES_MAX)
        return False;
    names[(*n)++] = name;
    return True;
}

static Bool process_option(const HChar *arg)
{
    const HChar *text;
    if (VG_INT_CLO(arg, "--ring-fd", probe_options.ring_fd) ||
        VG_BINT_CLO(arg, "--clocks", probe_options.n_clocks, 1, RF_RING_CLOCKS) ||
        VG_STR_CLO(arg, "--ring-path", probe_options.ring_path) ||
        VG_STR_CLO(arg, "--called", probe_options.called) ||
        VG_BINT_CLO(arg, "--stacks", probe_options.stack_period, 1, 1000000000000LL) ||
        VG_BOOL_CLO(arg, "--lossy", probe_options.lossy) ||
        VG_BOOL_CLO(arg, "--follow", probe_options.follow))
        return True;
    if (VG_STR_CLO(arg, "--want", text))
        return parse_want(text);
    if (VG_STR_CLO(arg, "--bursts", text))
        return parse_groups(text);
    if (VG_STR_CLO(arg, "--pattern", text))
        return pattern_parse(text);
    if (VG_STR_CLO(arg, "--pattern-function", text))
        return add_name(probe_options.pattern_function, &probe_options.n_pattern_functions, text);
    if (VG_STR_CLO(arg, "--range", text))
        return parse_range(text);
    if (VG_STR_CLO(arg, "--function", text))
        return add_name(probe_options.function, &probe_options.n_functions, text);
    if (VG_STR_CLO(arg, "--module", text))
        return add_name(probe_options.module, &probe_options.n_modules, text);
    return False;
}

static void print_usage(void)
{
    VG_(printf)("    all options are given by 'riffle run'\n");
}

static void print_debug_usage(void)
{
    VG_(printf)("    (none)\n");
}

/* ---- files that are mapped ---- */

/* The core reads the line numbers of each of them, for messages that we never write: 50 ms at the start of any program where
 * libc's are installed. With them come the functions that were inlined; so they are read where functions are asked for.
 * Names of other functions, and how to unwind stacks, the core reads elsewhere. Its arguments stay where they are. */
extern Int probe_reads_lines;
Int probe_reads_lines;
__asm__(".globl __wrap_vgModuleLocal_read_debuginfo_dwarf3\n"
        "__wrap_vgModuleLocal_read_debuginfo_dwarf3:\n"
        "    cmpl $0, probe_reads_lines(%rip)\n"
        "    jne __real_vgModuleLocal_read_debuginfo_dwarf3\n"
        "    ret\n");

/* ---- memory that comes and goes ---- */

static void tell_mapping(Addr start, Addr end, ULong offset, const HChar *path)
{
    SizeT n = VG_(strlen)(path);
    UInt words = 4 + (UInt)(n / 8 + 1);
    if (n > 4096)
        return;
    ULong *to = ring_reserve(words);
    VG_(memset)(to, 0, words * 8);
    to[0] = RF_WORD_HEADER(RF_WORD_MODULE, words);
    to[1] = start;
    to[2] = end;
    to[3] = offset;
    VG_(memcpy)(to + 4, path, n);
    ring_commit(words);
}

static Bool begins(const HChar *text, const HChar *with)
{
    return VG_(strncmp)(text, with, VG_(strlen)(with)) == 0;
}

static Bool is_code(Addr pc)
{
    const NSegment *segment = VG_(am_find_nsegment)(pc);
    return segment != NULL && segment->hasX;
}

/* Libraries through which programs get memory. */
static Bool is_allocator(Addr pc)
{
    static const HChar *const names[] = {"libc.so", "libc-", "ld-", "libpthread", "libstdc++"};
    const NSegment *segment = VG_(am_find_nsegment)(pc);
    const HChar *path = segment == NULL ? NULL : VG_(am_get_filename)(segment);
    for (UInt i = 0; path != NULL && i < sizeof names / sizeof *names; i++)
        if (begins(VG_(basename)(path), names[i]))
            return True;
    return False;
}

/* Does the dynamic linker map it, or is it there when the program starts? Its data is found from its code. */
static Bool is_linked(void)
{
    ThreadId thread = VG_(get_running_tid)();
    const NSegment *segment =
        thread == VG_INVALID_THREADID ? NULL : VG_(am_find_nsegment)(VG_(get_IP)(thread));
    const HChar *path = segment == NULL ? NULL : VG_(am_get_filename)(segment);
    return path == NULL || begins(VG_(basename)(path), "ld-");
}

/* Code that is to be executed is told by its path. Data of a file is a kind of memory, in brackets. */
static void see_file(Addr start, SizeT length, Bool xx, const NSegment *segment)
{
    const HChar *path = VG_(am_get_filename)(segment);
    HChar name[1024];
    if (path == NULL || probe_is_own(path) || (!xx && is_linked()) ||
        VG_(strlen)(path) + 3 > sizeof name)
        return;
    VG_(sprintf)(name, xx ? "%s" : "[%s]", path);
    tell_mapping(start, start + length, (ULong)segment->offset + (start - segment->start), name);
}

/* Memory without a file is known by who mapped it: the innermost call outside of those libraries. The first this many are
 * told; a program may map and unmap all the time. */
static void see_anonymous(Addr start, SizeT length)
{
    enum { TOLD_MAX = 256, DEEPEST = 24 };
    static UInt n_told;
    ThreadId thread = VG_(get_running_tid)();
    Addr frames[DEEPEST];
    HChar name[64] = "";
    if (thread == VG_INVALID_THREADID || n_told >= TOLD_MAX)
        return;
    UInt n = VG_(get_StackTrace)(thread, frames, DEEPEST, NULL, NULL, 0), i = 0;
    for (; i < n && is_allocator(frames[i]); i++) {
        const HChar *function;
        if (VG_(get_fnname)(VG_(current_DiEpoch)(), frames[i], &function) &&
            begins(function, "pthread_create"))
            VG_(strcpy)(name, "[stack]");
    }
    if (name[0] == 0 && i < n && is_code(frames[i])) /* not so: the dynamic linker's own */
        VG_(sprintf)(name, "[mapped by 0x%lx]", frames[i]);
    if (name[0] == 0)
        return;
    n_told++;
    tell_mapping(start, start + length, 0, name);
}

static void see_mapping(Addr start, SizeT length, Bool rr, Bool ww, Bool xx, ULong handle)
{
    const NSegment *segment = VG_(am_find_nsegment)(start);
    if (segment != NULL && segment->kind == SkFileC && (rr || xx))
        see_file(start, length, xx, segment);
    else if (segment != NULL && segment->kind == SkAnonC && rr && ww)
        see_anonymous(start, length);
}

static void see_move(Addr from, Addr to, SizeT length)
{
    see_mapping(to, length, True, True, False, 0);
}

/* Kinds of memory have a name, too. Both grow; the core gives neither more than this. */
enum { KIND_MAX = 8 << 20 };

static void see_heap(Addr start, SizeT length, ThreadId thread)
{
    static Bool told;
    if (!told)
        tell_mapping(start, start + KIND_MAX, 0, "[heap]");
    told = True;
}

static void see_stack(ThreadId thread)
{
    const NSegment *segment = VG_(am_find_nsegment)(VG_(get_SP)(thread));
    static Bool told;
    if (!told && segment != NULL && segment->kind == SkAnonC)
        tell_mapping(segment->end + 1 - KIND_MAX, segment->end + 1, 0, "[stack]");
    told = True;
}

static void see_protection(Addr start, SizeT length, Bool rr, Bool ww, Bool xx)
{
    see_mapping(start, length, rr, ww, xx, 0);
}

static void see_unmapping(Addr start, SizeT length)
{
    ULong *to = ring_reserve(3);
    to[0] = RF_WORD_HEADER(RF_WORD_UNMAP, 3);
    to[1] = start;
    to[2] = start + length;
    ring_commit(3);
}

/* ---- threads and processes ---- */

/* The core gives the place of a thread that has ended to the next one. We number threads as they are made. */
static UInt *numbers; /* by the core's id */
static UInt n_threads;
static UInt running = 1; /* what the collector takes it to be without being told */

static void see_thread_made(ThreadId parent, ThreadId thread)
{
    if (numbers == NULL)
        numbers = VG_(calloc)("riffle.threads", VG_N_THREADS, sizeof *numbers);
    if (n_threads < RF_WORD_THREADS_MAX)
        n_threads++;
    numbers[thread] = n_threads;
}

static void see_thread(ThreadId thread, ULong blocks)
{
    see_stack(thread);
    if (probe_options.called != NULL)
        exec_take_name(thread);
    if (numbers[thread] == running)
        return;
    running = numbers[thread];
    ULong *to = ring_reserve(2);
    to[0] = RF_WORD_HEADER(RF_WORD_THREAD, 2);
    to[1] = running;
    ring_commit(2);
}

/* The name that the system has for the running thread. Without one of its own it is called as Valgrind is. */
static void see_name(ThreadId thread)
{
    enum { WORDS = 2 + RF_WORD_NAME_BYTES / 8 };
    HChar path[64];
    VG_(sprintf)(path, "/proc/self/task/%d/comm", VG_(gettid)());
    SysRes fd = VG_(open)(path, VKI_O_RDONLY, 0);
    if (sr_isError(fd))
        return;
    ULong message[WORDS] = {RF_WORD_HEADER(RF_WORD_NAME, WORDS), numbers[thread]};
    HChar *name = (HChar *)(message + 2);
    Int n = VG_(read)((Int)sr_Res(fd), name, RF_WORD_NAME_BYTES);
    VG_(close)((Int)sr_Res(fd));
    if (n <= 0 || VG_(strncmp)(name, "riffle-amd64-li", 15) == 0)
        return;
    name[n - 1] = 0; /* a line end */
    VG_(memcpy)(ring_reserve(WORDS), message, sizeof message);
    ring_commit(WORDS);
}

static void before_fork(ThreadId thread)
{
    clock_stop();
    ring_before_fork(n_threads);
}

static void after_fork(ThreadId thread)
{
    clock_enter(thread);
}

static void in_child(ThreadId thread)
{
    ring_in_child();
    clock_in_child(thread);
    running = n_threads = numbers[thread] = 1;
}

static Bool is_exec(UInt number)
{
    return number == __NR_execve || number == __NR_execveat;
}

/* The core has raised the limit of descriptors for its own ones. */
static struct vki_rlimit raised;

/* An exec leaves no later moment to say what was produced, and to put back the limit that the program sees. */
static void before_syscall(ThreadId thread, UInt number, UWord *arguments, UInt n)
{
    if (!is_exec(number))
        return;
    ring_finish();
    if (VG_(getrlimit)(VKI_RLIMIT_NOFILE, &raised) == 0) {
        struct vki_rlimit own = {VG_(fd_soft_limit), raised.rlim_max};
        VG_(setrlimit)(VKI_RLIMIT_NOFILE, &own);
    }
}

static void after_syscall(ThreadId thread, UInt number, UWord *arguments, UInt n, SysRes result)
{
    enum { SET_NAME = 15 }; /* PR_SET_NAME */
    if (number == __NR_prctl && arguments[0] == SET_NAME)
        see_name(thread);
    if (!is_exec(number))
        return;
    ring_go_on();
    VG_(setrlimit)(VKI_RLIMIT_NOFILE, &raised);
}

static void after_options(void)
{
    VG_(clo_vex_control).guest_chase = False;
    if (probe_options.bursts) {
        VG_(clo_vex_control).iropt_unroll_thresh = 0; /* one interval ends in a block at most */
        VG_(track_pre_thread_ll_exit)(clock_forget_thread);
        VG_(track_pre_deliver_signal)(burst_before_signal);
    }
    if (probe_options.want[ALU]) { /* a result counts even if it is soon overwritten */
        VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
        VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
    }
    probe_options.merges = merge_is_possible();
    probe_reads_lines = probe_options.n_functions;
    ring_open();
}

static void end(Int status)
{
    ring_close();
}

static void before_options(void)
{
    VG_(details_name)("Riffle");
    VG_(details_version)(RIFFLE_VERSION);
    VG_(details_description)("the probe of a profiler");
    VG_(details_copyright_author)("GNU GPL 2 or later.");
    VG_(details_bug_reports_to)("the authors of Riffle");
    VG_(details_avg_translation_sizeB)(320);

    VG_(basic_tool_funcs)(after_options, instrument, end);
    VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
    VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
    VG_(track_new_mem_startup)(see_mapping);
    VG_(track_new_mem_brk)(see_heap);
    VG_(track_new_mem_mmap)(see_mapping);
    VG_(track_change_mem_mprotect)(see_protection);
    VG_(track_copy_mem_remap)(see_move);
    VG_(track_die_mem_munmap)(see_unmapping);
    VG_(track_pre_thread_ll_create)(see_thread_made);
    VG_(track_pre_thread_ll_exit)(see_name);
    VG_(track_start_client_code)(see_thread);
    VG_(atfork)(before_fork, after_fork, in_child);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
