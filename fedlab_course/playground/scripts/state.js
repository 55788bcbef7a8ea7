// The state of the page: the value of each control, as the address holds it after #. Controls of a side have names such
// as "a.lr".

const SIDES = ["a", "b"];

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

// The state of an address, and a word for each value that is not offered.
function parse(text) {
  const [state, complaints] = [defaults(), []];
  for (const [name, given] of new URLSearchParams(text)) {
    if (!(name in state)) continue;
    const control = CATALOGUE.controls[name.split(".").at(-1)];
    const value = control.values.find((one) => String(one) === given || (given && one === Number(given)));
    if (value === undefined) complaints.push(say("offered", { name, given: given.slice(0, 20), value: state[name] }));
    else state[name] = value;
  }
  return { state: fitting(state), complaints };
}

// Values that fit each other: K ≤ N, and every label has a client.
function fitting(state) {
  const { classes } = CATALOGUE.sets[state.data];
  const labels = Math.min(classes, Math.max(state.labels, Math.ceil(classes / state.clients)));
  return { ...state, labels, cohort: Math.min(state.cohort, state.clients) };
}

// What differs from the defaults.
function format(state) {
  const first = defaults();
  const changed = Object.entries(state).filter(([name, value]) => value !== first[name]);
  return new URLSearchParams(changed.map(([name, value]) => [name, String(value)])).toString();
}

// The sides that train.
function sidesOf(state) {
  return state.two ? SIDES : ["a"];
}

// The options of the runs, one for each side.
function optionsOf(state) {
  return sidesOf(state).map((side) => ({
    ...Object.fromEntries(Object.keys(CATALOGUE.controls).map((name) => [name, state[nameOf(name, side)]])),
    algorithm: state[`${side}.method`],
    hidden: state.hidden ? state.hidden.split("-").map(Number) : [],
    constants: CATALOGUE.constants[state[`${side}.method`]] ?? {},
  }));
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
