// The controls of the page: one for each value of the state.

const inputs = {}; // name of a value → its control: label, get, set, limit

const MORE = [
  "data",
  "clients",
  "hidden",
  "seed",
  "cohort",
  "batch",
  "stragglers",
  "serverRate",
  "penaltyStep",
  "output",
]; // at first folded away

// Where a control stands.
function placeFor(name, side) {
  if (MORE.includes(name)) return find("#rest");
  return find(side ? `#own-${side} .controls` : "#data");
}

// A slider, a list or a box, built for a value of the state.
function control(name, place) {
  const own = name.split(".").at(-1);
  const { values, tip, label: words } = CATALOGUE.controls[own];
  const label = make(
    "label",
    { className: name === own ? "control" : `control ${name[0]}` },
    place,
  );
  if (tip) label.title = tip;
  const side = MORE.includes(own) && name !== own ? `${name[0].toUpperCase()}: ` : "";
  make("span", { textContent: side + (words ?? CATALOGUE.words.labels[own]) }, label);
  const changed = () => change(name, inputs[name].get());
  if (typeof values[0] === "string") {
    const select = options(make("select", {}, label), values, titlesOf(own));
    select.addEventListener("change", changed);
    inputs[name] = {
      label,
      get: () => select.value,
      set: (value) => Object.assign(select, { value }),
    };
    return;
  }
  const range = make("input", { type: "range", min: 0, max: values.length - 1 }, label);
  const output = make("output", {}, label);
  const set = (value) => {
    range.value = values.indexOf(value);
    range.ariaValueText = output.textContent = value;
  };
  range.addEventListener("input", changed); // which sets it
  inputs[name] = {
    label,
    set,
    get: () => values[range.value],
    limit: (low, high) =>
      Object.assign(range, { min: values.indexOf(low), max: values.indexOf(high) }),
  };
}

function make(tag, properties, place) {
  return place.appendChild(Object.assign(document.createElement(tag), properties));
}

// The words for the values of a list.
function titlesOf(own) {
  if (own === "method") return CATALOGUE.titles;
  if (own === "split") {
    const named = Object.entries(CATALOGUE.splits).map(([split, { words }]) => [split, words]);
    return Object.fromEntries(named);
  }
  return { ...CATALOGUE.words.values, "": CATALOGUE.words.values.none };
}

// Fill a list with `values` under their `titles`.
function options(select, values, titles) {
  for (const value of values)
    make("option", { value, textContent: titles[value] ?? value }, select);
  return select;
}

// Set the controls to the state, and hide those without effect.
function arrange() {
  const { classes } = CATALOGUE.sets[state.data];
  for (const [name, input] of Object.entries(inputs)) {
    input.set(state[name]);
    const [side, own] = name.includes(".") ? name.split(".") : [null, name];
    const { of } = CATALOGUE.controls[own];
    const shapes = Object.values(CATALOGUE.splits).some((split) => split.control === own);
    const isIdle = shapes && CATALOGUE.splits[state.split].control !== own;
    input.label.hidden = isIdle || (of && !of.includes(state[`${side}.method`])) || false;
  }
  inputs.cohort.limit(1, state.clients);
  inputs.labels.limit(Math.ceil(classes / state.clients), classes);
  inputs.cohort.set(state.cohort);
  inputs.labels.set(state.labels);
  find("#two").checked = Boolean(state.two);
  document.body.classList.toggle("two", Boolean(state.two));
  tellStory();
}
