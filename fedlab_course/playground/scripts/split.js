// The laws of fl.partition: lists of sample numbers, one for each client, that cover the data.

const SPLITS = {
  iid: (y, { clients }, stream) =>
    pieces(stream.permutation(y.length), evenCuts(y.length, clients)),

  labels: (y, { clients, labels }, stream) => {
    const counts = tally(y);
    const holders = holdersOf(counts, clients, labels);
    const owners = matched(stream, holders, clients, labels);
    return deal(stream, y, counts, clients, (label) => {
      const cuts = evenCuts(counts[label], owners[label].length);
      return owners[label].flatMap((client, i) => Array(cuts[i + 1] - cuts[i]).fill(client));
    });
  },

  dirichlet: (y, { clients, alpha }, stream) => {
    const counts = tally(y);
    const concentration = counts.map((count) => (alpha * counts.length * count) / y.length);
    const mixes = Array.from({ length: clients }, () => stream.logDirichlet(concentration));
    const cuts = evenCuts(y.length, clients);
    const table = fitted(
      mixes,
      mixes.map((_, k) => cuts[k + 1] - cuts[k]),
      counts,
    );
    const dealt = deal(stream, y, counts, clients, (label) =>
      table.flatMap((row, k) => Array(row[label]).fill(k)),
    );
    return nobodyEmpty(dealt, stream);
  },

  quantity: (y, { clients, alpha }, stream) => {
    const logs = stream.logDirichlet(Array(clients).fill(alpha));
    const most = Math.max(...logs);
    const ends = [0];
    for (const value of logs) ends.push(ends.at(-1) + Math.exp(value - most));
    const cuts = ends.map((end) => Math.round((end / ends.at(-1)) * y.length));
    return nobodyEmpty(pieces(stream.permutation(y.length), cuts), stream);
  },
};

// The parts of the federation. `options`: split, clients N, labels a client, α, seed.
function split(y, options) {
  const parts = SPLITS[options.split](y, options, new Stream(options.seed, "partition"));
  return parts.map((part) => Int32Array.from(part).sort());
}

function tally(y) {
  const counts = Array(Math.max(...y) + 1).fill(0);
  for (const label of y) counts[label] += 1;
  return counts;
}

function evenCuts(total, number) {
  const [whole, rest] = [Math.floor(total / number), total % number];
  return Array.from({ length: number + 1 }, (_, k) => k * whole + Math.min(k, rest));
}

function pieces(order, cuts) {
  return cuts.slice(1).map((end, k) => Array.from(order.slice(cuts[k], end)));
}

// Deal the samples of each label in random order; `owners(label)` lists the client of each.
function deal(stream, y, counts, clients, owners) {
  const parts = Array.from({ length: clients }, () => []);
  counts.forEach((_, label) => {
    const samples = stream.shuffled(Array.from(y.keys()).filter((i) => y[i] === label));
    owners(label).forEach((client, i) => parts[client].push(samples[i]));
  });
  return parts;
}

// Clients without a sample get one of the client that has most.
function nobodyEmpty(parts, stream) {
  for (const part of parts) {
    if (part.length) continue;
    const richest = parts.reduce((best, other) => (other.length > best.length ? other : best));
    part.push(...richest.splice(stream.below(richest.length), 1));
  }
  return parts;
}

// How many clients hold each label: Webster's rule, from 1 to N.
function holdersOf(counts, clients, labels) {
  const holders = counts.map(() => 1);
  for (let left = clients * labels - counts.length; left > 0; left -= 1) {
    const claims = counts.map((count, c) =>
      holders[c] < Math.min(count, clients) ? count / (holders[c] + 0.5) : -1,
    );
    holders[largest(claims)] += 1;
  }
  return holders;
}

// The clients of each label: every client has exactly `labels` of them.
function matched(stream, holders, clients, labels) {
  const places = [...holders];
  const owners = holders.map(() => []);
  stream.permutation(clients).forEach((client, i) => {
    const left = clients - i;
    const chosen = places.flatMap((count, c) => (count === left ? [c] : []));
    while (chosen.length < labels) {
      const free = places.map((count, c) => (chosen.includes(c) ? 0 : count));
      let at = stream.random() * free.reduce((a, b) => a + b);
      chosen.push(free.findIndex((count) => (at -= count) < 0));
    }
    for (const label of chosen) {
      places[label] -= 1;
      owners[label].push(client);
    }
  });
  return owners;
}

// Integers with given sums of rows and columns, near rows × exp(mixes): iterative proportional
// fitting, flat mixes first.
function fitted(mixes, rows, columns) {
  const scale = columns.map(() => 0);
  const doublings = Math.ceil(Math.log2(Math.max(1, -Math.min(...mixes.flat()) / 5)));
  let table;
  for (let stage = doublings; stage >= 0; stage -= 1) {
    scale.forEach((value, c) => {
      scale[c] = 2 * value;
    });
    for (let sweep = 0; sweep < 50; sweep += 1) {
      table = mixes.map((mix, k) => {
        const logs = mix.map((value, c) => value / 2 ** stage + scale[c]);
        const total = logSumExp(logs);
        return logs.map((value) => rows[k] * Math.exp(value - total));
      });
      const sums = columns.map((_, c) => table.reduce((sum, row) => sum + row[c], 0));
      if (sums.every((sum, c) => Math.abs(sum - columns[c]) < 0.5)) break;
      sums.forEach((sum, c) => {
        scale[c] -= Math.log(sum / columns[c]);
      });
    }
  }
  return rounded(table, rows, columns);
}

// Round each row by largest remainders, then move units until the columns have their sums.
function rounded(table, rows, columns) {
  const whole = table.map((row, k) => {
    const floors = row.map(Math.floor);
    const order = row.map((_, c) => c).sort((a, b) => row[b] - floors[b] - (row[a] - floors[a]));
    const missing = rows[k] - floors.reduce((a, b) => a + b);
    order.slice(0, missing).forEach((c) => {
      floors[c] += 1;
    });
    return floors;
  });
  for (;;) {
    const excess = columns.map((count, c) => whole.reduce((sum, row) => sum + row[c], 0) - count);
    if (excess.every((value) => value === 0)) return whole;
    const [source, target] = [largest(excess), largest(excess.map((value) => -value))];
    const gain = (row, k) =>
      row[source] ? row[source] - table[k][source] - row[target] + table[k][target] : -Infinity;
    const row = whole[largest(whole.map(gain))];
    row[source] -= 1;
    row[target] += 1;
  }
}
