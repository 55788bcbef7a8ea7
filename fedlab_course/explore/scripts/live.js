// Live charts in a notebook: <fedlab-chart> draws the figure that it holds as JSON, with the one
// Plotly of the page.
//
// The kernel changes a chart by replacing the HTML of a widget, so a browser that connects late
// still finds the newest figure. Charts have no time limit for loading.
(() => {
  "use strict";
  if (customElements.get("fedlab-chart")) return;

  const MIME = "application/vnd.plotly.v1+json";
  const FAILED = _("The chart did not load: run this cell again.");
  const NARROW = 420; // pixels; a legend is then small and begins at the left edge
  const CONFIG = { displaylogo: false, showSendToCloud: false, doubleClick: "reset" };
  const ASK = "Is the kernel there?"; // the text of a hidden button, which the kernel answers
  const PATIENCE = 8000; // milliseconds that the kernel has for its answer
  const LOST = _("No longer connected to the kernel: run this cell again.");
  const SILENT = _("{said} {next}")
    .replace("{said}", _("No longer connected? The kernel does not answer."))
    .replace(
      "{next}",
      _("If another cell is running, wait for it; if not, run this cell again."),
    );
  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  // Plotly, once per page: the copy that JupyterLab has loaded for plain figures, or a copy from
  // the kernel.
  let loading = null;

  function plotly() {
    loading ??= find();
    loading.catch(() => (loading = null)); // the next chart tries again
    return loading;
  }

  async function find() {
    const extension = globalThis._JUPYTERLAB?.["jupyterlab-plotly"];
    const found = extension
      ? await fromJupyterLab(extension).catch(console.warn)
      : globalThis.Plotly;
    return found?.react ? found : await fromKernel();
  }

  async function fromJupyterLab(extension) {
    const { RenderedPlotly, rendererFactory } = (await extension.get("./mimeExtension"))();
    if (!RenderedPlotly.Plotly) {
      // JupyterLab loads Plotly with the first figure that it draws.
      const figure = { data: { [MIME]: { data: [], layout: {}, config: {} } }, setData() {} };
      await rendererFactory.createRenderer({ mimeType: MIME }).renderModel(figure);
    }
    return RenderedPlotly.Plotly;
  }

  // A click on the hidden button makes the kernel send plotly.min.js, compressed and in base64.
  async function fromKernel() {
    (await appeared(".fedlab-hidden button:not(.jupyter-widgets-disconnected)")).click();
    const { textContent } = await appeared("fedlab-source");
    const bytes = Uint8Array.from(atob(textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const module = { exports: {} };
    new Function("module", "exports", await new Response(stream).text()).call(
      globalThis,
      module,
      module.exports,
    );
    return module.exports;
  }

  async function appeared(selector) {
    while (!document.querySelector(selector)) await pause(250);
    return document.querySelector(selector);
  }

  // A trace is identified by its name, so a curve that was hidden in the legend stays hidden.
  function named(data) {
    const seen = {};
    return data.map((trace) => {
      const name = trace.name ?? trace.type;
      seen[name] = (seen[name] ?? 0) + 1;
      const code = Array.from(name, (letter) => letter.codePointAt(0).toString(36)).join("");
      return { ...trace, uid: `t${code}n${seen[name]}` }; // Plotly uses it in selectors
    });
  }

  // A zoom and hidden curves stay until the axes show another quantity.
  function kept({ xaxis, yaxis, legend }) {
    return {
      uirevision: `${xaxis?.title?.text} ${yaxis?.title?.text}`,
      legend: { ...legend, uirevision: "same" },
    };
  }

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // The drawing and its description stay when the kernel replaces the HTML of their chart.
  class Drawing {
    constructor() {
      this.canvas = element("div", { className: "fedlab-canvas" });
      this.words = element("p");
      this.table = element("div");
      const summary = element("summary", { textContent: _("Description and data") });
      this.details = element(
        "details",
        { className: "fedlab-data" },
        summary,
        this.words,
        this.table,
      );
      this.details.addEventListener("toggle", () => this.describe());
      this.node = element("div", { className: "fedlab-drawing" }, this.canvas, this.details);
      this.room = new ResizeObserver(() => this.fit());
      this.room.observe(this.canvas);
    }

    // Draw the figure of the chart; if it changes meanwhile, draw the newest next.
    async draw() {
      this.wanted = true;
      if (this.busy) return;
      this.busy = true;
      try {
        this.Plotly = await plotly();
        while (this.wanted && this.chart.isConnected) {
          if (this.canvas.clientWidth) await this.react();
          await pause(this.wanted ? 500 : 0); // JupyterLab hides cells that are out of sight
        }
      } catch (error) {
        console.error(error);
        this.canvas.textContent = FAILED;
      }
      this.busy = false;
    }

    async react() {
      this.wanted = false;
      this.figure = JSON.parse(this.chart.querySelector("script").textContent);
      const { data, layout } = this.figure;
      this.canvas.style.height = `${layout.height ?? 450}px`;
      const size = {
        width: this.canvas.clientWidth,
        height: this.canvas.clientHeight,
        autosize: false,
      };
      if (size.width < NARROW)
        layout.legend = { ...layout.legend, xref: "container", font: { size: 11 } };
      const isFirst = !this.canvas.on;
      await this.Plotly.react(
        this.canvas,
        named(data),
        { ...layout, ...size, ...kept(layout) },
        CONFIG,
      );
      if (isFirst)
        this.canvas.on("plotly_hover", ({ points: [point] }) => this.light(point.customdata));
      if (isFirst) this.canvas.on("plotly_unhover", () => this.light(null));
      this.describe();
      const explorer = this.chart.closest(".fedlab-explorer");
      if (explorer) watch(explorer);
    }

    fit() {
      const { width, height } = this.canvas._fullLayout ?? {};
      const { clientWidth, clientHeight } = this.canvas;
      if (width && clientWidth && (clientWidth !== width || clientHeight !== height)) this.draw();
    }

    // Veil the clients above the curves that are not in `cohort`; a point's custom data are the
    // clients of its round.
    light(cohort) {
      const strip = this.chart
        .closest(".fedlab-training")
        ?.querySelector(".fedlab-strip .fedlab-canvas");
      if (!strip || strip === this.canvas) return;
      const clients = strip._fullData?.find(({ type }) => type === "bar")?.x.length ?? 0;
      const absent = cohort
        ? Array.from({ length: clients }, (_, k) => k).filter((k) => !cohort.includes(k))
        : [];
      const veil = {
        type: "rect",
        yref: "paper",
        y0: 0,
        y1: 1,
        fillcolor: "white",
        opacity: 0.82,
        line: { width: 0 },
      };
      this.Plotly.relayout(strip, {
        shapes: absent.map((k) => ({ ...veil, x0: k - 0.5, x1: k + 0.5 })),
      });
    }

    describe() {
      const { alt = _("Chart"), table } = this.figure?.layout.meta ?? {};
      const [picture, ...layers] = this.canvas.querySelectorAll(".main-svg");
      picture?.setAttribute("role", "img");
      picture?.setAttribute("aria-label", alt);
      for (const layer of layers) layer.setAttribute("aria-hidden", "true");
      if (!this.details.open) return;
      this.words.textContent = alt;
      this.table.replaceChildren(...(table ? [tabular(table)] : []));
    }
  }

  function tabular({ columns, rows }) {
    const head = element(
      "tr",
      {},
      ...columns.map((name) => element("th", { scope: "col", textContent: name })),
    );
    const line = ([name, ...values]) => [
      element("th", { scope: "row", textContent: name }),
      ...values.map((value) => element("td", { textContent: value ?? "–" })),
    ];
    const body = rows.map((row) => element("tr", {}, ...line(row)));
    return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  }

  const drawings = new Map(); // name of a chart → its drawing

  class Chart extends HTMLElement {
    connectedCallback() {
      const { name } = this.dataset;
      if (!drawings.has(name)) drawings.set(name, new Drawing());
      const drawing = drawings.get(name);
      drawing.chart = this;
      this.append(drawing.node);
      drawing.draw();
    }

    async disconnectedCallback() {
      await pause(0);
      const { name } = this.dataset;
      const drawing = drawings.get(name);
      // Another element has taken the drawing.
      if (drawing?.chart !== this || this.isConnected) return;
      drawings.delete(name);
      drawing.room.disconnect();
      drawing.Plotly?.purge(drawing.canvas);
    }
  }

  const watched = new WeakSet();

  // Keep the controls of an explorer named, and its style that of its width.
  function watch(explorer) {
    if (watched.has(explorer)) return;
    watched.add(explorer);
    // JupyterLab's keys are not for these controls. It looks only at the element that has the
    // focus.
    explorer.addEventListener("focusin", ({ target }) =>
      target.setAttribute("data-lm-suppress-shortcuts", "true"),
    );
    const attributeFilter = ["aria-valuetext", "class"];
    const changes = { attributeFilter, characterData: true, childList: true, subtree: true };
    const connection = new Connection(explorer);
    new MutationObserver(() => {
      name(explorer);
      connection.look();
    }).observe(explorer, changes);
    new ResizeObserver(() => {
      explorer.classList.toggle("fedlab-middle", explorer.clientWidth <= 760);
      explorer.classList.toggle("fedlab-narrow", explorer.clientWidth <= 520);
    }).observe(explorer);
    name(explorer);
  }

  // Say on an explorer that its kernel is gone. ipywidgets marks a widget whose kernel was
  // restarted from this page, and no other loss: so each move of a control asks the kernel for an
  // answer.
  class Connection {
    constructor(explorer) {
      this.explorer = explorer;
      this.hidden = explorer.querySelector(".fedlab-hidden");
      this.line = element("div", { className: "fedlab-lost" });
      this.line.setAttribute("role", "alert");
      explorer.before(this.line);
      this.asked = 0; // the timer of a question without an answer
      this.isSilent = false;
      const answer = this.hidden.querySelector(".fedlab-answer");
      new MutationObserver(() => this.hear()).observe(answer, { childList: true, subtree: true });
      for (const kind of ["input", "change", "click", "keyup", "pointerup"])
        explorer.addEventListener(kind, ({ target }) => this.hidden.contains(target) || this.ask());
      this.look();
    }

    ask() {
      if (this.asked || this.isLost) return;
      this.asked = setTimeout(() => this.settle(true), PATIENCE);
      [...this.hidden.querySelectorAll("button")]
        .find(({ textContent }) => textContent === ASK)
        .click();
    }

    hear() {
      clearTimeout(this.asked);
      this.settle(false);
    }

    settle(isSilent) {
      this.asked = 0;
      this.isSilent = isSilent;
      this.look();
    }

    // Dead controls cannot be moved. Those of a silent kernel can: it may be busy.
    look() {
      this.isLost = this.explorer.classList.contains("jupyter-widgets-disconnected");
      this.explorer.inert = this.isLost;
      if (this.isLost) this.say(LOST);
      else this.say(this.isSilent ? SILENT : "");
    }

    say(words) {
      if (this.line.textContent !== words) this.line.textContent = words;
    }
  }

  // Give screen readers the label and the real value of each control.
  function name(explorer) {
    for (const slider of explorer.querySelectorAll(".widget-hslider")) {
      const label = slider.querySelector(".widget-label")?.textContent;
      const readout = slider.querySelector(".widget-readout");
      const handle = slider.querySelector(".noUi-handle, .ui-slider-handle");
      set(handle, "role", "slider"); // ipywidgets 7 gives its handles no role
      set(handle, "aria-label", label);
      set(handle, "aria-valuetext", readout?.textContent);
    }
    for (const field of explorer.querySelectorAll(".jupyter-widgets > :is(select, input)")) {
      const label = field.parentElement.querySelector(".widget-label");
      if (label?.htmlFor !== field.id || !field.id) set(field, "aria-label", label?.textContent);
    }
  }

  function set(node, name, value) {
    if (node && value && node.getAttribute(name) !== value) node.setAttribute(name, value);
  }

  customElements.define("fedlab-chart", Chart);
})();
