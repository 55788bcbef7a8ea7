// The page: controls, worker, address, stories and exports.

const find = (selector, place = document) => place.querySelector(selector);
const ROUNDS = 500; // a run stops there
const PACES = { slow: 0, one: 1, five: 5, fast: Infinity };
const MEASURES = ["accuracy", "loss", "testLoss", "drift", "worst"];

const sets = {};
const inputs = {}; // name of a value → its control: get, set, show
let state;
let chosen = -1; // a client, or none
let parts = [];
let data;
let story = null;
let id = 0; // of the latest start
let playing = false;
let drawn = 0; // when the charts were drawn
let told = 0; // when the status was said

const worker = new Worker(URL.createObjectURL(new Blob([find("#engine").textContent, find("#worker").textContent])));
worker.onmessage = ({ data: frame }) => {
  if (frame.id === id) receive(frame);
  requestAnimationFrame(() => worker.postMessage({ type: "seen" }));
};

const sides = Array.from(document.querySelectorAll(".side"), (place, number) => new Side(place, number));

// A slider, a list or a box, built for a value of the state.
function control(name, place) {
  const own = name.split(".").at(-1);
  const { values } = CATALOGUE.controls[own];
  const label = make("label", { className: "control" }, place);
  const tip = CATALOGUE.words.tips[own];
  if (tip) label.title = tip;
  make("span", { textContent: CATALOGUE.words.labels[own] }, label);
  const changed = () => change(name, inputs[name].get());
  if (typeof values[0] === "string") {
    const select = make("select", {}, label);
    for (const value of values) make("option", { value, textContent: named(own, value) }, select);
    select.addEventListener("change", changed);
    inputs[name] = { label, get: () => select.value, set: (value) => { select.value = value; } };
    return;
  }
  const range = make("input", { type: "range", min: 0, max: values.length - 1 }, label);
  const output = make("output", {}, label);
  const write = () => {
    output.textContent = values[range.value];
    range.setAttribute("aria-valuetext", output.textContent);
  };
  range.addEventListener("input", () => { write(); changed(); });
  inputs[name] = {
    label,
    get: () => values[range.value],
    set: (value) => { range.value = values.indexOf(value); write(); },
    limit: (low, high) => Object.assign(range, { min: values.indexOf(low), max: values.indexOf(high) }),
  };
}

function make(tag, properties, place) {
  return place.appendChild(Object.assign(document.createElement(tag), properties));
}

function named(control, value) {
  if (control === "method") return CATALOGUE.titles[value];
  if (control === "hidden") return value || CATALOGUE.words.values.none;
  return CATALOGUE.words.values[value] ?? value;
}

function build() {
  const data = ["data", "split", "labels", "alpha", "clients", "seed"];
  const training = ["hidden", "cohort", "batch", "stragglers"];
  data.forEach((name) => control(name, find("#data")));
  training.forEach((name) => control(name, find("#training")));
  for (const side of sides) {
    for (const [name, { own }] of Object.entries(CATALOGUE.controls)) {
      if (own) control(`${side.name}.${name}`, find(".controls", side.place));
    }
  }
  for (const [list, words] of [["#axis", "axes"], ["#measure-1", "measures"], ["#measure-2", "measures"]]) {
    const names = words === "axes" ? Object.keys(CATALOGUE.words.axes) : MEASURES;
    for (const value of names) make("option", { value, textContent: CATALOGUE.words[words][value] }, find(list));
    find(list).addEventListener("change", charts);
  }
  find("#measure-2").value = "drift";
  for (const [value, textContent] of Object.entries(CATALOGUE.words.speeds)) make("option", { value, textContent }, find("#speed"));
  find("#speed").value = "five";
  CATALOGUE.words.story.forEach((one, i) => {
    make("button", { type: "button", textContent: one.title, onclick: () => tell(i) }, find("#stories"));
  });
  find("#speed").addEventListener("change", () => playing && play());
  find("#play").addEventListener("click", () => (playing ? pause() : play()));
  find("#round").addEventListener("click", () => once("round"));
  find("#step").addEventListener("click", () => once("step"));
  find("#again").addEventListener("click", restart);
  find("#two").addEventListener("change", (event) => change("two", Number(event.target.checked)));
  find("#share").addEventListener("click", () => offer(address()));
  find("#python").addEventListener("click", () => offer(asPython(state)));
  find("#csv").addEventListener("click", () => save("playground.csv", "text/csv", table()));
  find("#svg").addEventListener("click", () => {
    document.querySelectorAll(".chart svg").forEach((svg, i) => save(`playground-${i + 1}.svg`, "image/svg+xml", asFile(svg)));
  });
  find("#close").addEventListener("click", () => find("dialog").close());
  pointing();
}

