// The page of measured effects: a graph of the strongest pairs, a table of all, and what is known of one joker.
const TINTS = { Common: "#4f96dc", Uncommon: "#55ae70", Rare: "#dd5a52", Legendary: "#9a72cf" };
const FEWEST = 70, PAGE = 50, STEPS = 260;
const [ONE, OTHER, EFFECT, HALF, GAIN, ACTS, COUNTS] = [0, 1, 2, 3, 4, 5, 6];
const state = { joker: null, sort: "size", shown: PAGE };
const factor = (x) => "×" + (10 ** x).toFixed(2);
const interval = (x, half) => `${factor(x)} (${(10 ** (x - half)).toFixed(2)} to ${(10 ** (x + half)).toFixed(2)})`;
const tone = (x) => (x > 0 ? "plus" : x < 0 ? "minus" : "soft");
const jokerNamed = (name) => data.jokers.findIndex((each) => each.name.toLowerCase() === name.trim().toLowerCase());

function wanted() {
  const sign = +byId("sign").value, least = +byId("least").value, rarity = byId("rarity").value;
  const generic = byId("generic").checked ? new Set() : new Set(data.generic);
  return data.pairs.filter((pair) => pair[COUNTS] && Math.abs(pair[EFFECT]) >= least && (!sign || Math.sign(pair[EFFECT]) === sign)
    && (state.joker === null || pair[ONE] === state.joker || pair[OTHER] === state.joker)
    && (state.joker !== null || (!generic.has(pair[ONE]) && !generic.has(pair[OTHER])))
    && (!rarity || data.jokers[pair[ONE]].rarity === rarity || data.jokers[pair[OTHER]].rarity === rarity));
}

const bySize = (a, b) => Math.abs(b[EFFECT]) - Math.abs(a[EFFECT]);

// Positions of nodes after a fixed number of steps: edges attract, nodes repel. The same pairs give the same drawing.
function layout(nodes, edges, width, height) {
  const at = new Map(nodes.map((node, i) => {
    const turn = (2 * Math.PI * i) / nodes.length;
    return [node, { x: width / 2 + 0.38 * width * Math.cos(turn), y: height / 2 + 0.38 * height * Math.sin(turn) }];
  }));
  const room = 1.1 * Math.sqrt((width * height) / Math.max(1, nodes.length));
  for (let step = 0; step < STEPS; step++) {
    const push = new Map(nodes.map((node) => [node, { x: 0, y: 0 }]));
    for (let i = 0; i < nodes.length; i++) for (let j = i + 1; j < nodes.length; j++) {
      const a = at.get(nodes[i]), b = at.get(nodes[j]);
      const x = a.x - b.x || 0.1, y = a.y - b.y || 0.1, gap = Math.hypot(x, y);
      const force = (room * room) / gap / gap;
      push.get(nodes[i]).x += x * force; push.get(nodes[i]).y += y * force;
      push.get(nodes[j]).x -= x * force; push.get(nodes[j]).y -= y * force;
    }
    for (const pair of edges) {
      const a = at.get(pair[ONE]), b = at.get(pair[OTHER]);
      const x = a.x - b.x, y = a.y - b.y, force = Math.hypot(x, y) / room;
      push.get(pair[ONE]).x -= x * force; push.get(pair[ONE]).y -= y * force;
      push.get(pair[OTHER]).x += x * force; push.get(pair[OTHER]).y += y * force;
    }
    const heat = 0.09 * width * (1 - step / STEPS);
    for (const node of nodes) {
      const p = at.get(node), f = push.get(node);
      f.x += (width / 2 - p.x) * 1.6; f.y += (height / 2 - p.y) * 2.4;
      const size = Math.hypot(f.x, f.y) || 1, far = Math.min(size, heat) / size;
      p.x = Math.max(48, Math.min(width - 48, p.x + f.x * far));
      p.y = Math.max(18, Math.min(height - 26, p.y + f.y * far));
    }
  }
  return at;
}

