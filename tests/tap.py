"""tap - what every test in Python says: a line a case, complaints in front of it, how many there were at the end.

    tap.check("a limit", count == 1000, count)              good, or what was seen
    tap.tell("includes follow the arrows", complaints)      good when there are none
    tap.end()                                               the plan; exit status 1 when anything failed
"""
import os
import sys

os.environ["COLUMNS"] = "9999"  # reports are not folded, so that a test finds a sentence whole
cases = failed = 0


def tell(title, complaints, note=""):
    global cases, failed
    cases += 1
    failed += len(complaints) > 0
    for complaint in complaints:
        print("# " + complaint.replace("\n", "\n# "))
    print(f"{'not ok' if complaints else 'ok'} {cases} - {title}{note}", flush=True)


def check(title, good, saw=""):
    tell(title, [] if good else [f"{title}: {saw}"])


def skip(title, reason):
    tell(title, [], f" # SKIP {reason}")


def end():
    print(f"1..{cases}")
    sys.exit(failed > 0)
