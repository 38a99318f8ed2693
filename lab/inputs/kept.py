"""A program kept aside: no engine was tuned on it. Dictionaries, objects, strings, sorting."""


class Shape:
    def __init__(self, name, sides):
        self.name, self.sides = name, sides

    def area(self):
        return sum(a * b for a, b in zip(self.sides, self.sides[1:]))


def primes(n):
    sieve = bytearray([1]) * n
    for i in range(2, int(n ** 0.5) + 1):
        if sieve[i]:
            sieve[i * i::i] = bytes(len(range(i * i, n, i)))
    return [i for i in range(2, n) if sieve[i]]


def main():
    shapes = [Shape(f"s{i % 97}", [i % k + 1 for k in range(2, 9)]) for i in range(2000)]
    by_name = {}
    for shape in shapes:
        by_name.setdefault(shape.name, []).append(shape.area())
    text = " ".join(sorted(by_name, key=lambda n: (-sum(by_name[n]), n)))
    words = {}
    for word in (text.split() * 20):
        words[word[::-1]] = words.get(word[::-1], 0) + len(word)
    total = sum(p * words.get(f"{p % 97}s", 1) for p in primes(20000))
    print(len(by_name), len(words), total)


for _ in range(3):
    main()
