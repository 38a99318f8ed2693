"""draw.py - figures 7, 12 and 13 as drawings: SVG from the text that riffle prints.

    draw.py FOLDER      figure7.txt, figure12.txt, narrow.txt: trees of hot ranges; figure12.csv: what is said of them;
                        figure13.csv: rectangles of code and data
"""
import csv
import math
import os
import re
import sys
import textwrap
from html import escape

LINE = re.compile(r"\s*([\d.]+)%\s+([\d.]+)%(\s+)(0x\w+)(?:\.\.(0x\w+))?\s*(.*)")
BOX_WIDTH, GAP, BETWEEN = 210, 14, 36
LABEL_WIDTH, LABEL_LINES = 36, 2  # characters, lines
INK, LIGHT, HOT = "#222222", "#f7efe4", "#c0392b"


class Range:
    def __init__(self, share, inner, depth, lo, hi, label):
        self.share, self.inner, self.depth, self.lo, self.hi, self.label = share, inner, depth, lo, hi, label
        self.below, self.x, self.note = [], 0, ""


def read_tree(path):
    """The outermost hot ranges of the first profile, each with those inside it."""
    top, stack = [], []
    with open(path) as lines:
        for line in lines:
            found = LINE.match(line)
            if found is None:
                if top and not line.strip():
                    break
                continue
            node = Range(float(found[1]), float(found[2]), len(found[3]), found[4], found[5] or found[4], found[6])
            while stack and stack[-1].depth >= node.depth:
                stack.pop()
            (stack[-1].below if stack else top).append(node)
            stack.append(node)
    return top


def place(nodes, next_leaf=0):
    """Leaves side by side in order of address, parents above the middle of theirs."""
    for node in nodes:
        next_leaf = place(node.below, next_leaf)
        if node.below:
            node.x = sum(inner.x for inner in node.below) / len(node.below)
        else:
            node.x = next_leaf
            next_leaf += 1
    return next_leaf


def text(x, y, words, size=12, **more):
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}"{extra}>{escape(words)}</text>'


def shade(share, most):
    """From the light of paper to the red of the hottest."""
    k = min(1, share / most)
    mix = [round(a + (b - a) * k) for a, b in zip((0xf7, 0xef, 0xe4), (0xd9, 0x5f, 0x4e))]
    return "#%02x%02x%02x" % tuple(mix)


def label_of(label):
    """What lies in a range, in lines that fit its box: as many names as do, and how many more there are."""
    found = re.fullmatch(r"(.*?)(?: and (\d+) more)?( \([^()]*\))?", label)
    names, more, place = found[1].split(", "), int(found[2] or 0), found[3] or ""
    for n in range(len(names), 0, -1):
        rest = len(names) - n + more
        lines = textwrap.wrap(", ".join(names[:n]) + (f" and {rest} more" if rest else "") + place, LABEL_WIDTH)
        if len(lines) <= LABEL_LINES or n == 1:
            return lines
    return []


def box_height(nodes):
    """Boxes of one drawing are of one height: that of the most lines."""
    return 42 + max(12 * (len(label_of(node.label)) + bool(node.note)) for node in nodes)


def draw_node(node, level, most, height):
    x, y = node.x * (BOX_WIDTH + GAP) + GAP, 60 + level * (height + BETWEEN)
    middle = x + BOX_WIDTH / 2
    parts = []
    for inner in node.below:
        to = inner.x * (BOX_WIDTH + GAP) + GAP + BOX_WIDTH / 2
        parts.append(f'<line x1="{middle:.0f}" y1="{y + height}" x2="{to:.0f}" y2="{y + height + BETWEEN}" stroke="{INK}"/>')
    parts.append(f'<rect x="{x:.0f}" y="{y}" width="{BOX_WIDTH}" height="{height}" rx="4" fill="{shade(node.share, most)}" '
                 f'stroke="{INK}"/>')
    name = node.lo if node.lo == node.hi else f"{node.lo}..{node.hi[2:]}"
    parts.append(text(middle, y + 17, name, 10.5, text_anchor="middle", font_family="monospace"))
    both = f"{node.share:.1f}%" if not node.below else f"{node.share:.1f}% ({node.inner:.1f}%)"
    parts.append(text(middle, y + 33, both, 12, text_anchor="middle", font_weight="bold"))
    lines = label_of(node.label)
    parts += [text(middle, y + 46 + 12 * i, line, 9.5, text_anchor="middle") for i, line in enumerate(lines)]
    parts.append(text(middle, y + 46 + 12 * max(1, len(lines)), node.note, 10, text_anchor="middle"))
    for inner in node.below:
        parts += draw_node(inner, level + 1, most, height)
    return parts


