# What every command says about itself; all of it comes from the option tables.
$ riffle help
riffle - find the few events of a program that matter, and say how sure it is

Usage: riffle COMMAND [OPTION...] [ARGUMENT...]

Commands:
  attach     sample a process that runs already
  cc         compile C with hooks, for riffle run at native speed
  compare    judge engines by the exact profile of the same stream
  control    change the sampling of a program while it runs
  coproc     list microprograms, check and list one, or size their machine
  cores      list the simulated cores; show one with every parameter
  cost       area, delay and energy of rap as hardware
  cxx        compile C++ with hooks; also riffle c++
  diff       what changed between two saved runs
  engines    list the engines; show one with its options and memory
  export     write a profile in the format of another tool
  gen        make a synthetic stream
  help       explain a command; write man pages and shell completion
  merge      add up profile files
  mpi        profile shards of traces on the ranks of an MPI job
  query      how many events a range holds
  replay     run a stream through engines and report what they found
  report     print the profiles of a file
  run        profile a program as it runs
  selectors  list the names for usual selectors; check one
  sim        profile a RISC-V program on a simulated core, with its cycles
  top        show where a program is while it runs, on a live screen
  trace      look into a trace; convert between text and .rft

'riffle help COMMAND' or 'riffle COMMAND --help' says more.
Numbers may have units: 1M, 16Ki, 0.1%.

Exit status:
  0: success. 1: failure. 2: the command line is wrong. 3: the input was
  damaged, or parts of it are missing; the result covers the others. 130:
  stopped by Ctrl-C; the result covers what was counted until then. run and sim
  end with the status of the program, or with 125 if riffle itself failed, 126
  if the program cannot be run, 127 if there is no such program.
$ riffle --version | sed '1s/[0-9.]*$/N/; s/ \(yes\|no\)  */ YN /'
riffle N
  probe    YN riffle run, by Valgrind: programs need not be recompiled
  names    YN functions, files and lines, by libdw
  mangled  YN C++ and Rust names as people write them, by libiberty
  mpi      YN riffle mpi, by the module riffle-mpi.so
  sqlite   YN riffle export --to sqlite
  zlib     YN pprof files are compressed
$ riffle --help | head -1
riffle - find the few events of a program that matter, and say how sure it is
$ riffle help compare
riffle compare - judge engines by the exact profile of the same stream

Usage: riffle compare [OPTION...] FILE|- | FIRST.rfp SECOND.rfp

Runs any number of engines over one stream in one pass, beside the exact
profile, and prints for each the memory it held, the bits of storage it would
have in hardware, its speed and its error by the chosen measure.

Speed is measured on a second copy of each engine that is fed the same tuples,
64 Ki at a time; only those calls are timed, in wall-clock time. The engines
take turns in one process: ratios between them mean more than the figures.

With two profile files, profiles of the same selector are compared, and the
first file is the truth. Two different programs, for example one source built
for x86-64 and for RISC-V, are compared by the names of their functions.
Addresses of data have no such names and are refused.

Options:
  -e, --engine ENGINE     an engine to judge; may be repeated
      --coproc FILE       a co-processor that runs this microcode on the
                          records; may be repeated, but not in sim
  -p, --profile SELECTOR  what to count, of a stream of records
  -m, --measure MEASURE   how to judge: interval, invariance, overlap, rms
                          (default: interval)
  -t, --threshold SHARE   a candidate has at least this share of an interval
                          (default: 0.1%)
      --top SHARE         overlap: members that make this share of a profile
                          (default: 90%)
      --executions N      invariance: pcs that execute at least N times
                          (default: 1000)
      --tuple-share SHARE
                          invariance: tuples that make this share of their pc
                          (default: 10%)
      --pc-share SHARE    invariance: pcs of whose events such tuples make this
                          share (default: 40%)
      --every N           invariance, rms: the error every N events, as CSV
                          (default: 0)
      --per-interval      interval: the error of every interval, as CSV
  -i, --interval N        cut the stream every N events; 0: as the engine says
                          (default: 0)
      --seed N|random     seed of the engines' hashes and random choices
                          (default: 0)
      --skip N            leave out the first N events (default: 0)
      --limit N           take at most N events; 0: all (default: 0)
  -f, --format FORM       how to print it: text, csv, json (default: text)
  -h, --help              show this help