function drawGraph(pairs) {
  const edges = [...pairs].sort(bySize).slice(0, FEWEST);
  const nodes = [...new Set(edges.flatMap((pair) => [pair[ONE], pair[OTHER]]))];
  const at = layout(nodes, edges, 760, 560);
  const degree = new Map(nodes.map((node) => [node, edges.filter((pair) => pair[ONE] === node || pair[OTHER] === node).length]));
  const lines = edges.map((pair) => {
    const a = at.get(pair[ONE]), b = at.get(pair[OTHER]);
    const line = svg("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: tone(pair[EFFECT]), "stroke-width": 1 + 9 * Math.abs(pair[EFFECT]), "stroke-opacity": 0.7 });
    line.append(svg("title", {}));
    line.firstChild.textContent = `${data.jokers[pair[ONE]].name} + ${data.jokers[pair[OTHER]].name}: ${interval(pair[EFFECT], pair[HALF])}`;
    return line;
  });
  const circles = nodes.map((node) => {
    const { x, y } = at.get(node), radius = 5 + 1.4 * Math.sqrt(degree.get(node));
    const words = svg("text", { x, y: y + radius + 11 });
    words.textContent = data.jokers[node].name;
    const group = svg("g", { class: `node${node === state.joker ? " chosen" : ""}`, tabindex: 0, role: "button", "aria-label": data.jokers[node].name },
      svg("circle", { cx: x, cy: y, r: radius, fill: TINTS[data.jokers[node].rarity] }), words);
    group.addEventListener("click", () => choose(node));
    group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(node); } });
    return group;
  });
  byId("graph").replaceChildren(...lines, ...circles);
  byId("counted").textContent = pairs.length > edges.length ? `the ${edges.length} strongest of ${pairs.length} are drawn` : counted(pairs.length, "pair");
}

const SORTS = {
  pair: ["pair", (a, b) => data.jokers[a[ONE]].name.localeCompare(data.jokers[b[ONE]].name)],
  size: ["interaction (95 %)", bySize],
  gain: ["both against none", (a, b) => b[GAIN] - a[GAIN]],
  acts: ["positions in which they interact", (a, b) => b[ACTS] - a[ACTS]],
};
const link = (node) => el("button.link", { type: "button", onclick: () => choose(node) }, data.jokers[node].name);

function drawTable(pairs) {
  const heads = Object.entries(SORTS).map(([name, [words]]) => el("th", { scope: "col", "aria-sort": name === state.sort ? "descending" : null },
    el("button", { type: "button", onclick: () => { state.sort = name; draw(); } }, words)));
  const rows = [...pairs].sort(SORTS[state.sort][1]).slice(0, state.shown).map((pair) => el("tr", {},
    el("td", {}, link(pair[ONE]), " + ", link(pair[OTHER])),
    el(`td.${tone(pair[EFFECT])}`, {}, interval(pair[EFFECT], pair[HALF])),
    el("td", {}, factor(pair[GAIN])), el("td", {}, percent(pair[ACTS]))));
  byId("pairs").replaceChildren(el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows));
  byId("more").hidden = pairs.length <= state.shown;
}

function effectRows(kind, most) {
  const rows = data.effects.filter((row) => row[0] === state.joker && row[1] === kind).sort((a, b) => b[3] - a[3]);
  const shown = rows.length > 2 * most ? [...rows.slice(0, most), ...rows.slice(-most)] : rows;
  return shown.map((row) => el("tr", {}, el("td", {}, row[2]), el(`td.${tone(row[3])}`, {}, interval(row[3], row[4]))));
}

function drawJoker() {
  const box = byId("joker");
  if (state.joker === null) {
    box.replaceChildren(el("p.soft", {}, "Select a joker in the graph or in the table, or write its name above."));
    return;
  }
  const joker = data.jokers[state.joker];
  const mine = data.pairs.filter((pair) => pair[COUNTS] && (pair[ONE] === state.joker || pair[OTHER] === state.joker)).sort((a, b) => b[EFFECT] - a[EFFECT]);
  const partner = (pair) => el("tr", {}, el("td", {}, link(pair[ONE] === state.joker ? pair[OTHER] : pair[ONE])),
    el(`td.${tone(pair[EFFECT])}`, {}, interval(pair[EFFECT], pair[HALF])));
  const part = (title, rows) => (rows.length ? [el("h3", {}, title), el("table", {}, el("tbody", {}, rows))] : []);
  const best = mine.filter((pair) => pair[EFFECT] > 0).slice(0, 12), worst = mine.filter((pair) => pair[EFFECT] < 0).reverse().slice(0, 8);
  box.replaceChildren(el("div.title", {}, el("h2", {}, joker.name), el("button", { type: "button", onclick: () => choose(null) }, "all jokers")),
    el("p", {}, joker.text), el("div", {}, joker.traits.map((trait) => el("span.trait", {}, trait))),
    joker.scores ? el("p", {}, `Alone: ${factor(joker.gain)} the score of the best play, on average.`)
      : el("p.soft", {}, "It does not act while a hand is scored: what it earns, creates or changes outside of a hand is not measured. Jokers that count, price or copy others still react to it."),
    ...part("works with", best.map(partner)), ...part("overlaps with", worst.map(partner)),
    ...part("gain with the hand", effectRows("hand", 6)), ...part("under the boss, against none", effectRows("boss", 6)),
    ...part("on the deck, against Red", effectRows("deck", 4)));
}

