// The projector's page: the class, its rounds and its clusters. The lecturer's page has it, too.

const STATES = {
  drawing: ["✎", "draws"],
  ready: ["●", "ready"],
  training: ["⟳", "trains"],
  done: ["✓", "done"],
  asleep: ["☾", "asleep"],
  virtual: ["◇", "virtual"],
};
const VIEWS = {
  join: "Join",
  class: "Class",
  rounds: "Rounds",
  clusters: "Clusters",
  reveal: "What the server knows",
};
const find = (selector) => document.querySelector(selector);
let picture = null;
let chosen = null; // the view that somebody chose here, until the lecturer chooses another
let told = null; // the lecturer's view
let room = "";
let socket = null;
const LISTENERS = [];

function say(selector, text) {
  const place = find(selector);
  if (place && place.textContent !== text) place.textContent = text;
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

// ------------------------------------------------------------------ connection

function watch(path) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}${path}`);
  socket.onopen = () => room && socket.send(JSON.stringify({ code: room }));
  socket.onmessage = ({ data }) => {
    const received = JSON.parse(data);
    if (received.refused) {
      say("#code-error", "This is not the room code.");
      find("#enter").hidden = false;
    } else showPicture(received);
  };
  socket.onclose = () => {
    say("#connection", "Not connected. Trying again …");
    setTimeout(() => watch(path), 1000);
  };
}

// --------------------------------------------------------------------- picture

function showPicture(received) {
  picture = received;
  if (picture.code) room = picture.code;
  if (picture.view !== told) [told, chosen] = [picture.view, null];
  find("#enter").hidden = true;
  find("#hall").hidden = false;
  say("#connection", "");
  const { phase, rounds, options, tiles } = picture;
  say("#phase", phase.name);
  say("#question", phase.question);
  const people = tiles.filter(({ seat }) => seat !== null);
  const awake = people.filter(({ state }) => state !== "asleep").length;
  const others = tiles.length - people.length;
  const more = others ? ` and ${others} virtual clients` : "";
  say("#count", `${awake} of ${people.length} phones awake${more}`);
  const words = { drawing: "before round 1", training: "training", paused: "paused", done: "done" };
  const last = rounds.length ? rounds.at(-1).round : 0;
  const where = rounds.length ? `round ${last} of ${options.rounds}, ` : "";
  say("#state", `${where}${words[picture.state]}`);
  say("#trouble", picture.trouble);
  showInvitation();
  showView();
  for (const listener of LISTENERS) listener(picture);
}

function showInvitation() {
  const image = find("#qr");
  const source = `/invite/${room}.svg`;
  if (room && image.getAttribute("src") !== source) image.setAttribute("src", source);
  say("#room", room);
  say("#address", picture.address);
}

function showView() {
  const view = chosen ?? told;
  for (const button of document.querySelectorAll("#views button")) {
    button.setAttribute("aria-pressed", String(button.dataset.view === view));
  }
  for (const part of document.querySelectorAll("[data-shown]")) {
    part.hidden = part.dataset.shown !== view;
  }
  if (view === "class") showClass();
  else if (view === "rounds") showRounds();
  else if (view === "clusters") showClusters();
  else if (view === "reveal") showCosts();
}

function tileOf(tile) {
  const [sign, word] = STATES[tile.state];
  const made = element("li", { class: `tile ${tile.state}${tile.sampled ? " sampled" : ""}` });
  made.append(element("strong", {}, tile.name));
  const sampled = tile.sampled ? ", sampled" : "";
  made.append(element("span", { class: "state" }, `${sign} ${tile.trouble || word}${sampled}`));
  const measured = typeof tile.accuracy === "number";
  const accuracy = measured ? `${percent(tile.accuracy)} right` : "";
  made.append(element("span", { class: "accuracy" }, accuracy));
  if (measured) made.append(element("meter", { value: tile.accuracy, "aria-hidden": "true" }));
  const alone = typeof tile.alone === "number" ? `alone ${percent(tile.alone)}` : "";
  const drift = typeof tile.drift === "number" ? `, drift ${tile.drift.toFixed(2)}` : "";
  made.append(element("span", { class: "drift" }, `${alone}${drift}`));
  return made;
}

function showClass() {
  find("#tiles").replaceChildren(...picture.tiles.map(tileOf));
  const last = picture.rounds.at(-1);
  const shared = last ? percent(last.accuracy) : "–";
  say("#together", last ? `${percent(last.alone)} alone on average, ${shared} together` : "–");
}

function showRounds() {
  const { rounds, options } = picture;
  const test = rounds.map(({ round, accuracy }) => [round, 100 * accuracy]);
  const own = rounds
    .filter(({ held }) => held > 0)
    .map(({ round, hits, held }) => [round, (100 * hits) / held]);
  const drift = rounds.filter((row) => row.drift !== null).map((row) => [row.round, row.drift]);
  const newest = (points) => (points.length ? points.at(-1)[1].toFixed(1) : "–");
  const both = `Digits' test set: ${newest(test)}. Own held-back drawings: ${newest(own)}.`;
  const label = `Accuracy in % over rounds. ${both}`;
  drawChart(find("#accuracy"), [{ points: test }, { points: own }], options.rounds, 100, label);
  const moved = `Drift over rounds, the mean distance from w: ${newest(drift)}.`;
  drawChart(find("#drift"), [{ points: drift }], options.rounds, null, moved);
  say("#newest-test", `${newest(test)} %`);
  say("#newest-own", `${newest(own)} %`);
  say("#newest-drift", newest(drift));
}

// The class by clusters; without clusters, by who was sampled.
function showClusters() {
  const { tiles } = picture;
  const has = tiles.some(({ cluster }) => typeof cluster === "number");
  const groupOf = (tile) => {
    if (!has) return tile.sampled ? "sampled" : "not sampled";
    if (typeof tile.cluster !== "number") return "not in this run";
    return tile.cluster < 0 ? "in no cluster" : `cluster ${tile.cluster + 1}`;
  };
  const groups = [...new Set(tiles.map(groupOf))].sort();
  const map = find("#map");
  map.replaceChildren();
  groups.forEach((name, i) => {
    const members = tiles.filter((tile) => groupOf(tile) === name);
    const list = element("ul", { class: "tiles" }, ...members.map(tileOf));
    const title = element("h3", {}, `${name}: ${members.length}`);
    const group = element("section", { class: `group group-${i % 10}` }, title, list);
    group.style.flexGrow = String(members.length);
    map.append(group);
  });
}

function showCosts() {
  const last = picture.rounds.at(-1);
  const size = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
  say("#up", last ? size(last.up) : "0 MB");
  say("#down", last ? size(last.down) : "0 MB");
}

// ------------------------------------------------------------------------ page

function prepareViews(choose) {
  for (const [view, title] of Object.entries(VIEWS)) {
    const button = element("button", { type: "button", "data-view": view }, title);
    button.addEventListener("click", () => choose(view));
    find("#views").append(button);
  }
}

function openProjector() {
  prepareViews((view) => {
    chosen = view;
    showView();
  });
  find("#enter form").addEventListener("submit", (event) => {
    event.preventDefault();
    room = find("#code").value.trim().toUpperCase();
    socket.send(JSON.stringify({ code: room }));
  });
  room = location.hash.slice(1).toUpperCase();
  find("#enter").hidden = Boolean(room);
  watch("/projector/socket");
}

if (document.body.dataset.page === "projector") openProjector();
