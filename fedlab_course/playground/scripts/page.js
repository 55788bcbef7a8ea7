// The page: controls, worker, address, stories and exports.

const find = (selector, place = document) => place.querySelector(selector);
const ROUNDS = 500; // a run stops there
const PACES = { slow: 0, one: 1, five: 5, fast: Infinity };
const MEASURES = ["accuracy", "loss", "testLoss", "drift", "worst"];

const sets = {};
const small = CATALOGUE.small || new URLSearchParams(location.hash.slice(1)).has("small");
const shared = !small && location.protocol !== "about:"; // the address holds the state
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

function build() {
  const shared = ["data", "split", "labels", "alpha", "clients", "seed"];
  for (const [name, { own }] of Object.entries(CATALOGUE.controls)) {
    if (own) sides.forEach((side) => control(`${side.name}.${name}`, find(".controls", side.place)));
    else if (name !== "two") control(name, find(shared.includes(name) ? "#data" : "#training"));
  }
  const { axes, measures, speeds, story: stories } = CATALOGUE.words;
  options(find("#axis"), Object.keys(axes), axes);
  options(find("#measure-1"), MEASURES, measures);
  options(find("#measure-2"), MEASURES, measures).value = "drift";
  options(find("#speed"), Object.keys(speeds), speeds).value = "five";
  stories.forEach(({ title }, i) => {
    make("button", { type: "button", textContent: title, onclick: () => tell(i) }, find("#stories"));
  });
  const clicks = {
    play: () => (playing ? pause() : play()),
    round: () => once("round"),
    step: () => once("step"),
    again: restart,
    share: () => offer(address()),
    python: () => offer(asPython(state)),
    csv: () => save("playground.csv", "text/csv", table()),
    svg: () => drawings().forEach((svg, i) => save(`playground-${i + 1}.svg`, "image/svg+xml", asFile(svg))),
    close: () => find("dialog").close(),
  };
  Object.entries(clicks).forEach(([name, act]) => find(`#${name}`).addEventListener("click", act));
  for (const name of ["axis", "measure-1", "measure-2"]) find(`#${name}`).addEventListener("change", charts);
  find("#speed").addEventListener("change", () => playing && play());
  find("#two").addEventListener("change", (event) => change("two", Number(event.target.checked)));
  pointing();
}

function drawings() {
  return document.querySelectorAll(".chart svg");
}

// Show `text` in a dialog, and copy it.
async function offer(text) {
  const box = find("dialog textarea");
  box.value = text;
  find("dialog").showModal();
  box.select();
  const copied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
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
  const rows = active().flatMap((side) =>
    side.records.map((one) => [side.name, ...names.map((name) => one[name])].join(",")),
  );
  return `side,${names.join(",")}\n${rows.join("\n")}\n`;
}

function active() {
  return sides.slice(0, sidesOf(state).length);
}

// The clients as a slider: arrow keys, pointer, tap.
function pointing() {
  const place = find("#bars");
  const at = (event) => {
    const { left, width } = place.getBoundingClientRect();
    return Math.max(0, Math.min(parts.length - 1, Math.floor(((event.clientX - left) / width) * parts.length)));
  };
  place.addEventListener("pointermove", (event) => event.pointerType === "mouse" && choose(at(event)));
  place.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && choose(-1));
  place.addEventListener("pointerdown", (event) =>
    choose(chosen === at(event) && event.pointerType !== "mouse" ? -1 : at(event)),
  );
  place.addEventListener("keydown", (event) => {
    const [next, before] = [chosen + 1, chosen - 1];
    const moves = {
      ArrowRight: next,
      ArrowUp: next,
      ArrowLeft: before,
      ArrowDown: before,
      Home: 0,
      End: parts.length - 1,
    };
    if (event.key === "Escape") choose(-1);
    if (!(event.key in moves)) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(parts.length - 1, moves[event.key])));
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
  const one = chosen < 0 ? null : parts[chosen];
  const mix = one && mixOf(one, data.train.y).map(([label, number]) => say("label", { label, number }));
  const words = one ? say("client", { client: chosen + 1, number: one.length, mix: mix.join(", ") }) : say("pick");
  find("#client").textContent = words;
  const place = find("#bars");
  [place.ariaValueMin, place.ariaValueMax, place.ariaValueNow, place.ariaValueText] = [
    0,
    parts.length,
    chosen + 1,
    words,
  ];
}

// A control has moved: the run begins again, and goes on playing if it did.
function change(name, value) {
  state = fitting({ ...state, [name]: value });
  arrange();
  restart();
}

function restart() {
  id += 1;
  chosen = -1;
  data = sets[state.data] ??= decoded(CATALOGUE.sets[state.data]);
  parts = split(data.train.y, state);
  const options = optionsOf(state);
  active().forEach((side, i) => side.start(options[i], data, parts));
  const rounds = story?.rounds ?? ROUNDS;
  worker.postMessage({ type: "start", id, data, parts, options, rounds });
  worker.postMessage({ type: "watch", client: -1 });
  clients();
  if (shared) history.replaceState(null, "", `#${format(state)}`);
  find(".whole a").href = `playground.html#${format({ ...state, two: 1 })}`;
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
    tellStatus(`${say("round", { round })} ${words()}`);
  }
  if (!frame.done) return;
  if (playing) rested();
  if (story) {
    find("#answer").textContent = story.answer;
    find("#answer").hidden = false;
  }
  const failed = active().some((side) => side.frame.failed);
  tellStatus(`${words()} ${story?.answer ?? (failed ? "" : say("end", { rounds: ROUNDS }))}`);
}

// The present numbers of the sides in words.
function words() {
  return active()
    .map((side) => side.words)
    .join(" ");
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
    const svg = find(`#chart-${i}`);
    svg.ariaLabel = `${CATALOGUE.words.measures[y]}. ${words()}`;
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
  state = small ? { ...given, two: 0 } : given;
  story = null;
  arrange();
  restart();
  find("#complaints").textContent = complaints.join(" ");
}

build();
document.body.classList.toggle("small", small);
find(".whole").hidden = location.protocol === "about:";
read(location.hash.slice(1) || CATALOGUE.given);
addEventListener("hashchange", () => read(location.hash.slice(1)));
addEventListener("resize", () => sides.forEach((side) => side.draw(chosen)));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => sides.forEach((side) => side.draw(chosen)));
