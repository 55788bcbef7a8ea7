// The page: controls, worker, pictures and charts.

const find = (selector, place = document) => place.querySelector(selector);
const PACES = { slow: 0, one: 1, five: 5, fast: Infinity };
const SHOWN = { axis: "#axis", upper: "#measure-1", lower: "#measure-2", speed: "#speed" };

const sets = {};
const small = CATALOGUE.small || new URLSearchParams(location.hash.slice(1)).has("small");
const shared = !small && location.protocol !== "about:"; // the address holds the state
let state;
let beside; // the rest of the address
let parts = [];
let data;
let id = 0; // of the latest start
let asked = 0; // number of the latest message to the worker
let playing = false;
let drawn = 0; // when the charts were drawn
let told = 0; // when the status was said

const worker = new Worker(
  URL.createObjectURL(new Blob([find("#engine").textContent, find("#worker").textContent])),
);
worker.onmessage = ({ data: frame }) => {
  if (frame.id === id) receive(frame);
  requestAnimationFrame(() => worker.postMessage({ type: "seen" }));
};

const sides = Array.from(
  document.querySelectorAll(".side"),
  (place, number) => new Side(place, number),
);

function ask(message) {
  asked += 1;
  worker.postMessage({ ...message, asked });
}

function build() {
  for (const [name, { own }] of Object.entries(CATALOGUE.controls)) {
    if (own) SIDES.forEach((side) => control(`${side}.${name}`, placeFor(name, side)));
    else if (name !== "two") control(name, placeFor(name));
  }
  const { axes, measures, speeds, story: stories } = CATALOGUE.words;
  options(find("#axis"), Object.keys(axes), axes);
  options(find("#measure-1"), MEASURES, measures);
  options(find("#measure-2"), MEASURES, measures);
  options(find("#speed"), Object.keys(speeds), speeds);
  stories.forEach(({ title }, i) => {
    make(
      "button",
      { type: "button", textContent: title, onclick: () => tell(i + 1) },
      find("#stories"),
    );
  });
  const clicks = {
    play: () => (playing ? pause() : play()),
    round: () => once("round"),
    step: () => once("step"),
    again: () => restart(0),
    share: () => offer(address()),
    python: () => offer(asPython(state, Math.max(1, round()))),
    csv: () => save("playground.csv", "text/csv", table()),
    svg: saveCharts,
    close: () => find("dialog").close(),
  };
  Object.entries(clicks).forEach(([name, act]) => find(`#${name}`).addEventListener("click", act));
  for (const [name, place] of Object.entries(SHOWN))
    find(place).addEventListener("change", () => show(name));
  find("#two").addEventListener("change", (event) => change("two", Number(event.target.checked)));
  pointing();
  sides.forEach(({ picture }) => probing(picture, redraw));
}

function drawings() {
  return document.querySelectorAll(".chart svg");
}

function active() {
  return sides.slice(0, sidesOf(state).length);
}

// The latest round.
function round() {
  return Math.max(...active().map((side) => side.round));
}

// The rest of the address as it is now.
function shown() {
  return { ...beside, round: round() };
}

// A list of the charts or the speed has another value.
function show(name) {
  beside[name] = find(SHOWN[name]).value;
  if (name === "speed" && playing) play();
  charts();
  remember();
}

// A control has moved: the run begins again, and goes on playing if it did.
function change(name, value) {
  state = fitting({ ...state, [name]: value });
  arrange();
  restart();
}

// Begin again, and train up to a round, so that every picture has something to show.
function restart(until = 1) {
  const goesOn = playing;
  id += 1;
  chosen = -1;
  data = sets[state.data] ??= decoded(CATALOGUE.sets[state.data]);
  parts = split(data.train.y, state);
  const options = optionsOf(state);
  active().forEach((side, i) => side.start(options[i], data, parts));
  ask({ type: "start", id, data, parts, options, rounds: story()?.rounds ?? ROUNDS, round: until });
  ask({ type: "watch", client: -1 });
  clients();
  const link = format({ ...state, two: 1 });
  find(".whole a").href = `playground.html#${link}`;
  if (goesOn) play();
  else if (until > 1) setPlaying(true);
}

function play() {
  setPlaying(true);
  ask({ type: "play", pace: PACES[beside.speed] });
}

function pause() {
  ask({ type: "pause" });
  setPlaying(false);
}

function setPlaying(value) {
  playing = value;
  find("#play").textContent = CATALOGUE.words.page[playing ? "pause" : "play"];
}

function once(type) {
  if (playing) pause();
  ask({ type });
}

function receive(frame) {
  const before = sides[0].records.length;
  active().forEach((side, i) => side.receive(frame.sides[i]));
  redraw();
  const now = performance.now();
  if (frame.rests || now - drawn > 120) charts();
  const done = frame.done && frame.asked === asked;
  const news = sides[0].records.length !== before && (frame.rests || now - told > 1000);
  tellRound(done || news, frame.ended);
  if (done && playing) setPlaying(false);
  if (frame.ended) {
    answered = true;
    tellStory();
  }
  if (frame.rests) remember();
}

function redraw() {
  active().forEach((side) => side.draw(chosen));
}

// Show the present numbers; `aloud`: also to those who listen.
function tellRound(aloud, ended) {
  const failed = active().some((side) => side.frame.failed);
  const last = ended && !failed && !story() ? say("end", { rounds: ROUNDS }) : "";
  const numbers = `${words()} ${last}`.trim();
  const [count, rest] = find("#now").children;
  count.textContent = say("round", { round: round() });
  rest.textContent = numbers;
  if (!aloud) return;
  told = performance.now();
  const first = { 0: say("ready"), 1: say("first") }[round()] ?? count.textContent;
  find("#status").textContent = failed ? numbers : `${first} ${numbers}`;
}

// The present numbers of the sides in words.
function words() {
  return active()
    .map((side) => side.words)
    .join(" ");
}

function charts() {
  drawn = performance.now();
  const { axes, measures } = CATALOGUE.words;
  for (const [svg, y] of [
    [find("#chart-1"), beside.upper],
    [find("#chart-2"), beside.lower],
  ]) {
    const dots = y === "own";
    const range = dots || y === "accuracy" || y === "worst" ? [0, 100] : null;
    const lines = active().map((side) => side.line(beside.axis, y));
    const least = beside.axis === "bytes" ? 0.01 : 10;
    svg.ariaLabel = `${measures[y]}. ${words()}`;
    chart(svg, {
      lines,
      x: dots ? measures.client : axes[beside.axis],
      y: measures[y],
      range,
      dots,
      least,
    });
  }
}

function read(text) {
  const given = parse(text);
  state = small ? { ...given.state, two: 0 } : given.state;
  beside = given.beside;
  answered = false;
  for (const [name, place] of Object.entries(SHOWN)) find(place).value = beside[name];
  arrange();
  restart(beside.round);
  find("#complaints").textContent = given.complaints.join(" ");
}

build();
document.body.classList.toggle("small", small);
find(".whole").hidden = location.protocol === "about:";
read(location.hash.slice(1) || CATALOGUE.given);
settle();
addEventListener("hashchange", () => read(location.hash.slice(1)));
addEventListener("resize", () => {
  redraw();
  charts();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