Examples:
    riffle gen loop --events 10M | riffle compare - -e exact
    riffle compare loads.rft -e exact -e 'exact(memory=64Mi)' --interval 1M \
        --threshold 0.1% --format csv
    riffle compare -m overlap whole.rfp sampled.rfp
    riffle compare loads.rft -m invariance -e 'H[P256]2048' -e R256 --every 1M
    riffle compare loads.rft -m rms --coproc values.uc -e R1000 --every 1M
$ riffle help engines
riffle engines - list the engines; show one with its options and memory

Usage: riffle engines [OPTION...] [ENGINE]

An engine is written as a name, or as a name with options in parentheses. riffle
engines ENGINE prints its options, the memory it will hold and, where it is a
model of hardware, the bits of storage that hardware would have.

Options:
  -h, --help              show this help

Examples:
    riffle engines
    riffle engines exact
    riffle engines 'exact(interval=1M)'
$ riffle help gen
riffle gen - make a synthetic stream

Usage: riffle gen [OPTION...] zipf|uniform|phases|drift|loop

Writes a stream of tuples, one per line, or as a trace. It is the same for the
same options on every machine.

zipf draws key k with a probability proportional to 1 / k^skew. uniform draws
every key with the same probability. phases is zipf over a set of keys that is
exchanged every --phase events. drift has 20 to 400 hot keys, exchanged every
--phase events, in two of five events, and draws the others from --keys with the
same probability. loop resembles the load values of a program: nested loops over
instructions, each with a few favourite values, strides and noise.

Options:
  -N, --events N          how long the stream is (default: 1M)
  -k, --keys N            distinct tuples to draw from (default: 1M)
  -s, --skew X            exponent of zipf, phases and drift (default: 1.0)
      --phase N           events until phases and drift exchange keys (default:
                          1M)
      --seed N            the same seed gives the same stream, everywhere
                          (default: 0)
  -o, --output FILE       the file to write; a trace where its name ends in .rft
                          (default: -)
      --to FORM           the form, whatever the name ends in: text, rft
  -h, --help              show this help

Examples:
    riffle gen zipf --events 10M --keys 1M --seed 1 | riffle replay -
    riffle gen loop --events 100M -o loop.rft
$ riffle help help
riffle help - explain a command; write man pages and shell completion

Usage: riffle help [OPTION...] [COMMAND | productions]

Without a command, lists them all. 'productions' is the language of sim
--productions.

Options:
      --man               write the man page
      --completion SHELL  write the completion script for a shell: bash, zsh,
                          fish
  -h, --help              show this help

Examples:
    riffle help replay
    riffle help --man replay | man -l -
    . <(riffle help --completion bash)
$ riffle help merge
riffle merge - add up profile files

Usage: riffle merge [OPTION...] FILE...

Profiles with the same selector and engine add up item by item, their bounds
too; others stand side by side. Those of multihash add up whatever its options
were: the sum names as mixed those in which its parts differ. Where a run has
several of one selector, those of equal options add up. Runs of different builds
are refused. Without -o the sum is printed.

Options:
  -o, --output FILE       save the sum there and print nothing
      --any-build         merge profiles of different builds, too
  -f, --format FORM       how to print it: text, csv, json, tree, heat, html
                          (default: text)
  -n, --items N           show the N heaviest rows of each profile; 0: all
                          (default: 20)
  -b, --by WHAT           what a row is: item, function, line, module, pc,
                          value, target, region, thread, process, stack, caller
      --sort KEY          the order of rows: count, share, address, name, mixed
                          (default: count)
      --min-share SHARE   leave out rows with a smaller share (default: 0)
      --full-names        do not shorten C++ and Rust names
      --details           also show how it was counted: engines, bounds,
                          addresses
      --report FILE       write the report into FILE
      --html FILE         also write the report into FILE as a page for a
                          browser
      --hot SHARE         tree, heat: a range with at least this share is hot
                          (default: 2%)
      --per-interval      also show the items of every interval
      --no-names          show addresses as numbers only
  -h, --help              show this help

Examples:
    riffle merge monday.rfp tuesday.rfp -o both.rfp
    riffle merge node*.rfp -n 10
$ riffle help replay
riffle replay - run a stream through engines and report what they found

Usage: riffle replay [OPTION...] FILE|-

The stream is a trace (.rft) or text, told apart by its first bytes; - is
standard input. Text has one tuple per line, 'a b [count]', in decimal or 0x
hexadecimal; # begins a comment.

