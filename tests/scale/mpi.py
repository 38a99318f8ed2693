#!/usr/bin/env python3
"""Ranks of an MPI job: shards and pieces of traces against one rank, ranks that fail, MPI programs under riffle run.

    mpi.py RIFFLE MPIRUN EIO [RING]

EIO is preloaded into a rank that cannot read traces (eio.c). RING is an MPI program whose counts are known (ring.c); without it, where there is no probe, it is left out.
"""
import fcntl
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import saved  # noqa: E402
import tap  # noqa: E402

RIFFLE, MPIRUN, EIO = (os.path.abspath(path) for path in sys.argv[1:4])
SHARDS, EVENTS = 5, 60000
LONG = 300000  # five blocks, cut into one, two and two for three ranks
PIECES = [65536, 131072, LONG - 196608]
ENGINES = ["-e", "exact", "-e", "multihash(interval=10K, threshold=1%)"]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1")


def run(folder, *command):
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300)


def ranks(folder, n, *command):
    return run(folder, MPIRUN, "--oversubscribe", "-n", str(n), *command)


def profiles(folder, name):
    """Exact counts, and those of multihash with their bounds."""
    exact, multihash = saved.report(RIFFLE, os.path.join(folder, name))["profiles"]
    return saved.counts(exact), saved.rows(multihash), multihash["absent_upper"]


def check_equal(folder, title, name, truth, done):
    if done.returncode != 0:
        tap.check(title, False, done.stderr.decode())
        return
    exact, bounded, absent = profiles(folder, name)
    wrong = [key for key, count in truth.items()
             if not bounded.get(key, (0, 0, absent))[1] <= count <= bounded.get(key, (0, 0, absent))[2]]
    tap.check(title, exact == truth and not wrong, [len(exact), len(truth), wrong[:3]])


def check_shards(folder, shards):
    for i, name in enumerate(shards):
        run(folder, RIFFLE, "replay", name, *ENGINES, "-o", f"part-{i}.rfp")
    run(folder, RIFFLE, "merge", "-o", "serial.rfp", *(f"part-{i}.rfp" for i in range(SHARDS)))
    truth = profiles(folder, "serial.rfp")[0]
    done = ranks(folder, 2, RIFFLE, "mpi", *ENGINES, "--timing", "-o", "two.rfp", *shards)
    check_equal(folder, "two ranks, five shards: as one after the other", "two.rfp", truth, done)
    print("# " + done.stderr.decode().strip().replace("\n", "\n# "))
    tap.check("no colours, as mpirun may write to a file", done.stdout and b"\033" not in done.stdout, done.stdout[:200])
    tap.check("what it cost is printed", b"critical path" in done.stderr and b"messages 1, bytes" in done.stderr, done.stderr)
    check_equal(folder, "without mpirun: one rank", "one.rfp", truth,
                run(folder, RIFFLE, "mpi", *ENGINES, "-o", "one.rfp", *shards))


def check_pieces(folder, trace):
    run(folder, RIFFLE, "replay", trace, *ENGINES, "-o", "whole.rfp")
    truth = profiles(folder, "whole.rfp")[0]
    seen = set()
    for _ in range(2):
        done = ranks(folder, 3, RIFFLE, "mpi", *ENGINES, "-o", "pieces.rfp", trace)
        with open(os.path.join(folder, "pieces.rfp"), "rb") as file:
            seen.add(file.read())
    check_equal(folder, "three ranks, pieces of one trace: as replay", "pieces.rfp", truth, done)
    tap.check("and the same bytes each time", len(seen) == 1)


def check_missing(folder, shards):
    done = ranks(folder, 2, RIFFLE, "mpi", *ENGINES, "-o", "rest.rfp", shards[0], "nosuch.rft", shards[1])
    run_ = saved.report(RIFFLE, os.path.join(folder, "rest.rfp"))
    tap.check("a shard that is not there is named, and the rest kept",
              done.returncode == 3 and "nosuch.rft: cannot open" in saved.notes(run_)["missing"]
              and run_["profiles"][0]["consumed"] == 2 * EVENTS, [done.returncode, done.stderr, run_["notes"]])
    report = run(folder, RIFFLE, "report", "-n", "1", "rest.rfp").stdout
    tap.check("each report says so at its head", b"\nmissing     nosuch.rft: cannot open" in report, report)


