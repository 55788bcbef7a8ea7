// One side of the page, A or B: its method, its pictures and its records.

class Side {
  constructor(place, number) {
    this.name = SIDES[number];
    Object.assign(this, { number, place, records: [], frame: null, network: null });
    for (const part of ["picture", "picture-words", "walks", "walks-words", "method", "percent"]) {
      this[part] = place.querySelector(`.${part}`);
    }
    this.chapter = document.querySelector(`#own-${this.name} .chapter`);
    this.walks.addEventListener("click", (event) => this.pick(event));
  }

  // Begin again with other `options`.
  start(options, data, parts) {
    this.network = new Network([data.inputs, ...options.hidden, data.classes]);
    Object.assign(this, { options, data, parts, records: [], frame: null });
    const { page, number, title } = CATALOGUE.chapters[options.algorithm];
    this.title = titleOf(options.algorithm, options.lambda);
    this.method.textContent = this.title;
    this.percent.textContent = "";
    this.chapter.textContent = say("chapter", { number, title });
    if (CATALOGUE.site) this.chapter.href = page;
    else this.chapter.removeAttribute("href");
    this.labels = parts.map(
      (part) => mixOf(part, data.train.y).reduce((a, b) => (b[1] > a[1] ? b : a))[0],
    );
  }

  // `frame` is what the worker has posted for this side.
  receive(frame) {
    this.frame = frame;
    this.records.push(...frame.records);
    this.percent.textContent = say("percent", { accuracy: this.accuracy });
  }

  draw(chosen) {
    if (!this.frame || !this.network) return;
    const { w, local, paths, wrong } = this.frame;
    const { data, network, parts } = this;
    const params = local ?? w;
    if (data.inputs === 2) regions(this.picture, network, params, data.train, parts[chosen]);
    else wrongImages(this.picture, network, w, data.test, wrong);
    if (probe) cross(this.picture);
    this["picture-words"].textContent = this.probed(params) ?? this.caption(chosen);
    walks(this.walks, paths, (client) => this.labels[client], chosen);
    const words = paths ? say("paths", { number: paths.clients.length }) : say("ready");
    this["walks-words"].textContent = paths?.arrows.flat().some(Boolean)
      ? `${words} ${say("control")}`
      : words;
  }

  // What the picture of the model shows.
  caption(chosen) {
    const { local, round, wrong, failed } = this.frame;
    if (failed) return this.words;
    if (this.data.inputs !== 2) {
      return say(wrong.length ? "wrong" : "none_wrong", {
        number: wrong.length,
        all: this.data.test.y.length,
      });
    }
    if (chosen < 0) return say("global", { round });
    return say(local ? "local" : "absent", { client: chosen + 1 });
  }

  // What the model says at the probe: a place of the plane, or one of the images.
  probed(params) {
    if (!probe) return null;
    const { data, network, frame, picture } = this;
    if (data.inputs === 2) return say("here", answerOf(network, params, placeOf(probe), 0));
    const sample = imageAt(probe, picture.clientWidth, picture.clientHeight, frame.wrong);
    if (sample === undefined) return null;
    const truth = data.test.y[sample];
    return say("image", {
      truth,
      ...answerOf(network, frame.w, data.test.x, sample * data.inputs),
    });
  }

  get accuracy() {
    return (100 * this.records.at(-1).accuracy).toFixed(1);
  }

  // The latest round, finished or failed.
  get round() {
    return this.frame?.failed?.round ?? this.records.at(-1)?.round ?? 0;
  }

  // The present numbers in words.
  get words() {
    const side = this.name.toUpperCase();
    if (this.frame?.failed) {
      const { client, round } = this.frame.failed;
      return say("diverged", { side, method: this.title, client: client + 1, round });
    }
    const last = this.records.at(-1);
    if (!last) return "";
    return say("side", {
      side,
      method: this.title,
      accuracy: this.accuracy,
      loss: last.loss.toFixed(3),
    });
  }

  // The curve of a chart, or the accuracy of each client on its own samples as dots.
  line(x, y) {
    if (y === "own") {
      const own = this.records.at(-1)?.clients ?? [];
      return {
        points: own.map((value, k) => [k + 1 + 0.2 * this.number, 100 * value]),
        ...this.look,
      };
    }
    const across = {
      round: (one) => one.round,
      updates: (one) => one.updates,
      bytes: (one) => (one.up + one.down) / 1e6,
    };
    const factor = y === "accuracy" || y === "worst" ? 100 : 1;
    const points = this.records.map((one) => [across[x](one), factor * one[y]]);
    return { points, diverged: Boolean(this.frame?.failed), ...this.look };
  }

  get look() {
    const name = `${this.name.toUpperCase()}: ${this.title}`;
    const colour = CATALOGUE.colours.sides[this.number];
    return { name, colour, dash: this.number ? "6 3" : "" };
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
      this.place.dispatchEvent(
        new CustomEvent("pick", { detail: paths.clients[nearest], bubbles: true }),
      );
  }
}
