"""claims.py - claims.csv from the files beside it: what Mousa and Krintz say, and what we find.

    lab/hps/claims.py [FOLDER]      reads and writes there; lab/claims makes the page of it

Each verdict follows from the numbers by the rule that stands with its claim."""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tables  # noqa: E402
from results import BURST_OF, BURSTS, FREQUENCIES, Results, mean, read  # noqa: E402
from tables import span, verdict  # noqa: E402

FOLDER = sys.argv[1] if len(sys.argv) > 1 else HERE
FOUND = Results(FOLDER, "accuracy.csv", "overhead.csv")
RESTS = {"overhead": f"{len(FOUND.timed)} programs, 8 to 30 M instructions, core hps; a handler's call and drain cost what we assume",
         "phases": "10 start values", "accuracy": f"{len(FOUND.programs)} programs, complete runs of 8 to 181 M instructions, 10 start values",
         "statistics": f"{len(FOUND.programs)} programs, complete runs", "software": "6 workloads, their C library not treated"}
CLAIMS = tables.Claims("hps", RESTS)
CALLS = {"pair": "call pairs", "method": "methods"}
PHASES = 10  # of the sampling counter: what stands for seeds
STARTS = {(row["program"], row["type"], int(row["frequency"])): row for row in read(FOLDER, "phases.csv")}  # at 1/100 and 1/1000


def claim(words, where, said, ours, spread, figure, steps, seeds=1):
    CLAIMS.add(words, where, said, ours, spread, seeds, figure, f"lab/hps/run {steps}")


def paid(program, kind, every):
    """The mean over the start values where there are ten; else of one run."""
    row = STARTS.get((program, kind, every))
    return float(row["overhead_mean"]) if row else FOUND.overhead(program, "hps", kind, every)


def paid_on_average(kind, every):
    return mean(paid(program, kind, every) for program in FOUND.timed)


def costs(kind, frequencies=FREQUENCIES):
    return [paid(program, kind, every) for program in FOUND.timed for every in frequencies]


def fall(program, kind):
    """From 1/100 to 1/1000: how many times less is paid, and the standard error of that over the start values."""
    rows = [STARTS[program, kind, every] for every in (100, 1000)]
    times = float(rows[0]["overhead_mean"]) / float(rows[1]["overhead_mean"])
    shares = [float(row["overhead_sd"]) / float(row["overhead_mean"]) / math.sqrt(int(row["phases"])) for row in rows]
    return times, times * math.hypot(*shares)


def parts(kind):
    """Sampling, basic and checks, of each program."""
    return [FOUND.parts(program, kind, BURST_OF[kind]) for program in FOUND.timed]


def saved(kind):
    return {program: basic + checks for program, (_, basic, checks) in zip(FOUND.timed, parts(kind))}


def programs_told(ranges):
    return f"{len(FOUND.timed)} programs: {ranges}"


# ---- section 6.2: overhead, and accuracy for it ----

def overhead():
    all_costs = {kind: costs(kind) for kind in CALLS}
    within = {kind: max(found) <= 2.5 for kind, found in all_costs.items()}
    by_phase = max(float(row["overhead_sd"]) for (_, kind, every), row in STARTS.items() if kind in CALLS and every == 100)
    claim("calls and methods cost 0 to 2.5% at all frequencies", "6.2", verdict(cost <= 2.5 for found in all_costs.values() for cost in found),
          ", ".join(f"{CALLS[kind]} {min(found):.2f} to {max(found):.2f}% ({'within' if within[kind] else 'beyond'})" for kind, found in all_costs.items()),
          f"over programs and frequencies; means of the start values at 1/100 and 1/1000, where they move it by ± {by_phase:.2f} points at most; one start "
          "value at the others", "figure8.svg", "overhead phases", PHASES)
    at_hundred = {kind: costs(kind, (100,)) for kind in CALLS}
    claim("just over 1% on average at 1/100 (asked: 1 to 1.25%, of each kind)", "6.2",
          "holds" if all(1 <= mean(found) <= 1.25 for found in at_hundred.values()) else "differs",  # in size
          ", ".join(f"{CALLS[kind]} {mean(found):.2f}%" for kind, found in at_hundred.items()) +
          f", both together {mean(x for found in at_hundred.values() for x in found):.2f}%",
          programs_told(" and ".join(span(found) + "%" for found in at_hundred.values())), "figure8.svg", "overhead phases", PHASES)
    ninety(), streams(), free(), proportional()