Streams of other programs are taken, too: what Valgrind's lackey, DynamoRIO's
drmemtrace (view) and perf script print, and ChampSim's traces. A damaged one is
named by its line or offset. They do not say where files were mapped: name those
with --map, or reports show addresses.

Every engine (-e) makes a profile of its own in the same pass. Of a trace of
records, selectors (-p) say what is counted. An engine serves the selector
before it. A selector that has none of its own gets those before the first
selector, else those of the next selector that has some:

    -p values -e exact -p edges -e 'exact(memory=1Mi)'    each its own
    -e exact -p values -p edges                           one for both

Ctrl-C ends the stream: what was counted until then is reported. A damaged trace
is used as far as it is whole.

Options:
  -e, --engine ENGINE     the engine that counts; may be repeated (default:
                          exact)
  -p, --profile SELECTOR  what to count; may be repeated (default: values)
      --coproc FILE       a co-processor that runs this microcode on the
                          records; may be repeated, but not in sim
  -f, --format FORM       how to print it: text, csv, json, tree, heat, html
                          (default: text)
  -n, --items N           show the N heaviest rows of each profile; 0: all
                          (default: 20)
  -b, --by WHAT           what a row is: item, function, line, module, pc,
                          value, target, region, thread, process, stack, caller
      --sort KEY          the order of rows: count, share, address, name, mixed
                          (default: count)
      --min-share SHARE   leave out rows with a smaller share (default: 0)
      --full-names        do not shorten C++ and Rust names
      --details           also show how it was counted: engines, bounds,
                          addresses
      --report FILE       write the report into FILE
      --html FILE         also write the report into FILE as a page for a
                          browser
      --hot SHARE         tree, heat: a range with at least this share is hot
                          (default: 2%)
      --per-interval      also show the items of every interval
      --no-names          show addresses as numbers only
  -a, --annotate [FUNCTION]
                          the source of a function with its counts; without a
                          name, of the hottest ones
      --asm               with --annotate: the instructions of each line below
                          it
      --function NAME     show only this function; may be repeated
      --module NAME       show only this file: a path, or its last part; may be
                          repeated
      --thread N          only this thread
  -i, --interval N        cut the stream every N events; 0: as the engine says
                          (default: 0)
      --seed N|random     seed of the engines' hashes and random choices
                          (default: 0)
      --skip N            leave out the first N events (default: 0)
      --limit N           take at most N events; 0: all (default: 0)
      --threads N         threads of riffle itself; 0: one per available
                          processor (default: 0)
  -j, --jobs N            read a trace in N pieces at once; 0: one per available
                          processor (default: 1)
      --cache SHAPE       caches to model for selectors that read 'miss'
      --from FORMAT       the format of the stream: trace, lackey, drmemtrace,
                          champsim, perf, text
      --map FILE[@ADDRESS]
                          the stream's addresses are code of this file; may be
                          repeated
  -o, --output FILE       also save the profiles, for report and merge
  -h, --help              show this help

Examples:
    riffle gen zipf --events 1M | riffle replay - -n 10
    riffle replay loads.rft -p 'load value==0 -> pc,addr' --format csv -n 0
    riffle replay loads.rft -e exact --interval 1M --per-interval -o loads.rfp
$ riffle replay --help | cmp - <(riffle help replay)
$ riffle help report
riffle report - print the profiles of a file

Usage: riffle report [OPTION...] FILE

Prints what replay, run or merge saved with -o.

Options:
  -f, --format FORM       how to print it: text, csv, json, tree, heat, html
                          (default: text)
  -n, --items N           show the N heaviest rows of each profile; 0: all
                          (default: 20)
  -b, --by WHAT           what a row is: item, function, line, module, pc,
                          value, target, region, thread, process, stack, caller
      --sort KEY          the order of rows: count, share, address, name, mixed
                          (default: count)
      --min-share SHARE   leave out rows with a smaller share (default: 0)
      --full-names        do not shorten C++ and Rust names
      --details           also show how it was counted: engines, bounds,
                          addresses
      --report FILE       write the report into FILE
      --html FILE         also write the report into FILE as a page for a
                          browser
      --hot SHARE         tree, heat: a range with at least this share is hot
                          (default: 2%)
      --per-interval      also show the items of every interval
      --no-names          show addresses as numbers only
  -a, --annotate [FUNCTION]
                          the source of a function with its counts; without a
                          name, of the hottest ones
      --asm               with --annotate: the instructions of each line below
                          it
      --function NAME     show only this function; may be repeated
      --module NAME       show only this file: a path, or its last part; may be
                          repeated
      --thread N          only this thread
  -h, --help              show this help

