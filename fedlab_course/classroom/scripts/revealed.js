// What an update tells about its phone.

const CLASSES = 10;

// The labels that a change of the parameters shows: the bias of a label rises only if the phone has
// the label. The biases of the last layer are the last parameters.
function labelsSeen(change) {
  return Array.from(change.slice(-CLASSES)).flatMap((move, label) => (move > 0 ? [label] : []));
}

// A picture of the change: a pixel for each parameter, brown down and blue up.
function pictureOf(change, canvas) {
  const side = Math.ceil(Math.sqrt(change.length));
  [canvas.width, canvas.height] = [side, Math.ceil(change.length / side)];
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const largest = change.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12);
  image.data.fill(255);
  change.forEach((value, i) => {
    const share = Math.sqrt(Math.abs(value) / largest);
    const to = value > 0 ? [0, 114, 178] : [180, 95, 6];
    to.forEach((part, c) => {
      image.data[4 * i + c] = Math.round(255 + share * (part - 255));
    });
  });
  context.putImageData(image, 0, 0);
}
