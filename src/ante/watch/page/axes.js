// Axes and lines of learning curves, as SVG.
const W = 360, H = 150, LEFT = 38, BOTTOM = 18, TOP = 8, RIGHT = 6;

// A picture with axes for values up to the step `far`, and the functions that place a step and a value. `lines` are the
// results of other players by name; they are drawn up to the next one above the values, if it is at most twice as high.
function drawAxes(title, shown, far, inPercent, lines = {}) {
  let low = Math.min(...shown), high = Math.max(...shown);
  const above = Object.values(lines).filter((value) => value > high && value <= 2 * high);
  if (above.length) high = Math.min(...above);
  if (low > 0 && low < 0.6 * high) low = 0;
  if (high - low < 1e-9) { high += Math.abs(high) * 0.1 || 1; }
  const x = (step) => LEFT + ((W - LEFT - RIGHT) * step) / far;
  const y = (value) => TOP + (H - TOP - BOTTOM) * (1 - (value - low) / (high - low));
  const marks = ticks(low, high), digits = inPercent ? digitsOf(marks) : 0;
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": title });
  for (const value of marks) {
    picture.append(svg("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: y(value), y2: y(value) }));
    const label = svg("text", { x: LEFT - 5, y: y(value) + 3.5, "text-anchor": "end" });
    label.textContent = inPercent ? percent(value, digits) : short(value);
    picture.append(label);
  }
  for (const step of ticks(0, far).slice(1)) {
    const label = svg("text", { x: x(step), y: H - 4, "text-anchor": "middle" });
    label.textContent = short(step);
    if (x(step) < W - 12) picture.append(label);
  }
  drawPlayers(picture, Object.entries(lines).filter(([, value]) => value >= low && value <= high), y);
  return { picture, x, y };
}

// Dashed lines with the names of players; those of lines that are close together share a label.
function drawPlayers(picture, lines, y) {
  let last = null;
  for (const [player, value] of lines.sort((a, b) => a[1] - b[1])) {
    picture.append(svg("line", { class: "player", "data-player": player, x1: LEFT, x2: W - RIGHT, y1: y(value), y2: y(value) }));
    if (last && +last.getAttribute("y") + 3 - y(value) < 11) { last.textContent += `, ${player}`; continue; }
    last = svg("text", { class: "player", x: W - RIGHT, y: y(value) - 3, "text-anchor": "end" });
    last.textContent = player;
    picture.append(last);
  }
}

// The line through the known values.
function drawLine(steps, values, x, y, attributes = {}) {
  let path = "", pen = "M";
  values.forEach((value, i) => {
    if (!known(value)) { pen = "M"; return; }
    path += `${pen}${x(steps[i]).toFixed(1)},${y(value).toFixed(1)}`;
    pen = "L";
  });
  return svg("path", { class: "line", d: path, ...attributes });
}
