# Defaults from the user's file. The command line has the last word.
$ mkdir .config; printf '1 2 30\n3 4 10\n5 6 7\n' > a.txt
> cat > .config/riffle <<'END'
> # mine
> format = csv
>
> [replay]
> items=2
> [gen]
> seed = 9
> END
> riffle replay a.txt
a,b,count,lower,upper,bound,profile
0x1,0x2,30,30,30,exact,tuples
0x3,0x4,10,10,10,exact,tuples
$ riffle replay a.txt -n 1
a,b,count,lower,upper,bound,profile
0x1,0x2,30,30,30,exact,tuples
$ riffle replay a.txt -f text | tail -n 1
 1 more row, 14.9%
$ mkdir other; echo 'items = 1' > other/riffle; XDG_CONFIG_HOME=$PWD/other riffle replay a.txt -f csv
a,b,count,lower,upper,bound,profile
0x1,0x2,30,30,30,exact,tuples
# A file that others may write, or own, is not believed.
$ chmod g+w .config/riffle; riffle replay a.txt -n 1 -f csv 2>&1 | sed "s|$HOME|HOME|"
riffle: HOME/.config/riffle is not read: others may write it
a,b,count,lower,upper,bound,profile
0x1,0x2,30,30,30,exact,tuples
$ chmod 600 .config/riffle; if [ "$(id -u)" = 0 ]; then chown 12345 .config/riffle; else ln -sf /etc/passwd .config/riffle; fi
> riffle replay a.txt -f csv -n 1 2>&1 | sed "s|$HOME|HOME|"
riffle: HOME/.config/riffle is not read: somebody else owns it
a,b,count,lower,upper,bound,profile
0x1,0x2,30,30,30,exact,tuples
$ rm .config/riffle; mkdir .config/riffle; riffle replay a.txt -f csv -n 1 2>&1 | sed "s|$HOME|HOME|"; rmdir .config/riffle
riffle: HOME/.config/riffle is not read: it is a folder
a,b,count,lower,upper,bound,profile
0x1,0x2,30,30,30,exact,tuples
# What is wrong is told with its line.
$ for line in 'nosuch = 1' '[nosuch]' 'profile = calls' 'items = many' 'details = 1' '[report' 'help'; do
>   printf '\n%s\n' "$line" > .config/riffle; riffle replay a.txt 2>&1 | sed "s|$HOME|HOME|"; done
riffle: HOME/.config/riffle: line 2: no such option: 'nosuch = 1'
riffle: HOME/.config/riffle: line 2: no such command: 'nosuch'
riffle: HOME/.config/riffle: line 2: this option belongs on the command line: 'profile = calls'
riffle: replay: --items must be a number such as 2048 or 1M, got 'many'
riffle: HOME/.config/riffle: line 2: refused: 'items=many'
riffle: replay: --details takes no value
riffle: HOME/.config/riffle: line 2: refused: 'details=1'
riffle: HOME/.config/riffle: line 2: a command in brackets is expected, not '[report'
riffle: HOME/.config/riffle: line 2: no such option: 'help'
[2]
$ printf 'a\0b' > .config/riffle; riffle replay a.txt -f csv -n 1 2>&1 | sed "s|$HOME|HOME|"
riffle: HOME/.config/riffle is not read: it is no text
a,b,count,lower,upper,bound,profile
0x1,0x2,30,30,30,exact,tuples
