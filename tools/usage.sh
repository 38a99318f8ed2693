# shellcheck shell=sh
# usage.sh - sourced first of all: what every script here answers to --help, and to an option that it does not have.
case ${1:-} in
--help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit ;;
-*)
    echo "$(basename "$0"): there is no option '$1'; --help says more" >&2
    exit 2 ;;
esac