def depth_of(nodes):
    return 1 + max(depth_of(node.below) for node in nodes) if nodes else 0


def each(nodes):
    for node in nodes:
        yield node
        yield from each(node.below)


def write_svg(path, width, height, parts):
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
                   f'height="{height:.0f}" font-family="Helvetica,sans-serif" fill="{INK}">\n'
                   f'<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def chances(folder):
    """Of each range of figure 12: how likely a load from there finds a zero."""
    path = f"{folder}/figure12.csv"
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        found = {(r["lo"], r["hi"]): [f"{float(r[f'chance_{end}_percent']):.0f}" for end in ("lower", "upper")]
                 for r in csv.DictReader(file)}
    return {box: f"a load finds zero: {' to '.join(dict.fromkeys(bounds))}%" for box, bounds in found.items()}


def draw_tree(folder, name, title, rest, notes=None):
    source = f"{folder}/{name}.txt"
    if not os.path.exists(source):
        return
    top = read_tree(source)
    leaves = place(top)
    hot = list(each(top))
    if not hot:
        return
    for node in hot:
        node.note = (notes or {}).get((node.lo, node.hi), "")
    width = max(leaves * (BOX_WIDTH + GAP) + GAP, 720) # the line below the title has to fit
    box = box_height(hot)
    height = 60 + depth_of(top) * (box + BETWEEN) + 10
    most = max(node.share for node in hot)
    parts = [text(GAP, 24, title, 16, font_weight="bold"),
             text(GAP, 44, f"{len(hot)} ranges of more than 10%, in order (in brackets: with the hot ones inside); "
             f"{100 - sum(n.share for n in hot):.1f}% {rest}")]
    for node in top:
        parts += draw_node(node, 0, most, box)
    write_svg(f"{folder}/{name}.svg", width, height, parts)


def ends(rows, low, high, length):
    """Every end of a rectangle and its place on an axis of this length, where the step from one to the next is as wide as the
    logarithm of what lies between them: to scale, bytes and gigabytes would not go on one page."""
    found = sorted({value for row in rows for value in (row[low], row[high] + 1)})
    at = [0.0]
    for one, next_one in zip(found, found[1:]):
        at.append(at[-1] + math.log2(next_one - one))
    return {value: length * x / at[-1] for value, x in zip(found, at)}


def axis_labels(places, lower, upper, horizontal, origin):
    """Ticks at all ends; numbers where there is room, lower ends first."""
    parts, taken = [], []
    for value in sorted(lower) + sorted(upper - lower):
        place = places[value]
        tick = (origin[0] + place, origin[1], 0, 4) if horizontal else (origin[0], origin[1] - place, -4, 0)
        parts.append(f'<line x1="{tick[0]:.1f}" y1="{tick[1]:.1f}" x2="{tick[0] + tick[2]:.1f}" y2="{tick[1] + tick[3]:.1f}" stroke="{INK}"/>')
        if any(abs(place - other) < 11 for other in taken):
            continue
        taken.append(place)
        if horizontal:
            x, y = origin[0] + place, origin[1] + 12
            parts.append(f'<text x="{x:.0f}" y="{y:.0f}" font-size="9.5" font-family="monospace" '
                         f'transform="rotate(60 {x:.0f} {y:.0f})">{value:#x}</text>')
        else:
            parts.append(text(origin[0] - 6, origin[1] - place + 3, f"{value:#x}", 9.5, text_anchor="end",
                              font_family="monospace"))
    return parts