Examples:
    riffle report loads.rfp -n 50
    riffle report loads.rfp --format json > loads.json
    riffle report loads.rfp --annotate longest_match
$ riffle help trace
riffle trace - look into a trace; convert between text and .rft

Usage: riffle trace [OPTION...] info FILE | head FILE | convert IN OUT

info tells what the header and the index of a trace say. head prints its first
events. convert copies a stream from one form into another: to a trace where OUT
ends in .rft, to text elsewhere; - is standard input or output. Records become
text only through a selector (-p), which makes tuples of them.

Options:
  -n, --items N           head: how many events; 0: all (default: 10)
  -p, --profile SELECTOR  convert: make tuples of records by this selector
      --to FORM           convert: the form, whatever OUT is called: text, rft
  -h, --help              show this help

Examples:
    riffle trace info loads.rft
    riffle trace convert loads.txt loads.rft
    riffle trace convert -p values all.rft - | sort | uniq -c
# The man page of one command in full, as text.
$ riffle help --man merge
.TH RIFFLE\-MERGE 1 "" "riffle 0.1.0" "Riffle"
.SH NAME
riffle\-merge \- add up profile files
.SH SYNOPSIS
.B riffle merge
\[\fIOPTION\fR...] FILE...
.SH DESCRIPTION
Profiles with the same selector and engine add up item by item, their bounds too; others stand side by side. Those of multihash add up whatever its options were: the sum names as mixed those in which its parts differ. Where a run has several of one selector, those of equal options add up. Runs of different builds are refused. Without \-o the sum is printed.
.SH OPTIONS
.TP
\\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR
save the sum there and print nothing.
.TP
\\fB\-\-any\-build\fR
merge profiles of different builds, too.
Without it, two cases are refused, since what is added up is not the same code: files of different builds at the same addresses, and one file that lies at other addresses. A file that was linked without a build id is known by a checksum of its code. A profile that has neither is merged if the path is the same, with a warning.
.TP
\\fB\-f\fR, \fB\-\-format\fR \fIFORM\fR
how to print it: text, csv, json, tree, heat, html (default: text).
.TP
\\fB\-n\fR, \fB\-\-items\fR \fIN\fR
show the N heaviest rows of each profile; 0: all (default: 20).
The first screen of a program shows as many as fit, unless \-n is given.
.TP
\\fB\-b\fR, \fB\-\-by\fR \fIWHAT\fR
what a row is: item, function, line, module, pc, value, target, region, thread, process, stack, caller.
Without it, text shows instructions, each with its most frequent value or target, and csv and json show the items as they were counted. A region is an object, a section, the heap or a stack.
.TP
\\fB\-\-sort\fR \fIKEY\fR
the order of rows: count, share, address, name, mixed (default: count).
By share: instructions that nearly always have the same value or target first. Mixed: those that least often do, such as branches that go both ways.
.TP
\\fB\-\-min\-share\fR \fISHARE\fR
leave out rows with a smaller share (default: 0).
.TP
\\fB\-\-full\-names\fR
do not shorten C++ and Rust names.
.TP
\\fB\-\-details\fR
also show how it was counted: engines, bounds, addresses.
.TP
\\fB\-\-report\fR \fIFILE\fR
write the report into FILE.
A new file is for its owner alone.
.TP
\\fB\-\-html\fR \fIFILE\fR
also write the report into FILE as a page for a browser.
One file that needs no network: tables, source, flame graph, range tree, heat map. Intervals are kept for it. A new file is for its owner alone.
.TP
\\fB\-\-hot\fR \fISHARE\fR
tree, heat: a range with at least this share is hot (default: 2%).
.TP
\\fB\-\-per\-interval\fR
also show the items of every interval.
Only where the stream is cut into intervals, by \-\-interval or by the engine.
.TP
\\fB\-\-no\-names\fR
show addresses as numbers only.
Does not read the files that ran.
.TP
\\fB\-h\fR, \fB\-\-help\fR
show this help.
.SH EXAMPLES
.PP
.nf
    riffle merge monday.rfp tuesday.rfp \-o both.rfp
    riffle merge node*.rfp \-n 10
