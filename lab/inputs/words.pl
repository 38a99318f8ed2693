# Words of a text: counted, sorted, turned around, matched. Made for profiling.
use strict;
use warnings;

my (%count, %follows, @lines);
while (my $line = <>) {
    chomp $line;
    push @lines, $line if $line =~ /\b(the|of|to)\s+(\w+)/i;
    my $last = '';
    for my $word (map { lc } $line =~ /[A-Za-z']+/g) {
        $count{$word}++;
        $follows{"$last $word"}++ if $last ne '';
        $last = $word;
    }
}
for my $round (1 .. 6) {
    my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
    my @pairs = sort { $follows{$b} <=> $follows{$a} || $a cmp $b } keys %follows;
    my $text = join ' ', map { scalar reverse } @lines;
    $text =~ s/(\w)(\w)/$2$1/g;
    my $vowels = ($text =~ tr/aeiou//);
    printf "%d: %s %d, %s %d, %d\n", $round, $top[0], $count{$top[0]}, $pairs[0],
        $follows{$pairs[0]}, $vowels;
}
