# Texts that a terminal would obey, in every place that a user does not write: nothing gets out raw.
$ cat > fit <<'END'
> #!/usr/bin/env python3
> # Is standard input text that a terminal may show? UTF-8 without controls and without bidi.
> import sys, unicodedata
> raw = sys.stdin.buffer.read()
> text = raw.decode("utf-8")
> bad = sorted({f"U+{ord(c):04X}" for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")})
> print("fit" if text and not bad else f"unfit: {bad}, {len(raw)} bytes")
> END
> chmod +x fit; printf 'a\033b' | ./fit; printf 'a\302\233b\342\200\256' | ./fit; echo fine | ./fit
unfit: ['U+001B'], 3 bytes
unfit: ['U+009B', 'U+202E'], 7 bytes
fit
# Names of files, functions and lines: of the program, in its symbols and in its debug information.
$ cat > evilAAAAAAAAAAAA.c <<'END'
> static volatile int data[4];
> __attribute__((noinline)) static int workAAAAAAAAAAA(int n)
> {
>     int s = 0; /* \033[2J */
>     for (int i = 0; i < n; i++)
>         s += data[i % 4];
>     return s;
> }
> static int (*volatile pointer)(int) = workAAAAAAAAAAA;
> int main(void)
> {
>     return pointer(1000) & 1;
> }
> END
> name=$(printf 'evil\033]0;x\007\233\302\233\342\200\256') work=$(printf 'wo\033[31mrk\302\2332\342\200\256')
> sed -i "s/\\\\033/$(printf '\033')/" evilAAAAAAAAAAAA.c
> gcc -g -O1 evilAAAAAAAAAAAA.c -o "$name" && LC_ALL=C sed -i "s/evilAAAAAAAAAAAA/$name/g; s/workAAAAAAAAAAA/${work/[/\\[}/g" "$name"
> mv evilAAAAAAAAAAAA.c "$name.c"
> riffle run -q -p values -e exact -p calls -e exact -e 'rap(key=b)' -o out.rfp --record out.rft -- "./$name" && echo profiled
profiled
$ riffle report out.rfp | tee text | ./fit; grep -c 'wo\\x1b\[31mrk' text
fit
1
$ riffle report out.rfp -a "$(printf 'wo\033[31mrk\302\2332\342\200\256')" | tee text | ./fit; grep -o 'wo.*rk.*in .*evil[^,:]*' text | sed "s|in .*/|in |" | sort -u
fit
wo\x1b[31mrk\u009b2\u202e in evil\x1b]0;x\x07\x9b\u009b\u202e.c
$ riffle report out.rfp --details | ./fit
fit
# The first screen, trees, maps, annotated assembly.
$ riffle run -- "./$(ls | grep '^evil.*[^c]$')" 2>&1 | tee text | ./fit; grep -c 'wo\\x1b\[31mrk' text
fit
2
$ for key in both a; do riffle run -q -p 'load -> pc,addr' -e "rap(key=$key, eps=0.1%)" -o $key.rfp -- "./$(ls | grep '^evil.*[^c]$')"; done
> riffle report both.rfp -f heat | tee text | ./fit; grep -q 'evil\\x1b' text && echo named
> riffle report a.rfp -f tree | tee text | ./fit; grep -q 'evil\\x1b' text && echo named
fit
named
fit
named
$ riffle report out.rfp -a "$(printf 'wo\033[31mrk\302\2332\342\200\256')" --asm | tee text | ./fit; grep -q mov text && echo assembly
fit
assembly
# What changed: here `step`, which a second build has inside the function with the hostile name.
$ cat > stepAAAAAAAAAAA.c <<'END'
> static volatile int data[4];
> __attribute__((KIND)) static int step(int n) { int s = 0; for (int i = 0; i < n; i++) s += data[i % 4]; return s; }
> __attribute__((noinline)) static int workAAAAAAAAAAA(int n) { return step(n) + step(2 * n); }
> int tick(int n);
> int main(void) { return (workAAAAAAAAAAA(1000) + tick(sizeof TEXT * 100)) & 1; }
> END
> echo 'int tick(int n) { volatile int i = 0; while (i < n) i++; return i; }' > tick.c; gcc -shared -fPIC tick.c -o "$(printf './tick\033[2J.so')"
> for kind in noinline always_inline; do
>   gcc -w -g -O1 -DKIND=$kind -DTEXT="\"$kind\"" stepAAAAAAAAAAA.c ./tick*.so -o "$(printf '%s\033[2J\233' $kind)" && LC_ALL=C sed -i "s/workAAAAAAAAAAA/$(printf 'wo\033\\[31mrk\302\2332\342\200\256')/g" $kind*
>   riffle run -q -p code -o $kind.rfp -- ./$kind*
> done
> riffle diff noinline.rfp always_inline.rfp | tee text | ./fit; grep -E '(inlined|changed) ' text | sed 's/^ *[0-9]* */N /; s/[-+0-9.,]* [KM]*/ /g; s/  */ /g' | grep -E 'step|wo|tick' | sort
> for form in csv json; do riffle diff noinline.rfp always_inline.rfp -n 0 -f $form | tee text.$form | ./fit; done
> python3 -m json.tool < text.json > /dev/null && echo json; python3 -c 'import csv; print({len(row) for row in csv.reader(open("text.csv"), strict=True)})'
fit
N changed tick tick\x1b[2J.so
N changed wo\x1b[31mrk\u009b2\u202e
N inlined step in wo\x1b[31mrk\u009b2\u202e
fit
fit
json
{12}
$ riffle report out.rfp -a main | ./fit
fit
$ riffle run -q -p types -o types.rfp -- "./$(ls | grep '^evil.*[^c]$')"; riffle report types.rfp -a main | tee text | ./fit; grep -c 'wo\\x1b\[31mrk.*100' text
fit
1
$ riffle report out.rfp -f json | tee text | ./fit; python3 -m json.tool < text > /dev/null && echo json
fit
json
$ riffle report out.rfp -a "$(printf 'no\033such\233')" 2>&1 | ./fit
fit
[1]
$ riffle query out.rfp "$(printf 'a\033b')..5" 2>&1 | ./fit
fit
[1]
$ riffle report out.rfp -f tree 2>&1 | ./fit
fit
[1]
$ riffle trace info out.rft | ./fit
fit
# A name that a spreadsheet would compute: an apostrophe keeps it a text. JSON needs none.
$ printf '%s\n' '.globl main' 'main: call "=cmd|1"' 'xor %eax, %eax' 'ret' '.type main, @function' '.size main, .-main' '.type "=cmd|1", @function' '"=cmd|1": mov $10000, %ecx' '1: dec %ecx' 'jnz 1b' 'ret' '.size "=cmd|1", .-"=cmd|1"' '.section .note.GNU-stack, ""' > formula.s
> gcc formula.s -o +formula && riffle run -q -p code -o formula.rfp -- ./+formula; riffle report formula.rfp --function '=cmd|1' --by function -f csv
> riffle report formula.rfp --function '=cmd|1' --by function -f json | grep -o '"=cmd|1"'; riffle diff noinline.rfp formula.rfp -f csv -n 0 | grep -o "^.'=cmd|1.,[^,]*,new"
function,module,count,lower,upper,bound,profile
"'=cmd|1","'+formula",20002,20002,20002,exact,"insn -> pc"
"=cmd|1"
"'=cmd|1","",new
# Names of files that are not there, options, commands, engines, selectors.
$ for command in report merge query trace replay sim run; do
>   riffle $command "$(printf 'x\033\233\302\233')" 1..2 2>&1 | ./fit
> done
fit
fit
fit
fit
fit
fit
fit
[127]
$ riffle "$(printf 'x\033\233')" 2>&1 | ./fit
fit
[2]
$ riffle run "--$(printf 'x\033\233')" 2>&1 | ./fit
fit
[125]
$ riffle replay /dev/null -e "$(printf 'x\033\233')" 2>&1 | ./fit
fit
[2]
$ riffle replay /dev/null -p "$(printf 'load \033\233')" 2>&1 | ./fit
fit
[2]
# What compare writes for tools is UTF-8, whatever the command line was.
$ in=$(printf 'in\233\033'); echo 1 2 > "$in"; riffle compare "$in" -e exact -f json | tee text | ./fit; python3 -m json.tool < text > /dev/null && echo json
fit
json
# A file whose selectors, engines, notes, figures and modules are hostile: every command that prints it.
$ make-records few.rft; riffle replay few.rft -p values -e exact -p edges -e exact -p 'load,store -> addr' -e 'rap(key=a)' -o few.rfp > /dev/null
> make-hostile few.rfp bad.rfp; for form in text csv json html; do riffle report bad.rfp -f $form > text.$form; ./fit < text.$form; done
> python3 -m json.tool < text.json > /dev/null && echo json; python3 -c 'import csv; print({len(row) for row in csv.reader(open("text.csv"), strict=True)})'
fit
fit
fit
fit
json
{0, 8, 7}
$ for more in --details '--by pc' '-n 1 --per-interval'; do riffle report bad.rfp $more 2>&1 | ./fit; done
fit
fit
fit
$ riffle query bad.rfp 0x7000..0x7010 2>&1 | ./fit; riffle merge bad.rfp few.rfp -o sum.rfp 2>&1 | cat; riffle report sum.rfp | ./fit
fit
fit
$ riffle diff bad.rfp bad.rfp | ./fit; riffle diff bad.rfp few.rfp 2>&1 | ./fit; riffle diff few.rfp bad.rfp -f html 2>&1 | ./fit
fit
fit
fit
[2]
$ for form in text csv json; do riffle compare bad.rfp bad.rfp -f $form 2>&1 | ./fit; done
fit
fit
fit
$ make-hostile few.rfp worse.rfp but-selectors; for form in callgrind perf; do riffle export --to $form worse.rfp 2>&1 | tr '\t' ' ' | ./fit; riffle export -q --to $form worse.rfp | wc -l; done
fit
30
fit
9
# The file that is being read, on a terminal.
$ slow=$(printf 'slow\033]0;x\007'); mkfifo "$slow"; (sleep 2.4; cat few.rfp) > "$slow" & script -qec "riffle report slow*" /dev/null > text
> grep -ac "$(printf '\033]0;')" text; grep -ao 'reading slow[^,]*, 2 s' text
0
reading slow\x1b]0;x\x07, 2 s