// Show `text` in a dialog, and copy it.
async function offer(text) {
  const box = find("dialog textarea");
  box.value = text;
  find("dialog").showModal();
  box.select();
  const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  find("#copied").textContent = say(copied ? "copied" : "failed");
}

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }, document.body).click();
  document.body.lastChild.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function address() {
  const place = location.protocol === "about:" ? "playground.html" : location.href.split("#")[0];
  return `${place}#${format(state)}`;
}

function table() {
  const names = ["round", "updates", "up", "down", "accuracy", "testLoss", "loss", "drift", "worst"];
  const rows = active().flatMap((side) => side.records.map((one) => [side.name, ...names.map((name) => one[name])].join(",")));
  return `side,${names.join(",")}\n${rows.join("\n")}\n`;
}

function active() {
  return state.two ? sides : sides.slice(0, 1);
}

// The clients as a slider: arrow keys, pointer, tap.
function pointing() {
  const place = find("#bars");
  const at = (event) => {
    const { left, width } = place.getBoundingClientRect();
    return Math.max(0, Math.min(parts.length - 1, Math.floor((event.clientX - left) / width * parts.length)));
  };
  place.addEventListener("pointermove", (event) => event.pointerType === "mouse" && choose(at(event)));
  place.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && choose(-1));
  place.addEventListener("pointerdown", (event) => choose(chosen === at(event) && event.pointerType !== "mouse" ? -1 : at(event)));
  place.addEventListener("keydown", (event) => {
    const moves = { ArrowRight: chosen + 1, ArrowUp: chosen + 1, ArrowLeft: chosen - 1, ArrowDown: chosen - 1, Home: 0, End: parts.length - 1, Escape: -1 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    choose(Math.max(event.key === "Escape" ? -1 : 0, Math.min(parts.length - 1, moves[event.key])));
  });
  document.addEventListener("pick", (event) => choose(event.detail));
}

function choose(client) {
  if (client === chosen) return;
  chosen = client;
  worker.postMessage({ type: "watch", client });
  clients();
  sides.forEach((side) => side.draw(chosen));
}

// Draw the bars, and say which client is chosen.
function clients() {
  bars(find("#bars"), parts, data.train.y, chosen);
  const mix = chosen < 0 ? "" : mixOf(parts[chosen], data.train.y).map(([label, number]) => say("label", { label, number })).join(", ");
  const words = chosen < 0 ? say("pick") : say("client", { client: chosen + 1, number: parts[chosen].length, mix });
  find("#client").textContent = words;
  const values = { "aria-valuemin": 0, "aria-valuemax": parts.length, "aria-valuenow": chosen + 1, "aria-valuetext": words };
  Object.entries(values).forEach(([name, value]) => find("#bars").setAttribute(name, value));
}

// A control has moved: the run begins again, and goes on playing if it did.
function change(name, value) {
  state = fitting({ ...state, [name]: value });
  story = null;
  arrange();
  restart();
}

// Set the controls to the state, and hide those without effect.
function arrange() {
  const { classes } = CATALOGUE.sets[state.data];
  for (const [name, input] of Object.entries(inputs)) {
    input.set(state[name]);
    const [side, own] = name.includes(".") ? name.split(".") : [null, name];
    const { of } = CATALOGUE.controls[own];
    const splits = { labels: ["labels"], alpha: ["dirichlet", "quantity"] };
    input.label.hidden = (of && !of.includes(state[`${side}.method`])) || (splits[own] && !splits[own].includes(state.split)) || false;
  }
  inputs.cohort.limit(1, state.clients);
  inputs.labels.limit(Math.ceil(classes / state.clients), classes);
  inputs.cohort.set(state.cohort);
  inputs.labels.set(state.labels);
  find("#two").checked = Boolean(state.two);
  document.body.classList.toggle("two", Boolean(state.two));
  find("#story").hidden = story === null;
  if (story) {
    find("#question").textContent = story.question;
    find("#answer").hidden = true;
  }
  document.querySelectorAll("#stories button").forEach((button, i) => {
    button.setAttribute("aria-pressed", String(CATALOGUE.words.story[i] === story));
  });
}

