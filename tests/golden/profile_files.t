# Saved, read back, added up.
$ printf '1 2 30\n3 4 10\n' > a.txt; printf '1 2 5\n5 6 20\n' > b.txt
$ riffle replay a.txt -o a.rfp --format csv
$ riffle report a.rfp --format csv
$ riffle replay b.txt -o b.rfp > b.report; riffle report b.rfp | cmp - b.report
$ riffle merge a.rfp b.rfp -o sum.rfp; riffle report sum.rfp --format csv
$ riffle merge a.rfp b.rfp --format csv
$ cat a.txt b.txt | riffle replay - --format csv
# The file is private and there is nothing beside it.
$ stat -c %a sum.rfp; ls
# Not profiles.
$ riffle report a.txt
$ head -c 40 a.rfp > cut.rfp; riffle report cut.rfp
$ riffle merge a.rfp cut.rfp -o no.rfp; ls no.rfp
