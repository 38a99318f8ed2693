#!/usr/bin/env python3
"""programs - real programs behave under riffle run as natively: output, errors, exit status, signal.

    programs.py RIFFLE             a few cheap ones; all of them with RIFFLE_TEST_LONG=1
    programs.py RIFFLE --table     all of them, as the table of doc/PROBE.md
    programs.py RIFFLE --bursts    the same in bursts, with --table or without

Each runs twice in a folder of its own: natively, and under `riffle run -q -p calls`, with --bursts in short bursts.
A program that the machine does not have is skipped and named. Programs that need a compiler (Rust, C++) are compiled first, natively.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import check, end, skip  # noqa: E402

RIFFLE = os.path.abspath(sys.argv[1])
TABLE = "--table" in sys.argv
BURSTS = ["--burst", "3", "--frequency", "1/20"] if "--bursts" in sys.argv else []
ALL = TABLE or bool(os.environ.get("RIFFLE_TEST_LONG"))
PATIENCE = 900

RUST = r"""
use std::{collections::HashMap, sync::mpsc, thread};
fn main() {
    let (tx, rx) = mpsc::channel();
    for i in 0..4u64 { let tx = tx.clone(); thread::spawn(move || tx.send((i, (0..20000u64).map(|x| x * i % 7).sum::<u64>())).unwrap()); }
    drop(tx);
    let mut found: Vec<_> = rx.iter().collect::<HashMap<_, _>>().into_iter().collect();
    found.sort();
    println!("{:?} {:?}", found, "x".parse::<i32>().is_err());
    std::panic::set_hook(Box::new(|_| eprintln!("hooked")));
    if std::panic::catch_unwind(|| panic!("caught")).is_err() { std::process::exit(17) }
}
"""
CPLUSPLUS = r"""
#include <algorithm>
#include <future>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
static int half(int x) { if (x % 2) throw std::runtime_error("odd " + std::to_string(x)); return x / 2; }
int main() {
    std::vector<std::future<long>> parts;
    for (int i = 0; i < 4; i++) parts.push_back(std::async(std::launch::async, [i] { long s = 0; for (int j = 0; j < 9999; j++) s += j % (i + 1); return s; }));
    for (auto &part : parts) std::cout << part.get() << ' ';
    std::map<std::string, int> words;
    for (auto word : {"b", "a", "b"}) words[word]++;
    for (auto &[word, n] : words) std::cout << word << n << ' ';
    try { half(3); } catch (const std::exception &e) { std::cerr << e.what() << '\n'; }
    std::terminate();
}
"""
SHELL = r"""
trap 'echo trapped; exit 5' USR1
sleep 0.1 & wait $!
( exit 3 ); echo $?
( kill -TERM $BASHPID ); echo $?
( ulimit -t 1; ulimit -t )
kill -USR1 $$
sleep 5
"""

# Name, what it needs, how it is prepared (natively), what runs; all in bash. A star marks the cheap ones.
CASES = (
    ("jq", "jq", "seq 300 | jq -c '{a: ., b: [., .]}' >x.json", "jq -c 'select(.a % 50 == 0) | .b | add' x.json"),
    ("jq, bad input", "jq", "", "echo '{' | jq ."),
    ("xz, there and back", "xz", "", "xz -6 -c text | xz -dc | cmp - text && xz -l nothing"),
    ("git: commit, log, gc, bad branch", "git", "", "git init -q . && git add text && git -c user.name=a -c user.email=b commit -q "
     "-m one --date=@0 && git -c core.pager=cat log --format=%an --stat && git gc -q && git fsck && git checkout nowhere"),
    ("openssl: digest, cipher, a key", "openssl", "", "openssl dgst -sha256 text && openssl enc "
     "-aes-256-ctr -K 00 -iv 00 -in text 2>/dev/null | openssl md5 && openssl genrsa 1024 2>/dev/null | openssl rsa -check -noout; "
     "openssl nothing 2>/dev/null"),
    ("node", "node", "", "node -e 'let s = 0; for (let i = 0; i < 1e5; i++) s += i % 7; console.log(s); setTimeout(() => process.exit(9), 20)'"),
    ("a Rust program: threads, channels, panic", "rustc", "rustc -O -o rust rust.rs", "./rust"),
    ("a C++ program: async, exceptions, terminate", "g++", "g++ -O2 -std=c++17 -pthread -o cplusplus cplusplus.cc", "./cplusplus"),
    ("*a pipeline into head", "seq", "", "seq 1000000 | head -2; echo ${PIPESTATUS[@]}; yes | head -c 5; echo ${PIPESTATUS[@]}"),
    ("*a script with a setuid child", "id", "cp $(command -v id) set; chmod 4755 set; printf '#!/bin/sh\\n./set -u; ./set -z; exit 4\\n' >script; "
     "chmod +x script", "./script"),
    ("*bash: jobs, traps, limits", "bash", "", "bash ./shell"),
    ("*sort, with threads and a temporary file", "sort", "", "sort --parallel=4 -S 100K -k2 text text | md5sum; sort nothing"),
    ("*tar", "tar", "", "tar cf - text | tar tvf - | wc -w; tar xf text"),
    ("awk", "awk", "", "awk '{n[$2]++} END {for (k in n) s += n[k]; print s; exit 3}' text"),
    ("*sed", "sed", "", "sed -n 's/line \\([0-9]*\\) of/<\\1>/p;5q' text; sed s/ text"),
    ("bc", "bc", "", "echo 'scale=60; 4*a(1); 1/0' | bc -l"),
    ("vim, without a terminal", "vim", "", "vim -Nu NONE -es -c '%s/line/row/' -c 'wq! changed' text; md5sum changed"),
    ("gpg", "gpg", "", "gpg --homedir . --print-md sha256 text; gpg --homedir . --verify text"),
    ("tclsh", "tclsh", "", "echo 'puts [expr 2**100]; error oops' | tclsh"),
    ("cmake script", "cmake", "echo 'foreach(i RANGE 9) message(STATUS ${i}) endforeach() message(FATAL_ERROR no)' >x.cmake", "cmake -P x.cmake"),
    ("curl", "curl", "", "curl -s file://$PWD/text | md5sum; curl -sS file:///nowhere/at/all"),
    ("zstd, with threads", "zstd", "", "zstd -q -T2 -c text | zstd -dc | md5sum; zstd -t text"),
    ("make -j2, a failing rule", "make", "printf 'all: a b\\na b:\\n\\t@echo $@\\n\\t@sleep 0.1\\nbad:\\n\\t@exit 3\\n' >Makefile",
     "make --no-print-directory -O -j2 | sort; make bad"),
    ("g++ -c", "g++", "", "g++ -O2 -std=c++17 -S -o - cplusplus.cc | md5sum"),
    ("find and xargs", "find", "", "find . -name 't*' -print0 | xargs -0 -n1 md5sum; find nothing"),
    ("timeout", "timeout", "", "timeout 0.5 sleep 20; echo $?; timeout -s KILL 0.5 sleep 20"),
    ("dd, killed by a limit", "dd", "", "ulimit -f 10; exec dd if=/dev/zero of=big bs=1k count=100"),
    ("*a program that aborts", "sh", "", "exec sh -c 'kill -ABRT $$'"),
    ("java", "java", "", "java -XX:-UsePerfData -version"),
)


def make_inputs(folder):
    with open(os.path.join(folder, "text"), "w") as out:
        out.writelines(f"line {i * 7919 % 1000} of {i}\n" for i in range(4000))
    for name, content in (("rust.rs", RUST), ("cplusplus.cc", CPLUSPLUS), ("shell", SHELL)):
        with open(os.path.join(folder, name), "w") as out:
            out.write(content)


def run(case, *before):
    _, _, prepare, command = case
    environment = dict(os.environ, LC_ALL="C", GIT_CONFIG_NOSYSTEM="1", GIT_COMMITTER_DATE="@0 +0000")
    with tempfile.TemporaryDirectory() as folder:
        environment["HOME"] = os.path.join(folder, "home")  # who makes it makes it here
        os.chmod(folder, 0o755)
        make_inputs(folder)
        subprocess.run(["bash", "-c", prepare], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        try:
            done = subprocess.run([*before, "bash", "-c", command], cwd=folder, capture_output=True,
                                  env=environment, stdin=subprocess.DEVNULL, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return None, b"", b"did not end"
        hidden = folder.encode()
        return done.returncode, done.stdout.replace(hidden, b""), done.stderr.replace(hidden, b"")


def status_text(status):
    return "none" if status is None else f"signal {-status}" if status < 0 else str(status)


def compare(case):
    name = case[0].lstrip("*")
    if shutil.which(case[1]) is None:
        skip(name, f"{case[1]} is not here")
        return
    native = run(case)
    probed = run(case, RIFFLE, "run", "-q", "-p", "calls", *BURSTS, "--")
    same = ["yes" if a == b else "**no**" for a, b in zip(native, probed)]
    if TABLE:
        print(f"| {name} | {status_text(native[0])} | {same[0]} | {same[1]} | {same[2]} |", flush=True)
        if native != probed:
            print(native, probed, file=sys.stderr)
    else:
        check(name, native == probed, (native, probed))


def main():
    if TABLE:
        print("| program | status | same status | same output | same errors |")
        print("|---|---|---|---|---|")
    for case in CASES:
        if ALL or case[0].startswith("*"):
            compare(case)
    if not TABLE:
        end()


main()
