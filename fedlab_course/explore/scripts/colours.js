// The colours of a figure on a light and on a dark page: figures are made for white. A colour keeps its hue, and its
// lightness changes as little as a contrast of 3 for marks and 4.5 for texts requires (WCAG 2.2, 1.4.11 and 1.4.3).
(() => {
  "use strict";
  const GROUND = { light: "#ffffff", dark: "#15181c" };
  const GRID = "#353a41";
  const HEX = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i;
  const RGBA = /^rgba?\(\s*([\d.]+)\s*,\s*([\d.]+)\s*,\s*([\d.]+)\s*(?:,\s*([\d.]+)\s*)?\)$/;

  // [red, green, blue, opacity] from 0 to 1, or null for what is no colour that we know.
  function parsed(colour) {
    const text = { white: "#ffffff", black: "#000000" }[colour] ?? colour;
    const numbers = RGBA.exec(text);
    if (numbers) return [...numbers.slice(1, 4).map((part) => part / 255), Number(numbers[4] ?? 1)];
    if (!HEX.test(text)) return null;
    const digits = text.length === 7 ? text.slice(1) : text.slice(1).replace(/./g, "$&$&");
    return [...[0, 2, 4].map((i) => parseInt(digits.slice(i, i + 2), 16) / 255), 1];
  }

  function written(rgb, alpha) {
    const parts = rgb.map((value) => Math.round(255 * value));
    if (alpha < 1) return `rgba(${parts.join(",")},${alpha})`;
    return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  }

  function luminance(rgb) {
    const [red, green, blue] = rgb.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function contrast(a, b) {
    const [dim, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (bright + 0.05) / (dim + 0.05);
  }

  function hsl([red, green, blue]) {
    const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
    const [light, span] = [(most + least) / 2, most - least];
    if (!span) return [0, 0, light];
    const sector = most === red ? (green - blue) / span : most === green ? 2 + (blue - red) / span : 4 + (red - green) / span;
    return [(sector + 6) % 6, span / (1 - Math.abs(2 * light - 1)), light];
  }

  function rgb([sector, saturation, light]) {
    const reach = saturation * Math.min(light, 1 - light);
    return [0, 8, 4].map((n) => {
      const k = (n + 2 * sector) % 12;
      return light - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    });
  }

  // A mark or a text on the ground of a scheme. White becomes the dark ground, and greys are mirrored.
  function readable(colour, scheme, least) {
    const [red, green, blue, alpha] = parsed(colour);
    const plain = [red, green, blue];
    const white = contrast(plain, [1, 1, 1]);
    if (scheme === "light" && (white < 1.4 || alpha < 1)) return colour; // pale areas and lines stay as they are
    let [hue, saturation, light] = hsl(plain);
    if (scheme === "dark" && white < 1.12) return written(parsed(GROUND.dark).slice(0, 3), alpha);
    if (scheme === "dark" && saturation < 0.1) light = Math.max(0, 0.93 - light);
    const ground = parsed(GROUND[scheme]).slice(0, 3);
    const step = scheme === "dark" ? 0.005 : -0.005;
    while (contrast(rgb([hue, saturation, light]), ground) < least && light >= 0 && light <= 1) light += step;
    const made = written(rgb([hue, saturation, Math.min(Math.max(light, 0), 1)]), alpha);
    return made === colour.toLowerCase() ? colour : made;
  }

  // A colour of a scale on a dark ground: pale becomes dim, and dark becomes bright.
  function mirrored(colour) {
    const [hue, saturation, light] = hsl(parsed(colour).slice(0, 3));
    return written(rgb([hue, saturation, 0.15 + 0.7 * (1 - light)]), parsed(colour)[3]);
  }

  // A figure, or a part below `key`, in the colours of a scheme; `ground`: what the dark figure stands on.
  function turned(value, scheme, ground = GROUND.dark, key = "", text = false) {
    const part = (one, name = key, font = text) => turned(one, scheme, ground, name, font);
    if (typeof value === "string") {
      if (!/color/i.test(key) || !parsed(value)) return value;
      if (scheme === "dark" && key === "gridcolor") return GRID;
      if (scheme === "dark" && /^(paper|plot)_bgcolor$/.test(key)) return ground;
      return readable(value, scheme, text ? 4.5 : 3);
    }
    if (Array.isArray(value)) {
      const pair = ([at, colour]) => [at, scheme === "dark" && parsed(colour) ? mirrored(colour) : colour];
      if (key === "colorscale") return value.map(pair);
      return /color/i.test(key) || typeof value[0] === "object" ? value.map((one) => part(one)) : value;
    }
    if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([name, one]) => [name, part(one, name, /font/.test(name))]));
  }

  globalThis.fedlabColours = { turned, readable, mirrored };
})();
