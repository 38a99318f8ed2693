"""figures - from measured rows to figNN.csv and figNN.svg. One function per figure.

An error is a mean over the intervals of a run; a point is the mean of that over the seeds, its whisker goes from the
best seed to the worst. Programs without a single candidate in a setting have no error there and are left out. At 1M a run has
few intervals, and the first, in which nothing is retained yet, would decide the mean: it is left out, but for figure 13."""
import csv
import math
import subprocess

PARTS = ["false_positive", "false_negative", "neutral_positive", "neutral_negative"]
PART_COLOURS = ["#b2182b", "#ef8a62", "#2166ac", "#92c5de"]
COLOURS = ["#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#a6761d", "#444444", "#1f78b4", "#e31a1c", "#6a3d9a"]
SETTINGS = {"10K": ("10000", 0.01), "1M": ("1000000", 0.001)}
TITLES = {"10K": "10,000 events at 1%", "1M": "1,000,000 events at 0.1%"}
LENGTHS = {"10000": "10K", "100000": "100K", "1000000": "1M"}
FLOOR = 0.001  # per cent: an error below it is drawn there
LOG_ERRORS = ('set logscale y\nset yrange [0.0008:1500]\nset format y "%g%%"\n'
              'set ytics ("0.001%% or less" 0.001, 0.01, 0.1, 1, 10, 100, 1000)\n')


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else 0.0


def spread(numbers):
    """mean, least and most"""
    return mean(numbers), min(numbers), max(numbers)


class Errors:
    """Error parts per program, setting and design: one list of four per seed."""

    def __init__(self, rows):
        groups = {}
        for row in rows:
            key = row["program"], row["setting"], row["design"]
            groups.setdefault(key, {}).setdefault(int(row["seed"]), []).append(row)
        self.rows = groups
        self.runs = self.means(1)
        self.cold = self.means(0)

    def means(self, first):
        """Of each seed the parts, over the intervals from this one on where there is a row for each of them."""
        return {key: [[mean(float(r[part]) for r in seeds[seed] if int(r.get("interval") or first) >= first) for part in PARTS]
                      for seed in sorted(seeds)] for key, seeds in self.rows.items()}

    def totals(self, *key):
        """The error of each seed."""
        return [sum(run) for run in self.runs[key]]

    def totals_with_first(self, *key):
        return [sum(run) for run in self.cold[key]]

    def parts(self, *key):
        return [mean(run[i] for run in self.runs[key]) for i in range(len(PARTS))]

    def part(self, name, *key):
        """One kind of error, of each seed."""
        return [run[PARTS.index(name)] for run in self.runs[key]]

    def over(self, programs, setting, design):
        """The error of each seed, as the mean of several programs."""
        return [mean(of_seed) for of_seed in zip(*(self.totals(p, setting, design) for p in programs))]

    def by_interval(self, *key):
        """Of each interval the errors of all seeds."""
        seeds = [[float(row["error"]) for row in sorted(rows, key=lambda row: int(row["interval"]))]
                 for rows in self.rows[key].values()]
        return [list(of_interval) for of_interval in zip(*seeds)]


class Data:
    """All that was measured."""

    def __init__(self, rows, programs, typed):
        self.programs, self.typed = programs, typed
        self.values, self.edges, self.types, self.streams, self.long, self.options = (
            Errors(rows[key]) for key in ("values", "edges", "types", "streams", "long", "options"))
        self.shape, self.edge_shape, self.type_shape, self.long_shape = (rows[key] for key in ("shape", "edge_shape", "type_shape", "long_shape"))
        self.even, self.change = rows["even"], rows["change"]

    def of_shape(self, program, interval, threshold, column, shape=None):
        """A column of the perfect profile, interval by interval."""
        return [float(row[column]) for row in shape or self.shape
                if row["program"] == program and row["interval"] == interval
                and float(row["threshold"]) == threshold and row[column] != ""]

    def judged(self, setting, shape=None):
        """Programs that have a candidate at all in this setting."""
        return [p for p in (self.programs if shape is None else self.typed)
                if any(self.of_shape(p, *SETTINGS[setting], "candidates", shape))]


