// The student's page: join, draw, train, see what left the phone.

// What the server says, and how the page shows it.
const WORDS = {
  "wrong room code": _("wrong room code"),
  "a name has 1 to 20 letters, digits, spaces or - . '":
    _("a name has 1 to 20 letters, digits, spaces or - . '"),
  "the class is full: 120 phones": _("the class is full: 120 phones"),
  "the lecturer has removed this phone": _("the lecturer has removed this phone"),
  "this class is open in another tab": _("this class is open in another tab"),
  "this phone has joined already": _("this phone has joined already"),
  "join first": _("join first"),
  "the task has changed": _("the task has changed"),
  "too late: the round has ended": _("too late: the round has ended"),
};
const ANIMALS = [
  _("fox"), _("owl"), _("bear"), _("dolphin"), _("hare"), _("turtle"), _("bee"), _("swan"),
];
const METHODS = {
  fedavg: "FedAvg", fedprox: "FedProx", scaffold: "SCAFFOLD", fednova: "FedNova",
  fedsso: "FedSSO", fedmas: "FedMas",
};

const own = recall();
let task = null;
let places = []; // of the task
let socket = null;
let wait = 500; // milliseconds until the next try
let timer = 0;
let stays = true; // connect again by itself
let guesses = { round: -1, before: null, after: null };
let samples = null;
const trainer = new Worker("trainer.js");
const pad = new Pad(find("#pad"), () => {
  const empty = pad.strokes.length === 0;
  find("#undo").disabled = empty && own.drawings.length === 0;
  find("#done").disabled = empty;
});

// ------------------------------------------------------------------ connection

function connect() {
  clearTimeout(timer);
  if (!own.code || !own.name) return;
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const opened = new WebSocket(`${scheme}://${location.host}/phone`);
  socket = opened;
  opened.binaryType = "arraybuffer";
  opened.onopen = () => {
    wait = 500;
    send(packed("join", { code: own.code, token: own.token, name: own.name }));
  };
  opened.onmessage = ({ data }) => receive(data);
  opened.onclose = () => {
    if (socket !== opened) return;
    socket = null;
    if (!stays) return;
    say("#connection", _("Not connected. Trying again …"));
    timer = setTimeout(connect, wait * (0.75 + Math.random() / 2));
    wait = Math.min(2 * wait, 4000);
  };
}

function send(packet) {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(packet);
  return true;
}

function receive(buffer) {
  const { kind, values } = unpacked(buffer);
  if (kind === "welcome" || kind === "task") begin(values);
  else if (kind === "refused") refused(values.word);
  else if (kind === "end") end(values.word);
  else if (kind === "model") trainer.postMessage({ type: "model", buffer }, [buffer]);
  else {
    say("#status", values.stream === "probe" ? _("Training for the clusters …") : _("Training …"));
    trainer.postMessage({ type: "question", buffer }, [buffer]);
  }
}

function refused(word) {
  if (task === null || word === "wrong room code") {
    stays = false;
    socket?.close();
    say("#join-error", sentenceOf(word));
    show("join");
    find("#code").focus();
  } else say("#status", filled(_("Not accepted: {word}."), { word: WORDS[word] ?? word }));
}

// A word of the server as a sentence.
function sentenceOf(word) {
  const shown = WORDS[word] ?? word;
  return filled(_("{sentence}."), { sentence: `${shown[0].toUpperCase()}${shown.slice(1)}` });
}

function end(word) {
  stays = false;
  say("#ended-word", sentenceOf(word));
  show("ended");
}

// ------------------------------------------------------------------------ task

// A task of the server: draw what is missing, or be ready.
function begin(values) {
  const changed = task?.task !== values.task;
  task = { ...task, ...values };
  say("#connection", "");
  say("#join-error", "");
  say("#who", filled(_("{name}, {method}"), { name: task.name, method: METHODS[task.algorithm] }));
  if (changed) guesses = { round: -1, before: null, after: null };
  arrange();
}

function arrange() {
  places = placesOf(task, own.drawings);
  const missing = places.find(({ drawing }) => drawing === null);
  keep(own);
  if (missing) {
    ask(missing.label);
    return;
  }
  const { train, held } = samplesOf(places, task);
  trainer.postMessage({ type: "drawings", train, held, hidden: task.hidden });
  const counts = { samples: train.y.length, held: held.y.length };
  send(packed("ready", { task: task.task, ...counts }));
  show("class");
  const told = {
    drawing: _("Your drawings are ready. The lecturer starts the training."),
    training: _("The class trains. Wait for your turn."),
    paused: _("The class has a break."),
    done: _("The training is over."),
  };
  const waits = _("A run is going on without you. You are in the next one; watch the guesses.");
  say("#status", task.member ? told[task.state] : waits);
  showDrawings(places, task, guesses.before, guesses.after);
  showSent(own.sent, null, []);
}

