# Profiles that are streamed share the ceiling of one; those that are counted need no part, and who names an engine gets that.
$ engines() { riffle run --details "$@" -- true |& grep '^engine' | sed 's/, seed.*//' | uniq; echo; }
> engines -p values
> engines -p values -p 'store -> pc,value' -p 'alu -> pc,value' -p code
> engines --interval 1M -p values -p code
> engines -p values -p 'store -> pc,value' -e 'auto(ceiling=8Mi)'
engine      auto

engine      auto(ceiling=21Mi)
engine      exact

engine      auto(interval=1M)

engine      auto(ceiling=8Mi)

