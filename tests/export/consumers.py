#!/usr/bin/env python3
"""consumers - every export opens in the program that it is for, with the numbers that riffle's own report has.

    consumers.py RIFFLE FORM

The profiled program has functions whose names would break a format: quotes, newlines, semicolons, control bytes,
bytes that are no UTF-8, ten thousand letters. So have the program, its source file and its argument. A form whose reader
is not installed is skipped.
"""
import collections
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE, FORM = os.path.abspath(sys.argv[1]), sys.argv[2]
EVIL = b"ev';DROP TABLE items;--\n\"]}\n\x1b[2J\xff(3) </"
PLACE = b"evil" + b"A" * (len(EVIL) - 4)
LONG = "l" * 10000
PROGRAM = b"ev il\n\x1b[2J\xff\"(fn=(9) <"
ARGUMENT = b"calls=1\nfn=(1) x\"\x1b[2J\xff'"
FILE = b"ev\"il\n\x1b[2J\xff;'<.c"
FILE_PLACE = b"evilB" + b"B" * (len(FILE) - 7) + b".c"
SOURCE = f"""
static volatile int data[4];
__attribute__((noinline)) int {LONG}(int n) {{ return data[n & 3] + 1; }}
__attribute__((noinline)) int {PLACE.decode()}(int n)
{{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += {LONG}(i);
    return s;
}}
int main(void) {{ int s = 0; for (int i = 0; i < 20; i++) s += {PLACE.decode()}(2000); return s == 1; }}
"""
FLAMEGRAPH = shutil.which("flamegraph.pl") or "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"


def run(*command, status=0):
    done = subprocess.run(command, capture_output=True, timeout=120)
    if done.returncode != status:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout


def make_profile(*selectors):
    """The program under its hostile names, and its profile."""
    with open(FILE_PLACE, "w", encoding="ascii") as file:
        file.write(SOURCE)
    run("gcc", "-g", "-O1", "-no-pie", "-static", FILE_PLACE, "-o", PROGRAM)
    with open(PROGRAM, "rb") as file:
        image = file.read()
    assert PLACE in image and FILE_PLACE in image
    with open(PROGRAM, "wb") as file:
        file.write(image.replace(PLACE, EVIL).replace(FILE_PLACE, FILE))
    profile(*selectors)


def profile(*selectors):
    run(RIFFLE, "run", "-q", *selectors, "-o", "evil.rfp", "--", b"./" + PROGRAM, ARGUMENT)


def readable(name):
    """As reports write it."""
    return re.sub(r"[\0-\x1f\x7f\udc80-\udcff]", lambda m: f"\\x{ord(m.group()) & 0xff:02x}", name.decode(errors="surrogateescape"))


def csv_rows(*question):
    text = run(RIFFLE, "report", "evil.rfp", "-f", "csv", "-n", "0", *question).decode()
    return [list(csv.DictReader(io.StringIO(table))) for table in text.split("\n\n")]


def counts_of(tables, selector):
    """Counts by function, of the table of one selector."""
    for table in tables:
        if table and table[0]["profile"] == selector:
            return {row["function"]: int(row["count"]) for row in table}
    raise SystemExit(f"no table of {selector}")


def samples():
    """Of the call stack: those of the outermost frames."""
    return sum(int(row["count"]) for table in csv_rows() for row in table if row.get("context") == "0x0")


def export(form, *more):
    run(RIFFLE, "export", "--to", form, "-o", "evil.out", *more, "evil.rfp")


def find_evil(names):
    """The name as it is shown: readable, so that nobody takes it for an end of line."""
    return [name for name in names if name.startswith("ev'") or name.startswith("ev\\'")]


