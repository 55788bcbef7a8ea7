// The worker of a phone: it has the drawings, trains on them, and counts hits. It answers what the
// server asks with the playground's own network and local step. In: drawings, question, model.

const FIXED = { algorithm: "fedavg", seed: 0, cohort: 1, stragglers: 0, constants: {} };

// A run of one client, with the batches that the server orders.
class PhoneRun extends Run {
  constructor({ x, y }, hidden) {
    const test = { x: new Float64Array(0), y: new Int32Array(0) };
    const everything = Int32Array.from(y.keys());
    super({ train: { x, y }, test, inputs: 64, classes: 10 }, [everything], { ...FIXED, hidden });
  }

  batches() {
    const { orders, batch, steps } = this.plan;
    return orders
      .flatMap((order) =>
        Array.from({ length: Math.ceil(order.length / batch) }, (_, i) =>
          Int32Array.from(order.slice(i * batch, (i + 1) * batch)),
        ),
      )
      .slice(0, steps);
  }

  // The mean loss at `w` over all training drawings.
  loss(w) {
    return this.network.evaluate(w, this.data, this.parts[0]).loss / this.sizes[0];
  }

  trained(w, values, vectors) {
    this.w = w;
    this.plan = values;
    const correction = correctionOf(values, vectors);
    const training = this.train([0], [correction], { lr: values.lr, epochs: [0], name: "" });
    for (;;) {
      const { done, value } = training.next();
      if (done) return value.params[0];
    }
  }
}

// The parts of a correction that change the local step; "w" stands for the vector w.
function correctionOf(values, vectors) {
  const part = (name) => vectors[name] ?? (values[name] === "w" ? vectors.w : values[name]);
  const correction = { offset: part("offset") ?? undefined };
  const weight = part("weight");
  if (weight) Object.assign(correction, { weight, anchor: part("anchor") ?? zeros(vectors.w) });
  const scale = part("scale");
  if (scale && scale !== 1) {
    correction.scale = typeof scale === "number" ? vectors.w.map(() => scale) : scale;
  }
  return correction;
}

function zeros(like) {
  return new Float64Array(like.length);
}

let own = null; // the run with the training drawings
let held = null; // the drawings that are kept for the test

function answered({ kind, values, vectors }) {
  const { w } = vectors;
  const loss = own.loss(w);
  if (kind === "train") return { loss, y: own.trained(w, values, vectors) };
  if (kind === "loss") return { loss };
  if (kind === "gradient") {
    const y = zeros(w);
    own.network.gradient(w, own.data, own.parts[0], y);
    return { loss: null, y };
  }
  if (values.power !== 1 || !["logits", "softmax"].includes(values.of)) throw new Error(kind);
  return { loss: null, y: own.network.importance(w, own.data, own.parts[0], values.of) };
}

function reply(buffer) {
  const question = unpacked(buffer);
  const number = { question: question.values.question };
  const begin = performance.now();
  try {
    const { loss, y } = answered(question);
    if (y && !y.every(Number.isFinite)) throw new Diverged(0, question.values.round);
    const finite = Number.isFinite(loss) ? loss : null;
    const packet = packed("answer", { ...number, loss: finite }, y ? { y } : {});
    const change = question.kind === "train" ? movedBy(y, question) : null;
    const seconds = (performance.now() - begin) / 1000;
    const { round, stream } = question.values;
    postMessage({ type: "answer", packet, change, seconds, round, stream });
  } catch (error) {
    const why = error instanceof Diverged ? "diverged" : "changed";
    postMessage({ type: "failed", packet: packed("failed", { ...number, why }), why });
  }
}

// How far the gradients alone moved the parameters: the server knows the correction d that it sent,
// and subtracts its share −η τ d.
function movedBy(y, { values, vectors: { w, offset } }) {
  const reach = values.lr * values.steps;
  return y.map((value, i) => value - w[i] + (offset ? reach * offset[i] : 0));
}

// What the model says of each drawing, and the counts for the server.
function score(buffer) {
  const { values, vectors } = unpacked(buffer);
  const guessed = ({ x, y }) =>
    Array.from(y, (_, i) => own.network.classify(vectors.w, x, 64 * i));
  const right = ({ y }, guesses) => guesses.filter((guess, i) => guess === y[i]).length;
  const [trained, tested] = [guessed(own.data), guessed(held)];
  const counts = {
    hits: right(held, tested),
    held: tested.length,
    right: right(own.data, trained),
    samples: trained.length,
  };
  const packet = packed("score", { run: values.run, round: values.round, ...counts });
  postMessage({ type: "scored", packet, counts, trained, tested, values });
}

onmessage = ({ data }) => {
  if (data.type === "drawings") {
    own = data.train.y.length ? new PhoneRun(data.train, data.hidden) : null;
    held = data.held;
  } else if (data.type === "question") {
    if (own) reply(data.buffer);
    else {
      const { question } = unpacked(data.buffer).values;
      const packet = packed("failed", { question, why: "changed" });
      postMessage({ type: "failed", packet, why: "changed" });
    }
  } else if (own) score(data.buffer);
};
