// The stories: a question, a run, and an answer, which holds for the settings of the story.

let answered = false;

function story() {
  return beside.story ? CATALOGUE.words.story[beside.story - 1] : null;
}

// Begin a story: its settings and its question; the answer comes after the run.
function tell(number) {
  state = parse(CATALOGUE.words.story[number - 1].state).state;
  beside.story = number;
  answered = false;
  arrange();
  restart();
  scrollTo({ top: 0 }); // on a phone the question is above the stories
}

// Show the question, and the answer once the run has ended; say so where the settings are others by
// then.
function tellStory() {
  const told = story();
  find("#story").hidden = told === null;
  document.querySelectorAll("#stories button").forEach((button, i) => {
    button.setAttribute("aria-pressed", String(beside.story === i + 1));
  });
  if (!told) return;
  find("#question").textContent = told.question;
  find("#answer").hidden = !answered;
  if (!answered) return;
  const same = format(state) === format(parse(told.state).state);
  find("#answer").textContent = same ? told.answer : say("own", { answer: told.answer });
}