def check_callgrind():
    make_profile("-p", "code", "-p", "calls", "-p", "stacks=5000")
    truth = counts_of(csv_rows("-b", "function"), "insn -> pc")
    export("callgrind")
    text = run("callgrind_annotate", "--threshold=100", "--auto=no", "evil.out").decode()
    total = re.search(r"^([\d,]+) .*PROGRAM TOTALS", text, re.M).group(1)
    tap.check("callgrind_annotate has the total", int(total.replace(",", "")) == sum(truth.values()), total)
    for name, count in sorted(truth.items(), key=lambda pair: -pair[1])[:3]:
        tap.check(f"callgrind_annotate has the self cost of {name[:20]!r}",
                  re.search(rf"^\s*{count:,} .*:{re.escape(name[:60])}", text, re.M) is not None, text[:3000])
    text = run("callgrind_annotate", "--threshold=100", "--auto=no", "--inclusive=yes", "evil.out").decode()
    main = re.search(r"^\s*([\d,]+) \(([\d. ]+)%\).*:main ", text, re.M)
    tap.check("main has nearly everything, with what it calls", main is not None and float(main.group(2)) > 85, main)
    with open("evil.out", encoding="utf-8") as file:
        lines = file.read().split("\n")
    known = re.compile(r"$|# |(version|creator|cmd|part|desc|positions|events|summary): |(c?(ob|fi|fe|fl|fn))=\(\d+\)"
                       r"|calls=\d+ \d+$|\d+( \d+)+$")
    tap.tell("every line is one of the format", [line[:80] for line in lines if not known.match(line)][:5])
    calls = counts_of([[dict(row, function=row["callee"]) for row in table] for table in csv_rows()
                       if "callee" in table[0]], "call -> pc,target")
    tap.check("calls are counted", f"calls={calls[[n for n in calls if n.startswith('lll')][0]]} " in "\n".join(lines))
    profile("-p", "code", "-p", "stacks=5000")
    export("callgrind")
    text = run("callgrind_annotate", "--threshold=100", "--auto=no", "evil.out").decode()
    costs = [int(cost.replace(",", "")) for cost in re.findall(r"^ *([\d,]+) \(", text.split("file:function")[1], re.M)]
    truth = counts_of(csv_rows("-b", "function"), "insn -> pc")
    tap.check("calls without a count are not taken for self cost", sum(costs) == sum(truth.values()),
              (sum(costs), sum(truth.values())))


# KCachegrind without a screen. It is asked over a session bus of its own: for its title, and to choose functions.
ASK = """
kcachegrind "$1" & pid=$!
ask() { dbus-send --session --print-reply=literal --dest=org.kde.kcachegrind-$pid /kcachegrind/MainWindow_1 "$@" 2>&1; }
for i in $(seq 300); do
    sleep 0.1
    title=$(ask org.freedesktop.DBus.Properties.Get string:org.qtproject.Qt.QWidget string:windowTitle)
    case $title in *"$1"*) break;; esac
done
echo "$title"
shift
for name in "$@"; do ask org.kde.kcachegrind.setFunction string:"$name"; done
kill $pid
"""


def kcachegrind(path, *names):
    """Its title, whether it knows the functions, and its complaints on the file."""
    env = dict(os.environ, HOME=os.getcwd(), XDG_RUNTIME_DIR=os.getcwd(), QT_QPA_PLATFORM="offscreen")
    done = subprocess.run(["dbus-run-session", "--", "sh", "-c", ASK, "ask", path, *names], capture_output=True, env=env,
                          timeout=100)
    title, *known = done.stdout.decode().splitlines()
    complaints = [line for line in done.stderr.decode().splitlines() if line.startswith("Loading ")]
    return title, [answer.split()[-1] == "true" for answer in known], complaints


def check_kcachegrind():
    make_profile("-p", "code", "-p", "calls", "-p", "stacks=5000")
    export("callgrind")
    with open("evil.out", encoding="utf-8") as file:
        lines = file.read().split("\n")
    names = {line.split(" ", 1)[1] for line in lines if re.match(r"fn=\(\d+\) ", line)}
    hostile, long = find_evil(names)[0], next(name for name in names if name.startswith("lll"))
    title, known, complaints = kcachegrind("evil.out", hostile, "nobody", "main", long)
    command = next(line for line in lines if line.startswith("cmd: "))[5:]
    tap.check("KCachegrind shows the file and the command", f"[{command}]" in title and readable(PROGRAM) in title, title)
    tap.check("it knows the functions and no other", known == [True, False, True, True], known)
    tap.tell("it has nothing to complain about", complaints[:5])
    with open("bad.out", "w", encoding="utf-8") as file:
        file.write("\n".join(lines[:20] + ["xx=1"] + lines[20:]))
    tap.check("where a line is wrong, it would say so", len(kcachegrind("bad.out", "main")[2]) == 1)


