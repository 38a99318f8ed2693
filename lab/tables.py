"""tables.py - a lab's tables: its CSV files read, its claims.csv written. What the labs' claims.py share."""
import csv

COLUMNS = ["paper", "claim", "where", "verdict", "ours", "spread", "seeds", "figure", "command"]


def rows(folder, name):
    with open(f"{folder}/{name}", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def span(values, form="{:.2f}"):
    """The least and the most."""
    values = list(values)
    return f"{form.format(min(values))}-{form.format(max(values))}"


def verdict(answers):
    """Of a claim that was asked of each seed, program or setting."""
    answers = list(answers)
    return "holds" if all(answers) else "differs" if any(answers) else "fails"


def size(found, wanted, share=0.2):
    """Of a number of other programs or machines: about the same, or in size only not."""
    return "holds" if abs(found - wanted) <= share * wanted else "differs"


class Claims:
    """The rows of a claims.csv (lab/claims says what its columns mean)."""

    def __init__(self, paper, rests=None):
        """rests: of each step of the lab's `run`, the programs and lengths behind its numbers."""
        self.paper, self.rests, self.rows = paper, rests or {}, []

    def add(self, *cells):
        """The columns behind the first, in their order; those that are left out are empty. The row says what its command's steps rest on."""
        cells = [self.paper, *cells]
        place = COLUMNS.index("ours")
        steps = cells[COLUMNS.index("command")].split()[1:] if len(cells) == len(COLUMNS) else []
        on = list(dict.fromkeys(self.rests[step] for step in steps if step in self.rests))
        if on:
            cells[place] += f" [{'; '.join(on)}]"
        self.rows.append(cells + [""] * (len(COLUMNS) - len(cells)))

    def write(self, folder):
        with open(f"{folder}/claims.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *self.rows])