function choose(joker) {
  state.joker = joker;
  state.shown = PAGE;
  byId("find").value = joker === null ? "" : data.jokers[joker].name;
  location.replace(joker === null ? "#" : `#${encodeURIComponent(data.jokers[joker].name)}`);
  draw();
}

function draw() {
  const pairs = wanted();
  drawGraph(pairs);
  drawTable(pairs);
  drawJoker();
}

const points = (x, low, high) => [x, low, high].map((each) => (each > 0 ? "+" : "") + Math.round(100 * each)).reduce((a, b, i) => a + [" (", " to "][i - 1] + b) + ")";
const significant = (x, q) => (q <= 0.05 ? tone(x) : "soft");

function drawStrategies() {
  const heads = ["strategy", "won of mined", "control", "granted", "effect, points (95 %)", "against its best part, points", "example, seed"];
  const rows = data.strategies.filter((each) => each.validated || byId("rejected").checked).map((each) => el("tr", {},
    el("td", {}, each.jokers.length ? el("button.link", { type: "button", onclick: () => choose(each.jokers[0]) }, each.name) : each.name),
    ...[`${percent(each.rate)} of ${each.n}`, percent(each.control), percent(each.granted)].map((cell) => el("td", {}, cell)),
    el(`td.${each.validated ? tone(each.effect) : "soft"}`, {}, points(each.effect, each.low_effect, each.high_effect)),
    el("td", {}, `${each.part || "none"}: ${points(each.joint, each.low_joint, each.high_joint)}`),
    el("td", {}, each.example + (each.validated ? "" : ", not confirmed"))));
  byId("strategies").replaceChildren(el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows));
}

function drawWins() {
  const about = data.winning, confirmed = data.strategies.filter((each) => each.validated).length;
  byId("mined").textContent = `Mined from ${about.mined.reached} games of ${about.player} that reached ante ${about.ante} (${percent(about.mined.rate)} won): ${about.sets} frequent sets, `
    + `${data.strategies.length} proposed, ${confirmed} validated. Validation: the strategy is granted in games of other seeds, against other jokers of the same rarities.`;
  const heads = ["pair", "games", "neither", "first", "second", "both", "interaction, points (95 %)"];
  const rows = data.wins.map((each) => el("tr", {}, el("td", {}, link(each.one), " + ", link(each.other)), el("td", {}, `${each.n}`),
    ...[each.base, each.with_one, each.with_other, each.both].map((rate) => el("td", {}, percent(rate))),
    el(`td.${significant(each.effect, each.q)}`, {}, points(each.effect, each.low, each.high))));
  byId("wins").replaceChildren(el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows));
}

function drawTiles() {
  const counts = (sign) => data.pairs.filter((pair) => pair[COUNTS] && Math.sign(pair[EFFECT]) === sign).length;
  const tile = (number, words) => el("div.tile", {}, el("b", {}, number.toLocaleString("en")), el("span", {}, words));
  byId("tiles").replaceChildren(tile(data.measured, "pairs measured"), tile(counts(1), "synergies"), tile(counts(-1), "overlaps"),
    tile(data.measured - data.pairs.length, "pairs that never interact"),
    tile(data.about.positions.reduce((a, b) => a + b, 0), "positions"));
  byId("about").textContent = `Interactions of the score of a hand, measured on positions of ${data.about.player}'s games in antes ${data.about.antes.join(", ")} `
    + `(${data.about.deck === "b_red" ? "Red Deck" : data.about.deck}, White Stake); false discovery rate ${percent(data.about.false_discovery_rate)}.`;
}

byId("names").append(...data.jokers.map((joker) => el("option", { value: joker.name })));
byId("least").append(...[0.01, 0.02, 0.05, 0.1, 0.2].map((x) => el("option", { value: x, selected: x === 0.02 }, factor(x))));
for (const id of ["sign", "least", "rarity", "generic"]) byId(id).addEventListener("change", () => { state.shown = PAGE; draw(); });
byId("find").addEventListener("input", (event) => {
  const found = jokerNamed(event.target.value);
  if (found >= 0 || !event.target.value) { state.joker = found >= 0 ? found : null; state.shown = PAGE; draw(); }
});
byId("more").addEventListener("click", () => { state.shown += PAGE; draw(); });
const named = jokerNamed(decodeURIComponent(location.hash.slice(1)));
if (named >= 0) state.joker = named;
byId("find").value = named >= 0 ? data.jokers[named].name : "";
byId("rejected").addEventListener("change", drawStrategies);
drawTiles();
drawStrategies();
drawWins();
draw();
document.documentElement.dataset.ready = Math.round(performance.now());
