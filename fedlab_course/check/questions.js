// Predictions: a choice is kept in this browser, by the id of its question, and all that speaks of it is told.
(() => {
  if (customElements.get("fedlab-predict")) return;
  const lost = new Map(); // where a page may not store anything, a choice lives as long as the page
  const key = (id) => `fedlab-prediction-${id}`;
  const read = (id) => {
    try { return localStorage.getItem(key(id)); } catch { return lost.get(id) ?? null; }
  };
  const write = (id, value) => {
    try {
      if (value === null) localStorage.removeItem(key(id));
      else localStorage.setItem(key(id), value);
    } catch { lost.set(id, value); }
    document.dispatchEvent(new CustomEvent("fedlab-predicted"));
  };
  // What the reader chose, as HTML of the course, or null: a choice of an option that is gone counts as none.
  const chosen = (element) => {
    const value = read(element.dataset.id);
    const options = JSON.parse(element.dataset.options);
    return value !== null && value in options ? { value, html: options[value] } : null;
  };
  const told = (element) => {
    const choice = chosen(element);
    const line = element.querySelector(".predicted");
    // The run of this page may have come out otherwise than the default one, which a score knows.
    const seen = document.querySelector(`fedlab-outcome[data-id="${element.dataset.id}"]`) ?? element;
    const came = choice !== null && choice.value === seen.dataset.happened;
    element.dataset.came = choice === null ? "" : came ? "yes" : "no";
    line.innerHTML = choice === null ? "No prediction is recorded here."
      : `<b>${came ? "✓ As you predicted" : "✗ You predicted"}:</b> ${choice.html}.`;
    return element.dataset.came;
  };

  class Told extends HTMLElement {
    connectedCallback() {
      this.again = () => this.tell();
      document.addEventListener("fedlab-predicted", this.again);
      // While a page is read, what is inside an element comes after it.
      if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", this.again, { once: true });
      else this.again();
    }
    disconnectedCallback() { document.removeEventListener("fedlab-predicted", this.again); }
  }

  customElements.define("fedlab-predict", class extends Told {
    connectedCallback() {
      super.connectedCallback();
      this.addEventListener("change", (event) => write(this.dataset.id, event.target.value));
    }
    tell() {
      const value = read(this.dataset.id);
      for (const input of this.querySelectorAll("input")) input.checked = input.value === value;
      this.querySelector(".kept").textContent = this.querySelector("input:checked") ? "Noted. Read on to see what happens." : "";
    }
  });

  customElements.define("fedlab-outcome", class extends Told {
    tell() { told(this); }
  });

  customElements.define("fedlab-score", class extends Told {
    connectedCallback() {
      super.connectedCallback();
      this.addEventListener("click", (event) => {
        if (event.target.closest("button"))
          for (const entry of this.querySelectorAll("li")) write(entry.dataset.id, null);
      });
    }
    tell() {
      const came = [...this.querySelectorAll("li")].map(told);
      const made = came.filter((one) => one !== "").length;
      const right = came.filter((one) => one === "yes").length;
      this.querySelector("button").hidden = made === 0;
      this.querySelector(".sum").textContent = made === 0
        ? `${came.length} were asked for, and none is recorded in this browser.`
        : `${right} of the ${made} that you made came out${made < came.length ? `; ${came.length - made} you left open` : ""}.`;
    }
  });
})();
