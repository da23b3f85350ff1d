// All runs in a table that follows them, and the curves of the chosen runs in one plot for each metric.
const COLOURS = ["#f0bd4e", "#5aa2e6", "#62c083", "#e8685f", "#a584d8", "#ee9147", "#7fd3d0", "#d884b7"];
const states = ["running", "active", "finished", "stopped", "failed", "unfinished"];
const tried = (run, name) => run.evaluation?.[name][0];
// Heading, and the value by which it sorts; numbers sort from the highest.
const COLUMNS = [
  [""], ["run", (run) => run.name], ["state", (run) => states.indexOf(run.state)], ["trains", (run) => run.kind], ["game", (run) => run.game],
  ["steps", (run) => run.steps], ["time", (run) => run.seconds], ["blinds", (run) => run.blinds], ["best", (run) => run.best], ["wins", (run) => run.wins],
  ["evaluated blinds", (run) => tried(run, "blinds")], ["evaluated wins", (run) => tried(run, "wins")], ["videos", (run) => run.videos],
  ["cost", (run) => parseFloat(run.cost)], ["last change", (run) => run.changed],
];
const index = { version: "", runs: [], others: {}, chosen: fromAddress(), curves: {}, settings: {}, sort: "last change", up: false };

function fromAddress() {
  return location.hash.length > 1 ? location.hash.slice(1).split(",").map(decodeURIComponent) : null;
}

async function follow() {
  try {
    const answer = await (await fetch(`live.json?version=${index.version}`)).json();
    if (answer.trouble) sayState(`The runs cannot be read: ${answer.trouble}. The page shows the last data and tries again.`, true);
    else { if (answer.data) await takeOver(answer); else drawAges(); sayState(`follows ${counted(index.runs.length, "run")}`); }
  } catch {
    sayState("The server does not respond: start ante watch --serve again. The page shows the last data and tries again.", true);
  }
  setTimeout(follow, 1000 * data.live);
}

async function takeOver({ version, data: fresh }) {
  Object.assign(index, { version, runs: fresh.runs, others: fresh.others });
  index.chosen ??= index.runs.slice(0, 2).map(({ name }) => name);
  drawRuns();
  drawOthers();
  await compare();
}

const address = (name) => name.split("/").map(encodeURIComponent).join("/");
const colour = (name) => COLOURS[index.chosen.indexOf(name) % COLOURS.length];

// The runs that the words and the state select, in the chosen order.
function selected() {
  const words = byId("find").value.toLowerCase().split(/\s+/), state = byId("state").value;
  const has = (run) => words.every((word) => `${run.name} ${run.kind} ${run.game}`.toLowerCase().includes(word));
  const value = COLUMNS.find(([name]) => name === index.sort)[1], sign = index.up ? 1 : -1;
  const order = (one, two) => {
    const [a, b] = [value(one), value(two)];
    if (typeof a === "string") return sign * a.localeCompare(b);
    return known(a) && known(b) ? sign * (a - b) : known(b) - known(a);
  };
  return index.runs.filter((run) => has(run) && (!state || run.state === state)).sort(order);
}

function drawRuns() {
  const runs = selected(), focused = document.activeElement?.dataset?.run;
  const shown = COLUMNS.filter(([name]) => name !== "cost" || index.runs.some((run) => run.cost));
  const heads = shown.map(([name]) => el("th", { "aria-sort": name === index.sort ? (index.up ? "ascending" : "descending") : null }, name && el("button", { "data-sort": name, onclick: () => sortBy(name) }, name)));
  byId("runs").replaceChildren(el("tr", {}, ...heads), ...runs.map((run) => drawRun(run, shown)));
  byId("count").textContent = runs.length === index.runs.length ? "" : `${runs.length} of ${index.runs.length}`;
  if (focused) byId("runs").querySelector(`input[data-run="${CSS.escape(focused)}"]`)?.focus();
}

function sortBy(name) {
  index.up = index.sort === name ? !index.up : ["run", "state", "trains", "game"].includes(name);
  index.sort = name;
  drawRuns();
  byId("runs").querySelector(`[data-sort="${name}"]`).focus();
}

const age = (run) => `${span(Math.max(0, Date.now() / 1000 - run.changed))} ago`;

function drawAges() {
  const cells = new Map([...byId("runs").querySelectorAll("td[data-age]")].map((cell) => [cell.dataset.age, cell]));
  for (const run of index.runs) if (cells.has(run.name)) cells.get(run.name).textContent = age(run);
}

