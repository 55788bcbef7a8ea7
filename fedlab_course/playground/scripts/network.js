// Fully connected networks with ReLU between the layers, in double precision. The parameters are
// one flat vector in the order of PyTorch: for each layer its weights [out, in], row by row, and
// its biases [out].

class Network {
  // `widths`: inputs, hidden layers, classes.
  constructor(widths) {
    this.widths = widths;
    this.layers = [];
    this.size = 0;
    for (let l = 1; l < widths.length; l += 1) {
      const [inputs, outputs] = [widths[l - 1], widths[l]];
      this.layers.push({ inputs, outputs, weight: this.size, bias: this.size + inputs * outputs });
      this.size += (inputs + 1) * outputs;
    }
    // The outputs of each layer.
    this.values = widths.slice(1).map((width) => new Float64Array(width));
    // The derivatives with respect to them.
    this.deltas = widths.slice(1).map((width) => new Float64Array(width));
  }

  // PyTorch's law: U(−1/√inputs, 1/√inputs).
  initial(seed) {
    const stream = new Stream(seed, "model");
    const params = new Float64Array(this.size);
    for (const { inputs, outputs, weight } of this.layers) {
      const end = weight + (inputs + 1) * outputs;
      for (let i = weight; i < end; i += 1)
        params[i] = (2 * stream.random() - 1) / Math.sqrt(inputs);
    }
    return params;
  }

  // The logits of the sample at `start` in `x`.
  logits(params, x, start) {
    let [from, offset] = [x, start];
    const last = this.layers.length - 1;
    this.layers.forEach(({ inputs, outputs, weight, bias }, l) => {
      const out = this.values[l];
      for (let o = 0, at = weight; o < outputs; o += 1) {
        let [a, b] = [params[bias + o], 0]; // two sums: the processor adds both at once
        let i = 0;
        for (; i + 1 < inputs; i += 2, at += 2) {
          a += params[at] * from[offset + i];
          b += params[at + 1] * from[offset + i + 1];
        }
        if (i < inputs) {
          a += params[at] * from[offset + i];
          at += 1;
        }
        const sum = a + b;
        out[o] = l < last && sum < 0 ? 0 : sum;
      }
      [from, offset] = [out, 0];
    });
    return from;
  }

  // Add the gradient of one sample to `gradient`. `this.deltas` of the last layer holds the
  // derivatives of the logits.
  backward(params, x, start, gradient) {
    for (let l = this.layers.length - 1; l >= 0; l -= 1) {
      const { inputs, outputs, weight, bias } = this.layers[l];
      const [from, offset] = l ? [this.values[l - 1], 0] : [x, start];
      const before = l ? this.deltas[l - 1].fill(0) : null;
      for (let o = 0, at = weight; o < outputs; o += 1, at += inputs) {
        const delta = this.deltas[l][o];
        if (delta === 0) continue;
        gradient[bias + o] += delta;
        for (let i = 0; i < inputs; i += 1) gradient[at + i] += delta * from[offset + i];
        if (before) for (let i = 0; i < inputs; i += 1) before[i] += delta * params[at + i];
      }
      if (before) for (let i = 0; i < inputs; i += 1) if (from[i] <= 0) before[i] = 0;
    }
  }

  // The mean gradient of the cross-entropy over the `samples` of `data`, into `gradient`.
  gradient(params, data, samples, gradient) {
    gradient.fill(0);
    const last = this.deltas.at(-1);
    for (const sample of samples) {
      const start = sample * this.widths[0];
      const out = this.logits(params, data.x, start);
      const total = normaliser(out);
      for (let c = 0; c < out.length; c += 1) {
        last[c] = (Math.exp(out[c] - total) - (c === data.y[sample] ? 1 : 0)) / samples.length;
      }
      this.backward(params, data.x, start, gradient);
    }
  }

  // Ω of Memory Aware Synapses: the mean over samples of |∂‖f(x)‖²/∂w|, with f(x) the "logits" or
  // their "softmax".
  importance(params, data, samples, output) {
    const omega = new Float64Array(this.size);
    const gradient = new Float64Array(this.size);
    const slopes = output === "softmax" ? softmaxSlopes : logitSlopes;
    for (const sample of samples) {
      const start = sample * this.widths[0];
      this.deltas.at(-1).set(slopes(this.logits(params, data.x, start)));
      this.backward(params, data.x, start, gradient.fill(0));
      for (let i = 0; i < omega.length; i += 1) omega[i] += Math.abs(gradient[i]) / samples.length;
    }
    return omega;
  }

  // The class of the sample at `start` in `x`.
  classify(params, x, start) {
    return largest(this.logits(params, x, start));
  }

  // Hits and summed losses of `samples`; `wrong` collects the samples that are not hit.
  evaluate(params, data, samples, wrong = null) {
    let [hits, loss] = [0, 0];
    for (const sample of samples) {
      const out = this.logits(params, data.x, sample * this.widths[0]);
      loss += normaliser(out) - out[data.y[sample]];
      if (largest(out) === data.y[sample]) hits += 1;
      else wrong?.push(sample);
    }
    return { hits, loss };
  }
}

// The derivatives of ‖z‖² with respect to the logits z.
function logitSlopes(logits) {
  return logits.map((value) => 2 * value);
}

// The derivatives of ‖p‖², with p the softmax of the logits: 2 p_c (p_c − Σ p²).
function softmaxSlopes(logits) {
  const total = normaliser(logits);
  const p = logits.map((value) => Math.exp(value - total));
  const norm = p.reduce((sum, value) => sum + value * value, 0);
  return p.map((value) => 2 * value * (value - norm));
}

function largest(values) {
  let best = 0;
  for (let c = 1; c < values.length; c += 1) if (values[c] > values[best]) best = c;
  return best;
}

// log Σ exp of an array.
function normaliser(values) {
  let most = -Infinity;
  for (let c = 0; c < values.length; c += 1) if (values[c] > most) most = values[c];
  let sum = 0;
  for (let c = 0; c < values.length; c += 1) sum += Math.exp(values[c] - most);
  return most + Math.log(sum);
}
