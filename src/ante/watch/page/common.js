// Common code of all scripts: the data, elements, formatted numbers.
const data = JSON.parse(document.getElementById("data").textContent);
const SUITS = { S: "♠", H: "♥", C: "♣", D: "♦" };

// An element: el("div.soft", { title: "…" }, child, "text", …); null children are ignored.
function el(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const node = document.createElement(tag);
  node.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children.filter(Boolean));
  return node;
}

const byId = (id) => document.getElementById(id);
const known = (x) => x !== null && x !== undefined && Number.isFinite(x);

// 24.0M, 150k, 512
function short(x) {
  if (!known(x)) return "–";
  const size = Math.abs(x);
  if (size >= 1e6) return (x / 1e6).toFixed(1) + "M";
  if (size >= 1e4) return (x / 1e3).toFixed(0) + "k";
  if (size >= 100 || Number.isInteger(x)) return x.toLocaleString("en", { maximumFractionDigits: 0 });
  return x.toFixed(size >= 10 ? 1 : size >= 0.1 ? 2 : 4);
}

// A formatted score: 12,345, or 1.23e+15 if long.
const score = (x) => (x < 1e11 ? Math.floor(x).toLocaleString("en") : x.toPrecision(3));
const percent = (x, digits = 0) => (known(x) ? (100 * x).toFixed(digits) + " %" : "–");
const counted = (x, word) => `${x} ${word}${x === 1 ? "" : "s"}`;
const chance = (x) => (!known(x) ? "?" : x > 0 && x < 0.01 ? "<1 %" : percent(x));

function span(seconds) {
  if (!known(seconds)) return "–";
  if (seconds < 90) return seconds.toFixed(0) + " s";
  return seconds < 5400 ? (seconds / 60).toFixed(0) + " min" : (seconds / 3600).toFixed(1) + " h";
}

// Cards with suit symbols: `play AS TD` becomes `play A♠ 10♦`.
const pretty = (words) => words.replace(/\b([2-9TJQKA])([SHCD])\b/g, (_, rank, suit) => (rank === "T" ? "10" : rank) + SUITS[suit]);

// The fewest digits with which the percentages of round numbers differ.
function digitsOf(marks) {
  const step = marks.length > 1 ? 100 * (marks[1] - marks[0]) : 1;
  return Math.max(0, Math.min(4, Math.ceil(-Math.log10(step) - 1e-9)));
}

// About four round numbers between two bounds.
function ticks(low, high) {
  const rough = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough);
  const found = [];
  for (let x = Math.ceil(low / step) * step; x <= high + step * 1e-6; x += step) found.push(Math.abs(x) < step / 1e6 ? 0 : x);
  return found;
}

// The line of a page that follows runs: what it shows, or why it cannot.
function sayState(words, trouble = false) {
  const box = byId("live");
  box.hidden = false;
  box.classList.toggle("lost", trouble);
  if (box.textContent !== words) box.textContent = words;
}
