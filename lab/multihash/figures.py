"""figures - from measured rows to figNN.csv and figNN.svg. One function per figure.

An error is a mean over the intervals of a run; a point is the mean of that over the seeds, its whisker goes from the
best seed to the worst. Programs without a single candidate in a setting have no error there and are left out."""
import csv
import subprocess

PARTS = ["false_positive", "false_negative", "neutral_positive", "neutral_negative"]
PART_COLOURS = ["#b2182b", "#ef8a62", "#2166ac", "#92c5de"]
LINE_COLOURS = ["#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#a6761d",
                "#444444"]
PANEL_TITLES = {"10K": "10,000 events at 1%", "1M": "1,000,000 events at 0.1%"}
FLOOR = 0.001  # per cent: an error below it is drawn there


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else 0.0


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


class Errors:
    """Error parts per program, setting and design: one list of four per seed."""

    def __init__(self, rows):
        groups = {}
        for row in rows:
            key = row["program"], row["setting"], row["design"]
            groups.setdefault(key, {}).setdefault(row["seed"], []).append(row)
        self.runs = {key: [[mean(float(r[part]) for r in rows) for part in PARTS]
                           for rows in seeds.values()] for key, seeds in groups.items()}

    def parts(self, *key):
        return [mean(run[i] for run in self.runs[key]) for i in range(len(PARTS))]

    def spread(self, *key):
        """mean, least and most over the seeds"""
        totals = [sum(run) for run in self.runs[key]]
        return mean(totals), min(totals), max(totals)

    def over(self, programs, setting, design):
        """The same for the mean of several programs."""
        totals = [mean(sum(run) for run in runs)
                  for runs in zip(*(self.runs[p, setting, design] for p in programs))]
        return mean(totals), min(totals), max(totals)


def judged(data, programs, setting):
    """Programs that have a candidate at all in this setting."""
    interval, threshold = {"10K": ("10000", 0.01), "1M": ("1000000", 0.001)}[setting]
    return [p for p in programs if any(
        int(r["candidates"]) > 0 for r in data["shape"] if r["program"] == p
        and r["interval"] == interval and float(r["threshold"]) == threshold)]


def dots(path, title, programs_of, settings, designs, errors):
    """Per setting a panel of errors, logarithmic, with whiskers over the seeds, and under it what they are made of."""
    body, height = "", 0
    for setting in settings:
        for k, design in enumerate(designs.values()):
            step = 0.8 / len(designs)
            rows = [[i + (k - (len(designs) - 1) / 2) * step,
                     *(max(x, FLOOR) for x in errors.spread(p, setting, design)),
                     *errors.parts(p, setting, design)]
                    for i, p in enumerate(programs_of[setting])]
            body += block(f"d{setting}_{k}", rows)
    body += (f'set multiplot layout {2 * len(settings)},1 title "{title}" font ",15"\n'
             "set style fill solid border -1\nset lmargin 9\nset rmargin 22\n"
             "set key at screen 0.99, graph 1 right top\n")
    for setting in settings:
        programs = programs_of[setting]
        tics = ", ".join(f'"{p}" {i}' for i, p in enumerate(programs))
        step = 0.8 / len(designs)
        body += (f'set title "{PANEL_TITLES[setting]}: error, mean and range of the seeds"\n'
                 f"set xtics ({tics})\nset xrange [-0.6:{len(programs) - 0.4}]\n"
                 'set logscale y\nset yrange [0.001:1000]\nset format y "%g%%"\n'
                 'set ytics (0.001, 0.01, 0.1, 1, 10, 100, 1000)\n')
        body += "plot " + ", ".join(
            f'$d{setting}_{k} using 1:2:3:4 with yerrorbars pt 7 ps 0.8 lw 1.5 '
            f'lc rgb "{LINE_COLOURS[k % 8]}" title "{label}"'
            for k, label in enumerate(designs)) + "\n"
        body += ("unset logscale y\nset yrange [0:100]\nset ytics 50\nset format y \"%g%%\"\n"
                 f'set title "{PANEL_TITLES[setting]}: kinds of that error, designs in the order above"\n')
        stacks = []
        for k in range(len(designs)):
            for i in reversed(range(len(PARTS))):
                tops = "+".join(f"${5 + j}" for j in range(i + 1))
                share = f"(100*({tops})/($5+$6+$7+$8+1e-12))"
                label = PARTS[i].replace("_", " ") if k == 0 else ""
                stacks.append(f"$d{setting}_{k} using 1:{share}:({step * 0.9}) with boxes "
                              f'lc rgb "{PART_COLOURS[i]}" title "{label}"')
        body += "plot " + ", ".join(stacks) + "\n"
        height += 620
    gnuplot(path + ".svg", f"1200,{height}", body + "unset multiplot")
    write_csv(path + ".csv", ["program", "setting", "design", "error", "least", "most", *PARTS],
              [[p, s, label, *(f"{x:.4f}" for x in errors.spread(p, s, d)),
                *(f"{x:.4f}" for x in errors.parts(p, s, d))]
               for s in settings for p in programs_of[s] for label, d in designs.items()])


