#!/usr/bin/env python3
"""compile - riffle cc takes the place of a compiler: what it is asked, what it leaves behind, what it says.

    compile.py RIFFLE
"""
import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE = os.path.abspath(sys.argv[1])
PROGRAM = "int answer(const int *p);\nint main(void) { int six = 6; return answer(&six); }\n"
ANSWER = "int answer(const int *p) { return *p + 1; }\n"
MESON = "project('x', 'c')\nexecutable('x', 'a.c', link_with: shared_library('b', 'b.c'))\n"
CMAKE = "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_library(b SHARED b.c)\nadd_executable(x a.c)\n" \
        "target_link_libraries(x b)\n"


def sh(folder, command, **variables):
    os.makedirs(os.path.join(folder, "t"), exist_ok=True)
    return subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=300,
                          env={**os.environ, "TMPDIR": os.path.join(folder, "t"), "RIFFLE": RIFFLE,
                               "CC": f"{RIFFLE} cc", **variables})


def has_hooks(folder, path):
    return b"__tsan_read4" in open(os.path.join(folder, path), "rb").read()


def good(folder, title, command, program, **variables):
    """The command builds the program, which has hooks and returns 7, without a word on standard error."""
    run = sh(folder, command, **variables)
    path = os.path.join(folder, program)
    made = run.returncode == 0 and os.path.exists(path)
    tap.check(title, made and subprocess.run([path]).returncode == 7 and has_hooks(folder, program) and
              run.stderr == "" and not os.listdir(os.path.join(folder, "t")), run.stdout + run.stderr)


def same(folder, title, arguments):
    plain, ours = sh(folder, f"cc {arguments}", CC="cc"), sh(folder, f"$CC {arguments}")
    tap.check(title, (plain.returncode, plain.stdout, plain.stderr) == (ours.returncode, ours.stdout, ours.stderr),
              ours.stdout + ours.stderr)


def compilers():
    return ["gcc", "clang"] if shutil.which("clang") else ["gcc"]


def written(folder, command, **variables):
    """The files that a command makes in a folder with sources of its own, by name; what it says."""
    here = os.path.join(folder, "y")
    shutil.rmtree(here, ignore_errors=True)
    sources = {"a.c": '#include "q.h"\n' + PROGRAM, "b.c": ANSWER, "q.h": "", "s/b.c": ANSWER, "o/none": "", "b.tar.c": ANSWER, "one.c": PROGRAM + ANSWER,
               "z.S": '#include "q.h"\n.section .note.GNU-stack,"",@progbits\n', "bb": ANSWER}
    for name, text in sources.items():
        os.makedirs(os.path.dirname(os.path.join(here, name)), exist_ok=True)
        with open(os.path.join(here, name), "w") as file:
            file.write(text)
    run = sh(folder, f"cd y && {command}", **variables)
    made = {os.path.relpath(os.path.join(at, name), here) for at, _, names in os.walk(here) for name in names}
    return sorted(made - set(sources)), run.returncode, run.stdout + run.stderr


