// The worker: trains the sides of a page in pairs of rounds, and posts what the page shows. In:
// start (trains up to a round), play (rounds a second, or 0 for local steps), pause, round, step,
// watch (a client), seen (a frame). Each but "seen" has a number, which the frames after it carry.

let sides = [];
let number = 0; // of the start that the frames belong to
let asked = 0; // number of the latest message
let limit = Infinity; // rounds
let goal = Infinity; // the round where it rests
let pace = null; // rounds a second, 0 for local steps, null: it rests
let watched = -1;
let waiting = false; // until the page has drawn the last frame
let changed = false;
let timer = 0;
let due = 0; // when the next round or step is to begin
const LOCAL_STEPS = 15; // a second, at the slowest pace

onmessage = ({ data: message }) => {
  asked = message.asked ?? asked;
  if (message.type === "start") start(message);
  else if (message.type === "play") [pace, goal] = [message.pace, Infinity];
  else if (message.type === "pause") pace = null;
  else if (message.type === "round") advance(true);
  else if (message.type === "step") advance(false);
  else if (message.type === "watch") watched = message.client;
  else waiting = false;
  if (message.type !== "seen") changed = true;
  clearTimeout(timer);
  turn();
};

function start({ data, parts, options, id, rounds, round }) {
  [number, limit, goal, due] = [id, rounds, round, 0];
  pace = round ? Infinity : null;
  sides = options.map((own) => {
    const run = new Run(data, parts, own);
    return {
      run,
      rounds: run.rounds(),
      records: [run.record([])],
      basis: null,
      resting: true,
      failed: null,
    };
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

// Whether all sides have failed or finished that round.
function finished(round) {
  return sides.every((side) => side.failed || (side.resting && side.run.round >= round));
}

function done() {
  return finished(Math.min(limit, goal));
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
  const rests = pace === null;
  postMessage({
    id: number,
    asked,
    rests,
    done: done(),
    ended: finished(limit),
    sides: sides.map(seen),
  });
}

function seen(side) {
  const { run, failed } = side;
  const { round, w, wrong, updates } = run;
  const local = updates?.params[updates.clients.indexOf(watched)] ?? null;
  return { round, w, local, wrong, failed, records: side.records.splice(0), paths: paths(side) };
}

// The clients' paths in the plane of the two directions in which they differ most, w at the origin.
// The picture shows −reach … reach.
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
  const moved = place(from(w));
  const reach = 1.15 * Math.max(1e-9, ...[...points.flat(), ...arrows, moved].flat().map(Math.abs));
  const hills = pace === Infinity ? null : landscape(side, reach);
  return { clients, points, arrows, moved, reach, hills, resting: side.resting };
}

const HILLS = 18; // points of the landscape on each side
const WORK = 2e7; // multiplications for one landscape

// The logarithm of the training loss around w in the plane of the paths, row by row from the top:
// over some samples of all clients, as many as the time allows.
function landscape({ run, basis }, reach) {
  const { origin } = run.updates;
  const total = run.data.y.length;
  const number = Math.min(
    total,
    200,
    Math.max(20, Math.floor(WORK / (HILLS * HILLS * origin.length))),
  );
  const samples = Array.from({ length: number }, (_, i) => Math.floor((i * total) / number));
  const values = new Float64Array(HILLS * HILLS);
  const at = (i) => ((2 * (i + 0.5)) / HILLS - 1) * reach;
  for (let row = 0; row < HILLS; row += 1) {
    for (let column = 0; column < HILLS; column += 1) {
      const point = combined([1, at(column), -at(row)], [origin, ...basis]);
      values[row * HILLS + column] = Math.log(
        run.network.evaluate(point, run.data, samples).loss / number,
      );
    }
  }
  return values;
}

// Two orthonormal directions with the largest projections, by a few power iterations from those of
// the frame before.
function directions(moves, before) {
  let basis =
    before ??
    [0, 1].map((j) => Float64Array.from(moves[0], (_, i) => Math.sin(1 + i * (j + 1) * 2.4)));
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
