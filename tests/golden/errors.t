# One sentence on stderr, a status that says what kind of failure it was.
$ riffle
riffle: no command given; 'riffle help' lists them
[2]
$ riffle repaly x
riffle: no command 'repaly'; did you mean 'replay'?
[2]
$ riffle xyzzyxyzzy
riffle: no command 'xyzzyxyzzy'; 'riffle help' lists the commands
[2]
$ riffle --colour
riffle: no option '--colour'; 'riffle help' lists the commands
[2]
$ riffle replay
riffle: replay: needs FILE|-; see 'riffle help replay'
[2]
$ riffle replay a b
riffle: replay: unexpected argument 'b'; see 'riffle help replay'
[2]
$ riffle replay --fromat csv x
riffle: replay: no option '--fromat'; did you mean '--format'?
[2]
$ riffle replay --zzzzzzzz x
riffle: replay: no option '--zzzzzzzz'; see 'riffle help replay'
[2]
$ riffle replay -Z x
riffle: replay: no option '-Z'; see 'riffle help replay'
[2]
$ riffle replay --format
riffle: replay: --format needs a value, FORM
[2]
$ riffle replay --format xml x
riffle: replay: --format must be text, csv, json, tree, heat or html, got 'xml'
[2]
$ riffle replay --per-interval=yes x
riffle: replay: --per-interval takes no value
[2]
$ riffle replay --interval ten x
riffle: replay: --interval must be a number such as 2048 or 1M, got 'ten'
[2]
$ riffle compare --threshold lots x
riffle: compare: --threshold must be a share such as 0.1% or 0.001, got 'lots'
[2]
$ riffle replay nosuch.txt
riffle: nosuch.txt: cannot open: No such file or directory
[1]
$ riffle replay nosuch.rft -o out.rfp
riffle: nosuch.rft: cannot open: No such file or directory
[1]
$ ls
$ riffle help repaly
riffle: help: no command 'repaly'; did you mean 'replay'?
[2]
$ riffle trace inof x
riffle: trace: no action 'inof'; did you mean 'info'?
[2]
$ riffle trace info
riffle: trace: needs info FILE | head FILE | convert IN OUT; see 'riffle help trace'
[2]
$ riffle trace info a b
riffle: trace: info wants one FILE
[2]
$ riffle trace convert x
riffle: trace: convert wants IN and OUT
[2]
$ riffle gen zapf
riffle: gen: no stream is called 'zapf'; did you mean 'zipf'?
[2]
$ riffle engines exat
riffle: no engine 'exat'; did you mean 'exact'?
[2]
$ riffle engines 'exact(memroy=1)'
riffle: engine 'exact': no option 'memroy'; did you mean 'memory'?
[2]
$ riffle compare nosuch.txt
riffle: compare: at least one engine (-e) is needed
[2]
$ riffle compare nosuch.txt -e exat
riffle: no engine 'exat'; did you mean 'exact'?
[2]
$ riffle report nosuch.rfp
riffle: nosuch.rfp: cannot open: No such file or directory
[1]
$ riffle merge nosuch.rfp
riffle: nosuch.rfp: cannot open: No such file or directory
[1]
# A bad line is named by its number; nothing is reported.
$ printf '1 2\n3 4\nfive 6\n' | riffle replay - --format csv
riffle: standard input: line 3: expected 'a b [count]', numbers of 64 bits, got 'five 6'
[1]
$ echo 1 2 | riffle replay - -e 'multihash(tables=x)'
riffle: engine 'multihash': tables must be a number such as 2048 or 1M, got 'x'
[2]
# A selector needs records.
$ echo 1 2 | riffle replay - -p values
riffle: the stream is made of tuples; a selector needs records
[1]
$ riffle replay nosuch.rft -p 'lod -> pc'
riffle: selector: column 1: no class is called 'lod'; did you mean 'load'?
[2]
$ echo 1 2 > tuples.txt; riffle replay tuples.txt -p 'lod -> pc'
riffle: selector: column 1: no class is called 'lod'; did you mean 'load'?
[2]
# A full disk on stdout.
$ riffle gen uniform --events 10 > /dev/full
riffle: standard output: No space left on device
[1]
$ echo 1 2 | riffle replay - > /dev/full
riffle: standard output: No space left on device
[1]
$ echo 1 2 | riffle replay - --format csv > /dev/full
riffle: standard output: No space left on device
[1]
# A memory ceiling: what was counted before stands and is printed.
$ riffle gen uniform --events 5000 --keys 5000 --seed 1 > many.txt
$ riffle replay many.txt -e 'exact(memory=100Ki)' --format csv -n 0 2>&1 > counted.csv | sed 's/event [0-9]*/event N/'
riffle: engine 'exact': its memory ceiling was reached at event N; what was counted before stands
[1]
$ test $(wc -l < counted.csv) -gt 500
# It ends alone: the other engine goes on, what was counted is saved, and the report says what is missing.
$ riffle replay many.txt -e 'exact(memory=100Ki)' -e exact -o both.rfp --format csv >/dev/null
riffle: engine 'exact': its memory ceiling was reached at event 1129; what was counted before stands
[1]
$ riffle report both.rfp --details | grep -E '^(events|bounds|blind)'
blind       engine 'exact': its memory ceiling was reached at event 1129; what was counted before
events      5,000 produced, 1,129 consumed, 3,871 lost
bounds      none needed: the counts of what was consumed are exact
blind-from  1,129
events      5,000 produced, 5,000 consumed, 0 lost
bounds      none needed: the counts are exact
# No file of ours takes the place of a stream that is closed.
$ riffle run -q -p calls -o closed.rfp -- /bin/true; riffle report closed.rfp >&-
riffle: standard output: Bad file descriptor
[1]
# A closed pipe is quiet.
$ riffle gen uniform --events 1M | head -n 2
0x40aad0 0xf5a1ea1
0x40210c 0xba53bf48
$ riffle gen uniform --events 1M --to rft | head -c 100 | wc -c
100
$ riffle gen uniform --events 1K | riffle replay - -n 0 --format csv | head -n 2
a,b,count,lower,upper,bound,profile
0x40abc8,0x41047455,2,2,2,exact,tuples
# Where the result is to go is looked at before the work begins; nothing is lost by mistake.
$ printf '1 2\n' > s.txt; riffle trace convert s.txt s.rft; riffle replay s.rft -o s.rfp >/dev/null; mkdir folder; touch plain
$ riffle run -o nowhere/x.rfp -- /bin/echo not run
riffle: nowhere/x.rfp: cannot create: No such file or directory
[125]
$ riffle run --record folder -- /bin/echo not run
riffle: folder: cannot create: Is a directory
[125]
$ riffle run -o x --record x -- /bin/echo not run
riffle: run: --output and --record are the same file
[125]
$ riffle replay s.rft -o s.rft
riffle: replay: the profile would overwrite its own stream
[2]
$ riffle replay s.rft --html ./s.rft
riffle: replay: the report would overwrite its own input
[2]
$ riffle replay s.rft -o x --html x
riffle: replay: --output and --html are the same file
[2]
$ riffle report s.rfp --html ./s.rfp
riffle: report: the report would overwrite its own input
[2]
$ riffle report s.rfp --report x --html x
riffle: report: --report and --html are the same file
[2]
$ riffle run --html nowhere/x -- /bin/echo not run
riffle: nowhere/x: cannot create: No such file or directory
[125]
$ cp /bin/echo says; riffle run --html says -- ./says not run
riffle: run: the report would overwrite its own input
[125]
$ riffle run -o '' -- /bin/echo not run; riffle run --html $(printf '%0250d' 0) -- /bin/echo not run 2>&1 | sed 's/00*:/N:/'
riffle: : cannot create: No such file or directory
riffle: N: cannot create: File name too long
[125]
$ riffle diff s.rfp s.rfp --html -
riffle: --html needs a file; --format html writes to the output
[2]
$ riffle diff s.rfp s.rfp --html ./s.rfp
riffle: diff: the page would overwrite 's.rfp'
[2]
$ riffle run -o x --html x -- /bin/echo not run
riffle: run: --html and another output are the same file
[125]
$ riffle replay s.rft -o /dev/null --report /dev/null --html /dev/null
# One kind of file for another.
$ riffle replay s.rfp
riffle: s.rfp: is a profile, not a stream; report prints it
[1]
$ riffle report s.rft
riffle: s.rft: this is a trace; replay makes a profile of it
[1]
$ riffle run ./folder
riffle: run: './folder': is a folder
[126]
$ riffle run ./plain
riffle: run: './plain': may not be executed
[126]
$ riffle run --native -- ./folder
riffle: run: './folder': is a folder
[126]
$ riffle run --native -- ./plain
riffle: run: './plain': may not be executed
[126]
$ riffle run --native -- ./nosuch
riffle: run: './nosuch': no such program
[127]
$ riffle run --function fnord -p calls -n 1 -- /bin/true |& tail -n 1
riffle: run: no file that was mapped has the function 'fnord' of --function
[125]
# What does not fit together is told before anything is opened.
$ riffle replay -e exact -f tree nothing.rft
riffle: 'tree' shows ranges (engine rap); this profile has none
[1]
$ riffle sim -p edges+calls -e rap nothing
riffle: engine 'rap' cannot serve several selectors at once
[125]
# A stack too small to work on is told.
$ (ulimit -s 128; riffle engines)
riffle: a stack of 1 MiB is needed, and 'ulimit -s' allows less
[125]
$ riffle sim -p calls -p addresses --burst 1 --frequency 1/100 --record r.rft -- ./none
riffle: sim: --record keeps the bursts of one profile, not of 2
[125]
$ riffle run -p calls --burst 0 --frequency 1/100 -- true
riffle: --burst 0 samples all, so --frequency cannot go with it
[125]
$ riffle run -p calls --burst many -- true
riffle: --burst must be a number of intervals, got 'many'
[125]
$ riffle run -p values -e rap -p stacks -e rap -- true
riffle: run: stacks are counted by the engine exact, not by rap
[125]
$ riffle run -q -p stacks --record stacks.rft -- true; riffle replay stacks.rft -e multihash
riffle: replay: stacks are counted by the engine exact, not by multihash
[2]
$ riffle run -p stacks=0 -- true
riffle: selector: column 7: '=0' cannot follow the preset 'stacks'
[125]

$ riffle attach nobody
riffle: attach: 'nobody' is no number of a process
[2]

$ riffle attach -p narrow 1
riffle: attach: samples do not tell results (alu)
[2]