def copies(folder):
    """RIFFLE_CC_BURSTS=1: two copies of each function, by an assembler in front of the assembler."""
    twice = {"RIFFLE_CC_BURSTS": "1"}
    for compiler in compilers():
        for title, flags in (("", ""), (", -pipe", "-pipe"), (", debug information", "-g"), (", -save-temps", "-save-temps=obj")):
            good(folder, f"two copies by {compiler}{title}", f"rm -f d.d && $CC -O1 {flags} -MD -c a.c -o d.o && grep -q '^d.o: a.c' d.d && "
                 f"$CC -O1 {flags} -c b.c -o e.o && grep -q rf_hooks_gate e.o && $CC d.o e.o -o q1", "q1", RIFFLE_CC=compiler, **twice)
        good(folder, f"two copies by {compiler}, by way of -S", "$CC -O1 -S b.c -o b.s && $CC -c b.s -o f.o && grep -q rf_hooks_gate f.o && "
             "$CC -O1 -c a.c -o a.o && $CC a.o f.o -o q2", "q2", RIFFLE_CC=compiler, **twice)
        good(folder, f"two copies by {compiler}, static", "$CC -static -O1 a.c b.c -o q3", "q3", RIFFLE_CC=compiler, **twice)
        good(folder, f"one copy by {compiler}, in a library", "$CC -O1 -fPIC -c b.c -o g.o && ! grep -q rf_hooks_gate g.o && "
             "$CC -shared g.o -o libb.so && $CC a.c -L. -lb -Wl,-rpath,$PWD -o q4", "q4", RIFFLE_CC=compiler, **twice)
        run = sh(folder, "printf '.globl answer\\nanswer: movl (%%rdi), %%eax\\n incl %%eax\\n ret\\n' >hand.S && $CC -c hand.S -o h.o && "
                 "$RIFFLE_CC -c hand.S -o i.o && cmp h.o i.o", RIFFLE_CC=compiler, **twice)
        tap.check(f"two copies by {compiler}: assembler stays as it is", run.returncode == 0, run.stdout + run.stderr)
        run = sh(folder, "$CC -O1 -c bad.c", RIFFLE_CC=compiler, **twice)
        tap.check(f"two copies by {compiler}: an error is the compiler's", run.returncode == 1 and "bad.c:1" in run.stderr and
                  not os.listdir(os.path.join(folder, "t")), run.stderr)


def in_place(folder):
    """What hooks usually do stands in place of their calls, in programs; not in libraries, nor where RIFFLE_CC_CALLS=1 says so."""
    link = "$CC -O1 -c a.c -o a.o && $CC a.o j.o -o s1"
    for compiler in compilers():
        good(folder, f"code in place of calls by {compiler}", f"$CC -O1 -g -c b.c -o j.o && grep -q rf_hooks_pockets j.o && {link}", "s1",
             RIFFLE_CC=compiler)
        good(folder, f"code in place of calls by {compiler}, by way of -S",
             f"$CC -O1 -S b.c -o b.s && ! grep -q rf_hooks_ b.s && $CC -c b.s -o j.o && grep -q rf_hooks_pockets j.o && {link}", "s1",
             RIFFLE_CC=compiler)
        good(folder, f"code in place of calls by {compiler}: what a linker leaves out",  # not where sequences are
             f"$CC -O1 -c b.c -o j.o && $CC -O1 -c a.c -o a.o && $CC -Wl,--gc-sections -Wl,-z,start-stop-gc a.o j.o -o s1 && "
             "readelf -SW s1 | grep -q rf_hooks_rseq", "s1", RIFFLE_CC=compiler)
        good(folder, f"calls by {compiler} where they are asked for", f"$CC -O1 -c b.c -o j.o && ! grep -q rf_hooks_ j.o && {link}", "s1",
             RIFFLE_CC=compiler, RIFFLE_CC_CALLS="1")
        good(folder, f"calls by {compiler} in a library", "$CC -O1 -fPIC -c b.c -o j.o && ! grep -q rf_hooks_ j.o && "
             "$CC -shared j.o -o libb.so && $CC a.c -L. -lb -Wl,-rpath,$PWD -o s2", "s2", RIFFLE_CC=compiler)


def of_clang(folder):
    """Assembler text without hooks stays with clang's own assembler, whose directives GNU's does not know."""
    with open(os.path.join(folder, "w.s"), "w") as file:
        file.write(".globl answer\n.type answer, @function\nanswer:\n\tmovl $7, %eax\n\tret\n.addrsig\n"
                   ".section .note.GNU-stack,\"\",@progbits\n")
    good(folder, "directives of clang's assembler", "$CC -c w.s -o w.o && $CC -O1 a.c w.o -o v2", "v2", RIFFLE_CC="clang")


