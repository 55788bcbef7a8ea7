"use strict";

// The legend of a figure for the keyboard: a checkbox for each entry. A click on the legend of the picture does the same.
(() => {
  const key = (trace) => trace.legendgroup || trace.name;
  const plain = (html) => html.replace(/<[^>]*>/g, "");

  // The data, with the curves whose keys are in `hidden` invisible.
  const without = (data, hidden) => data.map((trace) => (hidden.has(key(trace)) ? { ...trace, visible: "legendonly" } : trace));

  function entriesOf({ _fullLayout: layout, _fullData: data }) {
    const shown = layout.showlegend ? data.filter((trace) => trace.visible && trace.showlegend !== false) : [];
    return [...new Map(shown.map((trace) => [key(trace), plain(trace.name)]))];
  }

  function fold(figure) {
    const made = document.createElement("details");
    made.className = "curves";
    made.appendChild(document.createElement("summary")).textContent = "Show or hide curves";
    figure.querySelector(".words").before(made);
    return made;
  }

  // Make checkboxes for the current entries of the figure; `changed` draws it again.
  function connect(figure, hidden, changed) {
    const canvas = figure.querySelector(".canvas");
    const entries = entriesOf(canvas);
    const place = figure.querySelector(".curves") ?? (entries.length > 1 ? fold(figure) : null);
    if (!place) return;
    const names = JSON.stringify(entries);
    if (place.dataset.entries !== names) {
      place.dataset.entries = names;
      place.querySelectorAll("label").forEach((label) => label.remove());
      for (const [name, words] of entries) {
        const label = place.appendChild(document.createElement("label"));
        const box = label.appendChild(document.createElement("input"));
        box.type = "checkbox";
        box.dataset.key = name;
        label.append(words);
        box.addEventListener("change", () => toggle(name));
      }
    }
    for (const box of place.querySelectorAll("input")) box.checked = !hidden.has(box.dataset.key);

    function toggle(name) {
      if (!hidden.delete(name)) hidden.add(name);
      changed();
    }

    // A double click on an entry shows only this curve; a second double click shows all.
    function isolate(name) {
      const others = entries.map(([one]) => one).filter((one) => one !== name);
      const alone = !hidden.has(name) && others.every((one) => hidden.has(one));
      hidden.clear();
      if (!alone) others.forEach((one) => hidden.add(one));
      changed();
    }

    for (const [event, action] of [["plotly_legendclick", toggle], ["plotly_legenddoubleclick", isolate]]) {
      canvas.removeAllListeners(event);
      canvas.on(event, ({ fullData, curveNumber }) => {
        action(key(fullData[curveNumber]));
        return false; // Plotly itself does nothing
      });
    }
  }

  window.fedlab = { ...window.fedlab, legend: { connect, without } };
})();
