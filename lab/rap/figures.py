"""Named figures of the first profile of a JSON report on stdin, as one line of CSV."""
import json
import sys

figures = {f["name"]: f["value"] for f in json.load(sys.stdin)["profiles"][0]["figures"]}
print(sys.argv[1], *(f"{figures[name]:.6g}" for name in sys.argv[2:]), sep=",")