def resolvers(folder):
    """A function's resolver (ifunc) runs before the program has its thread-local variables, which code in place of calls uses."""
    with open(os.path.join(folder, "r.c"), "w") as file:
        file.write("int answer(const int *p);\nstatic int one(const int *p) { return *p + 1; }\nvolatile int seven = 7;\n"
                   "static int (*choose(void))(const int *p) { return seven == 7 ? one : 0; }\n"
                   "int answer(const int *p) __attribute__((ifunc(\"choose\")));\n")
    for compiler in compilers():
        for how in ("", " -static"):
            good(folder, f"a resolver by {compiler}{how}", f"$CC -O1{how} a.c r.c -o v1", "v1", RIFFLE_CC=compiler)
            good(folder, f"a resolver by {compiler}{how}, two copies", f"$CC -O1{how} a.c r.c -o v1", "v1", RIFFLE_CC=compiler,
                 RIFFLE_CC_BURSTS="1")


TEMPLATES = """#include <vector>
template <class T> __attribute__((noinline)) T sum(const std::vector<T> &all) { T of = 0; for (auto one : all) of += one; return of; }
inline __attribute__((noinline)) int first(const int *p) { return *p; }
struct base { virtual int answer(const int *p) { return *p - 1; } virtual ~base() {} };
struct more : base { int answer(const int *p) override { return base::answer(p) + 1; } };
int other(const std::vector<int> &all);
#ifdef MAIN
int main()
{
    std::vector<int> six = {1, 2, 3};
    more m;
    base *b = &m;
    try { if (sum(six) == 6) throw 1; } catch (int) { return other(six) == 7 && first(&six[2]) == 3 && b->answer(&six[0]) == 1 ? 7 : 2; }
}
#else
#ifdef UNUSED
int nowhere(int);
int unused(const int *p) { return nowhere(*p); }
#endif
int other(const std::vector<int> &all) { base b; return sum(all) + first(&all[0]) + b.answer(&all[0]); }
#endif
"""


def templates(folder):
    """The same function in two objects: linkers keep one, and its sites. Where they leave out a function, its sites go with it."""
    with open(os.path.join(folder, "v.cc"), "w") as file:
        file.write(TEMPLATES)
    sections = "-DUNUSED -ffunction-sections -Wl,--gc-sections"
    for compiler in ["g++", "clang++"] if shutil.which("clang++") else ["g++"]:
        if not shutil.which(compiler):
            tap.skip(f"templates by {compiler}", "not installed")
            continue
        for flags in ("-O0", "-O2", "-O1 -static", "-O1 -fno-pie -no-pie", f"-O1 {sections}", f"-O1 -static {sections}",
                      f"-O1 -fno-pie -no-pie {sections}", f"-O1 -fuse-ld=gold {sections}", f"-O1 -fuse-ld=lld {sections}"):
            if "-fuse-ld=" in flags and not shutil.which("ld." + flags.split("-fuse-ld=")[1].split()[0]):
                tap.skip(f"templates by {compiler}, {flags}", "not installed")
                continue
            title = f"templates by {compiler}, {flags}"
            good(folder, title, f"rm -f u1 && $RIFFLE cxx -w {flags} -DMAIN -c v.cc -o m.o 2>t.err && $RIFFLE cxx -w {flags} -c v.cc -o n.o 2>>t.err && "
                 f"grep -q rf_hooks_pockets m.o && grep -q rf_hooks_pockets n.o && $RIFFLE cxx {flags} m.o n.o -o u1", "u1", RIFFLE_CXX=compiler)
            run = sh(folder, "$RIFFLE run -q -p 'load -> pc,value' -e exact -o u.rfp -- ./u1; $RIFFLE report u.rfp -n 0 --format csv --full-names")
            of = {int(row["value"], 0): int(row["count"]) for row in csv.DictReader(run.stdout.split("\n")) if row["function"] == "sum<int>"}
            tap.check(f"{title}: what they load", {value: of[value] for value in of if value < 10} == {1: 2, 2: 2, 3: 2}, run.stdout + run.stderr)


def check_names(folder, title, arguments, compiler):
    """The files that a command makes, and those that its program makes, are those of the plain compiler; none is left elsewhere."""
    plain, ours = written(folder, f"{compiler} {arguments}"), written(folder, f"$CC {arguments}", RIFFLE_CC=compiler)
    tap.check(f"more files, their names: {title}", plain[:1] + plain[2:] == ours[:1] + ours[2:] and len(plain[0]) > 1 and
              not os.listdir(os.path.join(folder, "t")), (plain, ours))


