"""results.py - what the CSV files of this lab say, for plot and numbers."""
import csv
import math
import os
import statistics

RATES = (100, 300, 1000, 3000, 10000)  # of simple sampling: one load of so many
MIDDLE = 1000
SIZES = ("half", "base", "double")
CLOCKS = ("base", "1/2", "1/4")
BUFFERS = (256, 1024, 4096)
PARTS = ("handler", "interrupts", "caches and predictors")


def read(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return list(csv.DictReader(file))


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def spread(values):
    """Mean and standard deviation."""
    values = list(values)
    return mean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def correlation(pairs):
    """Of the logarithms; not a number where there are too few."""
    logarithms = [(math.log(x), math.log(y)) for x, y in pairs if x > 0 and y > 0]
    return statistics.correlation(*zip(*logarithms)) if len(logarithms) > 2 else math.nan


# ---- of a row ----

def rms(row):
    return 100 * float(row["rms"])


def error(row):
    return 100 * float(row["error"])


def unseen(row):
    return 100 * float(row["unseen"])


def overhead(row):
    return 100 * (int(row["cycles"]) / int(row["cycles_plain"]) - 1)


def more_cycles(row):
    return int(row["cycles"]) - int(row["cycles_plain"])


def parts(row):
    """Per cent of the cycles: in handlers, for entering and leaving them, and what the program itself lost."""
    plain, handlers, traps = int(row["cycles_plain"]), int(row["handler_cycles"]), int(row["trap_cycles"])
    return [100 * n / plain for n in (handlers - traps, traps, more_cycles(row) - handlers)]


def dropped(row):
    return 100 * int(row["drops"]) / max(int(row["samples"]), 1)


def processed(row):
    return max(int(row["samples"]) - int(row["drops"]), 1)


def cycles_per_sample(row):
    """Of the co-processor."""
    return int(row["coproc_cycles"]) / processed(row)


def mispredicted(row):
    """Per cent of its microinstructions: each has a branch slot."""
    return 100 * int(row["mispredicted"]) / max(int(row["microinstructions"]), 1)


def cycles_per_slot(row):
    return int(row["handler_cycles"]) / max(int(row["slots"]), 1)


class Runs:
    """Rows of one or several files by program, design and setting."""

    def __init__(self, folder, *names):
        self.rows = {}
        for name in names:
            for row in read(folder, name):
                self.rows.setdefault((row["program"], row["design"], row["setting"]), []).append(row)
        self.programs = list(dict.fromkeys(key[0] for key in self.rows))

    def of(self, program, design, setting, what):
        """Mean and standard deviation over the seeds."""
        return spread(what(row) for row in self.rows[program, design, str(setting)])

    def have(self, design, setting):
        return [program for program in self.programs if (program, design, str(setting)) in self.rows]

    def average(self, design, setting, what, programs=None):
        """Over programs: of the means, and of the standard deviations."""
        pairs = [self.of(program, design, setting, what) for program in programs or self.have(design, setting)]
        return mean(pair[0] for pair in pairs), mean(pair[1] for pair in pairs)


def on_line(line, x_wanted):
    """Where a line through (x, y) is at x, both axes logarithmic; beyond its ends the end, with a sign."""
    line = sorted((x, y) for x, y in line if x > 0 and y > 0)
    if not line or x_wanted < line[0][0]:
        return ">", line[0][1] if line else 0
    if x_wanted > line[-1][0]:
        return "<", line[-1][1]
    for (x0, y0), (x1, y1) in zip(line, line[1:]):
        if x0 <= x_wanted <= x1:
            share = (math.log(x_wanted) - math.log(x0)) / (math.log(x1) - math.log(x0)) if x1 > x0 else 0
            return "", math.exp(math.log(y0) + share * (math.log(y1) - math.log(y0)))
    return "", line[-1][1]


def sampling_line(runs, program, price=overhead):
    """Simple sampling at its rates: overhead at this price, and error."""
    return [(runs.of(program, "sampling", rate, price)[0], runs.of(program, "sampling", rate, rms)[0]) for rate in RATES]


def sampling_at(runs, program, overhead_wanted):
    """The error of simple sampling where it costs as much."""
    return on_line(sampling_line(runs, program), overhead_wanted)


# ---- the same runs at other prices ----

LOOKED_AT = {"values": 256, "sampling": 128}  # slots that a handler looks at each time


def priced(row, call, look, slot):
    """Overhead in per cent if a call of the handler cost so many cycles, each slot that it looks at and each that it records so
    many; what the program itself loses to the handler stays as measured."""
    cycles = int(row["traps"]) * (call + look * LOOKED_AT[row["design"]]) + slot * int(row["slots"])
    return 100 * (cycles + more_cycles(row) - int(row["handler_cycles"])) / int(row["cycles_plain"])
