// Named random streams: the same seed, name, round and client give the same numbers, whatever the
// algorithm. The generator is sfc32. NumPy has no such generator, so the draws differ from those of
// the library.

class Stream {
  constructor(seed, name, round = 0, client = 0) {
    this.state = hash(`${seed}/${name}/${round}/${client}`);
    for (let warm = 0; warm < 12; warm += 1) this.uint32();
  }

  uint32() {
    const s = this.state;
    const sum = (((s[0] + s[1]) | 0) + s[3]) | 0;
    s[3] = (s[3] + 1) | 0;
    s[0] = s[1] ^ (s[1] >>> 9);
    s[1] = (s[2] + (s[2] << 3)) | 0;
    s[2] = (((s[2] << 21) | (s[2] >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  // Uniform in [0, 1).
  random() {
    return this.uint32() / 2 ** 32;
  }

  // An integer in 0 … n − 1.
  below(n) {
    return Math.floor(this.random() * n);
  }

  permutation(n) {
    const order = Int32Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i -= 1) {
      const j = this.below(i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }

  shuffled(values) {
    return Array.from(this.permutation(values.length), (i) => values[i]);
  }

  // `size` different ones of `values`, in increasing order; all of them if they are fewer.
  choice(values, size) {
    return this.shuffled(values)
      .slice(0, size)
      .sort((a, b) => a - b);
  }

  normal() {
    return Math.sqrt(-2 * Math.log(1 - this.random())) * Math.cos(2 * Math.PI * this.random());
  }

  // The logarithm of a gamma variable of shape `a`: Marsaglia and Tsang 2000, for a + 1, times
  // U^(1/a).
  logGamma(a) {
    const d = a + 2 / 3;
    for (;;) {
      const z = this.normal();
      const v = (1 + z / Math.sqrt(9 * d)) ** 3;
      if (v > 0 && Math.log(1 - this.random()) < (z * z) / 2 + d - d * v + d * Math.log(v)) {
        return Math.log(d * v) + Math.log(1 - this.random()) / a;
      }
    }
  }

  // The logarithms of a draw from the Dirichlet distribution.
  logDirichlet(concentration) {
    const logs = concentration.map((a) => this.logGamma(a));
    const total = logSumExp(logs);
    return logs.map((value) => value - total);
  }
}

// Four words from a text (cyrb128, public domain).
function hash(text) {
  const factors = [597399067, 2869860233, 951274213, 2716044179];
  const h = Int32Array.of(1779033703, 3144134277, 1013904242, 2773480762);
  for (let i = 0; i < text.length; i += 1) {
    const k = text.charCodeAt(i);
    for (let j = 0; j < 4; j += 1) h[j] = h[(j + 1) % 4] ^ Math.imul(h[j] ^ k, factors[j]);
  }
  return h;
}

function logSumExp(values) {
  const most = Math.max(...values);
  return most + Math.log(values.reduce((sum, value) => sum + Math.exp(value - most), 0));
}
