"""claims - what the paper says, held against what was measured: claims.csv, whose verdicts are decided here by rule.

    lab/multihash/claims.py [FOLDER]      makes those rows of FOLDER/claims.csv anew that follow from the figures' CSV files there
                                          (class Drawn); the others need the measurements: lab/multihash/run claims

A claim about a hash is asked of every seed: it holds when all say yes, fails when all say no, else it differs. Where only a
figure's file is asked, that has means over the seeds, and the row says so."""
import math
import os
import sys

import figures
from figures import mean, spread

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tables  # noqa: E402
from tables import span, verdict  # noqa: E402

PAIR = "gcc", "go"
SHIELDING = "shielding is important to reduce errors, since it reduces the pressure on the tables"


def number(x):
    if 0 < x < 0.001:
        return "<0.001"
    if x == 0 or x >= 100:
        return f"{x:.0f}"
    return f"{x:.2g}" if x < 10 else f"{x:.1f}"


def told(found):
    """Mean and, where there is any, the range over the seeds."""
    middle, least, most = (number(x) for x in spread(found))
    return f"{middle}%" if least == most else f"{middle}% ({least}-{most})"


def sides(row):
    """Both sides of a row of options.csv."""
    return " -> ".join(f"{number(float(row[side]))}% ({number(float(row[side + '_least']))}-{number(float(row[side + '_most']))})" for side in ("without", "with"))


def less(a, b):
    """Of each seed: is a below b?"""
    return [x < y for x, y in zip(a, b)]