def proportional():
    """Of each kind and frequency: what is paid, over what would be in proportion to 1/100."""
    share = {(kind, every): paid_on_average(kind, every) * every / 100 / paid_on_average(kind, 100) for kind in BURST_OF for every in FREQUENCIES[1:]}
    claim("overhead is proportional to the frequency (asked: within a tenth at each frequency, of each kind)", "6.2",
          verdict(abs(x - 1) <= 0.1 for x in share.values()),
          "of what is in proportion to 1/100, at 1/500 to 1/10000: " + "; ".join(
              f"{kind}s " + ", ".join(f"{share[kind, every]:.2f}" for every in FREQUENCIES[1:]) for kind in BURST_OF),
          "means over programs, and at 1/100 and 1/1000 over the start values", "figure8.svg", "overhead phases", PHASES)
    similar_graphs()
    constant = {kind: [FOUND.cycles_each(program, kind, 100) for program in FOUND.timed] for kind in BURST_OF}
    claim("what programs pay differs by how many events they have, at one price of an event (asked: at 1/100 within a fifth of the mean price, on each)", "6.2",
          verdict(abs(x / mean(found) - 1) <= 0.2 for found in constant.values() for x in found),
          ", ".join(f"{kind}s {mean(found):.1f} cycles" for kind, found in constant.items()),
          ", ".join(f"{kind}s {span(found, '{:.0f}')}" for kind, found in constant.items()) + " cycles over programs; one start value", "figure9.svg", "overhead")


def similar_graphs():
    """A fall within a fifth of ten, also with its standard error: what ten start values leave open counts against the claim."""
    falls = {(program, kind): fall(program, kind) for program in FOUND.timed for kind in BURST_OF}

    def alike(kind, errors):
        return sum(8 <= times - errors * error and times + errors * error <= 12 for (_, of), (times, error) in falls.items() if of == kind)

    claim("most programs have similar overhead graphs, at an offset (asked: on more than half of them, of each kind, a tenth of the frequency costs a tenth "
          "within a fifth, also with the standard error over the start values)", "6.2, figure 9",
          verdict(2 * alike(kind, 1) > len(FOUND.timed) for kind in BURST_OF),
          ", ".join(f"{kind}s on {alike(kind, 0)} of {len(FOUND.timed)} ({alike(kind, 1)} with the error)" for kind in BURST_OF),
          ", ".join(f"{kind}s fall by {span((falls[program, kind][0] for program in FOUND.timed), '{:.1f}')}" for kind in BURST_OF), "figure9.svg",
          "overhead phases", PHASES)


def price_of_ninety(kind):
    """Overhead where the average overlap is 90%, on the line of figure 8; below it where all frequencies have more."""
    points = [(FOUND.average(kind, BURST_OF[kind], every)[0], FOUND.average_overhead(kind, every)) for every in FREQUENCIES]
    enough = [point for point in points if point[0] >= 90]
    if len(enough) == len(points):
        return points[-1][1], f"at most {points[-1][1]:.2f}%, at {points[-1][0]:.1f}%"
    if not enough:
        return float("inf"), "not reached"
    (high, cost), (low, less) = enough[-1], points[len(enough)]
    price = cost + (high - 90) / (high - low) * (less - cost)
    return price, f"{price:.2f}%"


def ninety():
    prices = {kind: price_of_ninety(kind) for kind in CALLS}
    claim("about 0.2% of overhead for profiles that are 90% accurate (asked: no more)", "abstract, 6.2",
          verdict(round(price, 1) <= 0.2 for price, _ in prices.values()), "; ".join(f"{CALLS[kind]} {said}" for kind, (_, said) in prices.items()),
          f"overlap of pairs ± {FOUND.average('pair', 1, 100)[1]:.1f} points at 1/100, of methods ± {FOUND.average('method', 1, 10000)[1]:.1f} "
          "at 1/10000", "figure8.svg", "accuracy overhead", PHASES)


def streams():
    overlap, error = FOUND.average("stream", 100, 100)
    cost = FOUND.average_overhead("stream", 100)
    calls = {kind: FOUND.average(kind, 1, 100) for kind in CALLS}
    claim("data streams are inaccurate and cost more (asked: on average, than pairs and methods at 1/100, overlap beyond both deviations)", "6.2",
          verdict(answer for kind in CALLS for answer in (overlap + error < calls[kind][0] - calls[kind][1], cost > FOUND.average_overhead(kind, 100))),
          f"{overlap:.1f}% overlap at 1/100, for {cost:.1f}% of the cycles; " +
          ", ".join(f"{CALLS[kind]} {mine:.1f}%, for {FOUND.average_overhead(kind, 100):.1f}%" for kind, (mine, _) in calls.items()),
          " and ".join(f"± {x:.1f}" for x in (error, *(off for _, off in calls.values()))) + " points of overlap", "figure8.svg", "accuracy overhead", PHASES)


