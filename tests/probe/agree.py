#!/usr/bin/env python3
"""agree - on real programs: the same output, and the same counts as Valgrind's own tools.

    agree.py RIFFLE WORKLOADS

Loads and stores are compared with lackey's; calls and instructions, pc by pc, with callgrind's. The program is gzip;
with RIFFLE_TEST_LONG=1 there are six. Of lz and lisp in the folder WORKLOADS, which have debug information, instructions are
compared line by line.

Three differences are expected. Lackey counts an atomic read-modify-write as two loads, because Valgrind makes a load and
a compare-and-swap of it; we count one. Callgrind takes a jump from one function into another for a call, so only places
with a call instruction are compared. It counts each step of a string instruction with a rep prefix, and we count the
instruction, so these are left out.

The environments differ by a few words, and the loader and libc read them. So counts are equal to the last instruction
in the program's own file, and nearly equal in all files together.
"""
import csv
import glob
import io
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import check, end  # noqa: E402

RIFFLE, WORKLOADS = sys.argv[1:3] if len(sys.argv) > 2 else (sys.argv[1], None)
LONG = bool(os.environ.get("RIFFLE_TEST_LONG"))
TOLERANCE = 0.001
ENVIRONMENT = 5000  # instructions that read it: it is not the same under two tools
STEADY = ["gzip", "bzip2", "cc1", "sqlite3"]  # whose own code does not read its environment


def programs(folder):
    """Name and command; inputs are made here."""
    text = os.path.join(folder, "text")
    with open(text, "w") as out:
        out.writelines(f"line {i * 7919 % 1000} of {i}\n" for i in range(4000))
    yield "gzip", ["gzip", "-6", "-c", text]
    if not LONG:
        return
    source = os.path.join(folder, "a.c")
    with open(source, "w") as out:
        out.writelines(f"int f{i}(int x) {{ return x * {i} + (x >> {i % 7}); }}\n" for i in range(40))
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout
    yield "bzip2", ["bzip2", "-c", text]
    yield "cc1", [compiler.strip(), "-quiet", "-O2", source, "-o", "-"]
    yield "perl", ["perl", "-ne", "$h{$_ % 97}++; END { print join(',', map {$h{$_}} sort keys %h) }",
                   text]
    yield "python3", [*glob.glob("/usr/bin/python3")[:1], "-S", "-c",
                      "print(sum(i * i for i in range(20000)))"]
    yield "sqlite3", ["sqlite3", ":memory:", "create table t(a); insert into t values(1),(2);"
                      "with recursive c(x) as (select 1 union all select x+1 from c where x<3000) "
                      "select sum(x) from c;"]


def place_of(pc, modules):
    """The file and the address in it, as callgrind writes it. For a file linked to a fixed place that is the pc."""
    for module in modules:
        start, end, offset = (int(str(module[key]), 0) for key in ("start", "end", "offset"))
        if start <= pc < end:
            link = pc - start + offset
            fixed = start >= 0x400000 and start < 0x4000000
            return os.path.basename(module["path"]), pc if fixed else link
    return "", pc


def ours(command, native, folder):
    selectors = ["load -> pc", "store -> pc", "call -> pc,target", "insn -> pc"]
    lanes = [word for selector in selectors for word in ("-p", selector)]
    saved = os.path.join(folder, "run.rfp")
    run = subprocess.run([RIFFLE, "run", "--details", "-n", "1", "-e", "exact", *lanes, "-o", saved, "--", *command],
                         capture_output=True)
    report = run.stderr.decode()
    tables = subprocess.run([RIFFLE, "report", saved, "--format", "csv", "-n", "0"],
                            capture_output=True, text=True, check=True).stdout.strip().split("\n\n")
    modules = json.loads(subprocess.run([RIFFLE, "report", saved, "--format", "json", "-n", "1"],
                                        capture_output=True, text=True, check=True).stdout)["modules"]
    sites, insns = ({}, {})
    for table, places in ((tables[2], sites), (tables[3], insns)):
        for row in csv.DictReader(io.StringIO(table)):
            place = place_of(int(row["pc"], 16), modules)
            places[place] = places.get(place, 0) + int(row["count"])
    check(f"{command[0]}: the same output and exit status",
          (run.stdout, run.returncode) == (native.stdout, native.returncode), report[-500:])
    check(f"{command[0]}: produced = consumed + lost", "produced = consumed + lost" in report, report)
    counts = re.findall(r"^events +([\d,]+) produced", report, re.M)
    return [int(n.replace(",", "")) for n in counts[:2]] + [sites, insns, modules]


def lackey(command):
    report = subprocess.run(["valgrind", "--tool=lackey", "--basic-counts=no", "--detailed-counts=yes",
                             *command], capture_output=True).stderr.decode()
    rows = re.findall(r"== +[IFVD]\d+ +([\d,]+) +([\d,]+) ", report)
    return [sum(int(row[i].replace(",", "")) for row in rows) for i in (0, 1)]


