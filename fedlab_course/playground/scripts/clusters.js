// Clusters of clients by their updates: OPTICS for FedSSO and DBSCAN for FedMas, as
// fedlab_core/clustering has them. Clients are visited in the order of their distance from the
// mean, the farthest first. A point counts among its own neighbours, and a cluster needs two
// points.

const MIN_SAMPLES = 2;

// The cluster of each of `points`; −1 is noise.
function optics(points, xi) {
  const { order, distance } = ordered(points);
  const n = points.length;
  const core = order.map((_, i) => round15(kthNearest(distance, i, n)));
  const [reach, predecessor, left, visits] = [
    Array(n).fill(Infinity),
    Array(n).fill(-1),
    new Set(order.keys()),
    [],
  ];
  while (left.size) {
    const point = [...left].reduce((best, i) => (reach[i] < reach[best] ? i : best));
    left.delete(point);
    visits.push(point);
    for (const i of left) {
      const reached = round15(Math.max(distance(point, i), core[point]));
      if (reached < reach[i]) [reach[i], predecessor[i]] = [reached, point];
    }
  }
  const clusters = steepClusters(
    visits.map((i) => reach[i]),
    visits.map((i) => predecessor[i]),
    visits,
    xi,
  );
  const labels = Array(n).fill(-1);
  let label = 0;
  for (const [start, end] of clusters) {
    // inner clusters come first
    const members = visits.slice(start, end + 1).map((i) => order[i]);
    if (members.some((client) => labels[client] >= 0)) continue;
    for (const client of members) labels[client] = label;
    label += 1;
  }
  return labels;
}

// The clusters [start, end] of a reachability plot, between a fall and a rise by 1 − ξ (Ankerst et
// al. 1999, figure 19, with the predecessor correction of Schubert and Gertz 2018), as scikit-learn
// finds them.
function steepClusters(plot, predecessor, visits, xi) {
  const n = plot.length;
  const reach = [...plot, Infinity];
  // ∞/∞ and 0/0 are NaN, and no comparison holds.
  const ratio = plot.map((value, i) => value / reach[i + 1]);
  const steepUp = ratio.map((value) => value <= 1 - xi);
  const steepDown = ratio.map((value) => value >= 1 / (1 - xi));
  const up = ratio.map((value) => value < 1);
  const down = ratio.map((value) => value > 1);
  const clusters = [];
  let [falls, next, between] = [[], 0, 0];

  function extent(steep, against, start) {
    let [end, flat] = [start, 0];
    for (let i = start; i < n; i += 1) {
      if (steep[i]) [end, flat] = [i, 0];
      else if (against[i] || (flat += 1) > MIN_SAMPLES) break;
    }
    return end;
  }

  function connected(start, end) {
    for (let e = end; start < e; e -= 1) {
      if (reach[start] > reach[e] || visits.slice(start, e).includes(predecessor[e])) return e;
    }
    return null;
  }

  function candidate(fall, rise, riseEnd) {
    let [start, end] = [fall.start, riseEnd];
    const [top, after] = [reach[fall.start], reach[riseEnd + 1]];
    if (after * (1 - xi) < fall.between) return null;
    if (top * (1 - xi) >= after) {
      while (reach[start + 1] > after && start < fall.end) start += 1;
    } else if (after * (1 - xi) >= top) {
      while (reach[end - 1] > top && end > rise) end -= 1;
    }
    end = connected(start, end);
    const fits = end !== null && end - start + 1 >= MIN_SAMPLES && start <= fall.end && end >= rise;
    return fits ? [start, end] : null;
  }

  for (let i = 0; i < n; i += 1) {
    if (i < next || !(steepUp[i] || steepDown[i])) continue;
    between = Math.max(between, ...reach.slice(next, i + 1));
    falls =
      between === Infinity ? [] : falls.filter((fall) => between <= reach[fall.start] * (1 - xi));
    for (const fall of falls) fall.between = Math.max(fall.between, between);
    let end;
    if (steepDown[i]) {
      end = extent(steepDown, up, i);
      falls.push({ start: i, end, between: 0 });
    } else {
      end = extent(steepUp, down, i);
      clusters.push(
        ...falls
          .map((fall) => candidate(fall, i, end))
          .filter(Boolean)
          .reverse(),
      );
    }
    next = end + 1;
    between = reach[next];
  }
  return clusters;
}

// The tier of each of `points`: DBSCAN at the knee of the distances to the nearest other point;
// noise joins the cluster with the nearest centroid. One tier if there is no cluster.
function dbscan(points) {
  const { order, distance } = ordered(points);
  const n = points.length;
  const nearest = order.map((_, i) => kthNearest(distance, i, n));
  const radius = Math.max(knee([...nearest].sort((a, b) => a - b)), 2 ** -1022);
  const labels = Array(n).fill(-1);
  let number = 0;
  for (let start = 0; start < n; start += 1) {
    if (nearest[start] > radius || labels[order[start]] >= 0) continue;
    const visit = [start];
    labels[order[start]] = number;
    while (visit.length) {
      const point = visit.pop();
      for (let i = 0; i < n; i += 1) {
        if (labels[order[i]] >= 0 || distance(point, i) > radius) continue;
        labels[order[i]] = number;
        if (nearest[i] <= radius) visit.push(i);
      }
    }
    number += 1;
  }
  if (!number) return labels.fill(0);
  const centroids = Array.from({ length: number }, (_, c) =>
    meanOf(points.filter((_, k) => labels[k] === c)),
  );
  return labels.map((label, k) =>
    label < 0 ? largest(centroids.map((one) => -apart(one, points[k]))) : label,
  );
}

// The value of an increasing curve farthest below the chord between its ends; else its last value.
function knee(curve) {
  const [first, last] = [curve[0], curve.at(-1)];
  const below = curve.map(
    (value, i) => first + ((last - first) * i) / Math.max(1, curve.length - 1) - value,
  );
  const best = largest(below);
  return below[best] > 1e-12 * Math.abs(last) ? curve[best] : last;
}

// The clients from the outermost to the innermost, and the distances between them.
function ordered(points) {
  const centre = meanOf(points);
  const far = points.map((point) => apart(point, centre));
  const order = points.map((_, k) => k).sort((a, b) => far[b] - far[a] || a - b);
  const table = order.map((i) => Float64Array.from(order, (j) => apart(points[i], points[j])));
  return { order, distance: (i, j) => table[i][j] };
}

function kthNearest(distance, i, n) {
  return Array.from({ length: n }, (_, j) => distance(i, j)).sort((a, b) => a - b)[MIN_SAMPLES - 1];
}

function apart(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum);
}

function meanOf(points) {
  return points[0].map((_, i) => points.reduce((sum, point) => sum + point[i], 0) / points.length);
}

function round15(value) {
  return Math.round(value * 1e15) / 1e15;
}
