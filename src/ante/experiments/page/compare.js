// A comparison: the table, curves over decisions and over time, settings that differ, the runs.
const COLORS = ["#5aa2e6", "#f0bd4e", "#62c083", "#e8685f", "#a584d8", "#ee9147", "#5cc3c9", "#d989b5", "#b9c46a", "#9aa7b5"];
const TITLES = { blinds: "blinds beaten per game", ante: "highest ante, mean", win_rate: "games won", return: "return" };
const MEASURES = [["ante", "mean ante"], ["blinds", "blinds beaten"], ["win", "games won"], ["reward", "reward"]];
const W = 360, H = 170, LEFT = 40, BOTTOM = 20, TOP = 8, RIGHT = 8;
const entries = [...new Set(data.cells.map((cell) => cell.entry))];
const colorOf = (name) => (entries.includes(name) ? COLORS[entries.indexOf(name) % COLORS.length] : "#93a39f");
const sayAs = (name) => (name === "win_rate" || name === "win" ? (x) => percent(x, 1) : short);

function drawHead() {
  const left = data.cells.filter((cell) => cell.state !== "done").length;
  const runs = `${entries.length} entries × ${data.cells.length / entries.length} seeds · ${short(data.steps)} decisions each`;
  byId("head").append(el("h1", {}, data.title), data.about ? el("div", {}, data.about) : "", el("div.soft", {}, `${runs} · written ${data.written}`));
  if (left) byId("head").append(el("div.truncated", { role: "status" }, `${left} of ${data.cells.length} runs are not finished: the table shows finished runs only, the curves all runs.`));
}

// A number, and its interval as text and as a whisker on the common scale of the column.
function measureCell(row, key, bounds) {
  const found = row.measures[key], say = key === "win" ? sayAs(key) : (x) => x.toFixed(2), [low, high] = bounds;
  const at = (x) => (high > low ? (138 * (x - low)) / (high - low) : 69);
  const line = svg("svg", { class: "whisker", viewBox: "0 0 138 12", "aria-hidden": "true" },
    svg("line", { x1: at(found.low), x2: at(found.high), y1: 6, y2: 6, stroke: colorOf(row.name), "stroke-width": 2 }),
    svg("circle", { cx: at(found.value), cy: 6, r: 3.5, fill: colorOf(row.name) }));
  return el("td.measure", { "data-measure": key }, el("b", {}, say(found.value)), " ", el("small", {}, `${say(found.low)} to ${say(found.high)}`), line);
}

function drawTable() {
  if (!data.rows.length) { byId("table").append(el("p.soft", {}, "No run is finished yet.")); return; }
  const bounds = Object.fromEntries(MEASURES.map(([key]) => [key, [Math.min(...data.rows.map((row) => row.measures[key].low)), Math.max(...data.rows.map((row) => row.measures[key].high))]]));
  const first = entries[0], heads = ["", ...MEASURES.map(([, title]) => title), `blinds beyond ${first}`, "time", "decisions/s", "games/s", "peak memory"];
  const body = data.rows.map((row) => {
    const ahead = row.ahead, trained = known(row.seconds);
    const beyond = ahead ? `${ahead.value >= 0 ? "+" : ""}${ahead.value.toFixed(2)} (${ahead.low.toFixed(2)} to ${ahead.high.toFixed(2)})` : "";
    return el(trained ? "tr" : "tr.other", { "data-row": row.name },
      el("td.name", {}, el("span.swatch", { style: `background:${colorOf(row.name)}` }), el("b", {}, row.name), el("small", {}, trained ? ` ${row.seeds} run${row.seeds === 1 ? "" : "s"}` : "")),
      ...MEASURES.map(([key]) => measureCell(row, key, bounds[key])),
      el("td.values", {}, beyond), el("td.values", {}, trained ? span(row.seconds) : ""), el("td.values", {}, trained ? short(row.steps_per_second) : ""),
      el("td.values", {}, trained ? short(row.games_per_second) : ""), el("td.values", {}, trained ? `${row.memory_gb.toFixed(2)} GB` : ""));
  });
  byId("table").append(el("table", {}, el("tr", {}, ...heads.map((head) => el("th", {}, head))), ...body));
  byId("table-about").append(`${data.eval_games} games, the same for all players; best checkpoint of each run`);
  const seeds = Math.max(...data.rows.map((row) => row.seeds)), notes = [];
  notes.push(seeds > 1 ? `Intervals: 95 %, bootstrap over training seeds and games; ${seeds} seeds are few to estimate the variance of training.` : "Intervals: 95 %, bootstrap over games; one training seed does not show the variance of training.");
  notes.push("Wall clock: sampling and learning, mean over seeds.");
  if (data.differences.reward || data.differences.reward_terms) notes.push("Rewards differ between entries: their column and their returns cannot be compared.");
  byId("table-notes").append(notes.join(" "));
}

