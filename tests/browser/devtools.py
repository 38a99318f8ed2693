"""devtools - a headless browser, driven over its DevTools protocol with nothing but the standard library.

    with devtools.Browser(program, folder) as browser:
        browser.open(path)
        browser.run("document.title")           the value of an expression
        browser.key("Enter"); browser.click("button")
        browser.errors, browser.requests        what it complained about, what it asked the network for
        browser.shoot(path)                     a picture

Commands go to the browser through a pipe, not a port, so that nobody else can reach it.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import time

SECONDS = 60
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SWITCHES = ["--headless", "--disable-gpu", "--disable-extensions", "--no-first-run", "--disable-background-networking",
            "--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars", "--remote-debugging-pipe",
            "--enable-precise-memory-info"]
KEYS = {"Enter": ("\r", 13), "Escape": ("", 27), "Tab": ("", 9), "ArrowUp": ("", 38), "ArrowDown": ("", 40),
        "ArrowLeft": ("", 37), "ArrowRight": ("", 39)}


def find():
    """A browser, or None."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    def __init__(self, program, folder, size=(1280, 860), dark=False):
        # Root has no sandbox in a container; the page that is opened here is our own.
        own = ["--no-sandbox"] if os.geteuid() == 0 else []
        to_read, self.to = os.pipe()
        self.at, to_write = os.pipe()
        command = [program, *SWITCHES, *own, f"--user-data-dir={folder}", f"--window-size={size[0]},{size[1]}", "about:blank"]

        def place():  # the protocol's descriptors are 3 and 4
            os.dup2(to_read, 13)
            os.dup2(to_write, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(command, preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.number, self.session = b"", 0, None
        self.errors, self.requests, self.loaded = [], [], False
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.theme("dark" if dark else "light")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.at)

    def receive(self, deadline):
        while b"\0" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.at], [], [], left)[0]:
                raise RuntimeError("the browser does not answer")
            data = os.read(self.at, 1 << 16)
            if not data:
                raise RuntimeError("the browser is gone")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def notice(self, message):
        method, of = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = of["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and of["type"] in ("error", "warning", "assert"):
            self.errors.append(str([argument.get("value") for argument in of["args"]]))
        elif method == "Log.entryAdded" and of["entry"]["level"] in ("error", "warning"):
            self.errors.append(of["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, **of):
        self.number += 1
        message = {"id": self.number, "method": method, "params": of}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while True:
            answer = self.receive(deadline)
            if answer.get("id") != self.number:
                self.notice(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def theme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path):
        """Seconds until the page has loaded and drawn."""
        self.errors.clear()
        self.requests.clear()
        self.loaded = False
        start, deadline = time.monotonic(), time.monotonic() + SECONDS
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not self.loaded:
            self.notice(self.receive(deadline))
        self.settle()
        return time.monotonic() - start

    def run(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def settle(self):
        """Two frames later everything is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def key(self, name):
        text, code = KEYS.get(name, (name, ord(name[0])))
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code, **more)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def click(self, selector):
        """Where its middle is, as a person would."""
        box = self.run(f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                       " return [box.left + box.width / 2, box.top + box.height / 2]; })()")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)
        self.settle()

    def panel(self, title, group=""):
        """Choose a panel as the list on the left names it; the first whose group begins so."""
        self.run("(() => { let group = ''; for (const at of document.querySelectorAll('nav > *')) {"
                 f" if (at.className === 'group') group = at.textContent; else if (at.textContent === {json.dumps(title)}"
                 f" && group.startsWith({json.dumps(group)})) {{ at.click(); return; }} }} throw new Error('no such panel'); }})()")
        self.settle()

    def text(self, selector):
        return self.run(f"(document.querySelector({json.dumps(selector)}) || {{textContent: null}}).textContent")

    def texts(self, selector):
        return self.run(f"Array.from(document.querySelectorAll({json.dumps(selector)}), at => at.textContent)")

    def memory(self):
        """Bytes that the page's objects and its nodes take."""
        self.call("HeapProfiler.collectGarbage")
        return self.run("performance.memory.usedJSHeapSize")

    def footprint(self):
        """Bytes that all processes of the browser hold: their own pages, and their parts of those that they share (Pss).
        Another browser that runs at the same time takes a part of them, too, and makes this too small."""
        parents, total = {}, 0
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    parents[int(pid)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass
        family = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in family} - family:
            family |= more
        for pid in family:
            try:
                with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                    total += next(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024
            except OSError:
                pass
        return total

    def resident(self):
        """Bytes that the process of the page holds, with all that it shares with others (Rss)."""
        session, self.session = self.session, None
        pages = [each["id"] for each in self.call("SystemInfo.getProcessInfo")["processInfo"] if each["type"] == "renderer"]
        self.session = session
        sizes = []
        for pid in pages:
            with open(f"/proc/{pid}/statm", encoding="ascii") as file:
                sizes.append(int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE"))
        return max(sizes)

    def shoot(self, path):
        picture = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))
