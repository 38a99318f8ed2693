/* Shades in a plane. Bins of an axis are drawn in the same size each: they have about the same heat, not the same width. */
const HIGH = 13;

/* Neighbours with the same name. */
function runs_of(bins) {
  const runs = [];
  bins.forEach(([, name], i) => {
    const last = runs[runs.length - 1];
    if (last && last.name === name) last.end = i + 1;
    else runs.push({name, first: i, end: i + 1});
  });
  return runs;
}

function svg(tag, more) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const key of Object.keys(more)) made.setAttribute(key, more[key]);
  return made;
}

function cells_of(panel) {
  const cells = new Map();
  for (let i = 0; i + 2 < panel.cells.length; i += 3) cells.set(panel.cells[i] * panel.columns.length + panel.cells[i + 1], panel.cells[i + 2]);
  return cells;
}

function named(bin) {
  return bin[0] + (bin[1] ? "  " + brief(bin[1]) : "");
}

function labels(panel) {
  const made = el("div", {class: "labels"});
  made.style.height = panel.rows.length * HIGH + "px";
  for (const run of runs_of(panel.rows))
    for (let i = run.first; i < run.end; i++) {
      const label = el("div", {title: brief(named(panel.rows[i]))}, brief(panel.rows[i][0]));
      if (i === run.first && run.name) label.append(el("span", {class: "of"}, brief(run.name)));
      label.style.top = i * HIGH + "px";
      made.append(label);
    }
  return made;
}

function below(panel) {
  const made = el("div", {class: "below"}), n = panel.columns.length;
  for (const run of runs_of(panel.columns)) {
    const from = panel.columns[run.first][0], to = panel.columns[run.end - 1][0];
    const label = el("div", {title: brief(run.name)}, run.name ? brief(run.name) : from === to ? from : from + " to " + to);
    label.style.left = 100 * run.first / n + "%";
    label.style.width = 100 * (run.end - run.first) / n + "%";
    made.append(label);
  }
  return made;
}

kinds.map = function (panel, host, paper) {
  const n = panel.columns.length, m = panel.rows.length, cells = cells_of(panel), info = el("div", {class: "info", "aria-live": "polite"});
  const plane = svg("svg", {viewBox: "0 0 " + n + " " + m, preserveAspectRatio: "none", tabindex: 0, role: "img", "aria-label": panel.title});
  let most = 0, row = 0, column = 0;
  for (const count of cells.values()) most = Math.max(most, count);
  plane.style.height = m * HIGH + "px";
  for (const [at, count] of cells) {
    const rect = svg("rect", {x: at % n, y: Math.floor(at / n), width: 1.02, height: 1.02});
    const part = Math.log1p(count) / Math.log1p(most || 1);
    rect.style.fill = "color-mix(in oklab, var(--hot) " + (100 * part).toFixed(1) + "%, var(--cold))";
    plane.append(rect);
  }
  const cursor = svg("rect", {class: "cursor", width: 1, height: 1, x: -2, y: 0});
  plane.append(cursor);
  function point(to_row, to_column) {
    row = Math.max(0, Math.min(m - 1, to_row));
    column = Math.max(0, Math.min(n - 1, to_column));
    cursor.setAttribute("x", column);
    cursor.setAttribute("y", row);
    const here = cells.get(row * n + column) || 0;
    info.replaceChildren(el("b", {}, short(here) + " " + panel.unit + ", " + share(here / (panel.events || 1))), el("br"),
      panel.down + " " + named(panel.rows[row]), el("br"), panel.across + " " + named(panel.columns[column]));
  }
  plane.addEventListener("mousemove", event => {
    const box = plane.getBoundingClientRect();
    point(Math.floor((event.clientY - box.top) / box.height * m), Math.floor((event.clientX - box.left) / box.width * n));
  });
  plane.addEventListener("keydown", event => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!step) return;
    point(row + step[0], column + step[1]);
    event.preventDefault();
  });
  if (panel.note) host.append(el("p", {class: "said sampled"}, panel.note));
  host.append(el("p", {class: "said"}, panel.down + " downwards, " + panel.across + " across." +
    (panel.down === "candidate" ? "" : " Where nothing happened is left out; each bin has about the same heat.")));
  host.append(el("div", {class: "map"}, labels(panel), plane, below(panel)));
  host.append(el("div", {class: "legend"}, "few", el("div", {class: "ramp"}), short(most) + " " + panel.unit + " (shades are logarithmic)"));
  if (!paper) host.append(info);
};
