// Learning curves as SVG, with the value under the pointer.
function drawCurve({ name, evaluated, title, percent: inPercent }) {
  const steps = data.curves.steps, values = data.curves.columns[name], tried = evaluated ? data.curves.columns[evaluated] : null;
  const shown = [...values, ...(tried || [])].filter(known);
  if (!shown.length) return null;
  const say = (x) => (inPercent ? percent(x, 1) : short(x));
  const far = steps[steps.length - 1] || 1;
  const { picture, x, y } = drawAxes(title, shown, far, inPercent, data.published.lines[name]);
  for (const resumed of data.curves.resumes) {
    const mark = svg("line", { class: "resume", x1: x(resumed), x2: x(resumed), y1: TOP, y2: H - BOTTOM });
    mark.append(svg("title"));
    mark.firstChild.textContent = `resumed at ${short(resumed)} decisions`;
    picture.append(mark);
  }
  picture.append(drawLine(steps, values, x, y));
  (tried || []).forEach((value, i) => known(value) && picture.append(svg("circle", { class: "dot", cx: x(steps[i]), cy: y(value), r: 3 })));
  const now = el("b", {}, say(values.filter(known).at(-1)));
  const chart = el("div.chart", { "data-curve": name }, el("h3", {}, title, now), picture);
  const rule = svg("line", { class: "grid", y1: TOP, y2: H - BOTTOM, visibility: "hidden", style: "stroke:#93a39f" });
  picture.append(rule);
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const step = (((event.clientX - box.left) / box.width) * W - LEFT) / (W - LEFT - RIGHT) * far;
    let at = 0;
    steps.forEach((each, i) => { if (Math.abs(each - step) < Math.abs(steps[at] - step)) at = i; });
    rule.setAttribute("x1", x(steps[at])); rule.setAttribute("x2", x(steps[at])); rule.setAttribute("visibility", "visible");
    const second = tried && known(tried[at]) ? `, evaluated ${say(tried[at])}` : "";
    now.textContent = `${say(values[at])}${second} at ${short(steps[at])}`;
  });
  picture.addEventListener("pointerleave", () => { rule.setAttribute("visibility", "hidden"); now.textContent = say(values.filter(known).at(-1)); });
  return chart;
}

const FIRST = 4; // curves shown at first
let allCurves = false;

function drawCurves() {
  const charts = data.curves.drawn.map(drawCurve).filter(Boolean);
  if (!charts.length) charts.push(el("p.soft", {}, "No metrics yet."));
  byId("curves").replaceChildren(...charts.slice(0, allCurves ? charts.length : FIRST));
  byId("more-curves").hidden = allCurves || charts.length <= FIRST;
  const evaluated = data.curves.drawn.some(({ evaluated }) => evaluated && data.curves.columns[evaluated].some(known));
  byId("legend").replaceChildren(el("i"), "while training", ...(evaluated ? [el("i.dots"), "evaluated on the seed panel"] : []),
    ...(data.curves.resumes.length ? [el("i.resumed"), "resumed"] : []),
    ...(Object.keys(data.published.lines).length ? [el("i.players"), data.published.legend] : []));
}

byId("more-curves").addEventListener("click", () => { allCurves = true; drawCurves(); });
