#!/usr/bin/env python3
"""report - the HTML report in a real browser: it opens, sorts, filters and zooms, asks the network for nothing, and no
name in it is taken for anything but text.

    report.py RIFFLE RANK [FOLDER]      pictures go to FOLDER
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
import devtools  # noqa: E402
import tap  # noqa: E402

RIFFLE, RANK = sys.argv[1:3]
PICTURES = sys.argv[3] if len(sys.argv) > 3 else None
SECONDS_MAX, BYTES_MAX = 3, 200e6


def riffle(*arguments, text=None, folder=None):
    subprocess.run([RIFFLE, *arguments], check=True, timeout=120, input=text, cwd=folder,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def quiet(browser, title):
    """No complaint and nothing but the page itself."""
    others = [url for url in browser.requests if not url.startswith("file://") or not url.endswith(".html")]
    tap.check(f"{title}: nothing on the console", not browser.errors, browser.errors[:3])
    tap.check(f"{title}: no request but for the page", not others and len(browser.requests) == 1, browser.requests)


def picture(browser, name):
    if PICTURES:
        browser.shoot(os.path.join(PICTURES, name + ".png"))


def column(browser, number):
    return browser.texts(f"#panel tbody tr td:nth-child({number}):not(.spacer)")


def visit_all(browser):
    """Every panel can be drawn; how many there are."""
    n = browser.run("document.querySelectorAll('nav button').length")
    for i in range(n):
        browser.run(f"document.querySelectorAll('nav button')[{i}].click()")
        browser.settle()
    return n


# ---- a program ----

def check_tables(browser):
    browser.panel("functions", "insn")
    tap.check("the hottest function is the first", column(browser, 3)[0] == "spread", column(browser, 3)[:3])
    browser.click('#panel th[data-column="function"] button')
    names = column(browser, 3)
    tap.check("a click on a heading sorts by it", names == sorted(names, key=str.lower) or
              names[0].lower() <= names[-1].lower() and names[0] != "spread", names[:5])
    tap.check("and says so", browser.run("document.querySelector('th[data-column=function]').ariaSort") == "ascending")
    browser.run("document.querySelector('th[data-column=count] button').focus()")
    browser.key("Enter")
    counts = [int(text.replace(",", "")) for text in column(browser, 2)]
    tap.check("Enter on a heading sorts, too", counts == sorted(counts, reverse=True), counts[:5])
    browser.key("/")
    browser.type("spre")
    tap.check("/ and a word filter the rows", column(browser, 3) == ["spread"], column(browser, 3))
    tap.check("and the tally says how many", re.fullmatch(r"1 of \d+ rows", browser.text(".bar-of-tools .soft")),
              browser.text(".bar-of-tools .soft"))
    browser.key("Escape")


def check_source(browser):
    browser.click("#panel tbody td a")
    tap.check("a function's name leads to its source", browser.text("#panel h2") == "spread", browser.text("#panel h2"))
    warm = browser.texts("#panel tr.warm td.text")
    tap.check("its hot lines are marked", any("sum += share[to][from]" in line for line in warm), warm)
    picture(browser, "source")


def check_keys(browser):
    before = browser.text("nav [aria-current]")
    browser.key("]")
    browser.key("[")
    tap.check("] and [ go through the panels", browser.text("nav [aria-current]") == before, before)
    colour = "getComputedStyle(document.body).backgroundColor"
    light = browser.run(colour)
    browser.key("t")
    dark = browser.run(colour)
    tap.check("t changes the theme", light != dark, (light, dark))
    browser.key("t")
    browser.key("?")
    tap.check("? shows the keys", "zoom" in (browser.text("dialog[open]") or ""))
    browser.key("Escape")


def check_print(browser):
    browser.run("dispatchEvent(new Event('beforeprint'))")
    n = browser.run("document.querySelectorAll('#print section').length")
    panels = browser.run("document.querySelectorAll('nav button').length")
    tap.check("on paper stand all panels", n == panels, (n, panels))
    browser.run("dispatchEvent(new Event('afterprint'))")


def check_program(browser, folder):
    page = os.path.join(folder, "rank.html")
    riffle("run", "-q", "--html", page, "--", RANK)
    tap.check("only its owner can read the page", os.stat(page).st_mode & 0o77 == 0, oct(os.stat(page).st_mode))
    browser.open(page)
    tap.check("the title is the program's", browser.run("document.title") == "rank - Riffle", browser.run("document.title"))
    tap.check("the overview has what is worth a look", "loads 0 in 98.7%" in (browser.text("ul.findings") or ""),
              browser.text("#panel"))
    picture(browser, "report")
    check_tables(browser)
    check_source(browser)
    check_keys(browser)
    check_print(browser)
    visit_all(browser)
    quiet(browser, "a program")


# ---- graphs ----

def width(browser, text):
    return browser.run("(Array.from(document.querySelectorAll('.frame')).find(at => at.textContent === "
                       f"{text!r}) || {{offsetWidth: 0}}).offsetWidth")


def check_flames(browser, folder):
    page = os.path.join(folder, "flame.html")
    riffle("run", "-q", "-p", "stacks=20K", "--html", page, "--", RANK)
    browser.open(page)
    browser.panel("stacks")
    whole = width(browser, "all")
    tap.check("the flame graph has the functions", width(browser, "spread") > 0.9 * whole, browser.texts(".frame"))
    top = "Array.from(document.querySelectorAll('.frame')).find(at => at.textContent === 'all').offsetTop"
    low = browser.run(top)
    browser.run("Array.from(document.querySelectorAll('#panel button')).find(at => at.textContent === 'as icicles').click()")
    tap.check("flames turn into icicles", low > 0 and browser.run(top) == 0, low)
    browser.run("document.querySelector('#panel input').focus()")
    browser.type("spread")
    tap.check("what is looked for is marked", browser.texts(".frame.found") == ["spread"], browser.texts(".frame.found"))
    quiet(browser, "flames")


def check_ranges(browser, page):
    browser.panel("range tree", "tuples, rap(key=b")
    frames = browser.run("document.querySelectorAll('.frame').length")
    target = browser.run("(() => { const all = Array.from(document.querySelectorAll('.frame'));"
                         " const at = all.findIndex(frame => frame.offsetWidth < 0.4 * all[0].offsetWidth && frame.offsetWidth > 40);"
                         " all[at].id = 'target'; return all[at].textContent; })()")
    browser.click("#target")
    browser.run("new Promise(done => setTimeout(done, 250))")
    tap.check("a click zooms into the range tree", width(browser, target) > 0.99 * width(browser, "all") > 0, target)
    browser.key("Escape")
    browser.run("document.activeElement.blur()")
    browser.run("Array.from(document.querySelectorAll('#panel button')).find(at => at.textContent === 'all of it').click()")
    tap.check("and back", browser.run("document.querySelectorAll('.frame').length") == frames, frames)
    picture(browser, "ranges")


def check_maps(browser):
    browser.panel("heat map", "tuples, rap(key=both")
    browser.run("document.querySelector('.map svg').focus()")
    browser.key("ArrowDown")
    browser.key("ArrowRight")
    info = browser.text(".info")
    tap.check("arrows move in the heat map, and it tells where", re.search(r"events, [\d.]+%.*a 0x.*b 0x", info or ""), info)
    rects = browser.run("document.querySelectorAll('.map rect').length")
    tap.check("there is heat in it", rects > 20, rects)
    picture(browser, "heat")
    for title in ("over time", "candidates"):
        browser.panel(title, "tuples, multihash")
        n = browser.run("new Set(Array.from(document.querySelectorAll('.map rect'), at => at.getAttribute('x'))).size")
        tap.check(f"{title}: every interval has its column", n >= 10, n)


def check_stream(browser, folder):
    page = os.path.join(folder, "stream.html")
    trace = os.path.join(folder, "loop.rft")
    riffle("gen", "phases", "--events", "1M", "--seed", "1", "-o", trace)
    riffle("replay", trace, "-e", "exact", "-e", "rap(key=b)", "-e", "rap(key=both)",
           "-e", "multihash(interval=100K, threshold=1%)", "--html", page)
    browser.open(page)
    check_ranges(browser, page)
    check_maps(browser)
    visit_all(browser)
    browser.panel("items", "tuples, multihash")
    whiskers = browser.run("document.querySelectorAll('.whisker').length")
    tap.check("bounds have whiskers", whiskers > 0, whiskers)
    quiet(browser, "a stream")


# ---- what changed ----

def check_diff(browser, folder):
    page = os.path.join(folder, "diff.html")
    for name, text in (("old", "0x10 1 100\n0x20 2 50\n0x30 3 7\n"), ("new", "0x10 1 100\n0x20 2 60\n0x40 4 3\n")):
        riffle("replay", "-", "-e", "exact", "-o", os.path.join(folder, name + ".rfp"), text=text.encode())
    riffle("diff", os.path.join(folder, "old.rfp"), os.path.join(folder, "new.rfp"), "--html", page)
    browser.open(page)
    browser.panel("items that changed")
    tap.check("a diff: changes are there, the largest first", column(browser, 3) == ["+10", "-7", "+3", "0"], column(browser, 3))
    tap.check("what grew and what shrank differ", browser.texts("td.up") == ["+10", "+3"] and browser.texts("td.down") == ["-7"],
              (browser.texts("td.up"), browser.texts("td.down")))
    browser.click('#panel th[data-column="change"] button')
    browser.click('#panel th[data-column="change"] button')
    tap.check("they can be sorted", column(browser, 3) == ["-7", "0", "+3", "+10"], column(browser, 3))
    visit_all(browser)
    quiet(browser, "a diff")


# ---- hostile names ----

EVIL = ["</script><script>window.evil = 1</script>", "<img src=x onerror=window.evil=1>", "a\"'`onload=window.evil=1//",
        "\x1b[31m\x07\x03", "&lt;b&gt;&amp;", "__proto__", "constructor", "long" * 2500]
EVIL_BYTES = [name.encode() for name in EVIL] + [b"\xff\xfe\xc0\xaf\xed\xa0\x80", "\u202e\u2028\u2029\ufeff".encode(), b"toString"]
HOT, COLD = {b"__proto__": 20000, b"constructor": 20000, b"toString": 100}, "toString"  # turns; COLD is too few for its code


def hostile_program(folder):
    """A program whose functions have those names; assembled, because C does not allow them."""
    lines = [b".text"]
    for i, name in enumerate(EVIL_BYTES):
        quoted = b'"' + name.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
        lines += [b".Lf%d:" % i, b".type " + quoted + b", @function", quoted + b":", b"mov $%d, %%ecx" % HOT.get(name, 2000),
                  b"1: mov (%rsp), %rax", b"dec %ecx", b"jnz 1b", b"ret", b".size " + quoted + b", . - " + quoted]
    lines += [b".globl main", b".type main, @function", b"main:"] + [b"call .Lf%d" % i for i in range(len(EVIL_BYTES))]
    lines += [b"xor %eax, %eax", b"ret", b".size main, . - main", b'.section .note.GNU-stack,"",@progbits', b""]
    source, program = os.path.join(folder, "evil.s"), os.path.join(folder, "<b>evil&amp;")
    with open(source, "wb") as file:
        file.write(b"\n".join(lines))
    subprocess.run(["gcc", "-o", program, source, "-no-pie"], check=True, timeout=60)
    return program


def check_hostile(browser, folder):
    page = os.path.join(folder, "hostile.html")
    riffle("run", "-q", "-p", "code", "-p", "values", "-p", "stacks=1K", "--full-names", "--html", page, "--", hostile_program(folder),
           "</script><script>window.evil = 1</script>")
    with open(page, "rb") as file:
        raw = file.read()
    tap.check("the page has the two scripts of its own and no third", raw.count(b"<script") == 2 and raw.count(b"</script") == 2,
              (raw.count(b"<script"), raw.count(b"</script")))
    tap.check("the page is UTF-8 without controls", not re.search("[\0-\x08\x0b-\x1f\x7f\u202e\u2028\u2029]", raw.decode()))
    browser.open(page)
    panels = visit_all(browser)
    browser.panel("functions", "insn")
    shown = column(browser, 3)
    wanted = [EVIL[0], EVIL[1], EVIL[2], EVIL[4], EVIL[5], EVIL[6]]
    tap.check("names are shown as they are", all(name in shown for name in wanted), [name[:60] for name in shown])
    tap.check("control bytes are shown as escapes", "\\x1b[31m\\x07\\x03" in shown, [name[:60] for name in shown])
    links = set(browser.texts("#panel td a"))
    inside = {panel["title"] for panel in json.loads(browser.text("#data"))["panels"] if panel["kind"] == "source"}
    tap.check("names lead to their code where it is in the page", links == inside & set(shown) and
              {"__proto__", "constructor"} <= links, [name[:60] for name in links ^ inside])
    browser.key("/")
    browser.type(COLD)
    tap.check("a name that objects have anyway leads nowhere else", column(browser, 3) == [COLD] and not browser.texts("#panel td a"),
              (column(browser, 3), browser.texts("#panel td a")))
    browser.panel("functions", "insn")
    browser.run("Array.from(document.querySelectorAll('#panel td a')).find(at => at.textContent === '__proto__').click()")
    tap.check("a hostile name leads to its own code", browser.text("#panel h2") == "__proto__", browser.text("#panel h2")[:60])
    browser.panel("functions", "insn")
    longest = max(map(len, shown))
    tap.check("a name of 10 KB is there and leaves the table in its place", longest >= 4000 and
              browser.run("document.documentElement.scrollWidth <= innerWidth"), longest)
    browser.key("/")
    browser.type("onerror")
    tap.check("and can be filtered", column(browser, 3) == [EVIL[1]], column(browser, 3))
    strangers = browser.run("document.querySelectorAll('img, iframe, object, embed, link, b:not(.tile b):not(.info b)').length")
    tap.check("no name became an element", strangers == 0 and browser.run("document.scripts.length") == 2, strangers)
    tap.check("no name became a script", browser.run("typeof window.evil") == "undefined" and panels > 5)
    quiet(browser, "hostile names")


def check_policy(browser, folder):
    """The policy must be what stops a script, if ever one got in."""
    page, changed = os.path.join(folder, "hostile.html"), os.path.join(folder, "changed.html")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    with open(changed, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", "<script>window.evil = 1</script><img src='http://127.0.0.1/x'></body>"))
    browser.open(changed)
    tap.check("a script that got in does not run", browser.run("typeof window.evil") == "undefined")
    tap.check("and the policy says why", any("Content Security Policy" in error for error in browser.errors), browser.errors)


# ---- many items ----

def many_items(folder):
    """A profile of a million items, and its page."""
    n = 1000000
    page, profile = os.path.join(folder, "many.html"), os.path.join(folder, "many.rfp")
    text = "".join(f"{4194304 + i * 7 % 65536 * 4} {i * 64} {1 + n // i}\n" for i in range(1, n + 1))
    riffle("replay", "-", "-e", "exact", "-o", profile, text=text.encode())
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    riffle("report", profile)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    riffle("report", profile, "--html", page)
    return page, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_many(folder):
    """In a browser of its own, while no other runs, so that its memory is of this page."""
    page, report = many_items(folder)
    with devtools.Browser(devtools.find(), os.path.join(folder, "another")) as browser:
        empty = browser.resident(), browser.footprint()
        seconds = browser.open(page)
        opened = browser.resident(), browser.footprint()
        browser.panel("items")
        size = os.path.getsize(page)
        tap.check("a million items: the page says what it leaves out",
                  "The 5,000 heaviest of 1,000,000 rows" in browser.text("#panel"), browser.text("#panel")[:200])
        rows = browser.run("document.querySelectorAll('#panel tbody tr').length")
        tap.check("only rows in sight are in the page", 10 < rows < 120, rows)
        browser.run("document.querySelector('#panel .scroll').scrollTop = 1e9")
        browser.run("new Promise(done => setTimeout(done, 100))")
        tap.check("the last row can be reached", len(column(browser, 3)) > 5)
        visit_all(browser)
        visited, objects = (browser.resident(), browser.footprint()), browser.memory()
        told = f"{seconds:.2f} s; "
        for i, whose in enumerate(("the process of the page holds", "all processes of the browser")):
            told += (f"{whose} {empty[i] / 1e6:.0f} MB when it is empty, {opened[i] / 1e6:.0f} MB with this one, "
                     f"{visited[i] / 1e6:.0f} MB when every panel was visited; ")
        told += f"objects {objects / 1e6:.1f} MB; a file of {size / 1e6:.1f} MB; riffle report took {report:.2f} s of the processor"
        tap.check(f"it opens in less than {SECONDS_MAX} s and {BYTES_MAX / 1e6:.0f} MB of its process",
                  seconds < SECONDS_MAX and max(opened[0], visited[0]) < BYTES_MAX, told)
        tap.check("riffle report prints it in less than a second of the processor", report < 1, told)
        print(f"# a million items: {told}")
        quiet(browser, "a million items")


def main():
    program = devtools.find()
    if program is None:
        tap.skip("the HTML report in a browser", "there is no chromium")
        tap.end()
    with tempfile.TemporaryDirectory() as folder, devtools.Browser(program, os.path.join(folder, "browser")) as browser:
        for check in (check_program, check_flames, check_stream, check_diff, check_hostile, check_policy):
            check(browser, folder)
    with tempfile.TemporaryDirectory() as folder:
        check_many(folder)
    tap.end()


main()