function restart() {
  id += 1;
  chosen = -1;
  data = sets[state.data] ??= decoded(CATALOGUE.sets[state.data]);
  parts = split(data.train.y, state);
  const options = optionsOf(state);
  active().forEach((side, i) => side.start(options[i], data, parts));
  const rounds = story?.rounds ?? ROUNDS;
  worker.postMessage({ type: "start", id, data, parts, options, constants: CATALOGUE.constants, rounds });
  worker.postMessage({ type: "watch", client: -1 });
  clients();
  if (location.protocol !== "about:" && !CATALOGUE.small) history.replaceState(null, "", `#${format(state)}`);
  tellStatus(say("ready"));
}

function play() {
  playing = true;
  find("#play").textContent = CATALOGUE.words.page.pause;
  const pace = PACES[find("#speed").value];
  worker.postMessage({ type: "play", pace });
}

function pause() {
  worker.postMessage({ type: "pause" });
  rested();
}

function rested() {
  playing = false;
  find("#play").textContent = CATALOGUE.words.page.play;
}

function once(type) {
  if (playing) pause();
  worker.postMessage({ type });
}

function receive(frame) {
  const before = sides[0].records.length;
  active().forEach((side, i) => side.receive(frame.sides[i]));
  active().forEach((side) => side.draw(chosen));
  const now = performance.now();
  if (frame.rests || now - drawn > 120) charts();
  if (sides[0].records.length > 1 && (frame.rests || now - told > 1000) && sides[0].records.length !== before) {
    const round = sides[0].records.at(-1).round;
    tellStatus([say("round", { round }), ...active().map((side) => side.words)].join(" "));
  }
  if (!frame.done) return;
  if (playing) rested();
  const end = story ? story.answer : say("end", { rounds: ROUNDS });
  if (story) {
    find("#answer").textContent = end;
    find("#answer").hidden = false;
  }
  tellStatus([...active().map((side) => side.words), ...(active().some((side) => side.frame.failed) ? [] : [end])].join(" "));
}

function tellStatus(words) {
  told = performance.now();
  find("#status").textContent = words;
}

function charts() {
  drawn = performance.now();
  const x = find("#axis").value;
  for (const i of [1, 2]) {
    const y = find(`#measure-${i}`).value;
    const range = y === "accuracy" || y === "worst" ? [0, 100] : null;
    const lines = active().map((side) => side.line(x, y));
    const words = active().map((side) => side.words).join(" ");
    const svg = find(`#chart-${i}`);
    svg.setAttribute("aria-label", `${CATALOGUE.words.measures[y]}. ${words}`);
    chart(svg, { lines, x: CATALOGUE.words.axes[x], y: CATALOGUE.words.measures[y], range });
  }
  const dots = { lines: active().map((side) => side.dots), dots: true, range: [0, 100] };
  chart(find("#chart-3"), { ...dots, x: CATALOGUE.words.measures.clients, y: CATALOGUE.words.measures.own });
}

// Begin a story: its state, its question; its sentence comes after the run.
function tell(number) {
  const one = CATALOGUE.words.story[number];
  state = parse(one.state).state;
  story = one;
  arrange();
  restart();
}

function read(text) {
  const { state: given, complaints } = parse(text);
  state = given;
  story = null;
  arrange();
  restart();
  find("#complaints").textContent = complaints.join(" ");
}

build();
document.body.classList.toggle("small", CATALOGUE.small);
read(location.hash.slice(1) || CATALOGUE.given);
addEventListener("hashchange", () => read(location.hash.slice(1)));
addEventListener("resize", () => sides.forEach((side) => side.draw(chosen)));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => sides.forEach((side) => side.draw(chosen)));