def check_pprof():
    make_profile("-p", "code", "-p", "stacks=5000", "-p", "values")
    tables = csv_rows("-b", "function")
    export("pprof")
    env = dict(os.environ, HOME=os.getcwd())
    for kind, selector in (("Ir", "insn -> pc"), ("loads", "load -> pc,value")):
        truth = counts_of(tables, selector)
        text = subprocess.run(["go", "tool", "pprof", "-top", "-nodecount=1000000", "-nodefraction=0", f"-sample_index={kind}",
                               "evil.out"], capture_output=True, env=env, timeout=120).stdout.decode()
        seen = {m.group(2): int(m.group(1)) for m in
                re.finditer(r"^\s*(\d+)\s+[\d.e-]+%\s+[\d.]+%\s+\d+\s+[\d.e-]+%\s+(.*)$", text, re.M)}
        for name, count in sorted(truth.items(), key=lambda pair: -pair[1])[:3]:
            got = [n for key, n in seen.items() if key.replace(" (inline)", "")[:40] == name[:40]]
            tap.check(f"go tool pprof has {kind} of {name[:20]!r}", got == [count], (count, got, text[:800]))
    raw = gzip.open("evil.out").read()
    tap.check("no name is there as it was", not any(name in raw for name in (EVIL, PROGRAM, FILE, ARGUMENT)) and
              all(readable(name).encode() in raw for name in (EVIL, PROGRAM, FILE)))
    text = subprocess.run(["go", "tool", "pprof", "-tags", "-sample_index=loads", "evil.out"],
                          capture_output=True, env=env, timeout=120).stdout.decode()
    tap.check("values are labels", re.search(r"value: Total", text) is not None and "0x0" in text, text[:500])
    text = subprocess.run(["go", "tool", "pprof", "-peek", "^main$", "-sample_index=samples", "evil.out"],
                          capture_output=True, env=env, timeout=120).stdout.decode()
    tap.check("main is called, and calls", "| " in text and "ev'" in text, text[:500])


def check_collapsed():
    make_profile("-p", "code", "-p", "stacks=5000")
    export("collapsed")
    with open("evil.out", encoding="utf-8") as file:
        lines = file.read().splitlines()
    tap.tell("each line is a stack and a number", [line[:80] for line in lines if not re.fullmatch(r"[^\n]+ \d+", line)])
    frames = {frame for line in lines for frame in line.rsplit(" ", 1)[0].split(";")}
    tap.check("the hostile name is one frame", [name for name in frames if "DROP" in name] ==
              [readable(EVIL).replace(";", ":")], [name[:80] for name in frames])
    total = samples()
    tap.check("all samples are there", sum(int(line.split()[-1]) for line in lines) == total, total)
    picture = run("perl", FLAMEGRAPH, "evil.out").decode()
    tap.check("flamegraph.pl draws it", "<svg" in picture and f"all ({total:,} samples" in picture,
              re.findall(r"<title>[^<]{0,80}", picture)[:8])
    done = subprocess.run([RIFFLE, "export", "--to", "collapsed", "evil.rfp"], capture_output=True)
    tap.check("what is left out is told", b"'insn -> pc' has no place" in done.stderr, done.stderr)


def strangers(value, rules, at="file"):
    """What of a JSON value breaks the rules of speedscope's schema: {name: rule}, [rule of each], a type, or a set of values.
    A name with ? may be missing; names that the rules do not have are allowed by no object."""
    if isinstance(rules, dict):
        if not isinstance(value, dict):
            return [f"{at} is no object"]
        names = {name.rstrip("?"): rule for name, rule in rules.items()}
        missing = [name for name in rules if not name.endswith("?") and name not in value]
        return ([f"{at} has no {name}" for name in missing] + [f"{at} has {name}" for name in set(value) - set(names)] +
                [error for name in value if name in names for error in strangers(value[name], names[name], f"{at}.{name}")])
    if isinstance(rules, list):
        if not isinstance(value, list):
            return [f"{at} is no list"]
        return [error for i, one in enumerate(value) for error in strangers(one, rules[0], f"{at}[{i}]")]
    if isinstance(rules, set):
        return [] if value in rules else [f"{at} is {value!r}"]
    return [] if isinstance(value, rules) and not isinstance(value, bool) else [f"{at} is {value!r}"]


# Interfaces File, Frame and SampledProfile of speedscope's src/lib/file-format-spec.ts, from which its schema is made.
NUMBER = (int, float)
SPEEDSCOPE = {
    "$schema": {"https://www.speedscope.app/file-format-schema.json"},
    "shared": {"frames": [{"name": str, "file?": str, "line?": NUMBER, "col?": NUMBER}]},
    "profiles": [{"type": {"sampled"}, "name": str, "unit": {"none", "nanoseconds", "microseconds", "milliseconds", "seconds",
                  "bytes"}, "startValue": NUMBER, "endValue": NUMBER, "samples": [[int]], "weights": [NUMBER]}],
    "name?": str, "activeProfileIndex?": int, "exporter?": str,
}


