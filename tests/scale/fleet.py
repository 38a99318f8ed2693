#!/usr/bin/env python3
"""The page on fleets (doc/SCALE.md), run as it stands: the units are verified, what they start is started, and what they store is
merged.

    fleet.py RIFFLE DOC/SCALE.MD

A folder stands for the object storage: a script named rclone copies to it and from it. With RIFFLE_TEST_LONG samples take ten
seconds, as on the page; else one. Units are verified where systemd-analyze is installed.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import saved  # noqa: E402
import tap  # noqa: E402

RIFFLE = os.path.abspath(sys.argv[1])
LONG = "RIFFLE_TEST_LONG" in os.environ
SAMPLES = 2
RCLONE = """#!/bin/sh
# copyto FILE store:PATH | copy store:PATH FOLDER
case $1 in
copyto) mkdir -p "$(dirname "$STORE/${3#store:}")" && exec cp "$2" "$STORE/${3#store:}" ;;
copy) mkdir -p "$3" && exec cp "$STORE/${2#store:}"/* "$3" ;;
esac
exit 2
"""


def page():
    """The indented lines of the section, block by block."""
    with open(sys.argv[2], encoding="utf-8") as file:
        section = file.read().split("## A fleet\n")[1].split("\n## ")[0]
    blocks = re.findall(r"(?:^    .*\n|^\n)+", section, re.M)
    return [re.sub(r"^    ", "", block, flags=re.M).strip() + "\n" for block in blocks if block.strip()]


def units(text):
    """{name: text}; each begins with a comment that says where it belongs."""
    parts = re.split(r"^# /etc/systemd/system/(\S+)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def verify(folder, found):
    for name, text in found.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    if shutil.which("systemd-analyze") is None:
        tap.skip("systemd finds nothing wrong with the units", "no systemd-analyze here")
        return
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *(os.path.join(folder, name) for name in found)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode()
    tap.check("systemd finds nothing wrong with the units", done.returncode == 0 and "riffle-sample" not in said, said)


def commands(unit):
    """What systemd would start: %% is %, and the words are the shell's."""
    out = re.search(r"^Environment=OUT=(.*)$", unit, re.M).group(1)
    return out, [line.replace("%%", "%") for line in re.findall(r"^ExecStart(?:Post)?=(.*)$", unit, re.M)]


def sample(folder, unit):
    """One firing of the timer. Returns what was said, and whether all ended with 0."""
    out, lines = commands(unit)
    env = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", STORE=f"{folder}/store",
               OUT=os.path.join(folder, os.path.basename(out)))
    said = ""
    for line in lines:
        line = line if LONG else line.replace("--for 10", "--for 1")
        done = subprocess.run(["/bin/sh", "-c", line], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=120)
        said += done.stdout.decode()
        if done.returncode != 0:
            return said, False
    return said, True


def prepare(folder):
    os.makedirs(f"{folder}/bin")
    os.symlink(RIFFLE, f"{folder}/bin/riffle")
    with open(f"{folder}/bin/rclone", "w") as file:
        file.write(RCLONE)
    os.chmod(f"{folder}/bin/rclone", 0o755)
    shutil.copy(shutil.which("dash") or "/bin/sh", f"{folder}/server")
    return subprocess.Popen([f"{folder}/server", "-c", "while :; do :; done"])


def main():
    blocks = page()
    found, together = units(blocks[0]), blocks[1]
    tap.check("the page has a service, a timer and a command", sorted(found) == ["riffle-sample.service", "riffle-sample.timer"]
              and "merge" in together, blocks)
    with tempfile.TemporaryDirectory() as folder:
        verify(folder, found)
        server = prepare(folder)
        try:
            results = [sample(folder, found["riffle-sample.service"]) for _ in range(SAMPLES)]
        finally:
            server.kill()
            server.wait()
        if any("may not be traced" in said for said, _ in results):
            tap.skip("samples", "this system does not let processes be traced")
            tap.end()
        tap.check(f"{SAMPLES} samples are taken and stored", all(good for _, good in results), results)
        env = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", STORE=f"{folder}/store")
        done = subprocess.run(["/bin/sh", "-c", together], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tap.check("one command makes the profile of the fleet", done.returncode == 0 and done.stdout, done)
        runs = saved.notes(saved.report(RIFFLE, f"{folder}/fleet.rfp")).get("runs", "")
        tap.check("the sum says how many runs it is of", str(SAMPLES) in runs, runs)
        print(f"# figure: {len(found)} units, {SAMPLES} samples, one sum")
    tap.end()


main()