def check_damaged(folder, shards):
    """It is named once, and what is whole of it is kept."""
    run(folder, RIFFLE, "gen", "zipf", "--events", str(LONG), "-o", "long.rft")
    with open(os.path.join(folder, "long.rft"), "rb") as file:
        content = bytearray(file.read())
    content[len(content) // 2] ^= 0x55
    with open(os.path.join(folder, "damaged.rft"), "wb") as file:
        file.write(content)
    for title, n, names in (("a damaged shard", 2, [shards[0], "damaged.rft"]), ("a damaged trace in pieces", 3, ["damaged.rft"])):
        done = ranks(folder, n, RIFFLE, "mpi", "-e", "exact", "-o", "mended.rfp", *names)
        run_ = saved.report(RIFFLE, os.path.join(folder, "mended.rfp"))
        told = [note["name"] for note in run_["notes"] if "damaged.rft: damaged: " in note["text"]]
        tap.check(f"{title} is named once, and its whole blocks are kept", told == ["missing"] and done.returncode == 3
                  and done.stderr.count(b"damaged.rft: damaged: ") == done.stdout.count(b"damaged.rft: damaged:") == 1
                  and run_["profiles"][0]["consumed"] > 200000, [run_["notes"], done.stdout, done.stderr])


def found(folder, name, done):
    """How many events are in the result, and what it says is missing."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return done.returncode, 0, []
    run_ = saved.report(RIFFLE, path)
    os.remove(path)
    return done.returncode, run_["profiles"][0]["consumed"], [note["text"] for note in run_["notes"] if note["name"] == "missing"]


def check_unread(folder):
    """One of three ranks cannot read by an index. Where it is rank 0, that decides to read all of it."""
    script = f'if [ "$OMPI_COMM_WORLD_RANK" = $0 ]; then export LD_PRELOAD={EIO}; fi; exec "$@"'
    shutil.copy(os.path.join(folder, "long.rft"), os.path.join(folder, "again.rft"))
    for bad, names in ((0, ["long.rft"]), (1, ["long.rft"]), (2, ["long.rft"]), (1, ["long.rft", "again.rft"])):
        done = ranks(folder, 3, "sh", "-c", script, str(bad), RIFFLE, "mpi", "-e", "exact", "-o", "unread.rfp", *names)
        status, events, missing = found(folder, "unread.rfp", done)
        lost = PIECES[bad] * len(names) if bad > 0 else 0
        said = [f"{name}: its index is missing or damaged, so it cannot be read in parts (rank {bad}, piece {bad + 1} of 3)" for name in names]
        said.append(f"{LONG * len(names) - lost} of {LONG * len(names)} events in pieces of traces were read")
        tap.check(f"rank {bad} of 3 cannot read its piece of {' and '.join(names)}: {'named' if lost else 'read as a whole'}",
                  (status, events, missing) == (3 if lost else 0, LONG * len(names) - lost, said if lost else []),
                  [status, events, missing, done.stderr])


def check_calls(folder):
    """A single call fails, on rank 0 or on rank 1: all is counted, or what is missing is told with its events."""
    script = f'if [ "$OMPI_COMM_WORLD_RANK" = $0 ]; then export RIFFLE_TEST_FAILS=$1 LD_PRELOAD={EIO}; fi; shift; exec "$@"'
    results = []
    for bad in (0, 1):
        for call in (1, 3, 5, 7, 9, 11):
            done = ranks(folder, 3, "sh", "-c", script, str(bad), str(call), RIFFLE, "mpi", "-e", "exact", "-o", "call.rfp", "long.rft")
            status, events, missing = found(folder, "call.rfp", done)
            results.append((bad, call, status, events, missing))
    whole, part = (0, LONG, 0), (3, LONG - PIECES[1], 2)
    kinds = [(status, events, len(missing)) for _, _, status, events, missing in results]
    tap.check("any read by the index fails: rank 0 reads it all then, rank 1 leaves its piece out by name",
              set(kinds[:6]) == {whole} and set(kinds[6:]) <= {whole, part} and kinds.count(part) > 2, results)


def check_dies(folder):
    """A rank is killed when it is about to read its piece, or, of rank 0, to decide on the pieces."""
    script = f'if [ "$OMPI_COMM_WORLD_RANK" = $0 ]; then export RIFFLE_TEST_DIES=1 LD_PRELOAD={EIO}; fi; exec "$@"'
    for bad in (0, 1, 2):
        done = run(folder, "timeout", "60", MPIRUN, "--enable-recovery", "--oversubscribe", "-n", "3", "sh", "-c", script, str(bad),
                   RIFFLE, "mpi", "-e", "exact", "-o", "dies.rfp", "long.rft")
        _, events, missing = found(folder, "dies.rfp", done)
        said = [f"rank {bad}, with its pieces of long.rft: did not answer",
                f"{LONG - PIECES[bad]} of {LONG} events in pieces of traces were read"]
        right = (events, missing) == (LONG - PIECES[bad], said) if bad > 0 else events == 0 and done.stderr.count(b": rank 0 is gone") == 2
        tap.check(f"rank {bad} of 3 is killed with a piece: {'named' if bad > 0 else 'each of the others says so'}, and nobody waits",
                  right, [done.returncode, events, missing, done.stderr])


def check_nodes(folder):
    """Three machines whose copies of a trace are not equal, or not there. What rank 0 has is what is counted, as far as the others have it."""
    run(folder, RIFFLE, "gen", "zipf", "--events", str(LONG), "--seed", "7", "-o", "other.rft")
    run(folder, RIFFLE, "trace", "convert", "long.rft", "long.txt")
    with open(os.path.join(folder, "long.rft"), "rb") as file:
        whole = file.read()
    third = struct.unpack_from("<Q", whole, struct.unpack_from("<Q", whole, len(whole) - 16)[0] + 48 + 16 * 2)[0]
    copies = {"cut": whole[:third + 1000], "other": read(folder, "other.rft"), "text": read(folder, "long.txt"), "no": None}
    for bad in (0, 1):
        for kind, copy in copies.items():
            for node in range(3):
                path = os.path.join(folder, f"node-{node}", "t.rft")
                shutil.rmtree(os.path.dirname(path), ignore_errors=True)
                os.mkdir(os.path.dirname(path))
                content = copy if node == bad else whole
                if content is not None:
                    write(path, content)
            done = ranks(folder, 3, "sh", "-c", 'cd node-$OMPI_COMM_WORLD_RANK; exec "$@"', "sh", RIFFLE, "mpi", "-e", "exact",
                         "-o", "../nodes.rfp", "t.rft")
            status, events, missing = found(folder, "nodes.rfp", done)
            if bad == 1:
                right = status == 3 and events == LONG - PIECES[1] and len(missing) == 2 \
                    and missing[0].startswith("t.rft: ") and missing[0].endswith(" (rank 1, piece 2 of 3)")
            elif kind == "cut":
                right = status == 3 and events == 2 * 65536 and [text.startswith("t.rft: damaged: ") for text in missing] == [True]
            elif kind == "other":
                right = status == 3 and events == PIECES[0] and [text.endswith(" (rank %d, piece %d of 3)" % (i, i + 1))
                                                                 for i, text in enumerate(missing[:-1], 1)] == [True, True]
            elif kind == "text":
                right = status == 0 and events == LONG and missing == []
            else:
                right = status == 1 and events == 0 and done.stderr.count(b"t.rft: cannot open") == 1
            tap.check(f"rank {bad} of 3 has {'no' if copy is None else f'a copy that is {kind}'}: nothing twice, nothing lost unsaid",
                      right, [status, events, missing, done.stderr])


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def add_word(total, word):
    total = (total ^ word) * 0x9e3779b97f4a7c15 & (1 << 64) - 1
    return total ^ total >> 32


def with_index(trace, entries):
    """A trace with another index, whose checksums are right (doc/FORMATS.md)."""
    begin = struct.unpack_from("<Q", trace, len(trace) - 16)[0]
    head, sums = bytearray(trace[begin:begin + 48]), [0x8a5cd789635d2dff, add_word(0x8a5cd789635d2dff, 40)]
    for entry in entries:
        sums[0] = add_word(add_word(sums[0], entry[0]), entry[1])
    struct.pack_into("<IIIQQ", head, 12, 16 * len(entries), 16 * len(entries), len(entries), LONG, sums[0])
    for word in (*struct.unpack_from("<5Q", head), 0):
        sums[1] = add_word(sums[1], word)
    struct.pack_into("<Q", head, 40, sums[1])
    return trace[:begin] + bytes(head) + b"".join(struct.pack("<QQ", *entry) for entry in entries) + trace[-16:]


def check_index(folder):
    """An index that is not the trace's: as one rank says it, or all the same counted right."""
    trace = read(folder, "long.rft")
    begin = struct.unpack_from("<Q", trace, len(trace) - 16)[0]
    e = [struct.unpack_from("<QQ", trace, begin + 48 + 16 * i) for i in range(5)]
    truth = run(folder, RIFFLE, "replay", "long.rft", "-e", "exact", "--format", "csv", "-n", "0").stdout
    tap.check("the index that is made anew is the same", with_index(trace, e) == trace)
    cases = {"swapped": [(e[1][0], e[0][1]), (e[0][0], e[1][1]), *e[2:]], "without the first": e[1:], "without the last": e[:-1],
             "with one twice": [e[0], e[1], e[1], *e[2:]], "of one place": [(e[0][0], entry[1]) for entry in e], "turned round": e[::-1],
             "with wrong events": [e[0], *((entry[0], entry[1] + 1) for entry in e[1:])], "far away": [e[0], (1 << 62, e[1][1]), *e[2:]]}
    for name, entries in cases.items():
        write(os.path.join(folder, "index.rft"), with_index(trace, entries))
        alone = run(folder, RIFFLE, "mpi", "-e", "exact", "--format", "csv", "-n", "0", "index.rft")
        done = ranks(folder, 3, RIFFLE, "mpi", "-e", "exact", "--format", "csv", "-n", "0", "index.rft")
        tap.check(f"an index {name}: three ranks count right, and lose nothing unsaid", alone.returncode == 3 and alone.stdout == done.stdout == truth
                  and done.returncode in (0, 3), [alone.returncode, done.returncode, alone.stderr, done.stderr])


def check_pipes(folder):
    """A pipe gives its bytes once, to rank 0. The first eight of them tell what it is."""
    text, trace = b"1234567890 1\n5 5\n", read(folder, "shard-0.rft")
    truth = run(folder, RIFFLE, "replay", "shard-0.rft", "-e", "exact", "--format", "csv", "-n", "0").stdout
    for kind, content in (("text", text), ("a trace", trace)):
        for name in ("-", "fifo"):
            for n in (2, 3):
                if name == "fifo":
                    os.mkfifo(os.path.join(folder, name))
                command = [MPIRUN, "--oversubscribe", "-n", str(n), RIFFLE, "mpi", "-e", "exact", "--format", "csv", "-n", "0", name]
                job = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                if name == "fifo":
                    write(os.path.join(folder, name), content)
                    os.remove(os.path.join(folder, name))
                out, errors = job.communicate(content if name == "-" else None, timeout=100)
                right = out == truth if content is trace else sorted(line.split(b",")[:2] for line in out.splitlines()[1:]) \
                    == [[b"0x499602d2", b"0x1"], [b"0x5", b"0x5"]]
                tap.check(f"{kind} by {'standard input' if name == '-' else 'a pipe'}, on {n} ranks: whole", right and job.returncode == 0,
                          [job.returncode, out[:200], errors])


def check_builds(folder):
    """Shards of another build are left out with their rank; no rank is gone, so the job is not ended by force."""
    program, records = os.path.join(folder, "program"), []
    for name in ("true", "false"):
        shutil.copy(shutil.which(name), program)
        run(folder, RIFFLE, "run", "-q", "-p", "values", "--record", f"{name}.rft", "--", program)
        records.append(f"{name}.rft")
    done = ranks(folder, 2, RIFFLE, "mpi", "-e", "exact", "-o", "builds.rfp", *records)
    tap.check("a rank with shards of another build is named, and the job ends by itself",
              done.returncode == 3 and b"missing: rank 1, with false.rft: " in done.stderr and b"MPI_ABORT" not in done.stderr, done.stderr)


def check_nothing(folder, shards):
    """No shard can be read: what was saved before stays."""
    run(folder, RIFFLE, "replay", shards[0], "-o", "kept.rfp")
    with open(os.path.join(folder, "kept.rfp"), "rb") as file:
        before = file.read()
    for n, names in ((1, ["nosuch.rft"]), (2, ["nosuch.rft", "nowhere.rft"])):
        mpirun = [MPIRUN, "--oversubscribe", "-n", str(n)] if n > 1 else []
        done = run(folder, *mpirun, RIFFLE, "mpi", *ENGINES, "-o", "kept.rfp", *names)
        with open(os.path.join(folder, "kept.rfp"), "rb") as file:
            tap.check(f"{n} ranks, no shard at all: said so, and the old file stays", file.read() == before and done.stdout == b""
                      and done.returncode == 1 and b"nosuch.rft: cannot open" in done.stderr
                      and done.stderr.count(b"no shard could be used") == 1, done)
    done = run(folder, RIFFLE, "mpi", *ENGINES, "-o", shards[0], shards[1], shards[0])
    tap.check("a profile does not overwrite a shard", done.returncode == 2 and b"overwrite its own stream" in done.stderr, done)
    done = run(folder, RIFFLE, "mpi", *ENGINES, "--html", shards[0], shards[1], shards[0])
    tap.check("nor does a page", done.returncode == 2 and b"overwrite its own input" in done.stderr, done)


def check_stacks(folder):
    """Engines that keep parts of a tree are refused, by name or where a trace turns out to be one of stacks."""
    done = run(folder, RIFFLE, "mpi", "-p", "stacks", "-e", "multihash", "records.rft")
    sentence = b"stacks are counted by the engine exact, not by multihash"
    tap.check("stacks by an engine that keeps parts are refused", done.returncode == 2 and sentence in done.stderr, done)
    run(folder, RIFFLE, "run", "-q", "-p", "stacks", "--record", "stacks.rft", "--", "true")
    done = run(folder, RIFFLE, "mpi", "-e", "multihash", "stacks.rft")
    tap.check("also where the shard says that it is of stacks", done.returncode == 1 and sentence in done.stderr, done)
    done = run(folder, RIFFLE, "mpi", "-e", "exact", "stacks.rft")
    tap.check("exact counts them", done.returncode == 0 and done.stdout, done)


def check_killed_leaf(folder, shards):
    """Rank 3 is killed, and rank 2 waits for it: it must not end the job before rank 0 has the rest."""
    os.mkfifo(os.path.join(folder, "pipe-3"))
    script = 'if [ "$OMPI_COMM_WORLD_RANK" = 3 ]; then (exec 3>pipe-3; kill -9 $$) & fi; exec "$@"'
    done = run(folder, MPIRUN, "--enable-recovery", "--oversubscribe", "-n", "4", "sh", "-c", script, "sh",
               RIFFLE, "mpi", *ENGINES, "--wait", "60", "-o", "leaf.rfp", *shards[:3], "pipe-3")
    path = os.path.join(folder, "leaf.rfp")
    run_ = saved.report(RIFFLE, path) if os.path.exists(path) else {"notes": [], "profiles": [{"consumed": 0}]}
    tap.check("a rank that another rank waits for is killed: named, and the rest kept",
              saved.notes(run_).get("missing") == "rank 3, with pipe-3: did not answer" and run_["profiles"][0]["consumed"] == 3 * EVENTS, [done.stderr, run_["notes"]])


def check_killed_inner(folder, shards):
    """Rank 2 is killed. Rank 3 has sent it what it has, or is about to: it sends it again, to rank 0."""
    os.mkfifo(os.path.join(folder, "pipe-2"))
    script = 'if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then (exec 3>pipe-2; kill -9 $$) & fi; exec "$@"'
    done = run(folder, "timeout", "60", MPIRUN, "--enable-recovery", "--oversubscribe", "-n", "4", "sh", "-c", script, "sh",
               RIFFLE, "mpi", *ENGINES, "-o", "inner.rfp", *shards[:2], "pipe-2", shards[2])
    check_rest(folder, "inner.rfp", "a rank is killed before it takes from the one below: only its own shards are missing",
               "rank 2, with pipe-2: did not answer", 3 * EVENTS, done.stderr)


def check_killed_holder(folder, shards):
    """Rank 2 is killed when it has the sum of rank 3. Rank 0 does not take it before: its shard is a pipe that nobody fills yet."""
    os.mkfifo(os.path.join(folder, "pipe-0"))
    command = [MPIRUN, "--enable-recovery", "--oversubscribe", "-n", "4", "sh", "-c", 'echo $$ > pid-$OMPI_COMM_WORLD_RANK; exec "$@"', "sh",
               RIFFLE, "mpi", *ENGINES, "-o", "holder.rfp", "pipe-0", *shards[1:4]]
    with open(os.path.join(folder, "holder.err"), "w+b") as errors:
        job = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        with open(os.path.join(folder, "pipe-0"), "wb") as pipe, open(os.path.join(folder, shards[0]), "rb") as shard:
            time.sleep(2)  # most often rank 2 has it by then; where it has not, the result is the same
            with open(os.path.join(folder, "pid-2")) as pid:
                os.kill(int(pid.read()), 9)
            shutil.copyfileobj(shard, pipe)
        try:
            job.wait(60)
        finally:
            job.kill()
        errors.seek(0)
        # Or nothing is missing: what rank 2 sent was there whole. It is waited for at the end then, for a while.
        check_rest(folder, "holder.rfp", "and after: the one below sends again", (f"rank 2, with {shards[2]}: did not answer", ""),
                   (3 * EVENTS, 4 * EVENTS), errors.read())


def check_killed_chain(folder, shards):
    """Of eight ranks 4 and 6 are killed: 5 and 7 send to rank 0."""
    for number in (4, 6):
        os.mkfifo(os.path.join(folder, f"chain-{number}"))
    script = 'r=$OMPI_COMM_WORLD_RANK; if [ $r = 4 ] || [ $r = 6 ]; then (exec 3>chain-$r; kill -9 $$) & fi; exec "$@"'
    done = run(folder, "timeout", "60", MPIRUN, "--enable-recovery", "--oversubscribe", "-n", "8", "sh", "-c", script, "sh", RIFFLE, "mpi",
               *ENGINES, "-o", "chain.rfp", *shards[:4], "chain-4", shards[4], "chain-6", shards[0])
    check_rest(folder, "chain.rfp", "two are killed, one above the other: both are named, and the rest kept",
               "rank 4, with chain-4: did not answer; rank 6, with chain-6: did not answer", 6 * EVENTS, done.stderr)


def check_rest(folder, name, title, missing, events, errors):
    path = os.path.join(folder, name)
    run_ = saved.report(RIFFLE, path) if os.path.exists(path) else {"notes": [], "profiles": [{"consumed": 0}]}
    said = "; ".join(note["text"] for note in run_["notes"] if note["name"] == "missing")
    found, choices = (said, run_["profiles"][0]["consumed"]), [(missing, events)] if isinstance(missing, str) else zip(missing, events)
    tap.check(title, found in choices, [errors, run_["notes"], run_["profiles"][0]["consumed"]])


def check_killed(folder, shard, title="", *transport):
    """Rank 1 is killed when it opens its shard, a pipe: by then it is part of the job. Rank 0 sees that without --wait."""
    os.mkfifo(os.path.join(folder, "pipe"))
    script = 'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then (exec 3>pipe; kill -9 $$) & fi; exec "$@"'
    done = run(folder, "timeout", "60", MPIRUN, *transport, "--enable-recovery", "--oversubscribe", "-n", "2", "sh", "-c", script, "sh",
               RIFFLE, "mpi", *ENGINES, "-o", "left.rfp", shard, "pipe")
    path = os.path.join(folder, "left.rfp")
    run_ = saved.report(RIFFLE, path) if os.path.exists(path) else {"notes": [], "profiles": [{"consumed": 0}]}
    for name in {"pipe", "left.rfp"} & set(os.listdir(folder)):
        os.remove(os.path.join(folder, name))
    tap.check(f"a rank that is killed is named, and the rest kept{title}",
              b"missing: rank 1" in done.stderr and saved.notes(run_).get("missing") == "rank 1, with pipe: did not answer"
              and run_["profiles"][0]["consumed"] == EVENTS, [done.stderr, run_["notes"]])


def check_killed_root(folder, shards):
    """Rank 0 is killed: nobody has the sum. The others say so and end, the one that must send to it and the one that waits."""
    for i, wait in enumerate([[], ["--wait", "60"]]):
        os.mkfifo(os.path.join(folder, f"root-{i}"))
        script = f'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then (exec 3>root-{i}; kill -9 $$) & fi; exec "$@"'
        begun = time.monotonic()
        done = run(folder, MPIRUN, "--enable-recovery", "--oversubscribe", "-n", "4", "sh", "-c", script, "sh",
                   RIFFLE, "mpi", *ENGINES, *wait, "-o", "root.rfp", f"root-{i}", *shards[:3])
        said = [line for line in done.stderr.decode().splitlines() if line.startswith("riffle: ")]
        tap.check(f"rank 0 is killed{', with --wait' if wait else ''}: each of the others says so and ends",
                  len(said) == 3 and all("rank 0 is gone" in line for line in said) and time.monotonic() - begun < 50
                  and not os.path.exists(os.path.join(folder, "root.rfp")), [said, done.stderr])


def check_end(folder, shards):
    """Rank 1 is stopped when rank 0 has its sum and prints it, to a pipe that is full. MPI_Finalize would wait for it for ever."""
    os.mkfifo(os.path.join(folder, "full"))
    script = 'echo $$ > last-$OMPI_COMM_WORLD_RANK; if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then exec "$@" > full; fi; exec "$@"'
    command = [MPIRUN, "--enable-recovery", "--oversubscribe", "-n", "2", "sh", "-c", script, "sh", RIFFLE, "mpi", "-e", "exact",
               "--format", "csv", "-n", "0", "-o", "end.rfp", *shards[:2]]
    with open(os.path.join(folder, "end.err"), "w+b") as errors:
        job = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        with open(os.path.join(folder, "full"), "rb", buffering=0) as pipe:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
            printed = pipe.read(1)
            last = [int(read(folder, f"last-{rank}")) for rank in range(2)]
            os.kill(last[1], signal.SIGSTOP)
            stopped = time.monotonic()
            ended = False  # of the pipe: nobody has it open any more
            while not ended and select.select([pipe], [], [], 60)[0]:
                more = pipe.read(1 << 16)
                printed, ended = printed + more, more == b""
            took = time.monotonic() - stopped
        for pid in [last[1]] if ended else last:
            os.kill(pid, signal.SIGKILL)
        try:
            job.wait(60)
        finally:
            job.kill()
        errors.seek(0)
        tap.check("a rank is stopped when its work is in the sum: nothing is missing, and the others end after 20 seconds", ended
                  and printed.count(b"\n") > 2000 and found(folder, "end.rfp", job)[1:] == (2 * EVENTS, []) and 19 < took < 50,
                  [job.returncode, printed.count(b"\n"), took, errors.read()])


def check_many_missing(folder, shards):
    """More than a merge keeps of other notes."""
    gone = [f"nosuch-{i}.rft" for i in range(24)]
    done = ranks(folder, 2, RIFFLE, "mpi", *ENGINES, "-o", "many.rfp", shards[0], *gone, shards[1])
    notes = [note["text"] for note in saved.report(RIFFLE, os.path.join(folder, "many.rfp"))["notes"] if note["name"] == "missing"]
    tap.check("all that are missing are named", done.returncode == 3 and len(notes) == 24
              and all(any(name in text for text in notes) and name.encode() in done.stderr for name in gone), notes)
    report = run(folder, RIFFLE, "report", "-n", "1", "many.rfp").stdout
    tap.check("a report names four and counts the others", report.count(b"missing     ") == 5
              and b"missing     20 more (--details lists them)" in report, report)


def check_unwritable(folder, shards):
    """Rank 0 alone finds out that it cannot write: it must not leave the others in MPI_Init."""
    for recovery in ([], ["--enable-recovery"]):
        done = run(folder, "timeout", "100", MPIRUN, *recovery, "--oversubscribe", "-n", "2", RIFFLE, "mpi", "-o", "nowhere/x.rfp", *shards[:2])
        tap.check(f"rank 0 cannot write{', with recovery' if recovery else ''}: said once, and the job ends",
                  done.returncode == (0 if recovery else 1) and done.stderr.count(b"nowhere/x.rfp: cannot create") == 1, done)


def words_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace").split("\0")
    except OSError:
        return []


def processes_of(marker, deadline):
    """Those of riffle mpi that have this word on their command line."""
    found = []
    while not found and time.monotonic() < deadline:
        time.sleep(0.1)
        lines = {int(pid): words_of(pid) for pid in os.listdir("/proc") if pid.isdigit()}
        found = [pid for pid, words in lines.items() if words[:2] == [RIFFLE, "mpi"] and marker in words]
    return found


def check_begin(folder, shards):
    """Rank 1 never begins, so that rank 0 is kept in MPI_Init. Its alarm ends it with a sentence: after a minute, or at once where
    the test rings."""
    script = 'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then exec sleep 900; fi; exec "$@"'
    long = "RIFFLE_TEST_LONG" in os.environ
    for wait, least in ((["--wait", "1"], 60), ([], 600)):
        begun = time.monotonic()
        job = subprocess.Popen([MPIRUN, "--oversubscribe", "-n", "2", "sh", "-c", script, "sh", RIFFLE, "mpi", *wait, "-o", f"begin-{least}.rfp",
                                shards[0]], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
        found = processes_of(f"begin-{least}.rfp", begun + 60)
        if not long:
            time.sleep(1)
            for pid in found:
                os.kill(pid, signal.SIGALRM)
        try:
            said = job.communicate(timeout=900)[1]
        finally:
            job.kill()
        took = time.monotonic() - begun
        tap.check(f"a rank that never begins{', with --wait' if wait else ''}: the other one says so and ends",
                  len(found) == 1 and said.count(b"riffle: mpi: a rank is gone or does not begin: there is no result\n") == 1
                  and job.returncode == 1 and (not long or least - 1 < took < least + 30), [found, took, job.returncode, said])


def check_program(folder, ring):
    for rank in range(5):
        write(os.path.join(folder, f"ring.rfp.rank-{rank}"), b"of an earlier job")
    done = ranks(folder, 2, RIFFLE, "run", "-q", "-p", "call target==step -> target", "-e", "exact", "-o", "ring.rfp", "--", ring)
    tap.check("files of an earlier job on more ranks are gone", not any(os.path.exists(os.path.join(folder, f"ring.rfp.rank-{rank}"))
                                                                        for rank in range(2, 5)), os.listdir(folder))
    found = {name: saved.report(RIFFLE, os.path.join(folder, name))
             for name in ("ring.rfp", "ring.rfp.rank-0", "ring.rfp.rank-1")} if done.returncode == 0 else {}
    steps = {name: run_["profiles"][0]["consumed"] for name, run_ in found.items()}
    tap.check("an MPI program: each rank profiled, and the sum",
              steps == {"ring.rfp": 3000, "ring.rfp.rank-0": 1000, "ring.rfp.rank-1": 2000}, [steps, done.stderr])
    notes = saved.notes(found["ring.rfp"]) if found else {}
    tap.check("the sum says what each rank did", notes.get("rank-0", "").startswith("1000 events")
              and notes.get("rank-1", "").startswith("2000 events"), notes)


def check_program_missing(folder, ring):
    """Rank 1 is no riffle at all."""
    script = 'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then shift 12; fi; exec "$@"'
    done = ranks(folder, 2, "sh", "-c", script, "sh", RIFFLE, "run", "-q", "-p", "call target==step -> target", "-e", "exact",
                 "-o", "half.rfp", "--rank-wait", "1", "--", ring)
    run_ = saved.report(RIFFLE, os.path.join(folder, "half.rfp"))
    tap.check("a rank that left no profile is named, and the status is 3", done.returncode == 3 and saved.notes(run_).get("missing") == "rank 1: left no profile"
              and run_["profiles"][0]["consumed"] == 1000, [done.stderr, run_["notes"]])


def main():
    linked = subprocess.run(["ldd", RIFFLE], stdout=subprocess.PIPE, check=True).stdout
    tap.check("the program itself does not link MPI", b"mpi" not in linked, linked)
    with tempfile.TemporaryDirectory() as folder:
        shards = [f"shard-{i}.rft" for i in range(SHARDS)]
        for i, name in enumerate(shards):
            run(folder, RIFFLE, "gen", "zipf", "--events", str(EVENTS), "--keys", "2000", "--seed", str(i), "-o", name)
        check_shards(folder, shards)
        check_pieces(folder, shards[0])
        check_missing(folder, shards)
        check_damaged(folder, shards)
        check_unread(folder)
        check_calls(folder)
        check_dies(folder)
        check_nodes(folder)
        check_index(folder)
        check_pipes(folder)
        check_nothing(folder, shards)
        check_killed(folder, shards[0])
        check_killed(folder, shards[0], ", also by TCP", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo")
        check_killed_leaf(folder, shards)
        check_killed_inner(folder, shards)
        check_killed_holder(folder, shards)
        check_killed_chain(folder, shards)
        check_killed_root(folder, shards)
        check_end(folder, shards)
        check_many_missing(folder, shards)
        check_unwritable(folder, shards)
        check_begin(folder, shards)
        if len(sys.argv) > 4:
            check_stacks(folder)
            check_builds(folder)
            check_program(folder, os.path.abspath(sys.argv[4]))
            check_program_missing(folder, os.path.abspath(sys.argv[4]))
    print(f"# figure: {SHARDS} shards on 2 ranks, a trace on 3; 1 shard missing, 24, all of them; 2 damaged; 9 ranks killed, rank 0 twice of that, "
          "4 with work of others; 1 without a profile; 2 that never begin, "
          "1 stopped at the end; traces in pieces on 3 ranks: 4 unreadable on one of them, 12 with one call that fails, 3 ranks killed, 8 unequal copies, 8 wrong indices; 8 pipes")
    tap.end()


main()