def write_csv(path, header, rows):
    with open(path, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def gnuplot(path, size, body):
    script = (f'set terminal svg size {size} font "sans,13" background "white"\n'
              f'set output "{path}"\nset grid ytics lc rgb "#dddddd"\nset key noenhanced\n'
              f"set border 3\nset tics nomirror\n{body}\n")
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def block(name, rows):
    return f"${name} << END\n" + "\n".join(" ".join(map(str, r)) for r in rows) + "\nEND\n"


def groups(names):
    """Tics and range of an x axis with a place per name, and lines between the places."""
    tics = ", ".join(f'"{name}" {i}' for i, name in enumerate(names))
    between = "".join(f'set arrow {i} from first {i - 0.5}, graph 0 to first {i - 0.5}, graph 1 nohead lc rgb "#cccccc"\n'
                      for i in range(1, len(names)))
    return f"unset arrow\nset xtics ({tics}) noenhanced scale 0\nset xrange [-0.5:{len(names) - 0.5}]\n{between}"


def beside(k, n):
    """Where the k-th of n stands within its group, and how wide it may be."""
    return (k - (n - 1) / 2) * 0.84 / n, 0.84 / n


def points_of(name, series):
    """Whiskers of every series, each behind the one before; `name` is that of the data blocks."""
    return ", ".join(f'${name}_{k} using 1:2:3:4 with yerrorbars pt 7 ps 0.7 lw 1.5 lc rgb "{COLOURS[k % len(COLOURS)]}" '
                     f'title "{label}"' for k, label in enumerate(series))


def shares_of(name, series):
    """Stacked boxes: which kinds of error each of these points is made of."""
    stacks = []
    for k in range(len(series)):
        for i in reversed(range(len(PARTS))):
            tops = "+".join(f"${5 + j}" for j in range(i + 1))
            label = PARTS[i].replace("_", " ") if k == 0 else ""
            stacks.append(f"${name}_{k} using 1:(100*({tops})/($5+$6+$7+$8+1e-12)):({beside(k, len(series))[1] * 0.85}) "
                          f'with boxes lc rgb "{PART_COLOURS[i]}" title "{label}"')
    return ", ".join(stacks)


def dots(path, title, panels):
    """Per panel errors with whiskers, and under them what they are made of. panels: setting -> (groups, series, find),
    where find(group, series) are the errors of all seeds and the four parts."""
    body, n = "", len(panels)
    for setting, (names, series, find) in panels.items():
        for k, one in enumerate(series):
            shift = beside(k, len(series))[0]
            rows = [[i + shift, *(max(x, FLOOR) for x in spread(find(name, one)[0])), *find(name, one)[1]] for i, name in enumerate(names)]
            body += block(f"d{setting}_{k}", rows)
    body += (f'set multiplot title "{title}" font ",15"\nset style fill solid noborder\n'
             "set lmargin 14\nset rmargin at screen 0.835\nset key at screen 0.99, graph 1 right top Left reverse samplen 1\n")
    for j, (setting, (names, series, _)) in enumerate(panels.items()):
        top = 0.95 - j * 0.95 / n
        body += (f"{groups(names)}set size 1,{0.60 / n}\nset origin 0,{top - 0.60 / n}\n"
                 f'set title "{TITLES[setting]}: error, mean and range over the seeds"\n{LOG_ERRORS}'
                 f'plot {points_of(f"d{setting}", series)}\nunset logscale y\n'
                 f"set size 1,{0.33 / n}\nset origin 0,{top - 0.93 / n}\nset yrange [0:100]\nset ytics 0,50\n"
                 f'set title "of what kind it is, in the same order"\nplot {shares_of(f"d{setting}", series)}\n')
    gnuplot(path + ".svg", f"1200,{560 * n}", body + "unset multiplot")


def dots_of(path, title, programs_of, designs, errors, by_design=False):
    """dots() with a group per program, or with one per design and the programs beside each other."""
    def find(program, label, setting):
        key = program, setting, designs[label]
        return errors.totals(*key), errors.parts(*key)
    panels = {}
    for setting, programs in programs_of.items():
        if by_design:
            panels[setting] = list(designs), programs, lambda label, p, s=setting: find(p, label, s)
        else:
            panels[setting] = programs, list(designs), lambda p, label, s=setting: find(p, label, s)
    dots(path, title, panels)
    write_csv(path + ".csv", ["program", "setting", "design", "error", "least", "most", *PARTS],
              [[p, s, label, *(f"{x:.4f}" for x in spread(errors.totals(p, s, d))), *(f"{x:.4f}" for x in errors.parts(p, s, d))]
               for s, programs in programs_of.items() for p in programs for label, d in designs.items()])


def bars(path, names, columns, panels, extra=""):
    """Panels under one another: a group of bars per name, a bar per column. panels: title -> {(name, column): (mean, least,
    most)}; the whisker is left out where it is nothing."""
    body = ""
    for i, table in enumerate(panels.values()):
        for k, column in enumerate(columns):
            shift = beside(k, len(columns))[0]
            body += block(f"d{i}_{k}", [[j + shift, *table[name, column]] for j, name in enumerate(names)])
    body += f"set multiplot layout {len(panels)},1\nset style fill solid noborder\n{groups(names)}set key outside right top\n"
    for i, title in enumerate(panels):
        width = beside(0, len(columns))[1] * 0.9
        plots = [f'$d{i}_{k} using 1:2:({width}) with boxes lc rgb "{COLOURS[k]}" title "{column}"' for k, column in enumerate(columns)]
        plots += [f'$d{i}_{k} using 1:($4>$3?$3:NaN):(0):($4-$3) with vectors heads size graph 0.004,90 lw 1.5 lc rgb "black" notitle'
                  for k in range(len(columns))]
        body += f'set title "{title}"\n{extra}\nplot {", ".join(plots)}\n'
    gnuplot(path + ".svg", f"1200,{420 * len(panels)}", body + "unset multiplot")
    write_csv(path + ".csv", ["panel", "name", "column", "mean", "least", "most"],
              [[title, name, column, *(f"{x:.2f}" for x in table[name, column])]
               for title, table in panels.items() for name in names for column in columns])


def looks(panels):
    """A colour and a dash for every curve, the same in all panels."""
    names = dict.fromkeys(name for curves in panels.values() for name in curves)
    return {name: f'lc rgb "{COLOURS[k % len(COLOURS)]}" dt {1 + k // 8}' for k, name in enumerate(names)}


def off_the_floor(points):
    """From the last point at 0 on: curves that lie on it together cannot be told apart."""
    zeros = next((k for k, point in enumerate(points) if point[1] > 0), len(points))
    return points[max(0, zeros - 1):]


def lines(path, title, panels, labels, extra="", style="lines lw 2", columns=2, key_apart=False, drawn=list):
    """Panels of lines. panels: title -> {name: [(x, y)]}, or with (x, y, least, most) and a band between these. A key apart
    has a panel of its own behind the others. drawn: what of the points of a curve goes into the picture."""
    body, look = "", looks(panels)
    for i, curves in enumerate(panels.values()):
        for k, points in enumerate(curves.values()):
            body += block(f"d{i}_{k}", drawn(points))
    rows = -(-(len(panels) + key_apart) // columns)
    body += (f'set multiplot layout {rows},{columns} title "{title}" font ",15"\n'
             f'set xlabel "{labels[0]}"\nset ylabel "{labels[1]}"\nset key top left\n{extra}\n' + "unset key\n" * key_apart)
    for i, (name, curves) in enumerate(panels.items()):
        plots = []
        for k, (curve, points) in enumerate(curves.items()):
            plots.append(f'$d{i}_{k} using 1:2 with {style} {look[curve]} title "{curve}"')
            if points and len(points[0]) == 4:
                plots.append(f'$d{i}_{k} using 1:3:4 with filledcurves fs transparent solid 0.25 noborder {look[curve]} notitle')
        body += f'set title "{name}"\nplot {", ".join(plots)}\n'
    if key_apart:
        body += ("unset border\nunset tics\nunset title\nunset xlabel\nunset ylabel\nset key center center\nplot [0:1][1:2] " +
                 ", ".join(f'0.5 with {style} {of} title "{curve}"' for curve, of in look.items()) + "\n")
    gnuplot(path + ".svg", f"{1240 if columns > 1 else 800},{(520 if rows == 1 else 290) * rows}", body + "unset multiplot")
    write_csv(path + ".csv", ["panel", "curve", "x", "y", "least", "most"],
              [[panel, curve, *(f"{v:.6g}" if isinstance(v, float) else v for v in point)]
               for panel, curves in panels.items() for curve, points in curves.items() for point in points])


def shape_table(data, threshold, column):
    """Mean over the intervals; nothing is left to chance, so there is no whisker."""
    return {(p, name): (mean(data.of_shape(p, interval, threshold, column)),) * 3
            for p in data.programs for interval, name in LENGTHS.items()}


def fig04(path, data):
    bars(path, data.programs, list(LENGTHS.values()),
         {"Distinct load values in an interval, on average": shape_table(data, 0.01, "distinct")},
         "set logscale y\nset yrange [100:1000000]")


def fig05(path, data):
    bars(path, data.programs, list(LENGTHS.values()),
         {f"Candidates in an interval, on average, threshold {name}": shape_table(data, threshold, "candidates")
          for name, threshold in (("1%", 0.01), ("0.1%", 0.001))}, "set yrange [0:*]")


def quantiles(changes):
    return [(q, changes[min(len(changes) - 1, q * len(changes) // 100)]) for q in range(0, 101, 2)]


def fig06(path, data):
    panels = {}
    for setting, where in SETTINGS.items():
        changes = {p: sorted(data.of_shape(p, *where, "change")) for p in data.judged(setting)}
        panels[TITLES[setting]] = {p: quantiles(found) for p, found in changes.items() if found}
    far = sorted(data.of_shape("gcc", *SETTINGS["1M"], "change", data.long_shape))
    panels[f"{TITLES['1M']}, gcc over {len(far) + 1} intervals"] = {"gcc": quantiles(far)}
    lines(path, "Change of candidates from one interval to the next. A curve begins where it leaves 0; no candidate before and after is no change", panels,
          ("per cent of intervals", "change below, per cent"), "set yrange [0:105]", key_apart=True, drawn=off_the_floor)


def fig07(path, data):
    designs = {f"R{r} P{p}": f"single R{r} P{p}" for r in (0, 1) for p in (0, 1)}
    designs |= {f"R{r}, all stay": f"single R{r} linger" for r in (0, 1)}
    dots_of(path, "Single hash, 2048 counters: resetting (R), retaining (P); all stay: P0 as section 5.2 has it", {s: data.judged(s) for s in SETTINGS}, designs,
         data.values)


def fig09(path, data):
    curves = {f"{z} counters": [(n, min(1.0, (100.0 * n / z) ** n)) for n in range(1, 17)] for z in (500, 1000, 2000, 4000, 8000)}
    lines(path, "The paper's bound on false positives, (100 n / t Z)^{n} at t = 1%", {"a formula": curves}, ("hash tables", "probability"),
          'set logscale y\nset format y "10^{%L}"\nset yrange [1e-9:1]\nset key bottom left', "linespoints pt 7 ps 0.4 lw 2", 1)


def conservative_designs():
    found = {"1 R0": "single R0 P1", "1 R1": "single R1 P1"}
    return found | {f"{n} C{c} R{r}": f"n{n} C{c} R{r}" for n in (2, 4, 8) for c in (0, 1) for r in (0, 1)}


def fig10(path, data):
    dots_of(path, "Multi hash, 2048 counters: tables, conservative update (C), resetting (R)", {"10K": ["gcc", "go"]},
            conservative_designs(), data.values, True)


def fig11(path, data):
    dots_of(path, "Multi hash, 2048 counters: tables, conservative update (C), resetting (R)", {"1M": ["gcc", "go"]},
            conservative_designs(), data.values, True)


def best_designs(most):
    found = {"best single": "single R1 P1", "1 table": "single R0 P1"}
    found |= {f"{n} tables": f"n{n} C1 R0" for n in (2, 4, 8, 16) if n <= most}
    return found | {"riffle": "default", "riffle roomy": "roomy"}


def fig12(path, data):
    dots_of(path, "Load values: best single hash, n tables with C1 R0, riffle's default", {s: data.judged(s) for s in SETTINGS},
         best_designs(16), data.values)


def fig13(path, data):
    designs = {"best single": "single R1 P1", "4 tables": "n4 C1 R0", "riffle": "default"}
    panels = {p: {label: [(i, *(max(x, FLOOR) for x in spread(errors)))
                          for i, errors in enumerate(data.values.by_interval(p, "1M", design), 1)]
                  for label, design in designs.items()} for p in data.judged("1M")}
    lines(path, "Error of every interval, 1,000,000 events at 0.1%, mean and range over the seeds", panels, ("interval", ""),
          LOG_ERRORS + 'set ytics ("0.001%%" 0.001, 0.01, 0.1, 1, 10, 100, 1000)\nset xtics 2', "lines lw 1.5", 3, True)


def long(path, data):
    """Figure 13 of gcc, over as many intervals as the paper speaks of."""
    designs = {"best single": "single R1 P1", "4 tables": "n4 C1 R0", "riffle": "default"}
    curves = {label: [(i, *(max(x, FLOOR) for x in spread(errors))) for i, errors in enumerate(data.long.by_interval("gcc", "1M", design), 1)]
              for label, design in designs.items()}
    lines(path, "Error of every interval, 1,000,000 events at 0.1%, mean and range over the seeds", {"gcc": curves}, ("interval", "error"),
          LOG_ERRORS + "set key outside right top", "lines lw 1.5", 1)


def fig14(path, data):
    dots_of(path, "Edges: best single hash, n tables with C1 R0, riffle's default", dict.fromkeys(SETTINGS, data.programs),
         best_designs(8), data.edges)


def types(path, data):
    dots_of(path, "Types, <pc, method table>: best single hash, n tables with C1 R0, riffle's default",
         {s: data.judged(s, data.type_shape) for s in SETTINGS}, best_designs(8), data.types)


def counters(path, data):
    sizes = {1024: "z1024", 2048: "n4 C1 R0", 4096: "z4096", 8192: "z8192"}
    panels = {TITLES[s]: {p: [(z, *(max(x, FLOOR) for x in spread(data.values.totals(p, s, design)))) for z, design in sizes.items()]
                          for p in data.judged(s)} for s in SETTINGS}
    lines(path, "Section 6.3: counters in all, 4 tables, C1 R0", panels, ("counters", "error"),
          LOG_ERRORS + "set logscale x 2\nset xrange [900:9000]\nset key outside right top", "linespoints pt 7 ps 0.6 lw 2")


def loads_of(data, program, kind, bits="11"):
    """How many counters so many tuples share: load -> that number of every seed."""
    found = {}
    for row in data.even:
        if (row["program"], row["hash"], row["bits"]) == (program, kind, bits):
            found.setdefault(int(row["load"]), []).append(int(row["counters"]))
    return found


def unevenness(data, program, kind, bits="11"):
    """Standard deviation of the tuples per counter over that of chance, of all seeds."""
    loads = loads_of(data, program, kind, bits)
    seeds = max(map(len, loads.values()))
    counters = sum(map(sum, loads.values())) / seeds
    average = sum(load * sum(n) for load, n in loads.items()) / seeds / counters
    squares = sum((load - average) ** 2 * sum(n) for load, n in loads.items()) / (counters * seeds)
    return math.sqrt(squares / average)


def evenness(path, data):
    """Distinct tuples per counter of a table of 2048, beside what chance gives."""
    panels = {p: {kind: [(load, *spread(found)) for load, found in sorted(loads_of(data, p, kind).items())]
                  for kind in ("paper", "multiply", "chance")} for p in ("gcc", "vortex")}
    lines(path, "Section 5.3: how evenly the hash spreads the distinct load values of 100,000 events over 2048 counters", panels,
          ("distinct tuples that share a counter", "counters"), "set key top right", "linespoints pt 7 ps 0.5 lw 2")


def indices(path, data):
    """The same as one number, also for the tables of 512 and 256 counters that 4 and 8 of them have."""
    widths = sorted({int(row["bits"]) for row in data.even}, reverse=True)
    write_csv(path + ".csv", ["program", "counters", "hash", "over_chance"],
              [[p, 1 << bits, kind, f"{unevenness(data, p, kind, str(bits)):.3f}"] for bits in widths for p in data.programs
               for kind in ("paper", "multiply")])


PAIRS = {"shielding, single hash": ("single R1 P1 unshielded", "single R1 P1"), "shielding, 4 tables": ("n4 C1 R0 P1 unshielded", "n4 C1 R0 P1")}
PAIRS |= {f"retaining, {n} tables C{c} R{r}": (f"n{n} C{c} R{r} P0", f"n{n} C{c} R{r} P1") for n in (2, 4, 8) for c in (0, 1) for r in (0, 1)}


def options(path, data):
    """Of shielding and of retaining what each does, by program and on their mean: errors without and with it."""
    rows = []
    for setting in SETTINGS:
        programs = data.judged(setting)
        for pair, designs in PAIRS.items():
            errors = {p: [data.options.totals(p, setting, d) for d in designs] for p in programs}
            errors["mean"] = [[mean(of_seed) for of_seed in zip(*(errors[p][i] for p in programs))] for i in (0, 1)]
            rows += [[pair, setting, p, *(f"{x:.4f}" for side in both for x in spread(side)), sum(a > b for a, b in zip(*both)), len(both[0])]
                     for p, both in errors.items()]
    write_csv(path + ".csv", ["option", "setting", "program", "without", "without_least", "without_most", "with", "with_least", "with_most", "seeds_better",
                              "seeds"], rows)


def auto(path, data):
    lengths = ["10K", "100K", "1M", "auto"]
    table = {(p, length): spread([float(row["change"]) for row in data.change
                                  if row["program"] == p and row["length"] == length])
             for p in data.programs for length in lengths}
    bars(path, data.programs, lengths, {"Change of candidates between intervals at 1%, per cent, by length of the interval": table},
         "set yrange [0:*]")


FIGURES = {"04": fig04, "05": fig05, "06": fig06, "07": fig07, "09": fig09, "10": fig10, "11": fig11, "12": fig12, "13": fig13,
           "long": long, "14": fig14, "types": types, "auto": auto, "counters": counters, "evenness": evenness,
           "indices": indices, "options": options}


def draw(folder, data, wanted):
    for name, figure in FIGURES.items():
        if not wanted or name in [w.zfill(2) for w in wanted]:
            path = f"{folder}/{'fig' if name.isdigit() else ''}{name}"
            figure(path, data)
            print(f"   {path}.{'csv' if name in ('indices', 'options') else 'svg'}", flush=True)
