// The worker: trains the sides of a page in pairs of rounds, and posts what the page shows.
// In: start, play (rounds a second, or 0 for local steps), pause, round, step, watch (a client), seen (a frame).

let sides = [];
let number = 0; // of the start that the frames belong to
let limit = Infinity; // rounds
let pace = null; // rounds a second, 0 for local steps, null: it rests
let watched = -1;
let waiting = false; // until the page has drawn the last frame
let changed = false;
let timer = 0;
let due = 0; // when the next round or step is to begin
const LOCAL_STEPS = 15; // a second, at the slowest pace

onmessage = ({ data: message }) => {
  if (message.type === "start") start(message);
  else if (message.type === "play") pace = message.pace;
  else if (message.type === "pause") pace = null;
  else if (message.type === "round") advance(true);
  else if (message.type === "step") advance(false);
  else if (message.type === "watch") watched = message.client;
  else waiting = false;
  if (message.type !== "seen") changed = true;
  clearTimeout(timer);
  turn();
};

function start({ data, parts, options, id, rounds }) {
  [number, limit] = [id, rounds];
  sides = options.map((own) => {
    const run = new Run(data, parts, own);
    return { run, rounds: run.rounds(), records: [run.record([])], basis: null, resting: true, failed: null };
  });
}

// One local step of each side that has not finished its round, or the whole round of all sides.
function advance(whole) {
  const going = () => sides.filter((side) => !side.failed);
  const open = going().filter((side) => !side.resting);
  for (const side of open.length ? open : going()) {
    do next(side);
    while (whole && !side.resting && !side.failed);
  }
  changed = true;
}

function next(side) {
  try {
    const { value } = side.rounds.next();
    side.resting = value !== null;
    if (value) side.records.push(value);
  } catch (error) {
    if (!(error instanceof Diverged)) throw error;
    side.failed = { client: error.client, round: error.round };
  }
}

function done() {
  return sides.every((side) => side.failed || (side.resting && side.run.round >= limit));
}

// Train if it is time, post a frame, and come back.
function turn() {
  const begin = performance.now();
  if (pace !== null && !done() && begin >= due) {
    do advance(pace !== 0);
    while (pace === Infinity && performance.now() - begin < 12 && !done());
    due = begin + (pace === Infinity ? 0 : 1000 / (pace || LOCAL_STEPS));
  }
  if (pace !== null && done()) {
    pace = null;
    changed = true;
  }
  if (changed && !waiting) frame();
  if (pace !== null) timer = setTimeout(turn, Math.max(0, due - performance.now()));
}

function frame() {
  changed = false;
  waiting = true;
  postMessage({ id: number, rests: pace === null, done: done(), sides: sides.map(seen) });
}

function seen(side) {
  const { run, failed } = side;
  const { round, w, wrong, updates } = run;
  const local = updates?.params[updates.clients.indexOf(watched)] ?? null;
  return { round, w, local, wrong, failed, records: side.records.splice(0), paths: paths(side) };
}

// The clients' paths in the plane of the two directions in which they differ most, w at the origin.
function paths(side) {
  const { updates, w } = side.run;
  if (!updates) return null;
  const { clients, params, paths: walked, origin, steps, lr, corrections } = updates;
  const from = (point) => point.map((value, i) => value - origin[i]);
  const moves = params.map(from);
  side.basis = directions(moves, side.basis);
  const place = (vector) => side.basis.map((axis) => dot(axis, vector));
  const points = walked.map((path) => path.map((point) => place(from(point))));
  const arrows = corrections.flatMap(({ offset }, j) =>
    offset ? [place(offset).map((value) => -lr * steps[j] * value)] : [],
  );
  return { clients, points, arrows, moved: place(from(w)), resting: side.resting };
}

// Two orthonormal directions with the largest projections, by a few power iterations from those of the frame before.
function directions(moves, before) {
  let basis = before ?? [0, 1].map((j) => Float64Array.from(moves[0], (_, i) => Math.sin(1 + i * (j + 1) * 2.4)));
  for (let iteration = 0; iteration < (before ? 2 : 12); iteration += 1) {
    const along = (axis) => moves.map((move) => dot(axis, move));
    basis = basis.map((axis) => combined(along(axis), moves));
    basis = orthonormal(basis, before);
  }
  return orthonormal(basis, before);
}

function orthonormal([first, second], spare) {
  const u = unit(first, spare?.[0]);
  const rest = combined([1, -dot(u, second)], [second, u]);
  return [u, unit(rest, spare?.[1])];
}

// The vector at length 1; if it is zero, `spare` or the first direction.
function unit(vector, spare) {
  const length = Math.sqrt(dot(vector, vector));
  if (length > 1e-12) return vector.map((value) => value / length);
  return spare ?? vector.map((_, i) => (i === 0 ? 1 : 0));
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
  return sum;
}
