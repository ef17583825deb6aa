#!/usr/bin/env python3
"""Reference values of math built-ins, by mpmath with 200 bits.

Writes single.bin and double.bin beside this script. For each function: length of the name (u32), the name, number of
arguments (u32), number of rows (u32), then rows of bit patterns: the arguments in their type (u32 or u64; an integer
argument as i32 or i64) and the value rounded to double (u64). Little-endian. Run: python3 generate.py
"""
import math
import os
import random
import struct

from mpmath import mp, mpf

mp.prec = 200
ROWS = 1200
HERE = os.path.dirname(os.path.abspath(__file__))


class Type:
    def __init__(self, name, bits, exponent_bits, fraction_bits):
        self.name, self.bits = name, bits
        self.fraction_bits = fraction_bits
        self.emin = 2 - (1 << (exponent_bits - 1))
        self.emax = (1 << (exponent_bits - 1)) - 1

    def round(self, x):
        return struct.unpack("<f", struct.pack("<f", x))[0] if self.bits == 32 else x

    def pattern(self, x):
        return struct.unpack("<I", struct.pack("<f", x))[0] if self.bits == 32 else struct.unpack("<Q", struct.pack("<d", x))[0]

    def scaled(self, rng, low, high, signed):
        """Exponent uniform between low and high."""
        x = math.ldexp(1 + rng.random(), rng.randint(low, high - 1))
        return self.round(-x if signed and rng.random() < 0.5 else x)


SINGLE = Type("single", 32, 8, 23)
DOUBLE = Type("double", 64, 11, 52)


def uniform(low, high):
    return lambda t, rng: t.round(rng.uniform(low, high))


def mixed(low, high):
    """Uniform in an interval, or small with any exponent of either sign that fits it."""
    def draw(t, rng):
        if rng.random() < 0.6:
            return t.round(rng.uniform(low, high))
        return t.scaled(rng, t.emin - 10, math.frexp(min(high, -low) if low < 0 else high)[1] - 1, low < 0)
    return draw


def anything(t, rng):
    return t.scaled(rng, t.emin - 10, t.emax, True)


def positive(t, rng):
    if rng.random() < 0.3:
        return t.round(1 + rng.uniform(-0.3, 0.3))
    return t.scaled(rng, t.emin - 10, t.emax, False)


def turns(t, rng):
    """Angles: small, moderate, huge."""
    pick = rng.random()
    if pick < 0.5:
        return t.round(rng.uniform(-10, 10))
    if pick < 0.75:
        return t.round(rng.uniform(-1e5, 1e5))
    return anything(t, rng)


def near(low, high, limit):
    """Up to the type's overflow: limit(t)."""
    return lambda t, rng: t.round(rng.uniform(low(t), high(t))) if rng.random() < 0.7 else t.scaled(rng, t.emin, 3, True)


def ln_max(t):
    return t.emax * math.log(2) + 0.6


def ln_min(t):
    return (t.emin - t.fraction_bits) * math.log(2)


exp_range = near(ln_min, ln_max, None)
both = near(lambda t: -ln_max(t), ln_max, None)
exp2_range = near(lambda t: t.emin - t.fraction_bits - 1, lambda t: t.emax + 1, None)
exp10_range = near(lambda t: ln_min(t) / math.log(10), lambda t: ln_max(t) / math.log(10), None)


def gamma_range(t, rng):
    top = 35 if t.bits == 32 else 171.6
    pick = rng.random()
    if pick < 0.5:
        return t.round(rng.uniform(0, top))
    if pick < 0.8:
        x = t.round(rng.uniform(-top, 0))
        return x if x != math.floor(x) else t.round(x + 0.5)
    return t.scaled(rng, -t.emax + 3, 2, True)


def pi_times(f):
    # Reduced by the nearest whole number of turns first, which is exact.
    return lambda x: f(mp.pi * (x - 2 * mp.nint(x / 2)))


def reciprocal_pi(f):
    return lambda *x: f(*x) / mp.pi