def free():
    """Where no burst came, the cycles are those of the program alone."""
    without = [(key[0], row) for key, row in FOUND.costs.items() if key[1] == "hps" and row["sampled"] == "0"]
    same = [row["cycles"] == FOUND.costs[program, "none", "", 0, 0]["cycles"] for program, row in without]
    claim("the unsampled state is free", "4", verdict(same) if same else "not-tried",
          f"of {len(same)} runs without a burst ({', '.join(dict.fromkeys(program for program, _ in without))}) {sum(same)} have the cycles of a run without "
          "productions, to the cycle", "", "figure8.svg",
          "overhead")


# ---- section 6.1: plain DISE, and software ----

def dise():
    found = saved("stream")
    most = max(found, key=found.get)
    claim("HPS saves 106% of the cycles over DISE for data streams", "6.1, figure 7", direction_and_size(found.values(), 106),
          f"{mean(found.values()):.1f}% on average, {found[most]:.1f}% at most ({most})", programs_told(span(found.values(), "{:.1f}") + "%"),
          "figure7.svg", "overhead")
    both = [saved(kind).values() for kind in CALLS]
    claim("and 16% for call pairs and methods", "6.1, figure 7", direction_and_size([x for found in both for x in found], 16),
          " and ".join(f"{mean(found):.1f}%" for found in both),
          programs_told(" and ".join(span(found, "{:.1f}") + "%" for found in both)), "figure7.svg", "overhead")
    dominant = {kind: [checks > max(sampling, basic) for sampling, basic, checks in parts(kind)] for kind in BURST_OF}
    told = {kind: "sampling {:.1f}, basic {:.1f}, checks {:.1f}%".format(*(mean(part[i] for part in parts(kind)) for i in range(3))) for kind in BURST_OF}
    claim("instrumentation checks dominate what plain DISE pays for data streams (asked: the largest of three parts, on each program)", "6.1, figure 7",
          verdict(dominant["stream"]), f"{told['stream']} on average; so on {sum(dominant['stream'])} of {len(FOUND.timed)}", "", "figure7.svg", "overhead")
    calls = [not yes for kind in CALLS for yes in dominant[kind]]
    claim("... and not what it pays for call pairs and methods, since calls are rarer (asked: on each program)", "6.1, figure 7", verdict(calls),
          "; ".join(f"{CALLS[kind]}: {told[kind]} on average; they are the largest on "
                    f"{', '.join(program for program, yes in zip(FOUND.timed, dominant[kind]) if yes) or 'none'}" for kind in CALLS), "", "figure7.svg", "overhead")
    alone = {row["program"]: float(row["overhead_percent"]) for row in read(FOLDER, "software.csv")
             if (row["profile"], row["burst"]) == ("none", "1")}
    outside = [program for program, cost in alone.items() if not 6 <= cost <= 35]
    claim("software alone pays 6 to 35% for checks in binary programs", "6, of Hirzel and Chilimbi",
          verdict(program not in outside for program in alone),
          f"{min(alone.values()):.1f} to {max(alone.values()):.1f}%, {mean(alone.values()):.1f}% on average; outside of their range: "
          f"{', '.join(outside) or 'none'}", f"{len(alone)} workloads: {span(alone.values(), '{:.1f}')}%", "", "software")


def software():
    """Totals of both, on the same programs and at the same frequency."""
    kinds = {"calls": "pair", "methods": "method", "references": "stream"}
    found = {(row["program"], kinds[row["profile"]]): float(row["overhead_percent"]) for row in read(FOLDER, "software.csv")
             if row["profile"] in kinds and row["frequency"] == "100"}
    less = [f"{program} ({kind}s)" for (program, kind), cost in found.items() if cost <= FOUND.overhead(program, "hps", kind, 100)]
    claim("sampling by software alone costs more than HPS (asked: each profile, on each program, at 1/100)", "6.1",
          verdict(cost > FOUND.overhead(program, "hps", kind, 100) for (program, kind), cost in found.items()),
          "; ".join(f"{kind}s {mean(cost for (_, of), cost in found.items() if of == kind):.1f}% against "
                    f"{mean(FOUND.overhead(program, 'hps', kind, 100) for program, of in found if of == kind):.1f}%" for kind in kinds.values()) +
          f"; less on {', '.join(less) or 'none'}", "means of the workloads", "", "software overhead")
    CLAIMS.add("the checks of software cost 1 to 10% in a virtual machine for Java, 3 to 18% in binary programs with fewer of them", "6, of others", "not-tried",
               "we have neither a virtual machine of ours nor their ways to leave out checks")
    CLAIMS.add("the accuracy of data streams is similar to that of software sampling in other studies", "6.2", "not-tried", "the paper does not give their numbers")


