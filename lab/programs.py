"""programs.py - what the labs run on the simulated core: the six workloads and Debian's ten programs."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

LIBRARIES = {"tinyscheme": "tinyscheme/init.scm"}  # what a program of Debian's reads beside its input
SIZES = {"connect": 4, "graph": 2, "join": 4, "lisp": 2, "lz": 2, "regex": 4}  # 25 to 30 million instructions


def load(path):
    """A program of the tree as a module."""
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path).replace(".", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def workloads(build, small):
    """name -> (command, standard input or None)"""
    return {name: ([f"{build}/lab/workloads/{name}.rv64", "1" if small else str(size)], None)
            for name, size in SIZES.items()}


def debian():
    """The same; fetches and builds what is missing. What cannot be had is said and left out."""
    jobs = load("lab/workloads/run")
    found = {}
    for name, library in LIBRARIES.items():  # without it the program ends at once: build it again, with its library
        if os.path.exists(f"{jobs.FOLDER}/{name}.rv64") and not os.path.exists(f"{jobs.FOLDER}/{library}"):
            os.remove(f"{jobs.FOLDER}/{name}.rv64")
    if not all(os.path.exists(f"{jobs.FOLDER}/{job[0]}.rv64") for job in jobs.JOBS):
        subprocess.run(["lab/workloads/fetch-debian"], check=False)
    os.makedirs(jobs.FOLDER, exist_ok=True)
    jobs.make_inputs()
    for name, _, arguments, stdin in jobs.JOBS:
        program = f"{jobs.FOLDER}/{name}.rv64"
        if os.path.exists(program):
            found[name] = ([program, *arguments], stdin)
        else:
            print(f"{name}: could not be had (lab/workloads/fetch-debian {name}); left out", file=sys.stderr)
    return found


def start(command, job, **more):
    """The command with the program behind it and its standard input."""
    program, stdin = job
    with open(stdin or os.devnull, "rb") as file:
        return subprocess.run([*command, *program], stdin=file, capture_output=True, check=False, **more)
