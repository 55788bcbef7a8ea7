// What a phone keeps: its token, name, code and drawings, in the browser's own storage.

const KEPT = "fedlab-classroom";

function fresh() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const token = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { token, name: "", code: "", drawings: [], sent: { bytes: 0, messages: 0 } };
}

function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT));
    if (/^[0-9a-f]{32}$/.test(kept?.token) && Array.isArray(kept.drawings)) {
      return { ...fresh(), ...kept };
    }
  } catch {
    // storage that is off or damaged: begin anew
  }
  return fresh();
}

function keep(own) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(own));
  } catch {
    // a private window may have no storage: the page still works until it is closed
  }
}

// The places of a task, one label after another in turn: each has a label, and a drawing if there
// is one.
function placesOf(task, drawings) {
  const places = [];
  for (let turn = 0; turn < task.each; turn += 1) {
    for (const label of task.labels) {
      const own = drawings.filter((drawing) => drawing.label === label);
      places.push({ label, drawing: own[turn] ?? null });
    }
  }
  return places;
}

// A quarter of the places is kept for the phone's own test, as assignment.py has it.
function isHeld(place, { labels, seat }) {
  const turn = labels.length > 1 ? Math.floor(place / labels.length) : 0;
  return (place + turn + seat) % 4 === 3;
}

// The drawings of a task as numbers: x [n × 64] in 0 … 1, and labels y [n].
function samplesOf(places, task) {
  const part = (wanted) => {
    const chosen = places.filter((_, place) => isHeld(place, task) === wanted);
    const x = Float64Array.from(
      chosen.flatMap(({ drawing }) => Array.from(blocksFrom(drawing.image), (value) => value / 16)),
    );
    return { x, y: Int32Array.from(chosen, ({ label }) => label) };
  };
  return { train: part(false), held: part(true) };
}
