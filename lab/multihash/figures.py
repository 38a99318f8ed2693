"""figures - from measured rows to figNN.csv and figNN.svg. One function a figure."""
import csv
import subprocess

PARTS = ["false_positive", "false_negative", "neutral_positive", "neutral_negative"]
PART_COLOURS = ["#b2182b", "#ef8a62", "#2166ac", "#92c5de"]
LINE_COLOURS = ["#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#a6761d",
                "#444444"]
PANEL_TITLES = {"10K": "10,000 events at 1%", "1M": "1,000,000 events at 0.1%"}


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


def average(rows):
    """Error parts per program, setting and design, averaged over intervals."""
    groups = {}
    for row in rows:
        groups.setdefault((row["program"], row["setting"], row["design"]), []).append(row)
    return {key: [mean(float(r[part]) for r in group) for part in PARTS]
            for key, group in groups.items()}


def stacked(path, title, programs, settings, designs, errors, cut=100):
    """Panels of bars, one group a program, one bar a design, four parts on top of one another. Bars
    end at `cut` per cent: a design that fails would hide the others."""
    body = ""
    for setting in settings:
        for p in programs:
            rows = [[f'"{label}"', *errors[p, setting, design]]
                    for label, design in designs.items()]
            body += block(f"d{setting}_{p}", rows)
    width = 1500 if len(programs) > 2 else 1000
    below = 0.9 if "default" in designs else 0.0  # of the tics
    body += (f'set multiplot layout {len(settings)},1 title "{title}" font ",15"\n'
             f"set style data histogram\nset style histogram rowstacked title offset 0,{below}\n"
             "set style fill solid border -1\nset boxwidth 0.8\nset xtics rotate by 60 right font "
             '",9"\nset bmargin 5\nset key outside right\nset ylabel "error, per cent"\n')
    for setting in settings:
        plots = []
        for i, p in enumerate(programs):
            plots.append(f'newhistogram "{p}"')
            for k, part in enumerate(PARTS):
                label = part.replace("_", " ") if i == 0 else ""
                plots.append(f'$d{setting}_{p} using {k + 2}:xtic(1) lc rgb "{PART_COLOURS[k]}" '
                             f'title "{label}"')
        top = max(sum(errors[p, setting, d]) for p in programs for d in designs.values())
        note = f", bars cut at {cut}%" if top > cut else ""
        body += (f'set title "{PANEL_TITLES[setting]}{note}"\n'
                 f"set yrange [0:{cut if top > cut else top * 1.05}]\nplot {', '.join(plots)}\n")
    gnuplot(path + ".svg", f"{width},{430 * len(settings)}", body + "unset multiplot")
    write_csv(path + ".csv", ["program", "setting", "design", "error", *PARTS],
              [[p, s, label, f"{sum(errors[p, s, d]):.4f}", *(f"{x:.4f}" for x in errors[p, s, d])]
               for s in settings for p in programs for label, d in designs.items()])


def grouped(path, title, ylabel, programs, columns, table, extra=""):
    """Bars beside one another: one group a program, one bar a column."""
    rows = [[p, *(f"{table[p, c]:.2f}" for c in columns)] for p in programs]
    plots = ", ".join(f'$d using {i + 2}:xtic(1) title "{c}" lc rgb "{LINE_COLOURS[i]}"'
                      for i, c in enumerate(columns))
    gnuplot(path + ".svg", "1000,480", block("d", rows) +
            f'set title "{title}"\nset ylabel "{ylabel}"\nset style data histogram\n'
            f"set style histogram clustered gap 1\nset style fill solid border -1\n"
            f"set key outside top center horizontal\n{extra}\nplot {plots}")
    write_csv(path + ".csv", ["program", *columns], rows)


