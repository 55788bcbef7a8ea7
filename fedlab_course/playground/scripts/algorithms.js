// The algorithms, with the equations of fedlab_core/algorithms. Each overrides some of these parts
// of a round:
//   setup(run)               before round 1; a generator, because clients may train
//   cohorts(run)             the cohorts of the round: [clients, tier]
//   correction(run, client)  the parts of the local step
//                            y ← y − η scale ⊙ (g + weight ⊙ (y − anchor) + offset)
//   aggregate(run, updates)  the new global parameters
//   after(run, tier)         after the aggregation
//   numbers(run, cohort)     the numbers sent down and up, by default P for each client

const ALGORITHMS = {
  fedavg: {},

  fedprox: { correction: (run) => ({ weight: run.options.mu, anchor: run.w }) },

  // Option 2, and c the mean over all N clients.
  scaffold: {
    *setup(run) {
      run.c = new Float64Array(run.w.length);
      run.controls = run.parts.map(() => new Float64Array(run.w.length));
    },
    correction: (run, client) => ({ offset: run.c.map((c, i) => c - run.controls[client][i]) }),
    aggregate(run, { clients, params, steps }) {
      const { w, c, options } = run;
      const before = Float64Array.from(c);
      clients.forEach((client, j) => {
        const own = run.controls[client];
        const rate = steps[j] * options.lr;
        for (let i = 0; i < w.length; i += 1) {
          const change = (w[i] - params[j][i]) / rate - before[i];
          own[i] += change;
          c[i] += change / run.parts.length;
        }
      });
      const equal = clients.map(() => 1 / clients.length);
      const mean = combined(equal, params);
      return combined([1 - options.serverRate, options.serverRate], [w, mean]);
    },
    numbers: (run, cohort) => [2 * cohort.length * run.w.length, 2 * cohort.length * run.w.length],
  },

  fednova: {
    aggregate(run, { params, samples, steps }) {
      const shares = normalised(samples);
      const effective = shares.reduce((sum, share, j) => sum + share * steps[j], 0);
      const weights = shares.map((share, j) => (effective * share) / steps[j]);
      const kept = 1 - weights.reduce((a, b) => a + b);
      return combined([kept, ...weights], [run.w, ...params]);
    },
    numbers: (run, cohort) => [cohort.length * run.w.length, cohort.length * (run.w.length + 1)],
  },

  fedavgm: {
    *setup(run) {
      run.velocity = new Float64Array(run.w.length);
    },
    aggregate(run, { params, samples }) {
      const mean = combined(normalised(samples), params);
      run.velocity = run.velocity.map((v, i) => run.options.beta * v + mean[i] - run.w[i]);
      return run.w.map((value, i) => value + run.options.serverRate * run.velocity[i]);
    },
  },

  // Systematic sampling along the clusters: all clients have the same probability K/N, so the
  // weights are n_k.
  fedsso: {
    *setup(run) {
      const updates = yield* probed(run);
      run.clusters = optics(
        updates.map(({ change }) => change),
        run.options.constants.xi,
      );
      run.w = combined(
        normalised(run.sizes),
        updates.map(({ params }) => params),
      );
      run.spend(0, 0, 1);
    },
    cohorts(run) {
      const stream = run.stream("cohort");
      const [n, size] = [run.parts.length, run.cohortSize];
      const place = (client) => (run.clusters[client] < 0 ? n : run.clusters[client]);
      const row = [...stream.permutation(n)].sort((a, b) => place(a) - place(b));
      const start = stream.below(n);
      return [
        [
          Array.from({ length: size }, (_, i) => row[Math.floor((start + n * i) / size)]).sort(
            (a, b) => a - b,
          ),
        ],
      ];
    },
  },

  // Tiers train in sequence, under the penalty λ Σ Ω (y − w)². Its implicit step takes the penalty
  // at the new y.
  fedmas: {
    *setup(run) {
      run.clusters = dbscan((yield* probed(run)).map(({ change }) => change));
      run.penalty = null; // 2λΩ, once Ω has been measured
    },
    cohorts(run) {
      const tiers = Array.from({ length: Math.max(...run.clusters) + 1 }, (_, tier) =>
        membersOf(run.clusters, tier),
      );
      return tiers.map((members, tier) => {
        const size = Math.max(
          1,
          Math.floor((run.cohortSize / run.parts.length) * members.length + 0.5),
        );
        return [run.stream("cohort", tier).choice(members, size), tier];
      });
    },
    correction(run) {
      if (!run.penalty) return {};
      const { lr, penaltyStep } = run.options;
      const explicit = { weight: run.penalty, anchor: run.w };
      if (penaltyStep === "explicit") return explicit;
      return { ...explicit, scale: run.penalty.map((weight) => 1 / (1 + lr * weight)) };
    },
    after(run, tier) {
      if (!run.options.lambda) return;
      const [client] = run.stream("importance", tier).choice(membersOf(run.clusters, tier), 1);
      const omega = run.network.importance(run.w, run.data, run.parts[client], run.options.output);
      run.penalty = omega.map((value) => 2 * run.options.lambda * value);
      run.spend(run.w.length, run.w.length, 0);
    },
    numbers: (run, cohort) => [
      (run.penalty ? 2 : 1) * cohort.length * run.w.length,
      cohort.length * run.w.length,
    ],
  },
};

function membersOf(clusters, cluster) {
  return clusters.flatMap((own, client) => (own === cluster ? [client] : []));
}

// All clients train once from w; w does not change.
function* probed(run) {
  const clients = run.parts.map((_, k) => k);
  const { probeRate: lr, probeBatch: batch, probeEpochs } = run.options.constants;
  const epochs = clients.map(() => probeEpochs);
  const { params } = yield* run.train(
    clients,
    clients.map(() => ({})),
    { lr, batch, epochs, name: "probe" },
  );
  run.spend(clients.length * run.w.length, clients.length * run.w.length, 0);
  return params.map((own) => ({ params: own, change: own.map((value, i) => value - run.w[i]) }));
}

function normalised(values) {
  const total = values.reduce((a, b) => a + b);
  return values.map((value) => value / total);
}

// Σ weights_j vectors_j.
function combined(weights, vectors) {
  const sum = new Float64Array(vectors[0].length);
  vectors.forEach((vector, j) => {
    for (let i = 0; i < sum.length; i += 1) sum[i] += weights[j] * vector[i];
  });
  return sum;
}
