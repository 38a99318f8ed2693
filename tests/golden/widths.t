# No line is wider than the terminal, or than 100 columns in a pipe, whatever the names are; hex is never cut.
$ cat > wide.cc <<'END'
> #include <cstdio>
> namespace a_namespace_with_a_rather_long_name { namespace and_another_one_inside_of_it {
> template <typename T, typename U> struct a_template_that_has_arguments {
>     virtual ~a_template_that_has_arguments() {}
>     virtual long a_method_whose_name_is_also_rather_long(long x) const { return x + (long)sizeof(T); }
> };
> struct derived_from_that_template_with_arguments : a_template_that_has_arguments<long, char> {
>     long a_method_whose_name_is_also_rather_long(long x) const override { return x + 2; }
> };
> } }
> using namespace a_namespace_with_a_rather_long_name::and_another_one_inside_of_it;
> static volatile long sink, big = 0x3f30624dd2f1a9fc;
> __attribute__((noinline)) static void a_caller_that_has_quite_a_long_name_as_well(a_template_that_has_arguments<long, char> *one, int n) { for (int i = 0; i < n; i++) sink = one->a_method_whose_name_is_also_rather_long(big); }
> int main() { derived_from_that_template_with_arguments one; a_template_that_has_arguments<long, char> two; a_caller_that_has_quite_a_long_name_as_well(&one, 20000); a_caller_that_has_quite_a_long_name_as_well(&two, 9000); return 0; }
> END
> g++ -g -O1 wide.cc -o wide
$ riffle run -q -o wide.rfp --module wide -- ./wide
$ riffle run -q -o all.rfp --module wide -p values -p types -p calls -p edges -p addresses -p stacks=1K -- ./wide
$ cat > widest <<'END'
> for width in 80
> do
>     for by in '' item function line module pc value target region thread process stack caller
>     do
>         for more in '' '--details --full-names'
>         do
>             for run in wide.rfp all.rfp
>             do
>                 COLUMNS=$width riffle report $run -n 6 ${by:+--by $by} $more 2>/dev/null | awk -v w=$width -v t="$by $more $run" 'length > w && !/^[^a-z]*$/ {print w, t ": " $0}'
>             done
>         done
>     done
>     COLUMNS=$width riffle report wide.rfp --annotate | awk -v w=$width 'length > w'
>     COLUMNS=$width riffle report wide.rfp --annotate --asm | awk -v w=$width 'length > w'
> done
> END
> bash widest
$ COLUMNS=80 riffle report all.rfp | grep -c 'a_caller_that_has_quite_a_long_name_as_well$' | sed 's/^[1-9].*/whole/'
whole
$ COLUMNS=80 riffle report wide.rfp --by value -n 9 | grep -o 0x3f30624dd2f1a9fc
0x3f30624dd2f1a9fc
# A full name is folded, never cut.
$ riffle report wide.rfp --full-names | sed -n '/ function /,/more functions/ p'
 instructions  function                                                                       module
        80.0%  a_caller_that_has_quite_a_long_name_as_well                                    wide
        13.8%  a_namespace_with_a_rather_long_name::and_another_one_inside_of_it::            wide
               derived_from_that_template_with_arguments::
               a_method_whose_name_is_also_rather_long
         6.2%  a_namespace_with_a_rather_long_name::and_another_one_inside_of_it::            wide
               a_template_that_has_arguments<long,
               char>::a_method_whose_name_is_also_rather_long
 9 more functions, 0.0%
$ riffle report wide.rfp | sed -E '1s/ +[0-9.]+ s$//'
wide   290,089 instructions   116,022 loads

 instructions  function                                                                       module
        80.0%  a_caller_that_has_quite_a_long_name_as_well                                    wide
        13.8%  a_namespace_with_a_rather_long_name::and_another_one_inside_of_it::            wide
               ...from_that_template_with_arguments::a_method_whose_name_is_also_rather_long
         6.2%  a_namespace_with_a_rather_long_name::and_another_one_inside_of_it::            wide
               a_template_that_has_arguments<..>::a_method_whose_name_is_also_rather_long
 9 more functions, 0.0%

 instructions  line        source
        80.0%  wide.cc:13  __attribute__((noinline)) static void a_caller_that_has_quite_a_long_n...
        13.8%  wide.cc:8   long a_method_whose_name_is_also_rather_long(long x) const override { ...
         6.2%  wide.cc:5   virtual long a_method_whose_name_is_also_rather_long(long x) const { r...
 2 more lines, 0.0%

worth a look
  loads 0x3f30624dd2f1a9fc in 100.0% of 29,000 loads
      wide.cc:13 a_caller_that_has_quite_a_long_name_as_well

More: --by function|line|module|pc, --annotate; -p invariance|types|bias
      Save the run with -o FILE, and ask again with riffle report FILE.

# Lists, pages about one thing, help and refusals fit as well.
$ cat > lists <<'END'
> things() {
>     for list in selectors engines cores coproc 'report -f tree none.rfp' 'report -f heat none.rfp'; do echo "$list"; done
>     riffle engines | awk '/^[^ ]/ {print "engines", $1}'
>     riffle cores | awk '/^[^ ]/ {print "cores", $1}'
>     riffle help | awk '/^  [a-z]+ / {print "help", $1}'
> }
> riffle gen zipf -N 100 | riffle replay -o none.rfp - > /dev/null
> things | while read -r thing
> do
>     COLUMNS=80 riffle $thing 2>&1 | awk -v t="$thing" 'length > 80 {print t ": " $0}'
>     riffle $thing 2>&1 | awk -v t="$thing" 'length > 100 {print t ": " $0}'
> done
> things | wc -l | awk '{print ($1 >= 40) ? "all" : $1}'
> END
> bash lists
all
# So do comparisons; the second run has other names.
$ sed -i 's/as_well/as_well_and_is_another_one_now/g' wide.cc; g++ -g -O2 wide.cc -o wide
> riffle run -q -o new.rfp --module wide -- ./wide
> for width in 50 60 61 62 63 80 100; do for by in function line pc; do COLUMNS=$width riffle diff wide.rfp new.rfp -n 0 --by $by; done | awk -v w=$width 'length > w {print w ": " $0} END {print w, (NR > 10)}'; done
50 1
60 1
61 1
62 1
63 1
80 1
100 1