def lines(path, title, panels, xlabel, ylabel, extra=""):
    """Panels of lines. panels: title -> {name: [(x, y)]}."""
    body = ""
    for i, curves in enumerate(panels.values()):
        for k, points in enumerate(curves.values()):
            body += block(f"d{i}_{k}", points)
    body += (f'set multiplot layout 1,{len(panels)} title "{title}" font ",15"\n'
             f'set xlabel "{xlabel}"\nset ylabel "{ylabel}"\nset key top left\n{extra}\n')
    for i, (name, curves) in enumerate(panels.items()):
        plots = ", ".join(f'$d{i}_{k} using 1:2 with lines lw 2 lc rgb "{LINE_COLOURS[k % 8]}" '
                          f'title "{curve}"' for k, curve in enumerate(curves))
        body += f'set title "{name}"\nplot {plots}\n'
    gnuplot(path + ".svg", f"{620 * len(panels)},480", body + "unset multiplot")
    write_csv(path + ".csv", ["panel", "curve", "x", "y"],
              [[panel, curve, x, y] for panel, curves in panels.items()
               for curve, points in curves.items() for x, y in points])


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
    grouped(path, "Candidates in an interval, on average", "candidates", programs, columns, table)


def fig06(path, programs, data):
    panels = {}
    for setting, interval, threshold in (("10K", "10000", 0.01), ("1M", "1000000", 0.001)):
        curves = {}
        for p in programs:
            changes = sorted(float(r["change"]) for r in data["shape"]
                             if r["program"] == p and r["interval"] == interval
                             and float(r["threshold"]) == threshold and r["change"] != "")
            curves[p] = [(q, changes[min(len(changes) - 1, q * len(changes) // 100)])
                         for q in range(0, 101, 2)]
        panels[PANEL_TITLES[setting]] = curves
    lines(path, "Change of candidates from one interval to the next", panels,
          "per cent of intervals", "change below, per cent")


def fig07(path, programs, data):
    designs = {f"R{r} P{p}": f"BSH R{r} P{p}" for r in (0, 1) for p in (0, 1)}
    stacked(path, "Single hash, 2048 counters: resetting (R) and retaining (P)", programs,
            ["10K", "1M"], designs, average(data["values"]), cut=60)


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
    stacked(path, "Multi hash, 2048 counters: tables, conservative update (C), resetting (R)",
            ["gcc", "go"], ["10K"], conservative_designs(), average(data["values"]), cut=5)


def fig11(path, programs, data):
    stacked(path, "Multi hash, 2048 counters: tables, conservative update (C), resetting (R)",
            ["gcc", "go"], ["1M"], conservative_designs(), average(data["values"]), cut=60)


def best_designs(most):
    designs = {"single": "BSH R1 P1", "n=1": "BSH R0 P1"}
    designs |= {f"n={n}": f"n{n} C1R0" for n in (2, 4, 8, 16) if n <= most}
    return designs | {"default": "default", "roomy": "roomy"}


def fig12(path, programs, data):
    stacked(path, "Load values: best single hash, n tables with C1 R0, and riffle's default",
            programs, ["10K", "1M"], best_designs(16), average(data["values"]), cut=12)


def fig13(path, programs, data):
    panels = {}
    for title, design in (("best single hash", "BSH R1 P1"), ("4 tables, C1 R0", "n4 C1R0"),
                          ("riffle's default", "default")):
        panels[title] = {p: [(int(r["interval"]), float(r["error"])) for r in data["values"]
                             if r["program"] == p and r["setting"] == "1M"
                             and r["design"] == design] for p in programs}
    top = max(y for curves in list(panels.values())[:2] for points in curves.values()
              for _, y in points)
    lines(path, "Error of every interval, 1,000,000 events at 0.1%", panels, "interval",
          "error, per cent", f"set yrange [0:{top * 1.05:.1f}]\nset key top right")


def fig14(path, programs, data):
    stacked(path, "Edges: best single hash, n tables with C1 R0, and riffle's default", programs,
            ["10K", "1M"], best_designs(8), average(data["edges"]), cut=15)


def auto(path, programs, data):
    table = {(r["program"], r["length"]): float(r["change"]) for r in data["change"]}
    grouped(path, "Change of candidates between intervals at 1%, by length of the interval",
            "change, per cent of candidates in either", programs, ["10K", "100K", "1M", "auto"],
            table)


FIGURES = {"04": fig04, "05": fig05, "06": fig06, "07": fig07, "09": fig09, "10": fig10,
           "11": fig11, "12": fig12, "13": fig13, "14": fig14, "auto": auto}


def draw(folder, programs, data, wanted):
    for name, figure in FIGURES.items():
        if not wanted or name in [w.zfill(2) for w in wanted]:
            figure(f"{folder}/{'fig' if name.isdigit() else ''}{name}", programs, data)
            print(f"   {folder}/{'fig' if name.isdigit() else ''}{name}.svg", flush=True)
