// The state of the page, as the address holds it after #: the settings of the run, and what is
// shown of it. Settings of a side have names such as "a.lr".

const SIDES = ["a", "b"];
const ROUNDS = 500; // a run stops there
const MEASURES = ["accuracy", "loss", "testLoss", "drift", "worst", "own"];

// All names of values: of both sides and of each.
function nameOf(control, side) {
  return CATALOGUE.controls[control].own ? `${side}.${control}` : control;
}

function defaults() {
  const entries = Object.entries(CATALOGUE.controls).flatMap(([name, { value, own }]) =>
    own ? SIDES.map((side, i) => [`${side}.${name}`, own[i]]) : [[name, value]],
  );
  return Object.fromEntries(entries);
}

// What an address holds beside the settings: the round, the story (0: none), the charts and the
// speed.
function besides() {
  const { axes, speeds, story } = CATALOGUE.words;
  return {
    round: { values: Array.from({ length: ROUNDS + 1 }, (_, round) => round), value: 1 },
    story: { values: [0, ...story.map((_, i) => i + 1)], value: 0 },
    axis: { values: Object.keys(axes), value: "round" },
    upper: { values: MEASURES, value: "accuracy" },
    lower: { values: MEASURES, value: "drift" },
    speed: { values: Object.keys(speeds), value: calm() ? "one" : "five" },
  };
}

// Whether the visitor's system asks for little motion.
function calm() {
  return typeof matchMedia === "function" && matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function firstsOf(controls) {
  return Object.fromEntries(Object.entries(controls).map(([name, { value }]) => [name, value]));
}

// The state and the rest of an address, and a sentence for each value that is not offered.
function parse(text) {
  const state = defaults();
  const others = besides();
  const beside = firstsOf(others);
  const complaints = [];
  for (const [name, given] of new URLSearchParams(text)) {
    const target = [state, beside].find((values) => Object.hasOwn(values, name));
    if (!target) continue;
    const { values } =
      target === beside ? others[name] : CATALOGUE.controls[name.split(".").at(-1)];
    const value = values.find((one) => String(one) === given || (given && one === Number(given)));
    if (value === undefined)
      complaints.push(say("offered", { name, given: given.slice(0, 20), value: target[name] }));
    else target[name] = value;
  }
  return { state: fitting(state), beside, complaints };
}

// Values that fit each other: K ≤ N, and every label has a client.
function fitting(state) {
  const { classes } = CATALOGUE.sets[state.data];
  const labels = Math.min(classes, Math.max(state.labels, Math.ceil(classes / state.clients)));
  return { ...state, labels, cohort: Math.min(state.cohort, state.clients) };
}

// What differs from the defaults, as an address.
function format(state, beside = {}) {
  const firsts = { ...defaults(), ...firstsOf(besides()) };
  const changed = Object.entries({ ...state, ...beside }).filter(
    ([name, value]) => value !== firsts[name],
  );
  return new URLSearchParams(changed.map(([name, value]) => [name, String(value)])).toString();
}
// The sides that train.
function sidesOf(state) {
  return state.two ? SIDES : ["a"];
}

// The options of the runs, one for each side.
function optionsOf(state) {
  return sidesOf(state).map((side) => ({
    ...Object.fromEntries(
      Object.keys(CATALOGUE.controls).map((name) => [name, state[nameOf(name, side)]]),
    ),
    algorithm: state[`${side}.method`],
    hidden: state.hidden ? state.hidden.split("-").map(Number) : [],
    constants: CATALOGUE.constants[state[`${side}.method`]] ?? {},
  }));
}

// The name of a method on the page: without a penalty FedMas is TFedAvg.
function titleOf(method, lambda) {
  return method === "fedmas" && lambda === 0 ? "TFedAvg" : CATALOGUE.titles[method];
}

// A set of the catalogue with its numbers: x in one row, y.
function decoded(set) {
  const part = ({ x, y }) => {
    const codes = typeof x === "string" ? Array.from(x, (letter) => letter.charCodeAt(0) - 65) : x;
    return { x: Float64Array.from(codes, (code) => code / set.unit), y: Int32Array.from(y) };
  };
  return { train: part(set.train), test: part(set.test), inputs: set.inputs, classes: set.classes };
}

// A sentence of the catalogue with its values.
function say(name, values = {}) {
  return CATALOGUE.words.says[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
}