def often():
    """Why checks weigh more with data streams: how often there is something to check."""
    asked = (("memory references are one in 2 to 5 instructions", "references", 2, 5), ("calls are one in 25 to 100 instructions", "calls", 25, 100))
    for words, column, least, most in asked:
        every = {row["program"]: int(row["instructions"]) / int(row[column]) for row in read(FOLDER, "statistics.csv")}
        outside = [program for program, n in every.items() if not least <= n <= most]
        claim(words, "6.1", verdict(program not in outside for program in every),
              f"one in {min(every.values()):.1f} to {max(every.values()):,.1f}; within on {len(every) - len(outside)} of {len(every)} programs, not on "
              f"{', '.join(outside) or 'none'}", "over programs", "", "statistics")


def direction_and_size(found, wanted):
    """holds: as much on average. differs: less, but always some."""
    found = list(found)
    return "holds" if mean(found) >= wanted else "differs" if min(found) > 0 else "fails"


# ---- section 6.3: bursts ----

def over_frequencies(kind, burst):
    """Overlap and its deviation over the phases: means over programs and frequencies."""
    pairs = [FOUND.average(kind, burst, every) for every in FREQUENCIES]
    return mean(pair[0] for pair in pairs), mean(pair[1] for pair in pairs)


def best_in(kind, burst):
    def value(program, tried):
        return mean(FOUND.overlap(program, kind, tried, every)[0] for every in FREQUENCIES)
    return sum(max(BURSTS, key=lambda tried: value(program, tried)) == burst for program in FOUND.programs)


def of_average(kind, burst, every):
    """The average over programs, and how far the phases move it: programs are run with phases of their own, so deviations add up as squares."""
    pairs = [FOUND.overlap(program, kind, burst, every) for program in FOUND.programs]
    return mean(pair[0] for pair in pairs), math.sqrt(sum(pair[1] ** 2 for pair in pairs)) / len(pairs)


def burst_claim(words, kind, burst):
    """Significantly: by more than the deviations of both averages together, at each frequency, as figure 10 has them."""
    def clearly(other, every):
        (overlap, error), (less, spread) = (of_average(kind, tried, every) for tried in (burst, other))
        return overlap - error > less + spread

    others = [other for other in BURSTS if other != burst]
    ahead = {(other, every): clearly(other, every) for other in others for every in FREQUENCIES}
    overlap, _ = over_frequencies(kind, burst)
    claim(f"{words} (asked: the average over programs, at each frequency, by more than the deviations of both averages)", "6.3, figure 10", verdict(ahead.values()),
          f"bursts of {burst} {overlap:.1f}% over all frequencies, " + ", ".join(
              f"of {other} {over_frequencies(kind, other)[0]:.1f}% (so at {sum(ahead[other, every] for every in FREQUENCIES)} of {len(FREQUENCIES)})"
              for other in others) + f"; best in {best_in(kind, burst)} of {len(FOUND.programs)} programs",
          f"± {FOUND.average(kind, burst, 100)[1]:.1f} (1/100) to {FOUND.average(kind, burst, 10000)[1]:.1f} points (1/10000) of a program, ± {of_average(kind, burst, 100)[1]:.1f} to "
          f"{of_average(kind, burst, 10000)[1]:.1f} of the average",
          "figure10.svg", "accuracy", PHASES)


def bursts():
    burst_claim("bursts of 1 are significantly better for methods", "method", 1)
    burst_claim("and for call pairs", "pair", 1)
    burst_claim("long bursts are significantly better for data streams", "stream", 100)
    most = max(((burst, every) for burst in BURSTS for every in FREQUENCIES), key=lambda at: FOUND.average("stream", *at)[0])
    overlap, error = FOUND.average("stream", *most)
    highest = max(FOUND.programs, key=lambda program: FOUND.overlap(program, "stream", *most)[0])
    claim("overlap of data streams stays below 50%", "figure 10", verdict(overlap + sign * error < 50 for sign in (-1, 1)),
          f"{overlap:.1f}% on average with bursts of {most[0]} at 1/{most[1]}; {highest} {FOUND.overlap(highest, 'stream', *most)[0]:.0f}%",
          f"± {error:.1f} points", "figure10.svg", "accuracy", PHASES)


overhead()
dise()
software()
often()
bursts()
CLAIMS.write(FOLDER)