.fi
.SH EXIT STATUS
0: success. 1: failure. 2: the command line is wrong. 3: the input was damaged, or parts of it are missing; the result covers the others. 130: stopped by Ctrl\-C; the result covers what was counted until then. run and sim end with the status of the program, or with 125 if riffle itself failed, 126 if the program cannot be run, 127 if there is no such program.
.SH SEE ALSO
.BR riffle (1),
.BR riffle\-attach (1),
.BR riffle\-cc (1),
.BR riffle\-compare (1),
.BR riffle\-control (1),
.BR riffle\-coproc (1),
.BR riffle\-cores (1),
.BR riffle\-cost (1),
.BR riffle\-cxx (1),
.BR riffle\-diff (1),
.BR riffle\-engines (1),
.BR riffle\-export (1),
.BR riffle\-gen (1),
.BR riffle\-help (1),
.BR riffle\-mpi (1),
.BR riffle\-query (1),
.BR riffle\-replay (1),
.BR riffle\-report (1),
.BR riffle\-run (1),
.BR riffle\-selectors (1),
.BR riffle\-sim (1),
.BR riffle\-top (1),
.BR riffle\-trace (1)
# Every page goes through groff without a warning.
$ for command in '' $(riffle help | awk '/^Commands/, /^$/ { if (NF > 1) print $1 }'); do
>     riffle help --man $command | groff -man -Tascii -ww -z 2>&1
> done
# The completion scripts are what their shells can read, and they complete.
$ riffle help --completion bash | bash -n
$ bash -c '. <(riffle help --completion bash)
> try() { COMP_WORDS=(riffle "$@"); COMP_CWORD=$#; COMPREPLY=(); _riffle; echo "${COMPREPLY[@]}"; }
> try re; try replay --f; try replay --format ""; try trace c; try gen z'
replay report
--format --full-names --function --from
text csv json tree heat html
convert
zipf
$ fish -c 'source (riffle help --completion fish | psub)
> for line in "riffle re" "riffle replay --fo" "riffle export --to s" "riffle trace c"; complete -C $line; end'
replay	run a stream through engines and report what they found
report	print the profiles of a file
--format	how to print it
speedscope	the format; must be given
sqlite	the format; must be given
convert
# zsh completes on a terminal only: here it has one of its own, in which two keys of Tab are pressed.
$ riffle help --completion zsh > _riffle; cat > ask.zsh << 'END'
> zmodload zsh/zpty; zpty shell 'TERM=dumb zsh -f -i'
> zpty -w shell "PS1= RPS1=; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -D -u; unsetopt automenu; echo rea''dy"
> zpty -r -m shell text '*ready*'
> ask() { zpty -w -n shell "$1"$'\t\t'; zpty -r -m shell text "*$2*" && echo "$2"; zpty -w -n shell $'\C-u' }
> ask 'riffle re' 'replay *-- run a stream*report *-- print the profiles'
> ask 'riffle export --to s' 'speedscope *sqlite'
> ask 'riffle trace ' 'convert *info'
> END
> timeout 30 zsh -f ask.zsh; rm ask.zsh _riffle
replay *-- run a stream*report *-- print the profiles
speedscope *sqlite
convert *info

$ riffle help attach | head -n 22
riffle attach - sample a process that runs already

Usage: riffle attach [OPTION...] PID

Samples the process PID until Ctrl-C, --for or its end, and reports what it
does: code, values that are loaded, addresses, branches, calls, stacks. Nothing
is recompiled, and the process runs at its own speed: many times per second one
of its threads is held still for less than a millisecond, its registers and the
memory that it is about to use are copied, and the next instructions (--burst)
are run on the copy. The rate follows from --overhead, the share of the
process's processor time that this may cost.

The process is not changed, and it is traced only while a thread of it is held.
When riffle is killed, it goes on. Threads that sleep, or are in a system call,
are left alone. But root alone can see that a thread is in a call: attached by
others, a call that moves much (a write of 1 MB into a pipe, say) may now and
then return a part of it, as after a signal. The process may start and end
threads, map files and become another program (exec). Children are not followed.

Samples are by time: what runs slowly is seen more often than what runs often.
What happens between them is not counted, so counts are those of the sample, and
+- is the interval that holds the true share in 95% of all cases. Stacks (-p
