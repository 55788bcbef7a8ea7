// A run: the rounds of one algorithm, one local step of the whole cohort after another.

class Run {
  // `data`: train and test with x (samples × inputs, one row) and y. `options`: the algorithm with
  // its parameters, seed, hidden, cohort K, epochs E, batch B, lr η and stragglers, and
  // `constants`, its fixed parameters.
  constructor(data, parts, options) {
    Object.assign(this, { data: data.train, test: data.test, parts, options });
    this.network = new Network([data.inputs, ...options.hidden, data.classes]);
    this.w = this.network.initial(options.seed);
    this.sizes = parts.map((part) => part.length);
    this.cohortSize = Math.min(options.cohort, parts.length);
    this.everyTest = Int32Array.from(this.test.y.keys());
    this.algorithm = ALGORITHMS[options.algorithm];
    this.round = 0;
    this.ledger = { updates: 0, up: 0, down: 0 };
    this.gradient = new Float64Array(this.w.length);
    this.updates = null; // of the latest cohort: clients, params, paths
  }

  stream(name, client = 0) {
    return new Stream(this.options.seed, name, this.round, client);
  }

  // Numbers sent down and up, and aggregations.
  spend(down, up, updates) {
    this.ledger.down += 4 * down; // bytes: single precision
    this.ledger.up += 4 * up;
    this.ledger.updates += updates;
  }

  // Yields null after each local step of a cohort, and a record after each round.
  *rounds() {
    if (this.algorithm.setup) yield* this.algorithm.setup(this);
    for (;;) {
      this.round += 1;
      const distances = [];
      const cohorts = this.algorithm.cohorts?.(this) ?? [[this.uniformCohort()]];
      for (const [cohort, tier] of cohorts) {
        const [down, up] =
          this.algorithm.numbers?.(this, cohort) ?? Array(2).fill(cohort.length * this.w.length);
        this.spend(down, up, 1);
        const corrections = cohort.map((client) => this.algorithm.correction?.(this, client) ?? {});
        const { lr, batch } = this.options;
        const work = {
          lr,
          batch,
          epochs: cohort.map((client) => this.epochsOf(client)),
          name: "batches",
        };
        const updates = yield* this.train(cohort, corrections, work);
        distances.push(...updates.params.map((own) => apart(own, this.w)));
        const aggregate =
          this.algorithm.aggregate ??
          ((_, { params, samples }) => combined(normalised(samples), params));
        this.w = aggregate(this, updates);
        this.algorithm.after?.(this, tier);
      }
      yield this.record(distances);
    }
  }

  uniformCohort() {
    return this.stream("cohort").choice(
      this.parts.map((_, k) => k),
      this.cohortSize,
    );
  }

  // A straggler draws its epochs from 1 … E.
  epochsOf(client) {
    const { epochs, stragglers } = this.options;
    if (!stragglers) return epochs;
    const stream = this.stream("stragglers", client);
    return stream.random() < stragglers ? 1 + stream.below(epochs) : epochs;
  }

  // Local training of a cohort from w. Throws `Diverged` for parameters that are not finite.
  *train(clients, corrections, { lr, batch, epochs, name }) {
    const plans = clients.map((client, j) => this.batches(client, batch, epochs[j], name));
    const params = clients.map(() => Float64Array.from(this.w));
    const paths = clients.map(() => [this.w]);
    const steps = plans.map((plan) => plan.length);
    const samples = clients.map((client) => this.sizes[client]);
    const origin = this.w;
    const last = Math.max(...steps);
    this.updates = { clients, params, paths, samples, steps, corrections, origin, lr };
    for (let step = 0; step < last; step += 1) {
      clients.forEach((_, j) => {
        if (step >= steps[j]) return;
        this.localStep(params[j], plans[j][step], corrections[j], lr);
        const stride = Math.ceil(steps[j] / 12); // a path has at most 12 points after w
        if ((step + 1) % stride === 0 || step + 1 === steps[j])
          paths[j].push(Float64Array.from(params[j]));
      });
      yield null;
    }
    const bad = params.findIndex((own) => !Number.isFinite(apart(own, origin)));
    if (bad >= 0) throw new Diverged(clients[bad], this.round);
    return this.updates;
  }

  // The batches of a client: a new order for each epoch, the last batch of an epoch may be short.
  batches(client, size, epochs, name) {
    const part = this.parts[client];
    const stream = this.stream(name, client);
    const batches = [];
    for (let epoch = 0; epoch < epochs; epoch += 1) {
      const order = size < part.length ? stream.permutation(part.length) : part.keys();
      const samples = Int32Array.from(order, (i) => part[i]);
      for (let i = 0; i < samples.length; i += size) batches.push(samples.subarray(i, i + size));
    }
    return batches;
  }

  localStep(y, batch, { weight, anchor, offset, scale }, lr) {
    const g = this.gradient;
    this.network.gradient(y, this.data, batch, g);
    if (typeof weight === "number")
      for (let i = 0; i < g.length; i += 1) g[i] += weight * (y[i] - anchor[i]);
    else if (weight) for (let i = 0; i < g.length; i += 1) g[i] += weight[i] * (y[i] - anchor[i]);
    if (offset) for (let i = 0; i < g.length; i += 1) g[i] += offset[i];
    if (scale) for (let i = 0; i < g.length; i += 1) g[i] *= scale[i];
    for (let i = 0; i < g.length; i += 1) y[i] -= lr * g[i];
  }

  // Accuracy in 0 … 1 on the test set and of each client on its own samples, mean losses, drift and
  // cost.
  record(distances) {
    this.wrong = [];
    const test = this.network.evaluate(this.w, this.test, this.everyTest, this.wrong);
    const own = this.parts.map((part) => this.network.evaluate(this.w, this.data, part));
    const sorted = own.map(({ hits }, k) => hits / this.sizes[k]);
    const worst = [...sorted].sort((a, b) => a - b).slice(0, Math.ceil(sorted.length / 10));
    return {
      round: this.round,
      ...this.ledger,
      accuracy: test.hits / this.test.y.length,
      testLoss: test.loss / this.test.y.length,
      loss: own.reduce((sum, { loss }) => sum + loss, 0) / this.data.y.length,
      drift: distances.length ? distances.reduce((a, b) => a + b) / distances.length : NaN,
      worst: worst.reduce((a, b) => a + b) / worst.length,
      clients: sorted,
    };
  }
}

class Diverged extends Error {
  constructor(client, round) {
    super(`client ${client} diverged in round ${round}`);
    Object.assign(this, { client, round });
  }
}
