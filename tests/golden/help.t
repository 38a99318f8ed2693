# What every command says about itself; all of it comes from the option tables.
$ riffle help
$ riffle --version | sed 's/[0-9.]*$/N/'
$ riffle --help | head -1
$ riffle help compare
$ riffle help engines
$ riffle help gen
$ riffle help help
$ riffle help merge
$ riffle help replay
$ riffle replay --help | cmp - <(riffle help replay)
$ riffle help report
$ riffle help trace
# The man page of one command in full, as text.
$ riffle help --man merge
# Every page goes through groff without a warning.
$ for command in '' compare engines gen help merge replay report trace; do
>     riffle help --man $command | groff -man -Tascii -ww -z 2>&1
> done
# The completion scripts are what their shells can read, and they complete.
$ riffle help --completion bash | bash -n
$ bash -c '. <(riffle help --completion bash)
> try() { COMP_WORDS=(riffle "$@"); COMP_CWORD=$#; COMPREPLY=(); _riffle; echo "${COMPREPLY[@]}"; }
> try re; try replay --f; try replay --format ""; try trace c; try gen z'
$ riffle help --completion zsh | head -3