def fold_speedscope(data):
    """Stacks by their names, as in collapsed text."""
    names = [frame["name"] for frame in data["shared"]["frames"]]
    stacks = collections.Counter()
    for sample, weight in zip(data["profiles"][0]["samples"], data["profiles"][0]["weights"]):
        stacks[tuple(names[frame] for frame in sample)] += weight
    return stacks


def read_collapsed(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").rsplit(" ", 1) for line in file]
    stacks = collections.Counter()
    for stack, count in lines:
        stacks[tuple(stack.split(";"))] += int(count)
    return stacks


def plain(stacks):
    """Names as collapsed text must write them: a semicolon would end them."""
    folded = collections.Counter()
    for stack, count in stacks.items():
        folded[tuple(name.replace(";", ":") for name in stack)] += count
    return folded


def difference(left, right):
    return [str(stack)[:200] for stack in (left - right) + (right - left)][:3]


def check_speedscope():
    make_profile("-p", "stacks=5000")
    export("speedscope")
    with open("evil.out", encoding="utf-8") as file:
        data = json.load(file)
    profile, frames = data["profiles"][0], data["shared"]["frames"]
    tap.tell("the file is one of speedscope's schema", strangers(data, SPEEDSCOPE)[:5])
    broken = json.loads(json.dumps(data))
    broken["profiles"][0]["weights"][0] = "1"
    del broken["shared"]["frames"][0]["name"]
    tap.check("where it is not, that is seen", len(strangers(broken, SPEEDSCOPE)) == 2, strangers(broken, SPEEDSCOPE))
    tap.check("as many weights as samples", len(profile["samples"]) == len(profile["weights"]) > 0)
    tap.check("weights end at endValue", sum(profile["weights"]) == profile["endValue"] - profile["startValue"])
    tap.check("samples are of frames", all(0 <= f < len(frames) for s in profile["samples"] for f in s))
    tap.check("the hostile name is one frame", len(find_evil([f["name"] for f in frames])) == 1, frames)
    files = {os.path.basename(f.get("file", "")) for f in frames}
    tap.check("so is the hostile file", any(name.startswith('ev"il') and "\n" not in name[:4] for name in files), files)
    export("collapsed")
    tap.tell("its stacks are those of collapsed text", difference(plain(fold_speedscope(data)), read_collapsed("evil.out")))


def fold_perf(text):
    """Stacks by their names, as stackcollapse-perf.pl makes them behind the program's: entries are apart by an empty line,
    frames go from the innermost out, a frame is `address name+offset (file)`."""
    stacks = collections.Counter()
    for entry in text.strip("\n").split("\n\n"):
        frames = entry.split("\n")[1:]
        names = [re.fullmatch(r"\s*\w+ (.+) (\(.+\))", frame).group(1) for frame in frames]
        stacks[tuple(re.sub(r"\+0x[\da-f]+$", "", name) for name in reversed(names))] += 1
    return stacks


def check_gprof2dot(truth):
    """gprof2dot, as Debian's ruby-stackprof brings it, reads the samples: the share of each function itself."""
    tool = shutil.which("stackprof-gprof2dot.py")
    if tool is None:
        tap.skip("gprof2dot reads it", "ruby-stackprof is not installed")
        return
    picture = run(tool, "-f", "perf", "-n", "0", "-e", "0", "evil.out").decode()
    total, itself = sum(truth.values()), collections.Counter()
    for stack, count in truth.items():
        itself[stack[-1][:60]] += 100 * count / total
    seen = collections.Counter()
    for name, share in re.findall(r'^\t".*" \[label="[^\n]*?\\n((?:[^\n])*?)\+0x[\da-f]+\\n[\d.]+%\\n\(([\d.]+)%\)', picture, re.M):
        name = name.replace('\\"', '"').replace("\\\\", "\\").replace(";", ":")
        seen[name[:60]] += float(share)
    wrong = [f"{name}: {share:.1f}% {seen[name]:.1f}%" for name, share in itself.items() if abs(seen[name] - share) > 1]
    tap.check("gprof2dot reads it, with the shares of functions", len(seen) > 3 and not wrong, (wrong[:3], list(seen)[:9]))


def check_perf():
    make_profile("-p", "stacks=5000")
    export("collapsed")
    truth = read_collapsed("evil.out")
    export("perf")
    with open("evil.out", encoding="utf-8") as file:
        text = file.read()
    entries = text.strip("\n").split("\n\n")
    head = re.compile(re.escape(readable(PROGRAM).replace(" ", "_")) + r"\s+1 \d+\.\d{6}:\s+1 samples:")
    frame = re.compile(r"\t\s*[0-9a-f]+ \S.* \(.+\)")
    bad = [e[:200] for e in entries if not head.fullmatch(e.split("\n")[0]) or
           not all(frame.fullmatch(line) for line in e.split("\n")[1:])]
    tap.tell("entries are as perf script prints them", bad[:3])
    total = samples()
    tap.check("one entry per sample", len(entries) == total, (len(entries), total))
    tap.tell("folded, they are the collapsed stacks", difference(plain(fold_perf(text)), truth))
    check_gprof2dot(truth)
    profile("-p", "code")
    export("perf")
    with open("evil.out", encoding="utf-8") as file:
        periods = sum(int(n) for n in re.findall(r": +(\d+) Ir:$", file.read(), re.M))
    truth = sum(counts_of(csv_rows("-b", "function"), "insn -> pc").values())
    tap.check("without stacks, periods are counts", periods == truth, (periods, truth))


def check_sqlite():
    make_profile("-p", "code", "-p", "calls", "-p", "stacks=5000", "-p", "values")
    export("sqlite")

    def ask(question):
        return run("sqlite3", "-json", "evil.out", question)

    tap.check("SQLite finds it whole", b'"ok"' in ask("PRAGMA integrity_check"))
    tables = csv_rows("-b", "function")
    for selector in ("insn -> pc", "load -> pc,value"):
        truth = counts_of(tables, selector)
        rows = json.loads(ask(f"SELECT function, count, lower, upper FROM by_function WHERE selector = '{selector}' LIMIT 3"))
        tap.tell(f"by_function of {selector}", [f"{row} {truth.get(row['function'])}" for row in rows
                                                 if truth.get(row["function"]) != row["count"]])
    names = json.loads(ask("SELECT DISTINCT function FROM by_function WHERE function LIKE 'ev%'"))
    tap.check("the hostile name is a name", [n["function"][:23] for n in names] == ["ev';DROP TABLE items;--"], names)
    lines = json.loads(ask("SELECT line, sum(count) AS n FROM by_line WHERE selector = 'insn -> pc' AND file LIKE '%ev\"il%'"
                           " GROUP BY line ORDER BY n DESC LIMIT 1"))
    tap.check("by_line", lines and lines[0]["line"] in (3, 7, 8), lines)
    calls = json.loads(ask("SELECT * FROM calls WHERE caller LIKE 'ev%'"))
    tap.check("calls", len(calls) == 1 and calls[0]["count"] == 40000, calls)
    stacks = json.loads(ask("SELECT sum(samples) AS n FROM hot_stacks"))
    tap.check("hot_stacks", stacks[0]["n"] > 0, stacks)
    values = json.loads(ask("SELECT value, count FROM by_value LIMIT 1"))
    tap.check("by_value", values[0]["value"] == 0 and values[0]["count"] >= 40000, values)
    plan = ask("EXPLAIN QUERY PLAN SELECT * FROM items WHERE profile = 1 AND a = 5").decode()
    tap.check("an index is used", "items_a" in plan, plan)
    paths = json.loads(ask("SELECT path FROM modules UNION SELECT command FROM run UNION SELECT text FROM notes"))
    tap.check("so are hostile files and commands", any(readable(PROGRAM) in (row["path"] or "") for row in paths), paths[:5])
    profile("-p", "addresses", "-e", "rap(key=b)")
    export("sqlite")
    ranges = json.loads(ask("SELECT count(*) AS n FROM items JOIN profiles USING(profile) WHERE shape = 2"))
    tap.check("ranges are there, too", ranges[0]["n"] > 0, ranges)


def check_data():
    """riffle's own CSV and JSON, by the readers of Python: hostile names are cells and nothing else."""
    make_profile("-p", "code", "-p", "calls")
    text = run(RIFFLE, "report", "evil.rfp", "-f", "csv", "-n", "0", "-b", "function").decode()
    data = json.loads(run(RIFFLE, "report", "evil.rfp", "-f", "json", "-n", "0", "-b", "function"))
    for table, profile in zip(text.split("\n\n"), data["profiles"]):
        rows = list(csv.reader(io.StringIO(table), strict=True))
        title = profile["selector"]
        tap.tell(f"csv of {title}: as many cells in every row", [str(row)[:80] for row in rows if len(row) != len(rows[0])])
        tap.check(f"csv and json of {title} have the same rows", [row[0] for row in rows[1:]] and
                  len(rows) - 1 == len(profile["rows"]), (len(rows), len(profile["rows"])))
        names = [row["function"] for row in profile["rows"]]
        tap.check(f"json of {title}: the hostile name is one name", len(find_evil(names)) == 1, names[:5])
        tap.check(f"csv of {title}: the hostile name is one name", len(find_evil([row[0] for row in rows])) == 1, rows[:3])


LOOPS = """
typedef int operation(int);
__attribute__((noinline)) static int twice(int n) { return 2 * n; }
__attribute__((noinline)) static int next(int n) { return n + 1; }
static volatile int choice = 3;
static inline int pick(int i)
{
    if (i % 1000 == choice)
        return 17;
    return i;
}
__attribute__((noinline)) int work(operation *f, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s ^= f(pick(i));
    return s;
}
int main(void) { return work(twice, 90000) + work(next, 10000) == 1; }
"""


def check_llvm():
    with open("loops.c", "w", encoding="ascii") as file:
        file.write(LOOPS)
    flags = ["-O2", "-g", "-fdebug-info-for-profiling", "-fno-unroll-loops"]
    run("clang", *flags, "loops.c", "-o", "loops")
    run(RIFFLE, "run", "-q", "-p", "code", "-p", "calls", "-o", "evil.rfp", "--", "./loops")
    export("llvm")
    with open("evil.out", encoding="ascii") as file:
        text = file.read()
    work = re.search(r"^work:\d+:(\d+)\n((?: .*\n)+)", text, re.M)
    tap.check("work was entered twice", work is not None and work.group(1) == "2", text[:2000])
    body = work.group(2) if work else ""
    tap.check("its call has both targets",
              re.search(r"^ 4(\.\d+)?: 100000 (twice:90000 next:10000|next:10000 twice:90000)$", body, re.M) is not None, body)
    tap.check("the rare line of what was inlined is there",
              re.search(r"^ 4(\.\d+)?: pick:\d+\n(  .*\n)*  3(\.\d+)?: 100\n", body, re.M) is not None or
              re.search(r"^ 4(\.\d+)?: pick:\d+\n(  .*\n)*  2(\.\d+)?: 100000\n", body, re.M) is not None, body)
    tool = shutil.which("llvm-profdata") or shutil.which("llvm-profdata-14")
    if tool:
        run(tool, "merge", "--sample", "--extbinary", "evil.out", "-o", "evil.bin")
        shown = run(tool, "show", "--sample", "--function=work", "evil.bin").decode()
        tap.check("llvm-profdata reads and converts it", "100000" in shown and "twice" in shown, shown[:1000])
    for profile in ["evil.out"] + (["evil.bin"] if tool else []):
        code = run("clang", *flags, f"-fprofile-sample-use={profile}", "-S", "-emit-llvm", "-o", "-", "loops.c").decode()
        tap.check(f"clang uses {profile}", "function_entry_count" in code and "branch_weights" in code,
                  code[-2000:])
        tap.check(f"clang promotes the indirect call, by {profile}", re.search(r"icmp eq .*@twice", code) is not None or
                  re.search(r"icmp eq .*twice", code) is not None, re.findall(r".*icmp.*", code))
    make_profile("-p", "code", "-p", "calls")
    export("llvm")
    with open("evil.out", encoding="ascii") as file:
        lines = file.read().splitlines()
    known = re.compile(r"[!-9;-~]+:\d+:\d+$| +\d+(\.\d+)?: (\d+( [!-9;-~]+:\d+)*|[!-9;-~]+:\d+)$")
    tap.tell("with hostile names every line is one of the format", [line[:80] for line in lines if not known.match(line)][:5])
    tap.check("main is there", any(line.startswith("main:") for line in lines))


READERS = {"llvm": "clang", "callgrind": "callgrind_annotate", "pprof": "go", "collapsed": FLAMEGRAPH, "sqlite": "sqlite3",
           "kcachegrind": "kcachegrind"}


def main():
    reader = READERS.get(FORM)
    if reader and not shutil.which(reader) and not os.path.exists(reader):
        print(f"1..0 # SKIP {reader} is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        globals()["check_" + FORM]()
        os.chdir("/")
    tap.end()


main()
