// The projector's page: the class, its rounds and its clusters. The lecturer's page has it, too.

const STATES = {
  drawing: ["✎", _("draws")],
  ready: ["●", _("ready")],
  training: ["⟳", _("trains")],
  done: ["✓", _("done")],
  asleep: ["☾", _("asleep")],
  virtual: ["◇", _("virtual")],
};
const VIEWS = {
  join: _("Join"),
  class: _("Class"),
  rounds: _("Rounds"),
  clusters: _("Clusters"),
  reveal: _("What the server knows"),
};
const TROUBLES = { diverged: _("diverged"), changed: _("changed") };
const STAGES = {
  drawing: _("before round 1"),
  training: _("training"),
  paused: _("paused"),
  done: _("done"),
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
  return filled(_("{number} %"), { number: Math.round(100 * share) });
}

// ------------------------------------------------------------------ connection

function watch(path) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}${path}`);
  socket.onopen = () => room && socket.send(JSON.stringify({ code: room }));
  socket.onmessage = ({ data }) => {
    const received = JSON.parse(data);
    if (received.refused) {
      say("#code-error", _("This is not the room code."));
      find("#enter").hidden = false;
    } else showPicture(received);
  };
  socket.onclose = () => {
    say("#connection", _("Not connected. Trying again …"));
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
  const counted = others
    ? _("{awake} of {all} phones awake and {others} virtual clients")
    : _("{awake} of {all} phones awake");
  say("#count", filled(counted, { awake, all: people.length, others }));
  const state = STAGES[picture.state];
  const now = { round: rounds.at(-1)?.round, all: options.rounds, state };
  say("#state", rounds.length ? filled(_("round {round} of {all}, {state}"), now) : state);
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
  const state = TROUBLES[tile.trouble] ?? word;
  const shown = tile.sampled ? filled(_("{state}, sampled"), { state }) : state;
  made.append(element("span", { class: "state" }, `${sign} ${shown}`));
  const measured = typeof tile.accuracy === "number";
  const accuracy = measured ? filled(_("{share} right"), { share: percent(tile.accuracy) }) : "";
  made.append(element("span", { class: "accuracy" }, accuracy));
  if (measured) made.append(element("meter", { value: tile.accuracy, "aria-hidden": "true" }));
  made.append(element("span", { class: "drift" }, movedOf(tile)));
  return made;
}

// How a client does by itself: both numbers, or one of them.
function movedOf({ alone, drift }) {
  const words = [];
  const [share, far] = [percent(alone), drift?.toFixed(2)];
  if (typeof alone === "number") words.push(filled(_("alone {share}"), { share }));
  if (typeof drift === "number") words.push(filled(_("drift {drift}"), { drift: far }));
  return words.join(_(", "));
}

function showClass() {
  find("#tiles").replaceChildren(...picture.tiles.map(tileOf));
  const last = picture.rounds.at(-1);
  const both = _("{alone} alone on average, {together} together");
  const numbers = last && { alone: percent(last.alone), together: percent(last.accuracy) };
  say("#together", last ? filled(both, numbers) : "–");
}

function showRounds() {
  const { rounds, options } = picture;
  const test = rounds.map(({ round, accuracy }) => [round, 100 * accuracy]);
  const own = rounds
    .filter(({ held }) => held > 0)
    .map(({ round, hits, held }) => [round, (100 * hits) / held]);
  const drift = rounds.filter((row) => row.drift !== null).map((row) => [row.round, row.drift]);
  const newest = (points) => (points.length ? points.at(-1)[1].toFixed(1) : "–");
  const both = _(
    "Accuracy in % over rounds. Digits' test set: {test}. Own held-back drawings: {own}.",
  );
  const label = filled(both, { test: newest(test), own: newest(own) });
  drawChart(find("#accuracy"), [{ points: test }, { points: own }], options.rounds, 100, label);
  const over = _("Drift over rounds, the mean distance from w: {drift}.");
  const moved = filled(over, { drift: newest(drift) });
  drawChart(find("#drift"), [{ points: drift }], options.rounds, null, moved);
  say("#newest-test", filled(_("{number} %"), { number: newest(test) }));
  say("#newest-own", filled(_("{number} %"), { number: newest(own) }));
  say("#newest-drift", newest(drift));
}

// The class by clusters; without clusters, by who was sampled.
function showClusters() {
  const { tiles } = picture;
  const has = tiles.some(({ cluster }) => typeof cluster === "number");
  const groupOf = (tile) => {
    if (!has) return tile.sampled ? _("sampled") : _("not sampled");
    if (typeof tile.cluster !== "number") return _("not in this run");
    if (tile.cluster < 0) return _("in no cluster");
    return filled(_("cluster {number}"), { number: tile.cluster + 1 });
  };
  const groups = [...new Set(tiles.map(groupOf))].sort();
  const map = find("#map");
  map.replaceChildren();
  groups.forEach((name, i) => {
    const members = tiles.filter((tile) => groupOf(tile) === name);
    const list = element("ul", { class: "tiles" }, ...members.map(tileOf));
    const words = filled(_("{name}: {number}"), { name, number: members.length });
    const title = element("h3", {}, words);
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
