"use strict";

// Draws each figure from its JSON, for the screen and for paper; the style sheet turns figures dark
// on a dark page. Sliders replace the picture, the description and the data of a figure by others
// stored in the page, in the form of fedlab_course/explore/grid.py.
(() => {
  const NAMES = 110; // pixels on a phone
  const PAPER = 660; // pixels: the narrower of A4 and Letter between margins of 15 mm
  const narrow = window.matchMedia("(max-width: 600px)");
  // No button sends a chart to a server; all buttons are outside the picture.
  const CONFIG = {
    responsive: true,
    displayModeBar: false,
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
  };
  let printing = false;

  function layoutFor(layout, figure) {
    // Plotly keeps what a reader has zoomed and hidden as long as this value stays.
    const fitted = { ...layout, autosize: true, uirevision: figure.dataset.view ?? "0" };
    delete fitted.width;
    if (printing)
      return {
        ...fitted,
        autosize: false,
        width: PAPER,
        height: Math.min(layout.height ?? 450, 420),
      };
    if (narrow.matches) {
      fitted.font = { ...layout.font, size: 12 };
      // Without a legend, the right margin has the names at the ends of curves and bars.
      const right = layout.showlegend === false ? Math.min(layout.margin?.r ?? 8, NAMES) : 8;
      fitted.margin = { ...layout.margin, l: 48, r: right };
      fitted.legend = {
        ...layout.legend,
        orientation: "h",
        x: 0,
        xanchor: "left",
        y: 0,
        yref: "container",
        yanchor: "bottom",
      };
      for (const axis of Object.keys(layout).filter(
        (key) => /^xaxis\d*$/.test(key) && layout[key].title?.text,
      )) {
        fitted[axis] = { ...layout[axis], title: { ...layout[axis].title, font: { size: 12 } } };
      }
    }
    return fitted;
  }

  async function draw(figure) {
    const canvas = figure.querySelector(".canvas");
    const { data, layout } = structuredClone(figure.spec); // Plotly writes into what it is given
    await Plotly.react(canvas, { data, layout: layoutFor(layout ?? {}, figure), config: CONFIG });
    // On a phone, legend entries are below each other: make the figure taller, so that the data
    // keep their room. If the axes share one scale, the width limits the data instead.
    const legend = canvas.querySelector(".legend");
    if (narrow.matches && !printing && legend && !canvas._fullLayout.yaxis.scaleanchor) {
      Plotly.relayout(canvas, {
        height: canvas._fullLayout.height + legend.getBoundingClientRect().height,
      });
    }
  }

  function fill(table, { columns, rows }) {
    table.replaceChildren();
    const [head, body] = [table.createTHead(), table.createTBody()];
    for (const values of [columns, ...rows]) {
      const row = (values === columns ? head : body).insertRow();
      for (const value of values) {
        row.insertCell().textContent =
          typeof value === "number" ? Number(value.toPrecision(5)) : (value ?? "–");
      }
    }
  }

  function show(figure, spec) {
    figure.spec = spec;
    draw(figure);
    const { alt, table } = spec.layout?.meta ?? {};
    const place = figure.querySelector("details table");
    if (alt) {
      figure.querySelector(".canvas").setAttribute("aria-label", alt);
      figure.querySelector("details p").textContent = alt;
    }
    if (table && place) fill(place, table);
  }

  function addTools(figure) {
    const canvas = figure.querySelector(".canvas");
    const tools = figure.querySelector(".tools");
    const [reset, save] = tools.children;
    reset.onclick = () => {
      figure.dataset.view = Number(figure.dataset.view ?? 0) + 1;
      draw(figure);
    };
    save.onclick = () => {
      const size = { width: canvas.clientWidth, height: canvas.clientHeight };
      Plotly.downloadImage(canvas, { format: "svg", filename: "figure", ...size });
    };
    tools.hidden = false;
  }

  // A stored value with the parts that it shares, {"$": number}, in their places.
  function whole(value, parts) {
    if (Array.isArray(value)) return value.map((one) => whole(one, parts));
    if (value === null || typeof value !== "object") return value;
    if ("$" in value) return whole(parts[value.$], parts);
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, whole(one, parts)]),
    );
  }

  function addSliders(figure, place) {
    const { sliders, cells, values, goal } = JSON.parse(place.querySelector("script").textContent);
    const inputs = [...place.querySelectorAll("input")];
    const position = () =>
      sliders.reduce((at, { options }, i) => at * options.length + Number(inputs[i].value), 0);
    let waiting = 0;

    function say() {
      inputs.forEach((input, i) => {
        const text = sliders[i].options[input.value];
        input.nextElementSibling.textContent = text;
        input.setAttribute("aria-valuetext", text);
      });
      const reached = goal?.met ? goal.met[position()] : null;
      const words =
        reached === null
          ? _("Goal: {goal}.")
          : reached
            ? _("Goal: {goal}. ✓ Reached.")
            : _("Goal: {goal}. Not yet.");
      place.querySelector(".goal").textContent = goal ? words.replace("{goal}", goal.text) : "";
    }

    function move() {
      const shown = whole(cells[position()], values);
      place.querySelector(".problem").textContent = shown.error ?? "";
      if (!shown.error) show(figure, shown);
      say();
    }

    place.addEventListener("input", () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(move);
    });
    say();
    place.hidden = false;
  }

  const figures = [...document.querySelectorAll("figure.plot")];
  if (!window.Plotly) {
    for (const figure of figures) {
      const words = _(
        "The chart did not load: load the page again. Its description and data are below.",
      );
      figure.querySelector(".canvas").replaceWith(words);
      figure.querySelector("details").open = true;
    }
    return;
  }
  for (const figure of figures) {
    figure.spec = JSON.parse(figure.querySelector(":scope > script").textContent);
    draw(figure);
    addTools(figure);
    const place = figure.querySelector(":scope > .grid");
    if (place) addSliders(figure, place);
  }
  const again = (onPaper) => () => {
    printing = onPaper;
    figures.forEach(draw);
  };
  window.addEventListener("beforeprint", again(true));
  window.addEventListener("afterprint", again(false));
})();