def more_files(folder):
    """Files that compilers write beside an object: in one step they come where the plain compiler puts them, not in TMPDIR."""
    for compiler in compilers():
        for flags in ("-g -gsplit-dwarf", "-save-temps", "-save-temps=obj", "-g -gsplit-dwarf -save-temps -fstack-usage"):
            good(folder, f"more files by {compiler}: {flags}", f"rm -rf y && mkdir y && $CC -O1 {flags} a.c b.c -o y/x1", "y/x1", RIFFLE_CC=compiler)
    run = sh(folder, "rm -rf y && mkdir y && $CC -O1 -g -gsplit-dwarf -save-temps a.c b.c -o y/x1 && ls y", RIFFLE_CC="gcc")
    tap.check("more files by gcc: their names", run.stdout.split() == ["x1", "x1-a.dwo", "x1-a.i", "x1-a.s", "x1-b.dwo", "x1-b.i", "x1-b.s"],
              run.stdout + run.stderr)
    for compiler in compilers():
        for arguments in ("--coverage b.c a.c -o p", "--coverage b.c a.c -o o/p", "--coverage b.c a.c", "-fprofile-arcs -ftest-coverage s/b.c a.c -o p",
                          "-fprofile-generate b.c a.c -o p", "-fprofile-generate=o b.c a.c -o p"):
            program = "./o/p" if "o/p" in arguments else "./p" if "p" in arguments.split() else "./a.out"
            check_names(folder, f"{compiler} {arguments}", f"{arguments} && {{ {program}; test $? = 7; }} && cd s && ../{program}", compiler)
    for arguments in ("-g -gsplit-dwarf one.c -o one", "-g -gsplit-dwarf one.c -o o/one.exe", "-g -gsplit-dwarf one.c -o p.q", "-g -gsplit-dwarf one.c",
                      "-g -gsplit-dwarf one.c -o one.x.y", "-g -gsplit-dwarf b.tar.c a.c -o p", "-g -gsplit-dwarf a.c -x c bb", "-fcallgraph-info a.c b.c -o p",
                      "-g -gsplit-dwarf one.c -o o/a.out", "-fstack-usage -x c - -o p <one.c", "--coverage one.c -o one && ./one",
                      "-g -gsplit-dwarf -dumpdir o/ one.c -o p", "-O1 -fsave-optimization-record a.c b.c -o p"):
        check_names(folder, f"gcc {arguments}", arguments, "gcc")
    with open(os.path.join(folder, "wide.c"), "w") as file:
        file.write('int wide(const int *p) { __asm__ volatile("movl $0x123456789, %%eax" ::: "eax"); return *p; }\n')
    for compiler in compilers():
        run = sh(folder, "$CC -c wide.c -o wide.o", RIFFLE_CC=compiler)
        tap.check(f"a warning of the assembler by {compiler} names no file of ours", run.returncode == 0 and "shortened" in run.stderr and
                  "riffle" not in run.stderr and not os.listdir(os.path.join(folder, "t")), run.stderr)


def dependencies(folder):
    """Dependency files in one step: the plain compiler's names, targets and words."""
    for compiler in compilers():
        for arguments in ("-MMD a.c b.c", "-MMD a.c b.c -o p", "-MMD b.c a.c -oo/p.exe.x", "-MD a.c b.c -o p", "-MMD -MF x.d b.c a.c -o p",
                          "-MMD -MFx.d b.c a.c", "-MMD -MT t b.c a.c -o p", "-MMD -MQ 't$' b.c a.c", "-MMD -MP -MT u -MTv -MF o/v.d b.c a.c -o o/p",
                          "-MMD b.c a.c -o 'a p'", "-MMD b.tar.c a.c", "-MMD a.c -x c bb", "-MMD a.c -x c - <b.c", "-MMD z.S b.c a.c -o p",
                          "-MMD b.c a.c z.S -o p", "-MMD b.c z.S a.c", "-Wp,-MMD,u.d b.c a.c -o p", "-Wp,-MD,u.d b.c a.c", "-MMD -MF - b.c a.c -o p"):
            plain = written(folder, f"{compiler} {arguments} && cat ./*.d o/*.d 2>/dev/null; true")
            ours = written(folder, f"$CC {arguments} && cat ./*.d o/*.d 2>/dev/null; true", RIFFLE_CC=compiler)
            tap.check(f"dependencies by {compiler}: {arguments}", plain == ours and ": " in plain[2] and
                      not os.listdir(os.path.join(folder, "t")), (plain, ours))