def grouped(path, title, ylabel, programs, columns, table, extra=""):
    """Bars beside one another: one group per program, one bar per column."""
    rows = [[p, *(f"{table[p, c]:.2f}" for c in columns)] for p in programs]
    plots = ", ".join(f'$d using {i + 2}:xtic(1) title "{c}" lc rgb "{LINE_COLOURS[i]}"'
                      for i, c in enumerate(columns))
    gnuplot(path + ".svg", "1000,480", block("d", rows) +
            f'set title "{title}"\nset ylabel "{ylabel}"\nset style data histogram\n'
            f"set style histogram clustered gap 1\nset style fill solid border -1\n"
            f"set key outside top center horizontal\n{extra}\nplot {plots}")
    write_csv(path + ".csv", ["program", *columns], rows)


def lines(path, title, panels, xlabel, ylabel, extra="", style="lines lw 2"):
    """Panels of lines. panels: title -> {name: [(x, y)]}, or with (x, y, least, most) whiskers."""
    body = ""
    for i, curves in enumerate(panels.values()):
        for k, points in enumerate(curves.values()):
            body += block(f"d{i}_{k}", points)
    body += (f'set multiplot layout 1,{len(panels)} title "{title}" font ",15"\n'
             f'set xlabel "{xlabel}"\nset ylabel "{ylabel}"\nset key top left\n{extra}\n')
    for i, (name, curves) in enumerate(panels.items()):
        plots = []
        for k, (curve, points) in enumerate(curves.items()):
            colour = f'lc rgb "{LINE_COLOURS[k % 8]}"'
            plots.append(f'$d{i}_{k} using 1:2 with {style} {colour} title "{curve}"')
            if points and len(points[0]) == 4:
                plots.append(f'$d{i}_{k} using 1:2:3:4 with yerrorbars lw 1.5 {colour} notitle')
        body += f'set title "{name}"\nplot {", ".join(plots)}\n'
    gnuplot(path + ".svg", f"{620 * len(panels)},480", body + "unset multiplot")
    write_csv(path + ".csv", ["panel", "curve", "x", "y", "least", "most"],
              [[panel, curve, *(f"{v:.6g}" if isinstance(v, float) else v for v in point)]
               for panel, curves in panels.items()
               for curve, points in curves.items() for point in points])


def shape_means(data, programs, threshold, column):
    names = {"10000": "10K", "100000": "100K", "1000000": "1M"}
    return {(p, names[i]): mean(float(r[column]) for r in data["shape"]
                                if r["program"] == p and r["interval"] == i
                                and float(r["threshold"]) == threshold)
            for p in programs for i in names}


def fig04(path, programs, data):
    grouped(path, "Distinct load values in an interval, on average", "distinct tuples", programs,
            ["10K", "100K", "1M"], shape_means(data, programs, 0.01, "distinct"),
            "set logscale y")


def fig05(path, programs, data):
    one, tenth = (shape_means(data, programs, t, "candidates") for t in (0.01, 0.001))
    table = {(p, f"{i} at 1%"): one[p, i] for p, i in one}
    table |= {(p, f"{i} at 0.1%"): tenth[p, i] for p, i in tenth}
    columns = [f"{i} at {t}" for t in ("1%", "0.1%") for i in ("10K", "100K", "1M")]
    grouped(path, "Candidates in an interval, on average", "candidates", programs, columns, table,
            "set logscale y\nset yrange [0.1:1000]")


