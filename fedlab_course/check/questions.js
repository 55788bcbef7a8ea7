// Predictions and quizzes: a choice is kept in this browser, by the id of its question, and all
// elements that show it are updated.
(() => {
  if (customElements.get("fedlab-predict")) return;
  const lost = new Map(); // where a page may not store anything, a choice lives as long as the page
  const key = (id) => `fedlab-prediction-${id}`;
  const read = (id) => {
    try {
      return localStorage.getItem(key(id));
    } catch {
      return lost.get(id) ?? null;
    }
  };
  const write = (id, value) => {
    try {
      if (value === null) localStorage.removeItem(key(id));
      else localStorage.setItem(key(id), value);
    } catch {
      lost.set(id, value);
    }
    document.dispatchEvent(new CustomEvent("fedlab-predicted"));
  };
  // A message with its values in place of {name}.
  const fill = (message, values) => message.replace(/\{(\w+)\}/g, (_field, name) => values[name]);
  // Show the reader's choice in an element, and return whether it was right; null without a choice.
  const compare = (element) => {
    const choice = JSON.parse(element.dataset.options)[read(element.dataset.id)];
    const right =
      choice === undefined ? null : read(element.dataset.id) === element.dataset.happened;
    element.dataset.came = { true: "yes", false: "no", null: "" }[right];
    element.querySelector(".predicted").innerHTML =
      right === null
        ? _("No prediction.")
        : fill(
            right
              ? _("<b>✓ As you predicted:</b> {choice}.")
              : _("<b>✗ You predicted:</b> {choice}."),
            { choice },
          );
    return right;
  };

  class Listening extends HTMLElement {
    connectedCallback() {
      this.again = () => this.update();
      document.addEventListener("fedlab-predicted", this.again);
      // While a page is read, what is inside an element comes after it.
      if (document.readyState === "loading")
        document.addEventListener("DOMContentLoaded", this.again, { once: true });
      else this.again();
    }
    disconnectedCallback() {
      document.removeEventListener("fedlab-predicted", this.again);
    }
  }

  customElements.define(
    "fedlab-predict",
    class extends Listening {
      connectedCallback() {
        super.connectedCallback();
        this.addEventListener("change", (event) => write(this.dataset.id, event.target.value));
      }
      update() {
        const value = read(this.dataset.id);
        for (const input of this.querySelectorAll("input")) input.checked = input.value === value;
        this.querySelector(".kept").textContent = this.querySelector("input:checked")
          ? _("Noted. Read on to see what happens.")
          : "";
      }
    },
  );

  customElements.define(
    "fedlab-outcome",
    class extends Listening {
      update() {
        const details = this.querySelector("details"),
          made = compare(this) !== null;
        if (made !== this.made) details.open = this.made = made;
        details.querySelector("summary").textContent = made
          ? _("The answer")
          : _("Show the answer without choosing");
      }
    },
  );

  // On a page: what follows a prediction is shown once it is made, or without a choice.
  customElements.define(
    "fedlab-waits",
    class extends Listening {
      connectedCallback() {
        super.connectedCallback();
        this.addEventListener("click", (event) => {
          if (event.target.closest(".ask")) {
            this.shown = true;
            this.update();
          }
        });
      }
      update() {
        const unseen = !this.shown && read(this.dataset.id) === null;
        if (this.classList.contains("unseen") === unseen) return;
        this.classList.toggle("unseen", unseen);
        // Figures that were hidden take their size.
        if (!unseen) window.dispatchEvent(new Event("resize"));
      }
    },
  );

  // An answer is kept by the place of its option, which is the same each time.
  customElements.define(
    "fedlab-quiz",
    class extends Listening {
      connectedCallback() {
        super.connectedCallback();
        this.addEventListener("change", (event) => {
          const field = event.target.closest("fieldset");
          write(
            field.dataset.id,
            String([...field.querySelectorAll("input")].indexOf(event.target)),
          );
        });
      }
      update() {
        const fields = [...this.querySelectorAll("fieldset")];
        for (const field of fields) {
          const inputs = field.querySelectorAll("input"),
            choice = read(field.dataset.id);
          inputs.forEach((input, place) => {
            input.checked = choice === String(place);
          });
        }
        const chosen = this.querySelectorAll("input:checked"),
          right = this.querySelectorAll("input[value=right]:checked");
        this.querySelector(".sum").textContent = chosen.length
          ? fill(_("{right} of {asked} right."), { right: right.length, asked: fields.length })
          : "";
      }
    },
  );

  customElements.define(
    "fedlab-score",
    class extends Listening {
      connectedCallback() {
        super.connectedCallback();
        this.addEventListener("click", (event) => {
          if (event.target.closest("button"))
            this.querySelectorAll("li").forEach((entry) => write(entry.dataset.id, null));
        });
      }
      update() {
        const all = [...this.querySelectorAll("li")].map(compare);
        const made = all.filter((right) => right !== null);
        this.querySelector("button").hidden = made.length === 0;
        this.querySelector(".sum").textContent = this.sum(all.length, made);
      }
      sum(asked, made) {
        if (made.length === 0)
          return fill(_("{asked} were asked for, and none is recorded in this browser."), {
            asked,
          });
        const right = made.filter(Boolean).length,
          values = { right, made: made.length, open: asked - made.length };
        return values.open
          ? fill(_("{right} of the {made} that you made came out; {open} you left open."), values)
          : fill(_("{right} of the {made} that you made came out."), values);
      }
    },
  );
})();
