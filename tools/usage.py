"""usage - what every script here answers to --help, and to an option that it does not have.

    import usage
    usage.check("--quick", "--long")       before anything else is done; the script's own top comment is what --help prints
"""
import os
import signal
import sys


def check(*options):
    name = os.path.basename(sys.argv[0])
    if "--help" in sys.argv:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        print(sys.modules["__main__"].__doc__.strip())
        sys.exit()
    for word in sys.argv[1:]:
        if word.startswith("-") and word not in options:
            print(f"{name}: there is no option '{word}'; --help says which there are", file=sys.stderr)
            sys.exit(2)
