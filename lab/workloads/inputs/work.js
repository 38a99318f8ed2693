// Objects, closures, strings, regular expressions and JSON: what scripts are made of.
function Tree(depth) {
    this.left = depth > 0 ? new Tree(depth - 1) : null;
    this.right = depth > 0 ? new Tree(depth - 1) : null;
}
Tree.prototype.count = function () {
    return 1 + (this.left ? this.left.count() + this.right.count() : 0);
};

function sieve(n) {
    var composite = [], primes = [];
    for (var i = 2; i < n; i++) {
        if (composite[i]) continue;
        primes.push(i);
        for (var j = i * i; j < n; j += i) composite[j] = true;
    }
    return primes;
}

function words(n) {
    var seen = {}, state = 1;
    for (var i = 0; i < n; i++) {
        state = (state * 16807) % 2147483647;
        var word = state.toString(26).replace(/[0-9]+/g, '-');
        seen[word] = (seen[word] || 0) + 1;
    }
    return Object.keys(seen).sort().map(function (word) { return [word, seen[word]]; });
}

function orbit(steps) {
    var x = 1, y = 0, vx = 0, vy = 1, dt = 0.01;
    for (var i = 0; i < steps; i++) {
        var r = Math.sqrt(x * x + y * y), f = -1 / (r * r * r);
        vx += f * x * dt; vy += f * y * dt; x += vx * dt; y += vy * dt;
    }
    return [x, y];
}

print(new Tree(9).count());
print(sieve(5000).length);
print(JSON.parse(JSON.stringify(words(800))).length);
print(orbit(10000));