def commands(folder):
    """RIFFLE_CC as make takes CC: a program with words behind it, or in front."""
    os.makedirs(os.path.join(folder, "k"), exist_ok=True)
    with open(os.path.join(folder, "k", "cache"), "w") as file:
        file.write('#!/bin/sh\nname=${0##*/}\ncase $name in cache) exec "$@";; *) exec "$name" "$@";; esac\n')
    os.chmod(os.path.join(folder, "k", "cache"), 0o755)
    with open(os.path.join(folder, "two.c"), "w") as file:
        file.write("int two = TWO;\n")
    for compiler in compilers():
        good(folder, f"a command with words: cache {compiler}", "$CC -O1 a.c b.c -o w1", "w1", RIFFLE_CC=f" k/cache  {compiler} ")
        good(folder, f"a command with words: {compiler} -DTWO=2", "$CC a.c b.c two.c -o w2", "w2", RIFFLE_CC=f"{compiler} -DTWO=2")
        os.symlink("cache", os.path.join(folder, "k", compiler))
        good(folder, f"a compiler's name that leads to a cache: {compiler}", "$CC -O1 -fuse-ld=bfd -no-pie a.c b.c -o w3", "w3", RIFFLE_CC=f"k/{compiler}")
    good(folder, "a program with a blank in its name", "ln -s $(command -v gcc) 'k/my cc' && $CC a.c b.c -o w4", "w4",
         RIFFLE_CC="k/my cc")


def headers(folder):
    """Headers that are compiled for others to include them: with hooks, as those are, and never linked."""
    with open(os.path.join(folder, "g.c"), "w") as file:
        file.write("int main(void) { int p = 7; return six(&p); }\n")
    for compiler in compilers():
        for made in ("$CC six.h", "$CC -c six.h", "cp six.h six && $CC -x c-header six -o six.h.gch", "$CC -xc-header -c six.h -o six.h.gch"):
            gone = "rm six.h" if compiler == "gcc" else "true"  # clang asks whether it is as it was
            good(folder, f"a header by {compiler}: {made}", "echo 'static inline int six(const int *p) { return *p; }' >six.h && rm -f six.h.gch && "
                 f"{made} && test -s six.h.gch && {gone} && $CC -include six.h g.c -o z1", "z1", RIFFLE_CC=compiler)


def two_words(folder):
    """Options whose value is the next word, in one step."""
    for compiler in compilers():
        for option in ("-B o", "-idirafter o", "-Xlinker -s", "-l m", "-L o", "-D K", "-e _start", "--sysroot /"):
            good(folder, f"{compiler} {option} in one step", f"mkdir -p o && $CC {option} a.c b.c -o w5", "w5", RIFFLE_CC=compiler)
    for option in ("-dumpdir o/", "-dumpbase-ext .c"):
        good(folder, f"gcc {option} in one step", f"$CC {option} a.c b.c -o w5", "w5", RIFFLE_CC="gcc")
    if shutil.which("clang"):
        for option in ("-MJ w5.json", "-iframework o"):
            good(folder, f"clang {option} in one step", f"$CC {option} a.c b.c -o w5", "w5", RIFFLE_CC="clang")


