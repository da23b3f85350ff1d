// All runs in a table that follows them, and the curves of the chosen runs in one plot for each metric.
const COLOURS = ["#f0bd4e", "#5aa2e6", "#62c083", "#e8685f", "#a584d8", "#ee9147", "#7fd3d0", "#d884b7"];
const HEADS = ["", "run", "state", "trains", "game", "steps", "time", "blinds", "best", "wins", "evaluated", "last change"];
const index = { version: "", runs: [], others: {}, chosen: fromAddress(), curves: {}, drawn: "" };

function fromAddress() {
  return location.hash.length > 1 ? location.hash.slice(1).split(",").map(decodeURIComponent) : null;
}

async function follow() {
  try {
    const answer = await (await fetch(`live.json?version=${index.version}`)).json();
    if (answer.trouble) sayState(`The runs cannot be read: ${answer.trouble}. The page shows the last data and tries again.`, true);
    else { if (answer.data) await takeOver(answer); else drawRuns(); sayState(`follows ${counted(index.runs.length, "run")}`); }
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

function drawRuns() {
  const word = byId("find").value.toLowerCase();
  const rows = index.runs.filter(({ name }) => name.toLowerCase().includes(word)).map(drawRun);
  const focused = document.activeElement?.dataset?.run;
  byId("runs").replaceChildren(el("tr", {}, ...HEADS.map((name) => el("th", {}, name))), ...rows);
  if (focused) byId("runs").querySelector(`input[data-run="${CSS.escape(focused)}"]`)?.focus();
}

function drawRun(run) {
  const chosen = index.chosen.includes(run.name), tried = run.evaluation;
  const box = el("input", { type: "checkbox", "data-run": run.name, "aria-label": `compare ${run.name}`, checked: chosen, style: chosen ? `accent-color:${colour(run.name)}` : null, onchange: () => choose(run.name) });
  const share = known(run.steps) && run.target > 0 ? ` (${percent(Math.min(1, run.steps / run.target))})` : "";
  const fixed = (x) => (known(x) ? x.toFixed(2) : "–");
  const cells = [
    box, el("a", { href: `run/${address(run.name)}/` }, run.name), el(`span.state.${run.state}`, {}, run.state), run.kind, run.game,
    `${short(run.steps)}${share}`, span(run.seconds), fixed(run.blinds), fixed(run.best), percent(run.wins, 1),
    tried ? `${fixed(tried.blinds[0])} (${fixed(tried.blinds[1])} to ${fixed(tried.blinds[2])})` : "–", `${span(Math.max(0, Date.now() / 1000 - run.changed))} ago`,
  ];
  return el("tr", { "data-run": run.name }, ...cells.map((cell) => el("td", {}, cell)));
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
  } catch {
    return; // the next poll states it
  }
  drawComparison();
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
byId("find").addEventListener("input", drawRuns);
follow();
