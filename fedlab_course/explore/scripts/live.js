// Live charts in a notebook: <fedlab-chart> draws the figure that it holds as JSON, with the one Plotly of the page.
//
// The kernel changes a chart by changing the HTML of an ordinary widget: whatever the browser is late for is in the
// newest HTML. Nothing here has a time limit after which a chart would be lost.
(() => {
  "use strict";
  if (customElements.get("fedlab-chart")) return;

  const MIME = "application/vnd.plotly.v1+json";
  const FAILED = "The chart did not load: run this cell again.";
  const SILENCE = 6000; // milliseconds until somebody is told that the kernel says nothing
  const NARROW = 420; // pixels; a legend is then small, and begins at the edge
  const CONFIG = { displaylogo: false, showSendToCloud: false, doubleClick: "reset" };

  // Plotly, once per page: the copy that JupyterLab has loaded for plain figures, or one that the kernel sends.
  let loading = null;
  let arrived = null;

  function plotly() {
    loading ??= find();
    loading.catch(() => (loading = null)); // the next chart tries again
    return loading;
  }

  async function find() {
    const extension = globalThis._JUPYTERLAB?.["jupyterlab-plotly"];
    if (extension) {
      try {
        return await fromJupyterLab(extension);
      } catch (error) {
        console.warn("JupyterLab's copy of Plotly cannot be used:", error);
      }
    }
    return globalThis.Plotly?.react ? globalThis.Plotly : await fromKernel();
  }

  async function fromJupyterLab(extension) {
    const { RenderedPlotly, rendererFactory } = (await extension.get("./mimeExtension"))();
    if (!RenderedPlotly.Plotly) {
      // It loads Plotly with the first figure that it draws.
      const figure = { data: { [MIME]: { data: [], layout: {}, config: {} } }, setData() {} };
      await rendererFactory.createRenderer({ mimeType: MIME }).renderModel(figure);
    }
    return RenderedPlotly.Plotly;
  }

  function fromKernel() {
    return new Promise((resolve, reject) => {
      arrived = { resolve, reject };
      const ask = () => {
        const button = document.querySelector(".fedlab-hidden button:not(.jupyter-widgets-disconnected)");
        if (button) button.click();
        else setTimeout(ask, 250); // it comes with the explorer, a little after its chart
      };
      ask();
    });
  }

  // <fedlab-source> holds plotly.min.js, compressed and in base64.
  class Source extends HTMLElement {
    async connectedCallback() {
      const text = this.textContent;
      if (!text || !arrived) return;
      const { resolve, reject } = arrived;
      arrived = null;
      try {
        const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
        const module = { exports: {} };
        new Function("module", "exports", await new Response(stream).text()).call(globalThis, module, module.exports);
        resolve(module.exports);
      } catch (error) {
        reject(error);
      }
    }
  }

  // JupyterLab says so on the body, and Colab on the root.
  const dark = () => document.body.dataset.jpThemeLight === "false" || document.documentElement.matches("[theme=dark]");
  const CLEAR = "rgba(0,0,0,0)";
  const turned = (figure) => (dark() ? globalThis.fedlabColours.turned(figure, "dark", CLEAR) : figure);

  // Traces are the same trace while they have the same name: one that was hidden in the legend stays hidden.
  function named(data) {
    const seen = {};
    return data.map((trace) => {
      const name = trace.name ?? trace.type;
      seen[name] = (seen[name] ?? 0) + 1;
      const code = Array.from(name, (letter) => letter.codePointAt(0).toString(36)).join("");
      return { ...trace, uid: `t${code}n${seen[name]}` }; // it becomes part of selectors
    });
  }

  // What a reader has zoomed into or hidden stays until the axes show something else.
  function kept({ xaxis, yaxis, legend }) {
    return { uirevision: `${xaxis?.title?.text} ${yaxis?.title?.text}`, legend: { ...legend, uirevision: "same" } };
  }

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // What stays when the kernel replaces the HTML of a chart: the drawing and its description.
  class Drawing {
    constructor() {
      this.canvas = element("div", { className: "fedlab-canvas" });
      this.words = element("p");
      this.table = element("div");
      const summary = element("summary", { textContent: "Description and data" });
      this.details = element("details", { className: "fedlab-data" }, summary, this.words, this.table);
      this.details.addEventListener("toggle", () => this.describe());
      this.node = element("div", { className: "fedlab-drawing" }, this.canvas, this.details);
      this.room = new ResizeObserver(() => this.fit());
      this.room.observe(this.canvas);
      this.holder = this.figure = this.Plotly = null;
      this.busy = this.drawn = this.stale = false;
    }

    // Draw what the holder holds; if it is exchanged meanwhile, the newest is drawn next.
    async draw() {
      if (this.busy) return (this.again = true);
      this.busy = true;
      try {
        this.Plotly = await plotly();
        do {
          this.again = false;
          this.stale = !this.canvas.clientWidth; // out of sight: `fit` draws it when it comes back
          if (this.stale) setTimeout(() => this.fit(), 500); // the observer misses what lasts less than a frame
          else if (this.holder) await this.react();
          await new Promise((resolve) => setTimeout(resolve)); // let the page answer between two drawings
        } while (this.again);
      } catch (error) {
        console.error(error);
        this.holder?.tell(FAILED);
      }
      this.busy = false;
    }

    async react() {
      this.figure = JSON.parse(this.holder.querySelector("script").textContent);
      const { data, layout } = turned(this.figure);
      this.canvas.style.height = `${layout.height ?? 450}px`;
      const size = { width: this.canvas.clientWidth, height: this.canvas.clientHeight, autosize: false };
      if (size.width < NARROW) layout.legend = { ...layout.legend, xref: "container", font: { size: 11 } };
      await this.Plotly.react(this.canvas, named(data), { ...layout, ...size, ...kept(layout) }, CONFIG);
      this.drawn = true;
      this.holder?.setAttribute("drawn", "");
      this.describe();
      const { Plotly, canvas } = this;
      canvas.dispatchEvent(new CustomEvent("fedlab-drawn", { bubbles: true, detail: { Plotly } })); // to hover.js
    }

    fit() {
      const { width, height } = this.canvas._fullLayout ?? {};
      const { clientWidth, clientHeight } = this.canvas;
      const resized = clientWidth !== width || (this.drawn && clientHeight !== height);
      if (clientWidth && (this.stale || resized)) this.draw();
    }

    describe() {
      const { alt = "Chart", table } = this.figure?.layout.meta ?? {};
      const [picture, ...layers] = this.canvas.querySelectorAll(".main-svg");
      picture?.setAttribute("role", "img");
      picture?.setAttribute("aria-label", alt);
      for (const layer of layers) layer.setAttribute("aria-hidden", "true");
      if (!this.details.open) return;
      this.words.textContent = alt;
      this.table.replaceChildren(...(table ? [tabular(table)] : []));
    }

    end() {
      this.room.disconnect();
      this.Plotly?.purge(this.canvas);
    }
  }

  function tabular({ columns, rows }) {
    const head = element("tr", {}, ...columns.map((name) => element("th", { scope: "col", textContent: name })));
    const line = ([name, ...values]) => [
      element("th", { scope: "row", textContent: name }),
      ...values.map((value) => element("td", { textContent: value ?? "–" })),
    ];
    const body = rows.map((row) => element("tr", {}, ...line(row)));
    return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  }

  const charts = new Set();
  const orphans = new Map(); // name of a chart → drawings whose element was replaced just now

  class Chart extends HTMLElement {
    connectedCallback() {
      charts.add(this);
      this.drawing = orphans.get(this.dataset.name)?.pop() ?? new Drawing();
      this.drawing.holder = this;
      this.append(this.drawing.node);
      this.toggleAttribute("drawn", this.drawing.drawn);
      this.drawing.draw();
    }

    disconnectedCallback() {
      const { drawing } = this;
      const left = orphans.get(this.dataset.name) ?? [];
      charts.delete(this);
      drawing.holder = null;
      orphans.set(this.dataset.name, [...left, drawing]);
      setTimeout(() => {
        if (drawing.holder) return;
        drawing.end();
        drawing.node.remove();
        const others = (orphans.get(this.dataset.name) ?? []).filter((one) => one !== drawing);
        others.length ? orphans.set(this.dataset.name, others) : orphans.delete(this.dataset.name);
      });
    }

    tell(text) {
      if (!this.drawing.drawn) this.querySelector(".fedlab-words").textContent = text;
    }
  }

  // <fedlab-fold> holds details; they stay open when the kernel replaces them.
  class Fold extends HTMLElement {
    connectedCallback() {
      // On a slow machine the fold may be connected before the explorer is around it.
      const explorer = () => this.closest(".fedlab-explorer");
      const details = this.querySelector("details");
      details.open = Boolean(explorer()?.hasAttribute("data-unfolded"));
      details.addEventListener("toggle", () => {
        if (this.isConnected) explorer()?.toggleAttribute("data-unfolded", details.open);
      });
    }
  }

  // An explorer: names for its controls, and a watch on its kernel.
  class Watched {
    constructor(explorer) {
      this.explorer = explorer;
      this.heard = this.asked = 0; // when the kernel spoke last; when it was asked something that it has not answered
      this.busy = false;
      this.lost = element("p", { className: "fedlab-lost", role: "alert", hidden: true });
      explorer.prepend(this.lost);
      // JupyterLab's keys are not for these controls, and it asks the one that has the focus only.
      explorer.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
      for (const kind of ["change", "click"]) explorer.addEventListener(kind, (event) => this.touched(event.target));
      this.changes = new MutationObserver((records) => this.changed(records));
      this.changes.observe(explorer, {
        attributeFilter: ["aria-valuetext", "class"],
        characterData: true,
        childList: true,
        subtree: true,
      });
      this.room = new ResizeObserver(() => this.measure());
      this.room.observe(explorer);
      this.name();
    }

    measure() {
      const { clientWidth, classList } = this.explorer;
      classList.toggle("fedlab-middle", clientWidth <= 760);
      classList.toggle("fedlab-narrow", clientWidth <= 520);
    }

    beat(busy) {
      Object.assign(this, { heard: performance.now(), asked: 0, busy });
    }

    touched(target) {
      if (target.closest("select, input, button:not(.modebar-btn)") && !target.closest(".fedlab-hidden")) this.ask();
    }

    ask() {
      this.asked ||= performance.now();
    }

    changed(records) {
      const readouts = records.filter(({ target, type }) => type !== "attributes" && parent(target, ".widget-readout"));
      if (readouts.length) this.ask();
      const controls = records.some(({ target }) => parent(target, ".jupyter-widgets") && !parent(target, "fedlab-chart"));
      if (controls) this.name();
    }

    look() {
      const since = Math.min(this.asked || Infinity, this.busy ? this.heard : Infinity);
      const silent = Math.round((performance.now() - since) / 1000);
      let text = "";
      if (this.explorer.classList.contains("jupyter-widgets-disconnected"))
        text = "The kernel was restarted or shut down: these controls do nothing until this cell is run again.";
      else if (1000 * silent > SILENCE)
        text = "The kernel does not answer. It is busy or has ended; if this stays, restart it and run this cell again.";
      if (text !== this.lost.textContent) Object.assign(this.lost, { textContent: text, hidden: !text });
    }

    // What a screen reader says: the label and the real value of each control.
    name() {
      for (const slider of this.explorer.querySelectorAll(".widget-hslider")) {
        const label = slider.querySelector(".widget-label")?.textContent;
        const readout = slider.querySelector(".widget-readout");
        const handle = slider.querySelector(".noUi-handle, .ui-slider-handle");
        set(handle, "aria-label", label);
        set(handle, "aria-valuetext", readout?.textContent);
        if (handle?.matches(".ui-slider-handle")) {
          // that of ipywidgets 7 says nothing by itself: it stands at so many per cent
          set(handle, "role", "slider");
          set(handle, "aria-valuenow", String(Math.round(parseFloat(handle.style.left))));
        }
        if (readout?.isContentEditable) {
          set(readout, "role", "textbox");
          set(readout, "aria-label", `${label}, as a number`);
        }
      }
      for (const field of this.explorer.querySelectorAll(".jupyter-widgets > :is(select, input)")) {
        const label = field.parentElement.querySelector(".widget-label");
        if (label?.htmlFor !== field.id || !field.id) set(field, "aria-label", label?.textContent);
      }
      for (const group of this.explorer.querySelectorAll(".widget-toggle-buttons")) {
        set(group, "role", "group");
        set(group, "aria-label", group.querySelector(".widget-label")?.textContent);
        for (const button of group.querySelectorAll("button"))
          set(button, "aria-pressed", String(button.classList.contains("mod-active")));
      }
    }
  }

  const parent = (node, selector) => (node.nodeType === 1 ? node : node.parentElement)?.closest(selector);

  function set(node, name, value) {
    if (node && value && node.getAttribute(name) !== value) node.setAttribute(name, value);
  }

  const watched = new Map();

  // <fedlab-beat> comes with every answer of the kernel, and every few seconds while it trains.
  class Beat extends HTMLElement {
    connectedCallback() {
      const explorer = this.closest(".fedlab-explorer");
      if (!explorer) return;
      if (!watched.has(explorer)) watched.set(explorer, new Watched(explorer));
      watched.get(explorer).beat(this.hasAttribute("data-busy"));
    }
  }

  setInterval(() => {
    for (const [explorer, one] of watched) {
      if (explorer.isConnected) one.look();
      else watched.delete(explorer);
    }
  }, 1000);

  // <fedlab-cell> stands before an explorer; in a notebook that was opened again there is none, but its last picture.
  class Cell extends HTMLElement {
    connectedCallback() {
      const outputs = this.closest(".jp-OutputArea");
      if (!outputs) return;
      this.changes = new MutationObserver(() => this.look(outputs));
      this.changes.observe(outputs, { childList: true, subtree: true, characterData: true });
      this.look(outputs);
    }

    disconnectedCallback() {
      this.changes?.disconnect();
    }

    look(outputs) {
      for (const output of outputs.querySelectorAll(".jp-OutputArea-output.jupyter-widgets"))
        if (output.textContent.startsWith("Error displaying widget")) output.textContent = this.dataset.still;
    }
  }

  customElements.define("fedlab-source", Source);
  customElements.define("fedlab-chart", Chart);
  customElements.define("fedlab-fold", Fold);
  customElements.define("fedlab-beat", Beat);
  customElements.define("fedlab-cell", Cell);

  // A plain figure of the course, which JupyterLab draws: it is drawn again where its ground is not that of the page.
  function matchPage(plot) {
    if (plot.data !== plot.fedlabDrawn) plot.fedlabMade = { data: plot.data, layout: plot.layout }; // it is new
    const { data, layout } = plot.fedlabMade;
    if (!layout?.meta?.alt || !plot.clientWidth || (plot.layout.paper_bgcolor === CLEAR) === dark()) return;
    const figure = turned({ data, layout: { ...layout, paper_bgcolor: "white", plot_bgcolor: "white" } });
    plot.fedlabDrawn = figure.data;
    plotly().then((Plotly) => Plotly.react(plot, figure.data, figure.layout));
  }

  function matchPlainFigures() {
    document.querySelectorAll(".jp-RenderedPlotly.js-plotly-plot").forEach(matchPage);
  }

  setInterval(matchPlainFigures, 1000);
  new MutationObserver(() => {
    charts.forEach((chart) => chart.drawing.draw());
    matchPlainFigures();
  }).observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
})();