// Ask for one drawing of `label`.
function ask(label) {
  const done = places.filter(({ drawing }) => drawing).length;
  say("#task", askedFor(task));
  say("#wanted", String(label));
  say("#progress", filled(_("{done} of {all} done"), { done, all: places.length }));
  find("#meter").value = done / places.length;
  find("#pad").setAttribute("aria-label", filled(_("Draw a {label} here"), { label }));
  find("#undo").disabled = own.drawings.length === 0;
  find("#done").disabled = true;
  if (find("#pick").open) offer();
  show("draw");
}

// The task in words: all digits, two of them or one.
function askedFor({ labels: [one, other, ...rest], each }) {
  if (rest.length) {
    const all = each === 2 ? _("Draw every digit twice.") : _("Draw every digit {each} times.");
    return filled(all, { each });
  }
  const two = _("Make {each} drawings of {one} and {each} drawings of {other}.");
  const words = other === undefined ? _("Make {each} drawings of {one}.") : two;
  return filled(words, { each, one, other });
}

function wanted() {
  return Number(find("#wanted").textContent);
}

function add(image) {
  own.drawings.push({ label: wanted(), image });
  pad.clear();
  arrange();
}

async function offer() {
  samples ??= await (await fetch("samples.json")).json();
  offerSamples(samples[wanted()], add);
}

// ---------------------------------------------------------------------- results

trainer.onmessage = ({ data }) => {
  if (send(data.packet)) {
    own.sent.bytes += data.packet.byteLength;
    own.sent.messages += 1;
  }
  if (data.type === "answer") {
    const trained = _("Round {round}: trained in {seconds} s. Sent.");
    say("#status", filled(trained, { round: data.round, seconds: data.seconds.toFixed(2) }));
    showSent(own.sent, data.change, data.change ? labelsSeen(data.change) : []);
  } else if (data.type === "failed") {
    say("#status", data.why === "diverged" ? _("The training diverged: η is too large.") : "");
  } else scored(data);
  keep(own);
};

// New guesses of the shared model for the own drawings.
function scored({ counts, trained, tested, values }) {
  const after = [];
  const [fromTrained, fromTested] = [[...trained], [...tested]];
  places.forEach((_, place) => {
    after.push((isHeld(place, task) ? fromTested : fromTrained).shift());
  });
  guesses = { round: values.round, before: guesses.after, after };
  const { right, samples: all, hits, held } = counts;
  const { round, rounds } = values;
  say("#status", filled(_("Round {round} of {rounds} is done."), { round, rounds }));
  const kept = filled(_("{hits} of {held} that are kept for the test"), { hits, held });
  const words = _("The shared model gets {right} of your {all} drawings right, and {kept}.");
  say("#scores", filled(words, { right, all, kept }));
  showDrawings(places, task, guesses.before, guesses.after);
  showSent(own.sent, null, []);
}

// ----------------------------------------------------------------------- page

function prepare() {
  for (const name of ANIMALS) {
    const button = element("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      find("#name").value = `${name} ${1 + Math.floor(99 * Math.random())}`;
    });
    find("#animals").append(button);
  }
  find("#code").value = location.hash.slice(1) || own.code;
  find("#name").value = own.name;
  find("#join form").addEventListener("submit", (event) => {
    event.preventDefault();
    own.code = find("#code").value.trim().toUpperCase();
    own.name = find("#name").value.trim();
    keep(own);
    stays = true;
    connect();
  });
  find("#done").addEventListener("click", () => add(pad.image()));
  find("#undo").addEventListener("click", () => {
    if (pad.strokes.length) pad.undo();
    else {
      own.drawings.pop();
      arrange();
    }
  });
  find("#pick").addEventListener("toggle", () => find("#pick").open && offer());
  find("#forget").addEventListener("click", () => {
    own.drawings = [];
    trainer.postMessage({ type: "drawings", train: { y: [] }, held: { y: [] } });
    send(packed("ready", { task: task.task, samples: 0, held: 0 }));
    arrange();
  });
  find("#again").addEventListener("click", () => {
    stays = true;
    show("class");
    connect();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && socket === null && stays) connect();
  });
}

prepare();
const invited = location.hash.slice(1).toUpperCase();
show("join");
if (own.name && own.code && (!invited || invited === own.code)) connect();
