// The lecturer's page: the projector's picture with controls.

const LABELS = {
  algorithm: _("Algorithm"),
  mode: _("Labels that each phone draws"),
  lr: _("Learning rate η"),
  epochs: _("Epochs E"),
  cohort: _("Clients in a round K"),
  batch: _("Batch size B"),
  rounds: _("Rounds"),
  mu: _("μ of FedProx"),
  strength: _("λ of FedMas"),
  deadline: _("Deadline of a round (s)"),
  virtual: _("Virtual clients"),
  seed: _("Seed"),
};
const CHOICES = {
  fedavg: "FedAvg", fedprox: "FedProx", scaffold: "SCAFFOLD", fednova: "FedNova",
  fedsso: "FedSSO", fedmas: "FedMas",
  all: _("all ten, twice each"), two: _("two labels, eight each"), one: _("one label, twelve"),
};
const NEEDS = { mu: "fedprox", strength: "fedmas" };

function order(name, value = null) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ do: name, value }));
}

function makeControls({ options, bounds, choices, phases }) {
  const place = find("#options");
  for (const name of Object.keys(options)) {
    let input;
    if (choices[name]) {
      const offered = choices[name].map((one) => element("option", { value: one }, CHOICES[one]));
      input = element("select", {}, ...offered);
    } else {
      const [min, max] = bounds[name];
      const step = ["lr", "mu", "strength", "deadline"].includes(name) ? "any" : 1;
      input = element("input", { type: "number", min, max, step, required: "" });
    }
    input.dataset.option = name;
    input.addEventListener("change", () => {
      if (!input.checkValidity()) return;
      const value = choices[name] ? input.value : Number(input.value);
      order("set", { [name]: value });
    });
    place.append(element("label", { "data-for": name }, LABELS[name], input));
  }
  phases.forEach(({ name, question }, i) => {
    const button = element("button", { type: "button", title: question }, `${i}. ${name}`);
    button.addEventListener("click", () => order("phase", i));
    find("#phases").append(button);
  });
}

function showControls(shown) {
  if (!find("#options").children.length) makeControls(shown);
  const { options, state, phase, tiles } = shown;
  const busy = state === "training" || state === "paused";
  for (const input of document.querySelectorAll("[data-option]")) {
    const name = input.dataset.option;
    if (document.activeElement !== input) input.value = options[name];
    input.disabled = busy;
    input.parentElement.hidden = NEEDS[name] !== undefined && NEEDS[name] !== options.algorithm;
  }
  find("#start").disabled = state === "training";
  say("#start", state === "paused" ? _("Go on") : _("Start"));
  find("#pause").disabled = state !== "training";
  document.querySelectorAll("#phases button").forEach((button, i) => {
    button.setAttribute("aria-pressed", String(i === phase.number));
    button.disabled = busy;
  });
  showMembers(tiles.filter(({ seat }) => seat !== null));
}

// The phones, each with a button that removes it; the list stays while its focus is inside.
function showMembers(tiles) {
  const list = find("#members");
  const key = JSON.stringify(tiles.map(({ seat, name, state }) => [seat, name, state]));
  if (list.dataset.key === key || list.contains(document.activeElement)) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...tiles.map(({ seat, name, state }) => {
      const named = { type: "button", "aria-label": filled(_("Remove {name}"), { name }) };
      const button = element("button", named, _("Remove"));
      button.addEventListener("click", () => {
        if (confirm(filled(_("Remove {name} from the class?"), { name }))) order("remove", seat);
        button.blur();
      });
      const words = filled(_("{name}, {state}"), { name, state: STATES[state][1] });
      return element("li", {}, words, " ", button);
    }),
  );
}

if (document.body.dataset.page === "lecturer") {
  prepareViews((view) => order("view", view));
  find("#start").addEventListener("click", () => order("start"));
  find("#pause").addEventListener("click", () => order("pause"));
  find("#reset").addEventListener("click", () => order("reset"));
  LISTENERS.push(showControls);
  watch(`${location.pathname}socket`);
}