class Claims:
    def __init__(self, data):
        self.data, self.table = data, tables.Claims("multihash")
        self.judged = {setting: data.judged(setting) for setting in figures.SETTINGS}
        self.seeds = len(data.values.totals("gcc", "1M", "n4 C1 R0"))

    def add(self, claim, where, said, ours, figure, spread_of="over seeds, in brackets", seeds=None):
        command = f"lab/multihash/run {figure[3:] if figure.startswith('fig') else figure}" if figure else "lab/multihash/run claims"
        self.table.add(claim, where, said, ours, spread_of, seeds or self.seeds, figure + ".svg" if figure else "", command)

    def mean_error(self, setting, design, errors=None):
        """Of all programs that have candidates, by seed."""
        return (errors or self.data.values).over(self.judged[setting] if errors is None else self.data.programs, setting, design)

    def both(self, tell):
        return "; ".join(f"{setting}: {tell(setting)}" for setting in figures.SETTINGS)

    def helps(self, what, where, without, with_it, figure):
        """Is the second design better than the first? On the mean of the programs, and on most of them, in both settings."""
        answers = [yes for s in figures.SETTINGS for yes in less(self.mean_error(s, with_it), self.mean_error(s, without))]
        better = {s: sum(all(less(self.data.values.totals(p, s, with_it), self.data.values.totals(p, s, without)))
                         for p in self.judged[s]) for s in figures.SETTINGS}
        answers += [2 * better[s] > len(self.judged[s]) for s in figures.SETTINGS]
        self.add(f"{what} (asked: with every seed, on the mean and on most programs)", where, verdict(answers), self.both(
            lambda s: f"{told(self.mean_error(s, without))} -> {told(self.mean_error(s, with_it))}, for every seed on "
                      f"{better[s]} of {len(self.judged[s])} programs"), figure)

    # ---- sections 5.3 to 5.6.1: hash and streams ----

    def ratios(self, threshold, column, shape=None):
        of = {p: [mean(self.data.of_shape(p, i, threshold, column, shape)) for i in ("10000", "1000000")] for p in self.data.programs}
        return {p: long / short for p, (short, long) in of.items() if short > 0}

    def growth(self):
        distinct = self.ratios(0.01, "distinct")
        low, high = (f(distinct, key=distinct.get) for f in (min, max))
        self.add("distinct tuples grow in proportion to the length of the interval", "5.6.1, figure 4",
                 "holds" if distinct[low] > 50 else "differs",
                 f"10K to 1M, a factor of 100: distinct x {distinct[low]:.1f} ({low}) to x {distinct[high]:.1f} ({high})", "fig04",
                 "over programs", 1)
        for threshold, name in ((0.01, "1%"), (0.001, "0.1%")):
            found = self.ratios(threshold, "candidates")
            low, high = (f(found, key=found.get) for f in (min, max))
            self.add(f"the number of candidates stays roughly the same whatever the interval, at {name}", "5.6.1, figure 5",
                     "holds" if found[low] > 0.5 and found[high] < 2 else "differs",
                     f"10K to 1M: x {found[low]:.2f} ({low}) to x {found[high]:.2f} ({high}); within half and double on "
                     f"{sum(0.5 <= x <= 2 for x in found.values())} of {len(found)} programs that have any", "fig05", "over programs", 1)

    def coverage(self):
        found = {s: {p: mean(self.data.of_shape(p, *figures.SETTINGS[s], "covered")) for p in self.judged[s]} for s in figures.SETTINGS}
        self.add("candidates are few, but make a large part of all events", "5.6.1",
                 "holds" if min(mean(of.values()) for of in found.values()) > 50 else "differs",
                 self.both(lambda s: f"{mean(found[s].values()):.0f}% of the events on average, {min(found[s].values()):.0f}% "
                                     f"({min(found[s], key=found[s].get)}) to {max(found[s].values()):.0f}%"), "fig05", "over programs", 1)

    def change(self, program, setting):
        return mean(self.data.of_shape(program, *figures.SETTINGS[setting], "change"))

    def changes(self, program, setting):
        return len(self.data.of_shape(program, *figures.SETTINGS[setting], "change"))

    def variation(self):
        for programs, short_worse in ((("m88ksim", "vortex"), True), (("deltablue",), False)):
            none = {p: [s for s in figures.SETTINGS if p not in self.judged[s]] for p in programs}
            told_of = "; ".join(f"{p}: no candidate at {none[p][0]}" if none[p] else
                                f"{p}: 10K {self.change(p, '10K'):.1f}%, 1M {self.change(p, '1M'):.1f}% (of {self.changes(p, '1M')} changes)" for p in programs)
            right = [(self.change(p, "10K") > self.change(p, "1M")) == short_worse for p in programs if not none[p]]
            said = "differs" if any(none.values()) else verdict(right)  # a program without a candidate leaves it open
            self.add(f"{' and '.join(programs)} change{'s' * (len(programs) == 1)} {'more at 10K than' if short_worse else 'little at 10K, more'} "
                     "at 1M", "5.6.1, figure 6", said, told_of, "fig06", "", 1)

    # ---- section 5.6.2: the single hash ----

    def single(self):
        self.helps("retaining lowers the error of the single hash", "5.6.2, figure 7", "single R1 P0", "single R1 P1", "fig07")
        self.helps("resetting lowers the error of the single hash", "5.6.2, figure 7", "single R0 P1", "single R1 P1", "fig07")
        stays, retained = ({s: self.mean_error(s, d) for s in figures.SETTINGS} for d in ("single R1 linger", "single R1 P1"))
        self.add("... against P0 as section 5.2 states it: all entries stay, and are replaceable", "5.2, 5.4.1",
                 verdict(yes for s in figures.SETTINGS for yes in less(retained[s], stays[s])),
                 self.both(lambda s: f"{told(stays[s])} where all stay, {told(retained[s])} where candidates do"), "fig07")
        best = [min(range(4), key=lambda k: self.mean_error(s, f"single R{k // 2} P{k % 2}")[seed]) == 3
                for s in figures.SETTINGS for seed in range(self.seeds)]
        self.add("both together are the best single hash (asked: on the mean, with every seed)", "5.6.2, figure 7", verdict(best),
                 self.both(lambda s: ", ".join(f"R{r} P{p} {told(self.mean_error(s, f'single R{r} P{p}'))}" for r in (0, 1) for p in (0, 1))),
                 "fig07")
        lost = {s: {p: [self.data.values.part("false_negative", p, s, f"single R{r} P1") for r in (0, 1)] for p in self.judged[s]}
                for s in figures.SETTINGS}
        more = {s: sum(all(less(*both)) for both in lost[s].values()) for s in figures.SETTINGS}
        self.add("resetting costs false negatives on some programs", "5.6.2", "holds" if min(more.values()) > 0 else "differs",
                 self.both(lambda s: f"more for every seed on {more[s]} of {len(lost[s])} programs, gcc {told(lost[s]['gcc'][0])} -> "
                                     f"{told(lost[s]['gcc'][1])}") +
                 "; at 1M the other way: without resetting false positives fill the accumulator and keep candidates out", "fig07")

    # ---- section 6 ----

    def theory(self):
        bound = [(100 * n / 1000) ** n for n in range(1, 17)]
        self.add("by the formula 1,000 counters are best in 4 tables", "6.2, figure 9", "holds" if bound.index(min(bound)) == 3 else "fails",
                 f"(100 n / t Z)^n is least at n = {bound.index(min(bound)) + 1}: {min(bound):.4f}", "fig09", "", 1)
        self.add("the formula is a loose upper bound on false positives", "6.2", "not-tried",
                 "its assumptions (no shielding, no retaining, every counter above the threshold in use) are of no design here", "", "", 1)

    def sizes(self):
        for name, near, far, rule in (("almost as well as 4K and 8K", "n4 C1 R0", "z8192", 2), ("better than 1K", "n4 C1 R0", "z1024", 1)):
            ours = self.both(lambda s: ", ".join(f"{z} {told(self.mean_error(s, d))}" for z, d in (
                (1024, "z1024"), (2048, "n4 C1 R0"), (4096, "z4096"), (8192, "z8192"))))
            answers = [a < rule * b for s in figures.SETTINGS for a, b in zip(self.mean_error(s, near), self.mean_error(s, far))]
            gcc = ", ".join(told(self.data.values.totals("gcc", "1M", d)) for d in ("z1024", "n4 C1 R0", "z4096", "z8192"))
            self.add(f"2K counters do {name} (asked: {'no more than twice the error of 8K' if rule == 2 else 'on the mean'}, with every seed)", "6.3", verdict(answers),
                     ours + f"; gcc at 1M {gcc}", "counters")

    def multi_options(self):
        values = self.data.values
        for setting in figures.SETTINGS:
            figure = "fig10" if setting == "10K" else "fig11"
            answers = [values.totals(p, setting, f"n{n} C1 R0")[seed] <= min(values.totals(p, setting, f"n{n} C{c} R{r}")[seed]
                       for c in (0, 1) for r in (0, 1)) for p in PAIR for n in (2, 4, 8) for seed in range(self.seeds)]
            self.add(f"C1 R0 is the best of the four, gcc and go, 2 to 8 tables, {setting}", f"6.3, figure {figure[3:]}", verdict(answers),
                     f"of {len(answers)} programs, tables and seeds best on {sum(answers)}; " + "; ".join(
                         f"{p}, 4 tables: " + ", ".join(f"C{c} R{r} {told(values.totals(p, setting, f'n4 C{c} R{r}'))}"
                                                        for c in (0, 1) for r in (0, 1)) for p in PAIR), figure)
        lost = {n: values.part("false_negative", "go", "10K", f"n{n} C1 R1") for n in (2, 4, 8)}
        self.add("resetting costs false negatives, the more the more tables: go with 8 tables loses 4% at 10K", "6.3, figure 10",
                 "differs" if all(less(lost[2], lost[8])) else "fails",
                 ", ".join(f"{n} tables {told(found)}" for n, found in lost.items()) + ": direction yes, smaller", "fig10")
        go = values.totals("go", "1M", "n4 C1 R0")
        self.add("conservative update brings go below 1% at 1M", "6.3, figure 11", verdict(x < 1 for x in go),
                 f"{told(go)}, without {told(values.totals('go', '1M', 'n4 C0 R0'))}", "fig11")
        plain = values.totals("go", "1M", "n4 C0 R1")
        self.add("without conservative update go stays at 100% and more at 1M, even with resetting", "6.3, figure 11",
                 verdict(x >= 100 for x in plain), f"go {told(plain)}, gcc {told(values.totals('gcc', '1M', 'n4 C0 R1'))}", "fig11")

    def tables(self):
        values, names = self.data.values, ("single R1 P1", "n2 C1 R0", "n4 C1 R0", "n8 C1 R0", "n16 C1 R0")
        for setting, programs in self.judged.items():
            best = {p: [values.totals(p, setting, "n4 C1 R0")[seed] <= min(values.totals(p, setting, d)[seed] for d in names)
                        for seed in range(self.seeds)] for p in programs}
            other = [p for p in programs if not all(best[p])]
            self.add(f"4 tables are consistently better than all others, {setting}", "6.4.1, figure 12",
                     verdict(b for found in best.values() for b in found),
                     ", ".join(f"{d.split()[0]} {told(self.mean_error(setting, d))}" for d in names) +
                     f"; best, or level, with every seed on all programs but {', '.join(f'{p} ({sum(best[p])} of {self.seeds} seeds)' for p in other)}"
                     * bool(other), "fig12")
            beyond = [values.part("false_positive", p, setting, "n16 C1 R0")[seed] > values.part("false_positive", p, setting, "n4 C1 R0")[seed]
                      for p in programs for seed in range(self.seeds)]
            self.add(f"beyond 4 tables false positives make the error grow, {setting}", "6.4.1, figure 12", verdict(beyond),
                     f"16 tables have more false positives than 4 on {sum(beyond)} of {len(beyond)} programs and seeds", "fig12")
        wins = {s: less(self.mean_error(s, "n4 C1 R0"), self.mean_error(s, "single R1 P1")) for s in figures.SETTINGS}
        self.add("multi hash beats the best single hash on average", "6.4.1, figure 12", verdict(wins["10K"] + wins["1M"]),
                 self.both(lambda s: f"{told(self.mean_error(s, 'n4 C1 R0'))} against {told(self.mean_error(s, 'single R1 P1'))}"), "fig12")

    def sums(self):
        values = self.data.values
        for p, multi, single in (("gcc", 5, 10), ("go", 1.5, 20)):
            four, one = values.totals(p, "1M", "n4 C1 R0"), values.totals(p, "1M", "single R1 P1")
            far = [number(mean(self.data.long.totals(p, "1M", d))) for d in ("n4 C1 R0", "single R1 P1") if (p, "1M", d) in self.data.long.rows]
            self.add(f"{p} at 1M: {multi}% with 4 tables, {single}% with the best single hash", "6.4.1",
                     "differs" if all(less(four, one)) else "fails", f"{told(four)} and {told(one)}" +
                     (f" of ten intervals; {far[0]} and {far[1]}% of a hundred, the length of the paper's runs" if far else ""), "fig12")
        for setting in figures.SETTINGS:
            found = self.mean_error(setting, "n4 C1 R0")
            cold = [mean(of_seed) for of_seed in zip(*(values.totals_with_first(p, setting, "n4 C1 R0") for p in self.judged[setting]))]
            self.add(f"the average error is under 1%, {setting}", "abstract, 6.4.1", verdict(x < 1 for x in found),
                     f"{told(found)}" + f", with the first interval {told(cold)}" * (setting == "1M") +
                     f"; riffle's default {told(self.mean_error(setting, 'default'))}", "fig12")
        distinct = {p: mean(self.data.of_shape(p, "1000000", 0.001, "distinct")) for p in self.data.programs}
        order = sorted(distinct, key=distinct.get, reverse=True)
        self.add("gcc and go have the most distinct tuples", "6.3", "holds" if set(order[:2]) == set(PAIR) else "differs",
                 "at 1M: " + ", ".join(f"{p} {distinct[p]:,.0f}" for p in order[:4]), "fig04", "", 1)

    def intervals(self):
        values = self.data.values
        answers, told_of = [], []
        for p in PAIR:
            of_seeds = {d: [list(of_seed) for of_seed in zip(*values.by_interval(p, "1M", d)[1:])] for d in ("single R1 P1", "n4 C1 R0")}
            many, highest = ({d: [tell(of_seed) for of_seed in found] for d, found in of_seeds.items()}
                             for tell in (lambda errors: sum(error > 10 for error in errors), max))
            answers += less(many["n4 C1 R0"], many["single R1 P1"]) + less(highest["n4 C1 R0"], highest["single R1 P1"])
            told_of.append(f"{p}, intervals above 10%: " + ", ".join(
                f"{'single' if 's' in d[:1] else '4 tables'} {mean(many[d]):.1f} ({min(many[d])}-{max(many[d])}), the highest "
                f"{told(highest[d])}" for d in of_seeds))
        self.add("multi hash has fewer and lower spikes, interval by interval, above all on gcc and go", "6.4.1, figure 13", verdict(answers),
                 "behind the first interval; " + "; ".join(told_of), "fig13")
        first = {p: values.by_interval(p, "1M", "n4 C1 R0") for p in self.judged["1M"]}
        worst = [p for p, found in first.items() if mean(found[0]) == max(mean(errors) for errors in found)]
        self.add("(ours) the first interval, when nothing is retained, is the worst with 4 tables", "of an earlier page of ours",
                 "holds" if len(worst) == len(first) else "differs",
                 f"on {len(worst)} of {len(first)} programs by the mean of the seeds: {', '.join(worst)}", "fig13")

    def burg(self):
        values = self.data.values
        spikes = {d: [sum(error > 10 for error in of_seed) for of_seed in zip(*values.by_interval("burg", "1M", d)[1:])]
                  for d in ("n4 C1 R0", "n4 C1 R1")}
        self.add("burg has one interval with a spike, which resetting would prevent", "6.4.1, figure 13",
                 verdict(a == 1 and b == 0 for a, b in zip(*spikes.values())), "; ".join(
                     f"{words} resetting {mean(spikes[d]):.1f} intervals above 10% behind the first ({min(spikes[d])}-{max(spikes[d])}), "
                     f"{told(values.totals('burg', '1M', d))} on average" for words, d in (("without", "n4 C1 R0"), ("with", "n4 C1 R1"))),
                 "fig13")

    def edges(self):
        data = self.data
        edge = {p: mean(data.of_shape(p, "1000000", 0.001, "distinct", data.edge_shape)) for p in data.programs}
        value = {p: mean(data.of_shape(p, "1000000", 0.001, "distinct")) for p in data.programs}
        fewer = [edge[p] < value[p] for p in data.programs]
        self.add("there are fewer distinct edges than load values (asked: at 1M, on each program)", "6.4.2", verdict(fewer),
                 f"on {sum(fewer)} of {len(fewer)} programs; {min(value[p] / edge[p] for p in edge):.1f} to "
                 f"{max(value[p] / edge[p] for p in edge):.0f} times fewer", "fig14", "over programs", 1)

    def storage(self):
        self.add("7 to 16 KB: 6 KB of counters, 1 KB or 10 KB of accumulator", "abstract, 7", verdict((2048 * 3 == 6 * 1024, 18.3 <= 10)),
                 "2048 x 3 bytes are 6 KB; the accumulator is 18.3 KiB for 0.1% here, since tuples are 128 bits where the paper has 64: "
                 "24.3 KiB in all; riffle's default 13.8 KiB (doc/engines/multihash.md, Storage)", "", "", 1)
        self.add("no software and no overhead while it profiles", "abstract, 7", "not-tried", "there is no core here that has it", "", "", 1)


