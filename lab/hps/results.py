"""results.py - what the CSV files of this lab say, for plot and numbers."""
import csv
import os

FREQUENCIES = (100, 500, 1000, 5000, 10000)
BURSTS = (1, 10, 50, 100)
BURST_OF = {"pair": 1, "method": 1, "stream": 100}  # in figures 7 to 9
NAMES = {"pair": "hot call pairs", "method": "hot methods", "stream": "hot data streams"}


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def read(folder, name):
    path = os.path.join(folder, name) if name else ""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return list(csv.DictReader(file))


class Results:
    """Accuracy of one file, overhead of another where there is one."""

    def __init__(self, folder, accuracy, overhead):
        self.rows = {(row["program"], row["type"], int(row["burst"]), int(row["frequency"])): row
                     for row in read(folder, accuracy)}
        self.programs = list(dict.fromkeys(key[0] for key in self.rows))
        self.costs = {}
        for row in read(folder, overhead):
            self.costs[row["program"], row["design"], row["type"], int(row["burst"]), int(row["frequency"])] = row
        timed = dict.fromkeys(key[0] for key in self.costs)
        self.timed = [program for program in timed if program in self.programs]

    def overlap(self, program, kind, burst, every):
        """Mean and standard deviation over the phases, per cent."""
        row = self.rows[program, kind, burst, every]
        return float(row["overlap_mean"]), float(row["overlap_sd"])

    def average(self, kind, burst, every, programs=None):
        """Over programs."""
        pairs = [self.overlap(program, kind, burst, every) for program in programs or self.programs]
        return mean(pair[0] for pair in pairs), mean(pair[1] for pair in pairs)

    def picker(self, program, kind):
        """A function of burst and frequency; None: the average."""
        if program is None:
            return lambda burst, every: self.average(kind, burst, every)
        return lambda burst, every: self.overlap(program, kind, burst, every)

    def overhead(self, program, design, kind, every, burst=None):
        """Per cent of the cycles without a profile."""
        for key, row in self.costs.items():
            if key[:3] == (program, design, kind) and key[4] == every and burst in (None, key[3]):
                return float(row["overhead_percent"])
        raise KeyError((program, design, kind, every))

    def cycles_each(self, program, kind, every):
        """Cycles per event that HPS told; None: it told none."""
        cost = self.costs[program, "hps", kind, BURST_OF[kind], every]
        none = self.costs[program, "none", "", 0, 0]
        told = int(cost["sampled"])
        return (int(cost["cycles"]) - int(none["cycles"])) / told if told else None

    def average_overhead(self, kind, every):
        return mean(self.overhead(program, "hps", kind, every) for program in self.timed)

    def parts(self, program, kind, burst):
        """Sampling, basic and checks at 1/100: HPS, then DISE that only finds the time, then the rest of DISE."""
        sampling = self.overhead(program, "hps", kind, 100)
        basic = self.overhead(program, "basic", "", 100, burst)
        return sampling, basic, self.overhead(program, "dise", kind, 100) - basic - sampling
