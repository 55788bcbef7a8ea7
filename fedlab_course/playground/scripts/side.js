// One side of the page, A or B: its method, its pictures and its records.

class Side {
  constructor(place, number) {
    this.name = SIDES[number];
    Object.assign(this, { number, place, records: [], frame: null, network: null });
    for (const part of ["picture", "picture-words", "walks", "walks-words", "chapter"]) {
      this[part] = place.querySelector(`.${part}`);
    }
    this.walks.addEventListener("click", (event) => this.pick(event));
  }

  // Begin again with other `options`.
  start(options, data, parts) {
    this.network = new Network([data.inputs, ...options.hidden, data.classes]);
    Object.assign(this, { options, data, parts, records: [], frame: null });
    const { page, number, title } = CATALOGUE.chapters[options.algorithm];
    this.method = CATALOGUE.titles[options.algorithm];
    this.chapter.textContent = say("chapter", { method: this.method, number, title });
    if (CATALOGUE.site) this.chapter.href = page;
    else this.chapter.removeAttribute("href");
    this.labels = parts.map((part) => mixOf(part, data.train.y).reduce((a, b) => (b[1] > a[1] ? b : a))[0]);
  }

  // `frame` is what the worker has posted for this side.
  receive(frame) {
    this.frame = frame;
    this.records.push(...frame.records);
  }

  draw(chosen) {
    if (!this.frame || !this.network) return;
    const { w, local, round, paths, wrong } = this.frame;
    const { data, network, parts } = this;
    const client = chosen + 1;
    let words = say(chosen < 0 ? "global" : local ? "local" : "absent", { client, round });
    if (data.inputs === 2) {
      regions(this.picture, network, local ?? w, data.train, parts[chosen]);
    } else {
      wrongImages(this.picture, network, w, data.test, wrong);
      words = say(wrong.length ? "wrong" : "none_wrong", { number: wrong.length, all: data.test.y.length });
    }
    this["picture-words"].textContent = words;
    walks(this.walks, paths, (client) => this.labels[client], chosen);
    words = paths ? `${say("paths", { number: paths.clients.length })}.` : say("before");
    this["walks-words"].textContent = paths?.arrows.length ? `${words} ${say("control")}.` : words;
  }

  // The present numbers in words.
  get words() {
    const side = this.name.toUpperCase();
    if (this.frame?.failed) {
      const { client, round } = this.frame.failed;
      return say("diverged", { side, method: this.method, client: client + 1, round });
    }
    const last = this.records.at(-1);
    if (!last) return "";
    const values = { accuracy: (100 * last.accuracy).toFixed(1), loss: last.loss.toFixed(3) };
    return say("side", { side, method: this.method, ...values });
  }

  // The line of a chart.
  line(x, y) {
    const across = {
      round: (one) => one.round,
      updates: (one) => one.updates,
      bytes: (one) => (one.up + one.down) / 1e6,
    };
    const factor = y === "accuracy" || y === "worst" ? 100 : 1;
    return { points: this.records.map((one) => [across[x](one), factor * one[y]]), ...this.look };
  }

  get look() {
    const name = `${this.name.toUpperCase()}: ${this.method}`;
    return this.number ? { name, colour: "#D55E00", dash: "6 3" } : { name, colour: "#0072B2", dash: "" };
  }

  // The accuracy of each client on its own samples.
  get dots() {
    const own = this.records.at(-1)?.clients ?? [];
    return { points: own.map((value, k) => [k + 1 + 0.2 * this.number, 100 * value]), ...this.look };
  }

  // A click on the end of a path chooses its client.
  pick({ offsetX, offsetY }) {
    const { paths } = this.frame ?? {};
    if (!paths) return;
    const { clientWidth: width, clientHeight: height } = this.walks;
    const at = placing(paths, width, height);
    const far = paths.points.map((points) => apart(at(points.at(-1)), [offsetX, offsetY]));
    const nearest = largest(far.map((value) => -value));
    if (far[nearest] < 30)
      this.place.dispatchEvent(new CustomEvent("pick", { detail: paths.clients[nearest], bubbles: true }));
  }
}