function drawRun(run, shown) {
  const chosen = index.chosen.includes(run.name);
  const box = el("input", { type: "checkbox", "data-run": run.name, "aria-label": `compare ${run.name}`, checked: chosen, style: chosen ? `accent-color:${colour(run.name)}` : null, onchange: () => choose(run.name) });
  const share = known(run.steps) && run.target > 0 ? ` (${percent(Math.min(1, run.steps / run.target))})` : "";
  const fixed = (x) => (known(x) ? x.toFixed(2) : "–");
  const interval = (values, scale, digits, unit) => {
    if (!values) return "–";
    const [mean, low, high] = values.map((x) => (known(x) ? (scale * x).toFixed(digits) : null));
    return low === null ? `${mean}${unit}` : el("span", { title: `95 % interval: ${low} to ${high}` }, `${mean} ± ${((scale * (values[2] - values[1])) / 2).toFixed(digits)}${unit}`);
  };
  const link = `run/${address(run.name)}/`;
  const cells = {
    "": box, run: el("a", { href: link }, run.name), state: el(`span.state.${run.state}`, {}, run.state), trains: run.kind, game: run.game,
    steps: `${short(run.steps)}${share}`, time: span(run.seconds), blinds: fixed(run.blinds), best: fixed(run.best), wins: percent(run.wins, 1),
    "evaluated blinds": interval(run.evaluation?.blinds, 1, 2, ""), "evaluated wins": interval(run.evaluation?.wins, 100, 1, " %"),
    videos: run.videos ? el("a", { href: link }, String(run.videos)) : "–", cost: run.cost || "–",
  };
  return el("tr", { "data-run": run.name }, ...shown.map(([name]) => (name === "last change" ? el("td", { "data-age": run.name }, age(run)) : el("td", {}, cells[name]))));
}

function drawOthers() {
  byId("others").replaceChildren(...Object.entries(index.others).map(([name, why]) => el("p.soft", {}, `not listed: ${name}: ${why}`)));
}

function choose(name) {
  index.chosen = index.chosen.includes(name) ? index.chosen.filter((each) => each !== name) : [...index.chosen, name];
  history.replaceState(null, "", `#${index.chosen.map(encodeURIComponent).join(",")}`);
  drawRuns();
  compare();
}

// Request the curves of the chosen runs and draw them.
async function compare() {
  const names = index.chosen.filter((name) => index.runs.some((run) => run.name === name));
  const query = names.map((name) => `run=${encodeURIComponent(name)}`).join("&");
  try {
    index.curves = names.length ? await (await fetch(`curves.json?${query}`)).json() : {};
    index.settings = names.length > 1 ? await (await fetch(`settings.json?${query}`)).json() : {};
  } catch {
    return; // the next poll states it
  }
  drawComparison();
  drawSettings(names);
}

// The settings that differ between the chosen runs.
function drawSettings(names) {
  const rows = Object.entries(index.settings).map(([key, values]) => el("tr", {}, el("td", {}, key), ...names.map((name) => el("td", {}, values[name] === null || values[name] === undefined ? "" : String(values[name])))));
  byId("settings").replaceChildren(...(rows.length ? [el("tr", {}, el("th", {}, "settings that differ"), ...names.map((name) => el("th", {}, name))), ...rows] : []));
}

function drawComparison() {
  const found = index.chosen.filter((name) => index.curves[name]?.steps?.length);
  const metrics = new Map(found.flatMap((name) => index.curves[name].drawn.map((each) => [each.name, each])));
  const charts = [...metrics.values()].map((metric) => drawMetric(metric, found)).filter(Boolean);
  byId("curves").replaceChildren(...(charts.length ? charts : [el("p.soft", {}, "Choose runs in the table to compare their curves.")]));
  const { lines, legend } = published(found);
  byId("legend").replaceChildren(...found.flatMap((name) => [el("i", { style: `background:${colour(name)}` }), name]), ...(Object.keys(lines).length ? [el("i.players"), legend] : []));
}

// The results of other players if all runs play their game.
function published(runs) {
  const all = runs.map((run) => index.curves[run].published);
  return all.length && all.every(({ lines }) => Object.keys(lines).length) ? all[0] : { lines: {} };
}

function drawMetric({ name, title, percent: inPercent }, runs) {
  const lines = runs.filter((run) => (index.curves[run].columns[name] || []).some(known));
  if (!lines.length) return null;
  const shown = lines.flatMap((run) => index.curves[run].columns[name].filter(known));
  const far = Math.max(...lines.map((run) => index.curves[run].steps.at(-1))) || 1;
  const { picture, x, y } = drawAxes(title, shown, far, inPercent, published(runs).lines[name]);
  for (const run of lines) {
    const line = drawLine(index.curves[run].steps, index.curves[run].columns[name], x, y, { "data-run": run, style: `stroke:${colour(run)}` });
    line.append(svg("title"));
    line.firstChild.textContent = run;
    picture.append(line);
  }
  return el("div.chart", { "data-curve": name }, el("h3", {}, title), picture);
}

byId("name").textContent = data.name;
byId("state").append(...states.map((state) => el("option", { value: state }, state)));
byId("find").addEventListener("input", drawRuns);
byId("state").addEventListener("input", drawRuns);
if (data.first.data) takeOver(data.first);
follow();
