# Profiles in the formats of other tools. tests/export/ opens them with their readers.
$ riffle help export
riffle export - write a profile in the format of another tool

Usage: riffle export [OPTION...] FILE

Writes what replay, run, sim or merge saved with -o. What the format cannot
carry is named on standard error, one sentence each.

Stacks need a profile of stacks, calls one of calls:

    riffle run -p code -p calls -p stacks -o rank.rfp -- ./rank

Options:
  -t, --to FORM           the format; must be given: callgrind, pprof,
                          collapsed, speedscope, perf, llvm, sqlite
  -o, --output FILE       where to write; -: standard output (default: -)
      --no-names          addresses only; do not read the files that ran
  -q, --quiet             do not tell what the format cannot carry
  -h, --help              show this help

Examples:
    riffle export --to callgrind -o callgrind.out.rank rank.rfp
    riffle export --to pprof -o rank.pb.gz rank.rfp
    go tool pprof -top rank.pb.gz
    riffle export --to collapsed rank.rfp | flamegraph.pl > rank.svg
$ make-records records.rft; riffle replay records.rft -p 'load -> pc,value' -p edges -o out.rfp > /dev/null
$ riffle export --to callgrind out.rfp
riffle: without -p stacks, calls have no inclusive cost in this file
\# callgrind format
version: 1
creator: riffle 0.1.0
cmd: riffle replay records.rft -p 'load -> pc,value' -p edges -o out.rfp
part: 1
desc: Event 1: load -> pc,value, by exact(memory=0, interval=0)
desc: Event 2: branch,jump -> pc,target, by exact(memory=0, interval=0)
positions: line
events: loads branches_and_jumps
summary: 24 8

ob=(2) ???
fl=(2) ???
fn=(1) 0x401000
0 8 0

ob=(2)
fl=(2)
fn=(3) 0x401004
0 8 0

ob=(2)
fl=(2)
fn=(4) 0x401008
0 8 0

ob=(2)
fl=(2)
fn=(5) 0x401010
0 0 8
$ riffle export --to perf -q out.rfp | head -3
program     1 0.000001:          8 loads:
	          401000 [unknown] ([unknown])

$ riffle export --to collapsed out.rfp
riffle: collapsed is made of samples of the call stack, and this file has none; run with -p stacks
[1]
$ riffle export out.rfp
riffle: export: needs --to FORM: callgrind, pprof, ...
[2]
$ riffle export --to nosuch out.rfp
riffle: export: --to must be callgrind, pprof, collapsed, speedscope, perf, llvm or sqlite, got 'nosuch'
[2]
$ riffle export --to perf -o out.rfp out.rfp
riffle: export: the file would overwrite its own profile
[2]
$ riffle export --to perf -o /nosuch/file out.rfp
riffle: /nosuch/file: cannot create: No such file or directory
[1]
$ script -qec "riffle export --to pprof out.rfp" /dev/null | cat -v
riffle: export: pprof is no text for a terminal; give -o FILE^M
[2]
$ riffle export --to pprof nosuch.rfp
riffle: nosuch.rfp: cannot open: No such file or directory
[1]
# A file is replaced when the new one is whole, and not before.
$ echo old > file; chmod 644 file; riffle export --to collapsed -o file out.rfp; cat file; riffle export -q --to perf -o file out.rfp; head -c 7 file; echo; stat -c %a file; ls file*; riffle export -q --to perf -o new out.rfp; stat -c %a new
riffle: collapsed is made of samples of the call stack, and this file has none; run with -p stacks
old
program
644
file
600