def long_names(folder):
    """Options by their long names."""
    for compiler in compilers():
        good(folder, f"long names by {compiler}", "$CC -O1 --compile a.c --output=x1.o && $CC -O1 --assemble b.c --output x1.s && $CC --compile x1.s -o x2.o && "
             "$CC --for-linker -s --for-linker=-znow x1.o x2.o --output x1", "x1", RIFFLE_CC=compiler)
        good(folder, f"long names by {compiler}, in one step", "cp b.c b && $CC --define-macro K=1 --include-directory=o a.c --language=c b --language none "
             "--output=x3", "x3", RIFFLE_CC=compiler)
        for arguments in ("--preprocess a.c", "--user-dependencies a.c", "--write-user-dependencies b.c a.c --output=p",
                          "--write-dependencies b.c a.c --output p", "--print-file-name=libc.a"):
            plain, ours = written(folder, f"{compiler} {arguments} && cat *.d 2>/dev/null; true"), \
                written(folder, f"$CC {arguments} && cat *.d 2>/dev/null; true", RIFFLE_CC=compiler)
            tap.check(f"long names by {compiler}: {arguments}", plain == ours and plain[2], (plain, ours))


def quiet(folder):
    """One step from sources to a program: options for the linker alone, and a folder for temporary files that is not there."""
    for compiler in compilers():
        for flags in ("-fuse-ld=bfd", "-no-pie", "-static-pie", "-Wl,-s -L."):
            run = sh(folder, f"rm -f q1 && $CC -O1 {flags} a.c b.c -o q1", RIFFLE_CC=compiler)
            tap.check(f"{compiler} {flags} in one step says nothing",
                      run.returncode == 0 and not run.stdout + run.stderr and os.path.exists(os.path.join(folder, "q1")), run.stdout + run.stderr)
    for title, made in (("nowhere", "true"), ("a file", ">'a file'"), ("a program", "cp /bin/true 'a program'")):  # clang itself ends without it
        run = sh(folder, f"rm -f q1 && {made} && TMPDIR=\"$PWD/{title}\" $CC -O1 a.c b.c -o q1", RIFFLE_CC="gcc")
        in_place = sh(folder, "nm q1 | grep -c rf_hooks_pockets")
        tap.check(f"gcc where TMPDIR is {title}: code in place all the same",
                  run.returncode == 0 and not run.stdout + run.stderr and in_place.stdout.strip() not in ("", "0"), run.stderr + in_place.stdout)