def callgrind(command, folder, modules):
    """Calls and instructions by file and address. Where callgrind knows no file, by pc."""
    out = os.path.join(folder, "callgrind.out")
    subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}",
                    "--compress-strings=no", "--compress-pos=no", "--dump-instr=yes", "--skip-plt=no", *command],
                   capture_output=True, check=False)
    sites, insns, calls, module = {}, {}, 0, ""
    with open(out) as lines:
        for line in lines:
            if line.startswith("ob="):
                module = os.path.basename(line[3:].strip())
            if line.startswith("0x"):
                pc, _, cost = line.split()
                place = place_of(int(pc, 16), modules) if module == "???" else (module, int(pc, 16))
                places, count = (sites, calls) if calls > 0 else (insns, int(cost))
                places[place] = places.get(place, 0) + count
            calls = int(line.split()[0][6:]) if line.startswith("calls=") else 0
    return sites, insns


STRINGS = set(range(0xa4, 0xa8)) | set(range(0xaa, 0xb0))


def is_repeated(place, paths):
    """Does the instruction have a rep prefix? Its bytes in the file tell."""
    name, at = place
    if name not in paths:
        return False
    with open(paths[name], "rb") as module:
        module.seek(at if at < 0x400000 else at - 0x400000)
        code = module.read(4)
    prefixes = code[:next((i for i, byte in enumerate(code) if byte not in (0x66, 0xf2, 0xf3) and byte & 0xf0 != 0x40), 0)]
    return any(byte in (0xf2, 0xf3) for byte in prefixes) and code[len(prefixes)] in STRINGS


def check_instructions(name, ours_at, theirs_at, modules):
    paths = {os.path.basename(module["path"]): module["path"] for module in modules}
    own = os.path.basename(modules[0]["path"])
    differ = {place: (ours_at.get(place, 0), theirs_at.get(place, 0)) for place in {*ours_at, *theirs_at}
              if ours_at.get(place, 0) != theirs_at.get(place, 0) and not is_repeated(place, paths)}
    off = sum(abs(a - b) for a, b in differ.values())
    check(f"{name}: instructions at {len(ours_at)} places as callgrind, {off} of {sum(ours_at.values())} differ",
          off <= TOLERANCE * sum(ours_at.values()) + ENVIRONMENT, sorted(differ.items())[:5])
    if name in STEADY:
        wrong = {place: counts for place, counts in differ.items() if place[0] == own}
        check(f"{name}: all equal in its own file", not wrong, sorted(wrong.items())[:5])


def our_lines(command, folder):
    saved = os.path.join(folder, "lines.rfp")
    subprocess.run([RIFFLE, "run", "-q", "-p", "code", "-o", saved, "--", *command], capture_output=True, check=True)
    table = subprocess.run([RIFFLE, "report", saved, "--by", "line", "--format", "csv", "-n", "0"],
                           capture_output=True, text=True, check=True).stdout
    return {(os.path.basename(row["file"]), int(row["line"])): int(row["count"])
            for row in csv.DictReader(io.StringIO(table)) if row["line"]}


def callgrind_lines(command, folder):
    out = os.path.join(folder, "lines.out")
    subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no",
                    "--compress-pos=no", "--skip-plt=no", *command], capture_output=True, check=True)
    lines, name, is_call = {}, "", False
    with open(out) as text:
        for line in text:
            if line[:3] in ("fl=", "fi=", "fe="):
                name = os.path.basename(line[3:].strip())
            elif line[:1].isdigit() and not is_call:
                number, cost = line.split()
                lines[name, int(number)] = lines.get((name, int(number)), 0) + int(cost)
            is_call = line.startswith("calls=")
    return lines


def check_lines(name, folder):
    command, own = [os.path.join(WORKLOADS, name), "1"], f"{name}.c"
    ours_at, theirs_at = ({place: n for place, n in lines.items() if place[0] == own and place[1] > 0}
                          for lines in (our_lines(command, folder), callgrind_lines(command, folder)))
    check(f"{name}: {sum(ours_at.values())} instructions on {len(ours_at)} lines as callgrind",
          ours_at == theirs_at and len(ours_at) > 50, sorted(set(ours_at.items()) ^ set(theirs_at.items()))[:5])


def near(a, b):
    return abs(a - b) <= TOLERANCE * max(a, b)


def main():
    os.environ["PYTHONHASHSEED"] = os.environ["PERL_HASH_SEED"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        for name, command in programs(folder):
            native = subprocess.run(command, capture_output=True)
            loads, stores, calls, insns, modules = ours(command, native, folder)
            their_loads, their_stores = lackey(command)
            check(f"{name}: loads as lackey", near(loads, their_loads), (loads, their_loads))
            check(f"{name}: stores as lackey", near(stores, their_stores), (stores, their_stores))
            theirs, their_insns = callgrind(command, folder, modules)
            their_calls = sum(n for place, n in theirs.items() if place in calls)
            check(f"{name}: calls as callgrind", near(sum(calls.values()), their_calls),
                  (sum(calls.values()), their_calls))
            check_instructions(name, insns, their_insns, modules)
        for name in ("lz", "lisp") if WORKLOADS else ():
            check_lines(name, folder)
    end()


if __name__ == "__main__":
    main()
