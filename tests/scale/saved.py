"""saved - what a .rfp file or a report in JSON says, for the tests of this folder."""
import json
import subprocess


def report(riffle, path, *more):
    """A saved run with all its rows."""
    done = subprocess.run([riffle, "report", path, "--format", "json", "-n", "0", *more], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def notes(run):
    return {note["name"]: note["text"] for note in run["notes"]}


def rows(profile):
    """Of tuples: count, lower and upper."""
    return {(row["a"], row["b"]): (row["count"], row["lower"], row["upper"]) for row in profile["rows"]}


def counts(profile):
    return {tuple_: numbers[0] for tuple_, numbers in rows(profile).items()}