def fig06(path, programs, data):
    panels = {}
    for setting, interval, threshold in (("10K", "10000", 0.01), ("1M", "1000000", 0.001)):
        curves = {}
        for p in programs:
            changes = sorted(float(r["change"]) for r in data["shape"]
                             if r["program"] == p and r["interval"] == interval
                             and float(r["threshold"]) == threshold and r["change"] != "")
            curves[p] = [(q, changes[min(len(changes) - 1, q * len(changes) // 100)])
                         for q in range(0, 101, 2)] if changes else []
        panels[PANEL_TITLES[setting]] = curves
    lines(path, "Change of candidates from one interval to the next", panels,
          "per cent of intervals", "change below, per cent")


def fig07(path, programs, data):
    designs = {f"R{r} P{p}": f"BSH R{r} P{p}" for r in (0, 1) for p in (0, 1)}
    dots(path, "Single hash, 2048 counters: resetting (R) and retaining (P)",
         {s: judged(data, programs, s) for s in ("10K", "1M")}, ["10K", "1M"], designs, data["values"])


def fig09(path, programs, data):
    curves = {f"{z} counters": [(n, min(1.0, (100.0 * n / z) ** n)) for n in range(1, 17)]
              for z in (500, 1000, 2000, 4000, 8000)}
    lines(path, "The paper's bound on false positives, (100 n / t Z)^n at t = 1%",
          {"theory": curves}, "hash tables", "probability",
          'set logscale y\nset format y "10^{%L}"\nset yrange [1e-16:1]\nset key bottom right')


def conservative_designs():
    designs = {}
    for n in (1, 2, 4, 8):
        for c in (0, 1):
            for r in (0, 1):
                design = f"BSH R{r} P1" if n == 1 else f"n{n} C{c}R{r}"
                if n > 1 or c == 0:
                    designs[f"{n} C{c}R{r}" if n > 1 else f"1 R{r}"] = design
    return designs


def fig10(path, programs, data):
    dots(path, "Multi hash, 2048 counters: tables, conservative update (C), resetting (R)",
         {"10K": ["gcc", "go"]}, ["10K"], conservative_designs(), data["values"])


def fig11(path, programs, data):
    dots(path, "Multi hash, 2048 counters: tables, conservative update (C), resetting (R)",
         {"1M": ["gcc", "go"]}, ["1M"], conservative_designs(), data["values"])


def best_designs(most):
    designs = {"single": "BSH R1 P1", "n=1": "BSH R0 P1"}
    designs |= {f"n={n}": f"n{n} C1R0" for n in (2, 4, 8, 16) if n <= most}
    return designs | {"default": "default", "roomy": "roomy"}


def fig12(path, programs, data):
    dots(path, "Load values: best single hash, n tables with C1 R0, and riffle's default",
         {s: judged(data, programs, s) for s in ("10K", "1M")}, ["10K", "1M"], best_designs(16),
         data["values"])


def fig13(path, programs, data):
    panels = {}
    for title, design in (("best single hash", "BSH R1 P1"), ("4 tables, C1 R0", "n4 C1R0"),
                          ("riffle's default", "default")):
        panels[title] = {p: [(i, max(error, FLOOR)) for i, error in
                             enumerate(data["intervals"][p, design])] for p in programs}
    lines(path, "Error of every interval, 1,000,000 events at 0.1%, mean of the seeds", panels,
          "interval", "error", 'set logscale y\nset yrange [0.001:1000]\nset format y "%g%%"\n'
          "set key outside bottom center horizontal")


def fig14(path, programs, data):
    dots(path, "Edges: best single hash, n tables with C1 R0, and riffle's default",
         {s: programs for s in ("10K", "1M")}, ["10K", "1M"], best_designs(8), data["edges"])


def counters(path, programs, data):
    sizes = [1024, 2048, 4096, 8192]
    panels = {PANEL_TITLES[s]: {p: [(z, *(max(x, FLOOR) for x in data["values"].spread(p, s, f"z{z}")))
                                    for z in sizes] for p in judged(data, programs, s)}
              for s in ("10K", "1M")}
    lines(path, "Section 6.3: 4 tables, C1 R0, counters in all", panels, "counters", "error",
          'set logscale x 2\nset logscale y\nset yrange [0.001:1000]\nset format y "%g%%"\n'
          "set key outside bottom center horizontal", "linespoints pt 7 ps 0.6 lw 2")


def evenness(path, programs, data):
    """Distinct tuples per counter of a table of 2048, beside what chance gives."""
    panels = {}
    for program in ("gcc", "vortex"):
        curves = {}
        for kind in ("paper", "multiply", "chance"):
            rows = [r for r in data["even"] if r["program"] == program and r["hash"] == kind]
            loads = sorted({int(r["load"]) for r in rows})
            curves[kind] = [(load, *(f(float(r["counters"]) for r in rows if int(r["load"]) == load)
                                     for f in (mean, min, max))) for load in loads]
        panels[program] = curves
    lines(path, "Section 5.3: distinct load values of an interval of 100,000 per counter, of 2048",
          panels, "distinct tuples that share a counter", "counters", "set key top right",
          "linespoints pt 7 ps 0.5 lw 2")


def auto(path, programs, data):
    table = {(p, length): mean(float(r["change"]) for r in data["change"]
                               if r["program"] == p and r["length"] == length)
             for p in programs for length in ("10K", "100K", "1M", "auto")}
    grouped(path, "Change of candidates between intervals at 1%, by length of the interval",
            "change, per cent of candidates in either", programs, ["10K", "100K", "1M", "auto"],
            table)


FIGURES = {"04": fig04, "05": fig05, "06": fig06, "07": fig07, "09": fig09, "10": fig10,
           "11": fig11, "12": fig12, "13": fig13, "14": fig14, "auto": auto, "counters": counters,
           "evenness": evenness}


def draw(folder, programs, data, wanted):
    for name, figure in FIGURES.items():
        if not wanted or name in [w.zfill(2) for w in wanted]:
            figure(f"{folder}/{'fig' if name.isdigit() else ''}{name}", programs, data)
            print(f"   {folder}/{'fig' if name.isdigit() else ''}{name}.svg", flush=True)