UNARY = {
    "acos": (mp.acos, mixed(-1, 1)), "acosh": (mp.acosh, lambda t, r: t.round(1 + abs(t.scaled(r, -20, t.emax - 1, False)))),
    "acospi": (reciprocal_pi(mp.acos), mixed(-1, 1)), "asin": (mp.asin, mixed(-1, 1)), "asinh": (mp.asinh, anything),
    "asinpi": (reciprocal_pi(mp.asin), mixed(-1, 1)), "atan": (mp.atan, anything),
    "atanh": (mp.atanh, mixed(-0.9999999, 0.9999999)), "atanpi": (reciprocal_pi(mp.atan), anything),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), anything), "cos": (mp.cos, turns), "cosh": (mp.cosh, both),
    "cospi": (pi_times(mp.cos), mixed(-50, 50)), "erf": (mp.erf, mixed(-7, 7)),
    "erfc": (mp.erfc, lambda t, r: t.round(r.uniform(-6, 9.9 if t.bits == 32 else 26.5))),
    "exp": (mp.exp, exp_range), "exp2": (lambda x: mpf(2) ** x, exp2_range), "exp10": (lambda x: mpf(10) ** x, exp10_range),
    "expm1": (mp.expm1, exp_range), "log": (mp.log, positive), "log2": (lambda x: mp.log(x) / mp.log(2), positive),
    "log10": (mp.log10, positive),
    "log1p": (mp.log1p, lambda t, r: t.scaled(r, t.emin, t.emax, False) if r.random() < 0.5 else mixed(-0.99, 0.99)(t, r)),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), positive), "sin": (mp.sin, turns), "sinh": (mp.sinh, both),
    "sinpi": (pi_times(mp.sin), mixed(-50, 50)), "tan": (mp.tan, turns), "tanh": (mp.tanh, mixed(-20, 20)),
    "tanpi": (pi_times(mp.tan), mixed(-50, 50)), "tgamma": (mp.gamma, gamma_range),
    "lgamma": (lambda x: mp.log(abs(mp.gamma(x))), lambda t, r: t.round(r.uniform(2.5, 100))),
}


def pow_pair(t, rng):
    x = positive(t, rng)
    limit = ln_max(t) / max(abs(math.log(x)), 1e-9)
    return x, t.round(rng.uniform(-1, 1) * min(limit, t.emax * 8.0))


def hypot_pair(t, rng):
    x = t.scaled(rng, t.emin, t.emax - 1, True)
    return x, t.round(x * rng.uniform(-3, 3)) if abs(x) < 2.0 ** (t.emax - 3) else x


def anything_pair(t, rng):
    if rng.random() < 0.5:
        return t.scaled(rng, -30, 30, True), t.scaled(rng, -30, 30, True)
    return anything(t, rng), anything(t, rng)


def power_of(t, rng):
    n = rng.choice([rng.randint(-40, 40), rng.randint(-1000, 1000), 2, 3, -1])
    x = abs(t.round(math.exp(rng.uniform(-1, 1) * ln_max(t) / max(abs(n), 1))))
    return (-x if rng.random() < 0.4 else x), n


def root_of(t, rng):
    n = rng.choice([2, 3, 5, 7, -1, -2, -3, 10, rng.randint(1, 1000), rng.randint(-(2**31), 2**31 - 1)]) or 1
    x = positive(t, rng)
    return (-x if n % 2 and rng.random() < 0.5 else x), n


BINARY = {
    "atan2": (mp.atan2, anything_pair, False), "atan2pi": (reciprocal_pi(mp.atan2), anything_pair, False),
    "hypot": (mp.hypot, hypot_pair, False), "pow": (mp.power, pow_pair, False), "powr": (mp.power, pow_pair, False),
    "pown": (lambda x, n: x**n, power_of, True),
    "rootn": (lambda x, n: mp.sign(x) * mp.exp(mp.log(abs(x)) / n), root_of, True),
}


def as_double(v):
    """Nearest double, without a detour through a rounding to 53 bits where the result is subnormal."""
    if v == 0:
        return 0.0
    e = max(int(mp.floor(mp.log(abs(v), 2))) - 52, -1074)
    scaled = int(mp.nint(mp.ldexp(v, -e)))
    try:
        return math.ldexp(scaled, e)
    except OverflowError:
        return math.copysign(math.inf, scaled)


def main():
    for t in (SINGLE, DOUBLE):
        rng = random.Random(20 + t.bits)
        argument = "<I" if t.bits == 32 else "<Q"
        with open(os.path.join(HERE, t.name + ".bin"), "wb") as out:
            for name in sorted(UNARY.keys() | BINARY.keys()):
                arity = 1 if name in UNARY else 2
                encoded = name.encode()
                out.write(struct.pack("<I", len(encoded)) + encoded + struct.pack("<II", arity, ROWS))
                for _ in range(ROWS):
                    if arity == 1:
                        f, draw = UNARY[name]
                        x = draw(t, rng)
                        out.write(struct.pack(argument, t.pattern(x)))
                        out.write(struct.pack("<d", as_double(f(mpf(x)))))
                        continue
                    f, draw, integer = BINARY[name]
                    x, y = draw(t, rng)
                    out.write(struct.pack(argument, t.pattern(x)))
                    if integer:
                        out.write(struct.pack(argument, y & (2**t.bits - 1)))
                        out.write(struct.pack("<d", as_double(f(mpf(x), y))))
                    else:
                        out.write(struct.pack(argument, t.pattern(y)))
                        out.write(struct.pack("<d", as_double(f(mpf(x), mpf(y)))))


if __name__ == "__main__":
    main()
