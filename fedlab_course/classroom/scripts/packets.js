// Packets, as fedlab_course/classroom/protocol.py has them: the length of a header, the header as
// JSON, spaces up to a multiple of eight bytes, and vectors in float64.

function packed(kind, values, vectors = {}) {
  const names = Object.keys(vectors);
  const text = new TextEncoder().encode(JSON.stringify({ kind, vectors: names, ...values }));
  const length = Math.ceil((4 + text.length) / 8) * 8 - 4;
  const size = names.reduce((sum, name) => sum + 8 * vectors[name].length, 4 + length);
  const bytes = new Uint8Array(size).fill(32, 4, 4 + length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, length, true);
  bytes.set(text, 4);
  let at = 4 + length;
  for (const name of names) {
    for (const value of vectors[name]) {
      view.setFloat64(at, value, true);
      at += 8;
    }
  }
  return bytes.buffer;
}

function unpacked(buffer) {
  const view = new DataView(buffer);
  const length = view.getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, length));
  const { kind, vectors: names, ...values } = JSON.parse(text);
  const size = names.length ? (buffer.byteLength - 4 - length) / 8 / names.length : 0;
  const vectors = {};
  names.forEach((name, place) => {
    const start = 4 + length + 8 * size * place;
    const vector = new Float64Array(size);
    for (let i = 0; i < size; i += 1) vector[i] = view.getFloat64(start + 8 * i, true);
    vectors[name] = vector;
  });
  return { kind, values, vectors };
}
