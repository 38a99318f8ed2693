"""values - operands that find mistakes: edges, ties, and random ones that are near each other."""
import random
import struct

MASK = (1 << 64) - 1
INTEGERS = [0, 1, 2, 3, 31, 32, 63, 64, MASK, MASK - 1, 1 << 31, (1 << 31) - 1, 1 << 32, (1 << 32) - 1,
            MASK ^ 0x7fffffff, 1 << 63, (1 << 63) - 1, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa,
            0x0123456789abcdef, 0xfedcba9876543210]


class Format:
    """An IEEE format: bits of its fraction and exponent."""

    def __init__(self, digits, exponent_bits):
        self.digits, self.exponent_bits = digits, exponent_bits
        self.width = 1 + digits + exponent_bits
        self.top = (1 << exponent_bits) - 1
        self.bias = self.top >> 1

    def make(self, sign, exponent, fraction):
        exponent = max(0, min(self.top, exponent))
        return sign << (self.width - 1) | exponent << self.digits | fraction & ((1 << self.digits) - 1)

    def number(self, value):
        form, unform = ("<f", "<I") if self.digits == 23 else ("<d", "<Q")
        return struct.unpack(unform, struct.pack(form, value))[0]

    def edges(self):
        ones, quiet = (1 << self.digits) - 1, 1 << (self.digits - 1)
        magnitudes = [0, 1, 2, ones, ones - 1, self.make(0, 1, 0), self.make(0, 1, 1),
                      self.make(0, self.bias, 0), self.make(0, self.bias, 1), self.make(0, self.bias - 1, ones),
                      self.make(0, self.bias, 1 << (self.digits - 1)), self.make(0, self.bias - 1, 0),
                      self.make(0, self.bias + self.digits, 1), self.make(0, self.top - 1, ones),
                      self.make(0, self.top - 1, 0), self.make(0, self.top, 0), self.make(0, self.top, quiet),
                      self.make(0, self.top, 1), self.make(0, self.top, quiet | 5)]
        return magnitudes + [m | 1 << (self.width - 1) for m in magnitudes]

    def whole(self):
        """Around the ends of the integer types, and halves."""
        values = [0.5, 1.5, 2.5, 0.49999999, 0.99, 1e10, 1e20, 3.5e18]
        for power in (31, 32, 63, 64):
            exponent = self.bias + power
            for around in (-1, 0, 1):
                bits = self.make(0, exponent, 0) + around
                yield bits
                yield bits | 1 << (self.width - 1)
        for half in (2147483647.5, 2147483648.5, 4294967295.5, 0.75):
            values.append(half)
        for value in values:
            yield self.number(value)
            yield self.number(-value)

    def tie_prone(self, rng):
        """Few bits in use, so that products and sums end half way between two numbers."""
        used = rng.choice([self.digits // 2, self.digits // 2 + 1, self.digits, 3])
        fraction = rng.getrandbits(used) << (self.digits - used)
        near = rng.choice([0, 0, 1, -1, self.digits, self.digits + 1, -self.digits - 1, -self.digits])
        return self.make(rng.getrandbits(1), self.bias + near, fraction)

    def any(self, rng):
        kind = rng.randrange(4)
        if kind == 0:
            return rng.getrandbits(self.width)
        if kind == 1:
            return self.tie_prone(rng)
        if kind == 2: # a result near the least numbers
            return self.make(rng.getrandbits(1), rng.randrange(self.bias // 2 - 12, self.bias // 2 + 14),
                             rng.getrandbits(self.digits))
        return self.make(rng.getrandbits(1), self.bias + rng.randrange(-4, 5), rng.getrandbits(self.digits))


SINGLE, DOUBLE = Format(23, 8), Format(52, 11)


def box(bits):
    return 0xffffffff00000000 | bits


def integer_triples(seed, n):
    rng = random.Random(seed)
    found = [(a, b, 0) for a in INTEGERS for b in INTEGERS]
    for _ in range(n):
        found.append(tuple(rng.getrandbits(rng.choice([64, 64, 33, 26, 54, 8])) for _ in range(3)))
    for bits in (25, 26, 54, 55): # ties when they become floating point
        found += [((1 << bits | rng.getrandbits(bits)) << 1 | 1, 0, 0) for _ in range(8)]
        found += [(MASK & -(1 << bits | 1 << (bits - 24 if bits < 30 else bits - 53)), 0, 0)]
    return found


def fp_triples(form, seed, n):
    """Registers: single precision stands boxed, now and then is not."""
    rng = random.Random(seed)
    put = box if form is SINGLE else (lambda bits: bits)
    edges = form.edges()
    found = [(put(a), put(b), put(rng.choice(edges))) for a in edges for b in rng.sample(edges, 14)]
    found += [(put(a), put(form.any(rng)), put(form.any(rng))) for a in form.whole()]
    for _ in range(n):
        a, b = form.any(rng), form.any(rng)
        if rng.randrange(3) == 0: # half of a's last digit, for sums
            exponent = (a >> form.digits & form.top) - form.digits - 1
            b = form.make(rng.getrandbits(1), exponent, 0)
        found.append((put(a), put(b), put(form.any(rng))))
    if form is SINGLE:
        found += [(rng.getrandbits(64), box(form.any(rng)), box(form.any(rng))) for _ in range(8)]
    return found