def inside(a, b):
    return a is not b and b[0] <= a[0] and a[1] <= b[1] and b[2] <= a[2] and a[3] <= b[3]


def name_of(names, many):
    """Of a stretch of addresses: a program, what many libraries are called, or one or two names; else None."""
    program = re.search(r" more \((\w+)\)$", names)
    if program:
        return program[1]
    if "more" in names:
        return many if names.count(".so") > 1 else None
    short = list(dict.fromkeys(re.sub(r"[][]|\+0x\w+| \([^()]*\)", "", name) for name in names.split(", ")))
    return ", ".join(short) if len(short) < 3 else None


def areas(path, line, places, many=None):
    """What lies in the outermost stretches that have a name: [(from, to, name)], where an axis has both ends. line: what
    stands before an address, in front of the letters of data or the per cents of code."""
    found = []
    with open(path) as lines:
        for lo, hi, names in re.findall(line + r"(0x\w+)\.\.(0x\w+)  (.*)$", lines.read(), re.M):
            lo, hi, name = int(lo, 16), int(hi, 16) + 1, name_of(names, many)
            if name and lo in places and hi in places and not any(a <= lo and hi <= b for a, b, _ in found):
                found.append((lo, hi, name))
    joined = []
    for lo, hi, name in sorted(found):
        if joined and joined[-1][1:] == (lo, name):
            lo = joined.pop()[0]
        joined.append((lo, hi, name))
    return joined


def draw_areas(found, data, left, top):
    """A line over each stretch of data, and its name where there is room for it beside the one before."""
    parts, end = [], 0
    for lo, hi, name in found:
        x, w, wide = left + data[lo], data[hi] - data[lo], 6.2 * len(name)
        parts.append(f'<line x1="{x + 1:.1f}" y1="{top - 6}" x2="{x + w - 1:.1f}" y2="{top - 6}" stroke="{INK}" stroke-width="2"/>')
        if x + (w - wide) / 2 > end:
            parts.append(text(x + w / 2, top - 12, name, 10.5, text_anchor="middle"))
            end = x + (w + wide) / 2
    return parts


def draw_areas_of_code(found, code, right, bottom):
    """The same beside the stretches of code."""
    parts = []
    for lo, hi, name in found:
        low, high = bottom - code[lo], bottom - code[hi]
        parts.append(f'<line x1="{right + 6}" y1="{low - 1:.1f}" x2="{right + 6}" y2="{high + 1:.1f}" stroke="{INK}" stroke-width="2"/>')
        parts.append(text(right + 12, (low + high) / 2 + 4, name, 10.5))
    return parts


class Labels:
    """Words beside boxes, where they cover neither a filled box nor each other."""

    def __init__(self, frame, taken):
        self.frame, self.taken, self.parts = frame, list(taken), []

    def is_free(self, x, y, w, h):
        left, top, wide, tall = self.frame
        return left <= x and x + w <= left + wide and top <= y and y + h <= top + tall and not any(
            x < a + c and a < x + w and y < b + d and b < y + h for a, b, c, d in self.taken)

    def put(self, words, places, **look):
        """At the first of these corners (left, top) that is free; nowhere where none is."""
        w, h = 5.8 * len(words), 10
        spot = next(((x, y) for x, y in places(w, h) if self.is_free(x, y, w, h)), None)
        if spot:
            self.taken.append((*spot, w, h))
            self.parts.append(text(spot[0], spot[1] + h - 1.5, words, 10, paint_order="stroke", stroke="#ffffff", stroke_width=2, **look))


def around_box(x, y, w, h):
    """Right, left, above and below."""
    return lambda a, b: [(x + w + 2, y + (h - b) / 2), (x - a - 2, y + (h - b) / 2), (x + (w - a) / 2, y - b - 1), (x + (w - a) / 2, y + h + 1)]