def ended(folder, title, arguments, **variables):
    """SIGTERM to riffle cc while the compiler works: both end, and nothing stays in TMPDIR."""
    started = os.path.join(folder, "started")
    with open(os.path.join(folder, "slow"), "w") as file:
        file.write(f'#!/bin/sh\necho $$ >{started}.new && mv {started}.new {started}\nexec sleep 60\n')
    os.chmod(os.path.join(folder, "slow"), 0o755)
    riffle = subprocess.Popen([RIFFLE, "cc", *arguments.split()], cwd=folder, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "TMPDIR": os.path.join(folder, "t"), "RIFFLE_CC": "./slow", **variables})
    end = time.monotonic() + 60
    while not os.path.exists(started) and time.monotonic() < end:
        time.sleep(0.01)
    made = os.listdir(os.path.join(folder, "t"))
    riffle.terminate()
    words = riffle.communicate(timeout=60)[1]
    with open(started) as file:
        compiler = int(file.read())
    os.remove(started)
    tap.check(f"ended by a signal: {title}", made and riffle.returncode == -signal.SIGTERM and words == "" and
              not os.listdir(os.path.join(folder, "t")) and not os.path.exists(f"/proc/{compiler}"),
              (made, riffle.returncode, words, os.listdir(os.path.join(folder, "t"))))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a.c", PROGRAM), ("b.c", ANSWER), ("meson.build", MESON), ("CMakeLists.txt", CMAKE),
                           ("args", "-O1 'a.c' \"b.c\" -o r"), ("bad.c", "int main(void) { return x; }\n")):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        good(folder, "compile, then link", "$CC -O1 -c a.c && $CC -O1 -c b.c -o b.o && $CC a.o b.o -o p1", "p1")
        good(folder, "both at once", "$CC -O1 a.c b.c -o p2", "p2")
        good(folder, "a source and an object", "$CC -O1 -Wall a.c b.o -lm -o p3", "p3")
        good(folder, "arguments in a file", "$CC @args", "r")
        good(folder, "a source from a pipe", "cat b.c a.c | $CC -O1 -x c - -o p4", "p4")
        good(folder, "a library", "$CC -O1 -fPIC -shared b.c -o libb.so && $CC a.c -L. -lb -Wl,-rpath,$PWD -o p5", "p5")
        good(folder, "static", "$CC -static -O1 a.c b.c -o p6", "p6")
        if shutil.which("clang"):
            good(folder, "by clang", "$CC -O1 a.c b.c -o p7", "p7", RIFFLE_CC="clang")
            good(folder, "a library by clang", "$CC -O1 -fPIC -shared -Wl,-z,now b.c -o libb.so && $CC a.c -L. -lb "
                 "-Wl,-rpath,$PWD -o p8", "p8", RIFFLE_CC="clang")
        copies(folder)
        in_place(folder)
        resolvers(folder)
        templates(folder)
        more_files(folder)
        dependencies(folder)
        commands(folder)
        headers(folder)
        two_words(folder)
        long_names(folder)
        quiet(folder)
        if shutil.which("clang"):
            of_clang(folder)
        ended(folder, "two copies", "-c a.c", RIFFLE_CC_BURSTS="1")
        ended(folder, "both at once", "a.c b.c -o never")
        if shutil.which("pkg-config"):
            flags = "PKG_CONFIG_PATH=$BUILT/meson-private pkg-config --define-variable=libdir=$BUILT/hooks"
            run = sh(folder, f"cc -O1 $({flags} --cflags riffle-hooks) -c a.c -o k.o && cc -O1 $({flags} --cflags riffle-hooks) "
                     f"-c b.c -o l.o && cc k.o l.o $({flags} --libs riffle-hooks) -o p9 && $RIFFLE run -p 'load -> pc' -- ./p9",
                     BUILT=os.path.dirname(RIFFLE))
            tap.check("by hand, with the flags of pkg-config", run.returncode == 7 and has_hooks(folder, "p9") and
                      "answer" in run.stderr, run.stdout + run.stderr)
            run = sh(folder, f"cc -O1 -fPIC -shared $({flags} --cflags riffle-hooks-shared) b.c -o by-hand.so $({flags} --libs riffle-hooks-shared) && "
                     "$CC -O1 -fPIC -shared b.c -o one.so && $CC -O1 -fPIC -c b.c -o m.o && $CC -shared m.o -o two.so && "
                     "for i in by-hand one two; do readelf -lW $i.so | awk '/ TLS / { print $6 }'; done", BUILT=os.path.dirname(RIFFLE))
            tap.check("a library has eight bytes of each thread", run.stdout.split() == ["0x000008"] * 3, run.stdout + run.stderr)
        for arguments in ("--version", "-E a.c", "-dumpmachine", "-print-file-name=libc.a", "-M a.c", "-c missing.c"):
            same(folder, f"as the compiler: {arguments}", arguments)
        run = sh(folder, "$CC bad.c -o bad")
        tap.check("an error is the compiler's", run.returncode == 1 and "bad.c:1" in run.stderr and
                  not os.listdir(os.path.join(folder, "t")), run.stderr)
        run = sh(folder, "$CC a.c", RIFFLE_CC="no-such-compiler")
        tap.check("no compiler", run.returncode == 127 and "no-such-compiler" in run.stderr, run.stderr)
        if shutil.which("meson") and shutil.which("ninja"):
            run = sh(folder, "meson setup m && ninja -C m && m/x")
            tap.check("meson", run.returncode == 7 and has_hooks(folder, "m/x"), run.stdout + run.stderr)
        if shutil.which("cmake") and shutil.which("make"):
            run = sh(folder, "cmake -S . -B c && make -C c && c/x")
            tap.check("cmake", run.returncode == 7 and has_hooks(folder, "c/x"), run.stdout + run.stderr)
    tap.end()


main()