// The curves of all entries for one metric: a line for the mean, a band from the lowest to the highest seed.
function drawChart(axis, name) {
  const bands = data.bands[axis][name], names = entries.filter((each) => bands[each]), say = sayAs(name);
  const values = names.flatMap((each) => [...bands[each].low, ...bands[each].high]).filter(known);
  let low = Math.min(...values), high = Math.max(...values);
  if (low > 0) low = 0;
  if (high - low < 1e-9) high += Math.abs(high) * 0.1 || 1;
  const far = Math.max(...names.map((each) => bands[each].x.at(-1))) || 1, sayX = axis === "steps" ? short : span;
  const x = (at) => LEFT + ((W - LEFT - RIGHT) * at) / far, y = (value) => TOP + (H - TOP - BOTTOM) * (1 - (value - low) / (high - low));
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${TITLES[name]} by ${axis === "steps" ? "decisions" : "wall clock"}` });
  for (const value of ticks(low, high)) {
    picture.append(svg("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: y(value), y2: y(value) }));
    const label = svg("text", { x: LEFT - 5, y: y(value) + 3.5, "text-anchor": "end" });
    label.textContent = name === "win_rate" ? percent(value, high < 0.1 ? 1 : 0) : short(value);
    picture.append(label);
  }
  const [unit, word] = axis === "steps" ? [1, ""] : far > 7200 ? [3600, " h"] : far > 180 ? [60, " min"] : [1, " s"];
  for (const at of ticks(0, far / unit).slice(1)) {
    const label = svg("text", { x: x(at * unit), y: H - 4, "text-anchor": "middle" });
    label.textContent = `${short(at)}${word}`;
    if (x(at * unit) < W - 12) picture.append(label);
  }
  for (const each of names) {
    const { x: points, mean, low: lows, high: highs } = bands[each], color = colorOf(each);
    const place = (at, value) => `${x(points[at]).toFixed(1)},${y(value).toFixed(1)}`;
    const up = points.map((_, at) => place(at, highs[at])), down = points.map((_, at) => place(at, lows[at])).reverse();
    picture.append(svg("polygon", { class: "band", points: [...up, ...down].join(" "), fill: color }));
    picture.append(svg("path", { class: "curve", "data-entry": each, d: `M${mean.map((value, at) => place(at, value)).join("L")}`, stroke: color }));
  }
  const now = el("b", {}), chart = el("div.chart", { "data-curve": `${axis}-${name}` }, el("h3", {}, TITLES[name], now), picture);
  const rule = svg("line", { class: "grid", y1: TOP, y2: H - BOTTOM, visibility: "hidden", style: "stroke:#93a39f" });
  picture.append(rule);
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = Math.min(far, Math.max(0, ((((event.clientX - box.left) / box.width) * W - LEFT) / (W - LEFT - RIGHT)) * far));
    rule.setAttribute("x1", x(at)); rule.setAttribute("x2", x(at)); rule.setAttribute("visibility", "visible");
    const told = names.map((each) => {
      const points = bands[each].x, near = points.reduce((best, point, i) => (Math.abs(point - at) < Math.abs(points[best] - at) ? i : best), 0);
      return points.at(-1) < at - far / 50 ? null : el("span", { style: `color:${colorOf(each)};margin-left:8px` }, say(bands[each].mean[near]));
    });
    now.replaceChildren(...told.filter(Boolean), ` at ${sayX(at)}`);
  });
  picture.addEventListener("pointerleave", () => { rule.setAttribute("visibility", "hidden"); now.replaceChildren(); });
  return chart;
}

function drawCharts() {
  for (const axis of ["steps", "seconds"]) {
    const charts = Object.keys(data.bands[axis]).map((name) => drawChart(axis, name));
    byId(axis).append(...(charts.length ? charts : [el("p.soft", {}, "No metrics yet.")]));
  }
  for (const name of entries) byId("legend").append(el("i.mark", { style: `background:${colorOf(name)}` }), name);
  if (data.cells.length > entries.length) byId("legend").append(el("span", { style: "margin-left:12px" }, "line: mean of the seeds; band: lowest to highest seed"));
  byId("clock-about").append("time of sampling and learning, without startup and evaluations");
}

function drawDifferences() {
  const rows = Object.entries(data.differences);
  if (!rows.length) return;
  const text = (value) => (value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : `${value}`);
  const body = rows.map(([name, values]) => el("tr", {}, el("th", {}, name), ...entries.map((each) => el("td", {}, text(values[each])))));
  const table = el("table", {}, el("tr", {}, el("th", {}, ""), ...entries.map((each) => el("th", {}, each))), ...body);
  byId("differences").append(el("details.box", { open: rows.length <= 16 }, el("summary", {}, "Settings that differ"), el("div.scroll", {}, table)));
}

function drawRuns() {
  const body = data.cells.map((cell) => el("tr", { "data-cell": `${cell.entry}/${cell.seed}` }, el("td", {}, cell.entry), el("td", {}, `${cell.seed}`), el(`td.state.${cell.state}`, {}, cell.state),
    el("td", {}, short(cell.steps)), el("td", {}, cell.seconds ? span(cell.seconds) : ""), el("td", {}, cell.state === "done" ? el("a", { href: `${cell.folder}/report.html`, style: "color:var(--blue)" }, "report") : cell.folder)));
  const heads = ["entry", "seed", "state", "decisions", "wall clock", ""].map((head) => el("th", {}, head));
  byId("runs").append(el("details.box", {}, el("summary", {}, `Runs: ${data.cells.filter((cell) => cell.state === "done").length} of ${data.cells.length} finished`), el("div.scroll", {}, el("table", {}, el("tr", {}, ...heads), ...body))));
}

function drawDetails() {
  const machine = Object.entries(data.machine).map(([name, value]) => el("tr", {}, el("th", {}, name), el("td", {}, typeof value === "object" ? JSON.stringify(value) : `${value}`)));
  const parts = [el("div.scroll", {}, el("h3", {}, "specification, with all settings"), el("pre", {}, data.spec))];
  if (machine.length) parts.push(el("div.scroll", {}, el("h3", {}, "machine"), el("table", {}, ...machine)));
  byId("details").append(el("details.box", {}, el("summary", {}, "Specification and machine"), el("div.two", {}, ...parts)));
}

drawHead();
drawTable();
drawCharts();
drawDifferences();
drawRuns();
drawDetails();
document.documentElement.dataset.ready = Math.round(performance.now());