class Drawn:
    """Claims that the committed CSV files of the figures decide: means over the seeds, and of errors the best and the worst seed."""

    def __init__(self, folder):
        self.folder, self.table = folder, tables.Claims("multihash")
        self.errors = {name: {(r["program"], r["setting"], r["design"]): r for r in tables.rows(folder, f"fig{name}.csv")} for name in ("07", "12", "14")}

    def add(self, claim, where, said, ours, figure, spread_of="means of the seeds", seeds=10):
        command = " ".join(["lab/multihash/run", *(name.removeprefix("fig") for name in figure.split())])
        self.table.add(claim, where, said, ours, spread_of, seeds, " ".join(f"{name}.svg" for name in figure.split()), command)

    def programs(self, figure, setting):
        return list(dict.fromkeys(p for p, s, _ in self.errors[figure] if s == setting))

    def of(self, figure, setting, design, column, programs=None):
        """A column by program."""
        return {p: float(self.errors[figure][p, setting, design][column]) for p in programs or self.programs(figure, setting)}

    def change(self, program, setting, share):
        """What so many per cent of the changes between intervals stay below, in figure 6."""
        return next(float(r["y"]) for r in tables.rows(self.folder, "fig06.csv")
                    if (r["panel"], r["curve"], r["x"]) == (figures.TITLES[setting], program, str(share)))

    def variation(self):
        little = {p: [self.change(p, "1M", share) for share in (50, 90)] for p in ("m88ksim", "vortex")}
        self.add("m88ksim and vortex have very little variation at 1M (asked: less than 10%, for nine tenths of the execution)", "5.6.1, figure 6",
                 verdict(most < 10 for _, most in little.values()), "change from one interval to the next, for half and for nine tenths: " +
                 ", ".join(f"{p} {half:.1f} and {most:.1f}%" for p, (half, most) in little.items()), "fig06", "over intervals", 1)

    def half_of_gcc(self):
        """What half of gcc's changes stay below at 1M: of the intervals that all programs have, and of as many as the paper speaks of."""
        half = {}
        for r in tables.rows(self.folder, "fig06.csv"):
            if r["panel"].startswith(figures.TITLES["1M"]) and (r["curve"], r["x"]) == ("gcc", "50"):
                half[r["panel"].partition(", gcc over ")[2] or "the first ten intervals"] = float(r["y"])
        self.add("gcc at 1M changes by less than 35% for half of the execution (asked: of the first ten intervals, and of all that were measured)", "5.6.1, figure 6",
                 verdict(y < 35 for y in half.values()), "half of the changes are below " + " and ".join(f"{y:.0f}% ({where})" for where, y in half.items()), "fig06",
                 "over intervals", 1)

    def hash_even(self):
        found = {}
        for r in tables.rows(self.folder, "indices.csv"):
            found.setdefault((r["counters"], r["hash"]), {})[r["program"]] = float(r["over_chance"])
        paper, ours = found["2048", "paper"], found["2048", "multiply"]

        def told_of(counters):
            of = found[counters, "paper"]
            beyond = [f"{p} {x:.2f}" for p, x in of.items() if x >= 1.1]
            return f"with {counters} counters {span(of.values())}" + f", beyond a tenth on {', '.join(beyond)}" * bool(beyond)

        self.table.add("the hash spreads distinct tuples very evenly (asked of one table of 2048 counters, as the paper has it there: at most a tenth less evenly than "
                 "chance, on each program, mean of the seeds)", "5.3", verdict(x < 1.1 for x in paper.values()),
                 f"distinct load values per counter, standard deviation over what chance gives: {span(paper.values())} (riffle's hash {span(ours.values())}); "
                 f"{told_of('512')}; {told_of('256')}", "over programs", 10, "evenness.svg", "lab/multihash/run evenness indices")

    def options(self):
        """Shielding and retaining, with and without, of a recording of their own."""
        rows = {}
        for r in tables.rows(self.folder, "options.csv"):
            rows.setdefault(r["option"], {})[r["setting"], r["program"]] = r
        for option, of, words, where in (("shielding, single hash", " of the best single hash", SHIELDING, "5.2"),
                                         ("shielding, 4 tables", " of 4 tables with C1 R0", "(ours) shielding reduces errors with several tables, too", "beyond 5.2")):
            self.helps(rows[option], words, of, where)
        self.configurations({option: of for option, of in rows.items() if option.startswith("retaining")})

    def helps(self, rows, words, of, where):
        answers, told_of = [], []
        for setting in figures.SETTINGS:
            average = rows[setting, "mean"]
            found = [r for (s, p), r in rows.items() if s == setting and p != "mean"]
            better = sum(r["seeds_better"] == r["seeds"] for r in found)
            answers += [average["seeds_better"] == average["seeds"], 2 * better > len(found)]
            told_of.append(f"{setting}: {sides(average)}, for every seed on {better} of {len(found)} programs")
        self.add_option(f"{words} (asked{of}: with every seed, on the mean and on most programs)", where, verdict(answers), "; ".join(told_of))

    def configurations(self, rows):
        """All configurations: as many as figures 10 and 11 have of several tables."""
        found = {(option.removeprefix("retaining, "), s): of[s, "mean"] for option, of in rows.items() for s in figures.SETTINGS}
        every = {key: r["seeds_better"] == r["seeds"] for key, r in found.items()}
        least = {s: min((key for key in found if key[1] == s), key=lambda key: float(found[key]["without"]) / float(found[key]["with"])) for s in figures.SETTINGS}
        self.add_option(f"retaining is useful in all configurations of several tables (asked: 2, 4 and 8 tables, with and without C and R; with every seed, on the "
                        "mean of the programs)", "6.3", verdict(every.values()),
                        "; ".join(f"{s}: so in {sum(yes for (_, at), yes in every.items() if at == s)} of {len(rows)}" +
                                  "".join(f", not in {name} ({r['seeds_better']} of {r['seeds']} seeds)" for (name, at), r in found.items()
                                          if at == s and not every[name, at]) +
                                  f"; 4 tables C1 R0 {sides(found['4 tables C1 R0', s])}; least in {least[s][0]}: {sides(found[least[s]])}" for s in figures.SETTINGS))

    def add_option(self, claim, where, said, ours):
        self.table.add(claim, where, said, ours + " [a recording of its own]", "over seeds, in brackets", 10, "", "lab/multihash/run options")

    def lengths(self):
        change = {}
        for r in tables.rows(self.folder, "auto.csv"):
            change.setdefault(r["name"], {})[r["column"]] = [float(r[c]) for c in ("mean", "least", "most")]
        other = {"10K": "1M", "1M": "10K"}
        least = {}
        for r in tables.rows(self.folder, "fig05.csv"):
            if r["panel"].endswith("threshold 1%") and r["column"] in other:
                least[r["name"]] = min(float(r["mean"]), least.get(r["name"], math.inf))
        few = [p for p, n in least.items() if 0 < n < 1]  # where an interval has no candidate and the next one neither, that is no change
        change = {p: of for p, of in change.items() if least[p] >= 1}
        steadier = {s: {p: of[other[s]][0] - of[s][0] for p, of in change.items() if of[other[s]][1] - of[s][2] >= 10} for s in other}
        self.add("different lengths suit different programs (asked: with each length some program changes by ten points less than with the other, both at 1%, with every "
                 "seed; of programs with a candidate per interval or more, on average)", "5.6.1, figure 6", verdict(bool(found) for found in steadier.values()),
                 "; ".join(f"steadier at {s}: " + (", ".join(f"{p} by {x:.0f}" for p, x in found.items()) or "none") for s, found in steadier.items()) +
                 f"; fewer candidates, and left out: {', '.join(few) or 'none'}", "auto", "means of the seeds")

    def edges(self):
        """Conclusions of load values hold for edges, too; and significantly."""
        single, *names = "best single", "2 tables", "8 tables"
        for setting in figures.SETTINGS:
            row = {d: {p: self.errors["14"][p, setting, d] for p in self.programs("14", setting)} for d in (single, *names, "4 tables")}
            average = {d: mean(float(r["error"]) for r in of.values()) for d, of in row.items()}
            level = [p for p, r in row["4 tables"].items() if all(float(r["most"]) <= float(row[d][p]["least"]) for d in (single, *names))]
            same = [p for p in level if any(float(row["4 tables"][p]["most"]) == float(row[d][p]["least"]) for d in (single, *names))]
            self.add(f"4 tables are significantly better than the others for edges, too, {setting} (asked: less than half of the next one's error on the mean; and on each program "
                     "the worst seed no worse than the best of any other)", "6.4.2, figure 14",
                     verdict([2 * average["4 tables"] < min(average[d] for d in (single, *names))] + [p in level for p in row["4 tables"]]),
                     ", ".join(f"{d} {number(average[d])}%" for d in (single, "2 tables", "4 tables", "8 tables")) + f"; on {len(level)} of {len(row['4 tables'])} programs" +
                     f", of which {', '.join(same)} are level with another" * bool(same), "fig14")
        worst = {s: mean(self.of("14", s, "4 tables", "most").values()) for s in figures.SETTINGS}
        self.add("the average error is under 1%, edges (asked: 4 tables, at 10K and at 1M, of each program the worst seed)", "abstract, 6.4.2", verdict(x < 1 for x in worst.values()),
                 "; ".join(f"{s} {number(mean(self.of('14', s, '4 tables', 'error').values()))}%, of the worst seeds {number(worst[s])}%" for s in worst), "fig14")

    def fewer(self, without, setting):
        """False positives of the single hash without an optimisation and with both; on how many programs they are halved."""
        before, after = (self.of("07", setting, design, "false_positive") for design in (without, "R1 P1"))
        return mean(before.values()), mean(after.values()), sum(after[p] <= before[p] / 2 for p in before), len(before)

    def false_positives(self):
        def told_of(found):
            return "; ".join(f"{s}: {before:.1f} -> {after:.1f}%, to half or less on {halved} of {n} programs"
                             for s, (before, after, halved, n) in found.items())
        reset, retain = ({s: self.fewer(without, s) for s in figures.SETTINGS} for without in ("R0 P1", "R1 P0"))
        self.add("resetting reduces false positives significantly (asked: to half or less, on the mean and on each program)", "5.6.2, figure 7",
                 verdict([2 * after <= before for before, after, _, _ in reset.values()] + [halved == n for _, _, halved, n in reset.values()]), told_of(reset), "fig07")
        self.add("retaining significantly lowers false positives, for most of the programs (asked: to half or less, on more than half of them)",
                 "5.6.2, figure 7", verdict(2 * halved > n for _, _, halved, n in retain.values()), told_of(retain), "fig07")
        drastic = {s: before / after for s, (before, after, _, _) in retain.items()}
        before, after = ({s: self.of("07", s, design, "false_positive") for s in figures.SETTINGS} for design in ("R1 P0", "R1 P1"))
        more = [before["1M"][p] * after["10K"][p] > before["10K"][p] * after["1M"][p] for p in before["10K"] if p in before["1M"]]
        self.add("... and more drastically at 1M (asked: on the mean, and on each program)", "5.6.2, figure 7",
                 verdict([drastic["1M"] > drastic["10K"], *more]), ", ".join(f"{s} {x:.1f} times less" for s, x in drastic.items()) + f" on the mean of the programs; so on {sum(more)} of {len(more)}", "fig07")

    def missed(self):
        settings = [s for s in figures.SETTINGS if "vortex" in self.programs("07", s)]
        lost = {s: [self.of("07", s, f"R{r} P1", "false_negative")["vortex"] for r in (0, 1)] for s in settings}
        self.add("vortex is a program on which resetting costs false negatives", "5.6.2, figure 7", verdict(with_it > without for without, with_it in lost.values()),
                 "; ".join(f"{s}: {without:.2f}% of false negatives without resetting, {with_it:.2f}% with it" for s, (without, with_it) in lost.items()) +
                 "; it has no candidate at 10K" * ("10K" not in settings), "fig07")
        full = {s: self.of("07", s, "R0 P0", "false_negative") for s in figures.SETTINGS}
        most = {s: max(of, key=of.get) for s, of in full.items()}
        self.add("the accumulator, of 1 / threshold entries, does not overflow (asked: no candidate is missed by a single hash without resetting and "
                 "retaining, which misses one only where no entry is left)", "5.2", verdict(x == 0 for of in full.values() for x in of.values()),
                 "; ".join(f"{s}: one is missed on {sum(x > 0 for x in of.values())} of {len(of)} programs" +
                           f", up to {of[most[s]]:.1f}% of false negatives ({most[s]}), since false positives take the entries" * (of[most[s]] > 0)
                           for s, of in full.items()), "fig07")

    def ten_points(self):
        single, four = ({c: float(self.errors["12"]["go", "1M", d][c]) for c in ("error", "least", "most")} for d in ("best single", "4 tables"))
        gain = single["error"] - four["error"]
        self.add("go at 1M: 4 tables are 10 points better than the best single hash (asked: 7 to 13)", "6.4.1, figure 12",
                 verdict((single["least"] > four["most"], 7 <= gain <= 13)), f"{gain:.1f} points: {single['error']:.1f} ({single['least']:.1f}-{single['most']:.1f}) "
                 f"and {four['error']:.1f}% ({four['least']:.1f}-{four['most']:.1f})", "fig12", "over seeds, in brackets")

    def first_sixty(self):
        curves = {}
        for r in tables.rows(self.folder, "long.csv"):
            curves.setdefault(r["curve"], []).append([float(r[c]) for c in ("y", "least", "most")])
        many = len(curves["best single"])
        first, last = min(60, many * 3 // 4), max(1, many // 10)
        parts = {name: [[mean(row[c] for row in rows) for c in (0, 1, 2)] for rows in (curve[:first], curve[-last:])] for name, curve in curves.items()}
        begin, end = parts["best single"]
        self.add("gcc: the best single hash's error remains high in the first 60 intervals and very low towards the end (asked: half or less in the last "
                 "tenth)", "6.4.1, figure 13", verdict((2 * end[0] <= begin[0], 2 * end[2] <= begin[1])),
                 f"of {many} intervals of 1M the first {first} and the last {last}: " + "; ".join(
                     f"{name} " + " and ".join(f"{number(x[0])}% ({number(x[1])}-{number(x[2])})" for x in both) for name, both in parts.items()), "long",
                 "means of the best and of the worst seed of each interval, in brackets")

        ten, all_of_them = ({name: [mean(row[c] for row in curve[1:most]) for c in (0, 1, 2)] for name, curve in curves.items()} for most in (10, many))
        self.add(f"(ours) ten intervals tell the mean of {many}, on gcc at 1M (asked: within the range of the seeds)", "of this page",
                 verdict(ten[name][1] <= all_of_them[name][0] <= ten[name][2] for name in curves),
                 "; ".join(f"{name} {number(ten[name][0])}% in ten, {number(all_of_them[name][0])}% in {many}" for name in curves) +
                 "; without the first interval", "long")

    def calibrated(self):
        change = {}
        for r in tables.rows(self.folder, "auto.csv"):
            change.setdefault(r["name"], {})[r["column"]] = float(r["mean"])
        some = {r["name"] for r in tables.rows(self.folder, "fig05.csv") if r["panel"].endswith("threshold 1%") and float(r["most"]) > 0}
        change = {p: of for p, of in change.items() if p in some}  # without a candidate nothing can change
        regret = {p: of["auto"] - min(of["10K"], of["1M"]) for p, of in change.items()}
        worst = max(regret, key=regret.get)
        self.add("(ours) interval=auto is never much worse than the better of 10K and 1M (asked: less than 10 points, on 10 M events, on each program that has a candidate at 1%)", "left open in 5.6.1",
                 "calibrated" if regret[worst] < 10 else "fails",
                 f"up to {regret[worst]:.1f} points of change more ({worst}), less than 10 on {sum(x < 10 for x in regret.values())} of {len(regret)}; in 10 M events "
                 "it never leaves its first trials, since it keeps a length for 20 M: this is what trying costs; its constants were set on eight of "
                 "these programs", "auto")
        both = {(kind, s): [mean(self.of(figure, s, design, "error").values()) for design in ("4 tables", "riffle")]
                for kind, figure in (("load values", "12"), ("edges", "14")) for s in figures.SETTINGS}
        tenth, worse = ([f"{kind} at {s}" for (kind, s), (paper, ours) in both.items() if told_so(paper, ours)] for told_so in (
            lambda paper, ours: 10 * ours < paper, lambda paper, ours: ours > paper))
        self.add("(ours) riffle's design has a tenth of the paper's error in its memory, of load values and of edges", "beyond it",
                 "calibrated" if len(tenth) == len(both) else "differs" if tenth else "fails",
                 "; ".join(f"{kind}, {s}: {number(paper)} -> {number(ours)}%" for (kind, s), (paper, ours) in both.items()) +
                 f"; a tenth of {', '.join(tenth) or 'none'} alone; worse than the paper's of {', '.join(worse) or 'none'}" +
                 "; promote=50%, 2 tables, 12 bits, 300 entries and one constant of estimate=rate were chosen on the load values of eight of these programs",
                 "fig12 fig14")

    def all(self):
        for part in (self.variation, self.half_of_gcc, self.hash_even, self.options, self.lengths, self.edges, self.false_positives, self.missed, self.ten_points, self.first_sixty, self.calibrated):
            part()
        return self.table.rows


def renew(folder, rows):
    """claims.csv with these rows in place of those of the same claim; new ones behind the others."""
    kept = [list(row.values()) for row in tables.rows(folder, "claims.csv")]
    made = {row[1]: [str(cell) for cell in row] for row in rows}
    table = tables.Claims("multihash")
    table.rows = [made.pop(row[1], row) for row in kept] + list(made.values())
    table.write(folder)


def all_claims(data):
    found = Claims(data)
    for part in (found.growth, found.coverage, found.variation, found.single, found.theory, found.sizes,
                 found.multi_options, found.tables, found.sums, found.intervals, found.burg, found.edges, found.storage):
        part()
    return found


def table(header, rows):
    print("\n| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")


DESIGNS = {"best single hash": "single R1 P1", "2 tables": "n2 C1 R0", "4 tables": "n4 C1 R0", "8 tables": "n8 C1 R0",
           "riffle's default": "default"}


def tell_programs(found, setting):
    data = found.data
    shares = {p: mean(n > 0 for n in data.of_shape(p, *figures.SETTINGS[setting], "candidates")) for p in data.programs}
    table([setting, "intervals with a candidate", *DESIGNS],
          [[p, f"{100 * shares[p]:.0f}%", *(told(data.values.totals(p, setting, d)) for d in DESIGNS.values())] for p in found.judged[setting]] +
          [["mean", "", *(told(found.mean_error(setting, d)) for d in DESIGNS.values())]])
    print("without a candidate:", ", ".join(p for p in data.programs if p not in found.judged[setting]) or "none")


def tell_first(found):
    """With 4 tables at 1M: the first interval, the worst, and the mean of all but the first."""
    rows = []
    for p in found.judged["1M"]:
        errors, ours, single = ([mean(of_interval) for of_interval in found.data.values.by_interval(p, "1M", d)]
                                for d in ("n4 C1 R0", "default", "single R1 P1"))
        worst = max(range(len(errors)), key=lambda i: errors[i])
        rows.append([p, number(errors[0]), f"{number(errors[worst])} (interval {worst + 1})", number(mean(errors[1:])), number(mean(errors)),
                     number(single[0]), number(ours[0])])
    table(["1M, %", "4 tables: first interval", "worst", "mean of the others", "mean of all", "best single hash: first", "riffle's default: first"], rows)


def tell_steps(found):
    values, steps = found.data.values, {"the paper's": "n4 C1 R0", "promotion at half of the threshold, the coldest replaced": "early",
                                        "4 x 1024 counters of 16 bits, riffle's hash": "narrow", "2 x 2048": "two",
                                        "5700 counters of 12 bits": "packed", "the estimate by rate, 5460 counters": "roomy"}
    table(["1M, one step at a time", "mean of the programs", "gcc"],
          [[name, told(found.mean_error("1M", d)), told(values.totals("gcc", "1M", d))] for name, d in steps.items()])


def tell_counters(found):
    sizes = {1024: "z1024", 2048: "n4 C1 R0", 4096: "z4096", 8192: "z8192"}
    table(["counters", *(f"{s}: {what}" for s in figures.SETTINGS for what in ("mean of the programs", "gcc"))],
          [[z, *(told(x) for s in figures.SETTINGS for x in (found.mean_error(s, d), found.data.values.totals("gcc", s, d)))]
           for z, d in sizes.items()])


def tell_even(found):
    data = found.data
    table(["", *data.programs], [[f"{name}, {1 << int(bits)} counters", *(f"{figures.unevenness(data, p, kind, bits):.3f}" for p in data.programs)]
                                 for bits in ("11", "9", "8") for name, kind in (("the paper's hash", "paper"), ("riffle's", "multiply"))])


def tell_types(found):
    data = found.data
    table(["types", "distinct", "candidates", *DESIGNS],
          [[f"{p}, {s}", *(f"{mean(data.of_shape(p, *figures.SETTINGS[s], c, data.type_shape)):.0f}" for c in ("distinct", "candidates")),
            *(told(data.types.totals(p, s, d)) for d in DESIGNS.values())] for p in data.typed for s in figures.SETTINGS])


def tell_auto(found):
    data, lengths = found.data, ("10K", "100K", "1M", "auto")
    table(["change of candidates at 1%, %", *lengths, "auto - better of 10K and 1M"],
          [[p, *map(number, of.values()), f"{of['auto'] - min(of['10K'], of['1M']):.1f}"] for p, of in (
              (p, {length: mean(float(row["change"]) for row in data.change if row["program"] == p and row["length"] == length) for length in lengths})
              for p in data.programs) if any(of.values())])


def tell_hash(found):
    edges = found.data.edges
    table(["8 tables of 256 counters, edges, 1M", *found.data.programs],
          [[name, *(told(edges.totals(p, "1M", d)) for p in found.data.programs)]
           for name, d in (("the paper's hash", "n8 C1 R0"), ("riffle's", "n8 multiply"))])


def tell_readings(found):
    """Both readings of P0."""
    readings = {"P0": "single R1 P0", "P0 of section 5.2": "single R1 linger", "P1": "single R1 P1"}
    table(["single hash, R1", *(f"{s}: {name}" for s in figures.SETTINGS for name in readings)],
          [[p, *(told(found.data.values.totals(p, s, d)) if p in found.judged[s] else "" for s in figures.SETTINGS for d in readings.values())]
           for p in found.data.programs])


def tell(data):
    """The tables of the page."""
    found = all_claims(data)
    for setting in figures.SETTINGS:
        tell_programs(found, setting)
    for part in (tell_first, tell_steps, tell_counters, tell_even, tell_types, tell_auto, tell_hash, tell_readings):
        part(found)


def engines(data):
    """The table of doc/engines/multihash.md."""
    designs = ("default", "roomy", "n4 C1 R0", "single R1 P1")
    print("| stream | default, 17 KB | `accumulator=auto`, 37 KB | `paper` | `paper-single` |\n|---|---|---|---|---|")
    rows = [(p, data.values, p) for p in data.judged("1M")] + [("*edges* of " + p, data.edges, p) for p in ("perl", "vortex")]
    for name, errors, p in rows + [(s, data.streams, s) for s in ("kept", "loop", "zipf", "phases", "drift")]:
        print(f"| {name} | " + " | ".join(told(errors.totals(p, "1M", d)) for d in designs) + " |")
    print(f"drift with estimate=upper: {told(data.streams.totals('drift', '1M', 'packed'))}")
    for name, errors, programs in (("mean of the programs", data.values, data.judged("1M")), ("*edges*, mean of the programs", data.edges, data.programs)):
        print(f"| {name} | " + " | ".join(told(errors.over(programs, "1M", d)) for d in designs) + " |")


if __name__ == "__main__":
    FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    renew(FOLDER, Drawn(FOLDER).all())
