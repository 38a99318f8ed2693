# Words of a text: how often, how long, which letters, and those that are the same backwards.
function backwards(word,    i, out) {
    for (i = length(word); i > 0; i--)
        out = out substr(word, i, 1)
    return out
}
{
    line = tolower($0)
    gsub(/[^a-z ]/, " ", line)
    n = split(line, list, " ")
    for (i = 1; i <= n; i++)
        count[list[i]]++
    if (match($0, /[A-Z][a-z]+ [A-Z][a-z]+/))
        names[substr($0, RSTART, RLENGTH)]++
}
END {
    for (word in count) {
        words++
        total += count[word]
        if (length(word) > 2 && word == backwards(word))
            same++
        if (count[word] > most || (count[word] == most && word < top)) {
            most = count[word]
            top = word
        }
        sum += log(count[word]) * length(word)
    }
    for (name in names)
        kinds++
    printf "%d words, %d different, '%s' %d times, %d palindromes, %d names, %.4f\n", total, words, top, most, same, kinds, sum
}