def along_box(x, y, w, h):
    """Inside, along the top and the bottom, from the left and the right."""
    return lambda a, b: [(x + 2 + k * (w - a - 4) / 8, at) for at in (y + 2, y + h - b - 2) for k in range(9)]


def draw_rectangles(folder):
    source = f"{folder}/figure13.csv"
    if not os.path.exists(source):
        return
    with open(source) as file:
        rows = [[int(r[k], 16) for k in ("code_lo", "code_hi", "data_lo", "data_hi")] + [float(r["share"])]
                for r in csv.DictReader(file)]
    if not rows:
        return
    wide, tall, left, top = 800, 620, 110, 100
    code, data = ends(rows, 0, 1, tall), ends(rows, 2, 3, wide)
    boxes = [(left + data[r[2]], top + tall - code[r[1] + 1], data[r[3] + 1] - data[r[2]], code[r[1] + 1] - code[r[0]]) for r in rows]
    dashed = [any(inside(other, row) for other in rows) for row in rows]
    most = max(row[4] for row, outer in zip(rows, dashed) if not outer)
    parts = [text(20, 24, "Figure 13: gcc, loads by code and data, in per cent of all", 16, font_weight="bold"),
             text(20, 44, "Ranges of 1.5% and more, eps 1%. Filled: hot rectangles, the darker the hotter. Dashed: hot ranges around them."),
             text(20, 60, "A number in grey is what a dashed range has beside the ranges inside it. Steps are as wide as the logarithm of their bytes."),
             f'<rect x="{left}" y="{top}" width="{wide}" height="{tall}" fill="none" stroke="#aaaaaa"/>']
    order = sorted(range(len(rows)), key=lambda i: -boxes[i][2] * boxes[i][3])
    labels = Labels((left, top, wide, tall), [box for box, outer in zip(boxes, dashed) if not outer])
    for i in order:
        x, y, w, h = boxes[i]
        style = 'fill="none" stroke="#888888" stroke-dasharray="4 3"' if dashed[i] else f'fill="{shade(rows[i][4], most)}" stroke="{INK}"'
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" {style}><title>{rows[i][4]}%</title></rect>')
        if not dashed[i] and w > 17 and h > 10:
            labels.parts.append(text(x + w / 2, y + h / 2 + 3.5, f"{rows[i][4]:.1f}", 10, text_anchor="middle"))
        elif not dashed[i]:
            labels.put(f"{rows[i][4]:.1f}", around_box(*boxes[i]))
    for i in order:
        if dashed[i]:
            labels.put(f"{rows[i][4]:.1f}", along_box(*boxes[i]), fill="#888888")
    parts += labels.parts
    filled = [row for row, outer in zip(rows, dashed) if not outer]
    for places, low, horizontal in ((code, 0, False), (data, 2, True)):
        parts += axis_labels(places, {row[low] for row in filled}, {row[low + 1] + 1 for row in filled}, horizontal, (left, top + tall))
    legend = f"{folder}/figure13.txt"
    if os.path.exists(legend):
        parts += draw_areas(areas(legend, r"^   [A-Z]  ", data), data, left, top)
        parts += draw_areas_of_code(areas(legend, r"^ +[\d.]+%.*?  ", code, "libraries"), code, left + wide, top + tall)
    parts += [text(20, top + tall / 2, "code", 13, transform=f"rotate(-90 20 {top + tall / 2:.0f})"),
              text(left + wide / 2, top + tall + 110, "data", 13)]
    write_svg(f"{folder}/figure13.svg", left + wide + 80, top + tall + 125, parts)


draw_tree(sys.argv[1], "figure7", "Figure 7: hot load values of gzip, eps 1%", "of the loads are elsewhere")
draw_tree(sys.argv[1], "figure12", "Figure 12: where gcc loads zeros from, eps 1%", "of the zero loads are elsewhere",
          chances(sys.argv[1]))
draw_tree(sys.argv[1], "narrow", "Section 5.4.2: where gcc computes results of at most 16 bits, eps 1%", "of them are elsewhere")
draw_rectangles(sys.argv[1])
