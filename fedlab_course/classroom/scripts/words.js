// Words with values. Python replaces each call of _ by the words in the language of the server.

// A text with the value of each {name} in it.
function filled(words, values) {
  return words.replace(/\{(\w+)\}/g, (whole, name) => values[name]);
}
