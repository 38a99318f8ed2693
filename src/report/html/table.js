/* Rows that can be sorted and filtered. Only those in sight are in the page, however many there are. */
const ROW = 26, BEYOND = 12;

/* A filter is words, all of which must be somewhere in the row. */
function matcher(panel, filter) {
  const words = filter.toLowerCase().split(/\s+/).filter(word => word !== "");
  const texts = panel.columns.map((column, i) => i).filter(i => !["count", "share"].includes(panel.columns[i].type));
  if (panel.texts === undefined)
    panel.texts = panel.rows.map(row => texts.map(i => row[i]).join(" ").toLowerCase());
  return i => words.every(word => panel.texts[i].includes(word));
}

function key_of(column, cell) {
  if (column.type === "share") return cell === "" ? -1 : share_of(cell);
  if (column.type === "count") return typeof cell === "number" ? cell : parseInt(cell.replace(/[^0-9]/g, ""), 10) || 0;
  if (column.type === "change") return cell === "" ? -Infinity : cell;
  if (column.type === "hex") return cell === "" ? -1n : BigInt(cell);
  return cell;
}

function sorted(panel, rows, by, descending) {
  if (by === null) return rows;
  const keys = panel.rows.map(row => key_of(panel.columns[by], row[by]));
  const text = ["text", "source"].includes(panel.columns[by].type);
  const order = text ? (x, y) => keys[x].localeCompare(keys[y]) : (x, y) => (keys[x] < keys[y] ? -1 : keys[x] > keys[y] ? 1 : 0);
  return rows.sort((x, y) => (descending ? order(y, x) : order(x, y)) || x - y);
}

function text_cell(column, text) {
  const td = el("td", {title: brief(text), class: column.type === "source" ? "source" : null});
  if (column.name === "function" && names.has(text))
    td.append(el("a", {role: "link", tabindex: 0, onclick: () => show(names.get(text)),
                       onkeydown: event => { if (event.key === "Enter") show(names.get(text)); }}, text));
  else td.textContent = text;
  return td;
}

function cell_of(column, cell, longest) {
  if (column.type === "share" && cell !== "") return el("td", {class: "number"}, bar(cell, longest));
  if (column.type === "count") return el("td", {class: "number"}, typeof cell === "number" ? count(cell) : cell);
  if (column.type === "change")
    return el("td", {class: "number " + (cell > 0 ? "up" : cell < 0 ? "down" : "")}, cell === "" ? "" : (cell > 0 ? "+" : "") + count(cell));
  if (column.type === "hex") return el("td", {class: "number hex"}, cell);
  return text_cell(column, String(cell));
}

/* The longest bar of each column of shares. */
function longest_of(panel) {
  return panel.columns.map((column, i) => {
    let most = 0;
    if (column.type === "share")
      for (const row of panel.rows) most = Math.max(most, row[i] === "" ? 0 : typeof row[i] === "number" ? row[i] : row[i][2]);
    return most;
  });
}

function row_of(panel, shown, longest, i) {
  return el("tr", {}, ...shown.map(k => cell_of(panel.columns[k], panel.rows[i][k], longest[k])));
}

function is_number(column) {
  return ["share", "count", "hex", "change"].includes(column.type);
}

/* What is missing, and how firm the rest is. */
function said(panel) {
  const made = el("div", {});
  if (panel.found > panel.rows.length)
    made.append(el("p", {class: "said sampled"}, "The " + count(panel.rows.length) + " heaviest of " + count(panel.found) +
      " rows are here; those left out have " + share(panel.events > 0 ? panel.rest / panel.events : 0) + " of all " + panel.noun + "."));
  if (panel.bound) made.append(el("p", {class: "said"}, panel.bound));
  return made;
}

/* A table that stays as it is: for the overview, and for paper. */
function plain_table(panel, most) {
  const shown = panel.columns.map((column, i) => i).filter(i => !panel.columns[i].more);
  const longest = longest_of(panel), body = el("tbody");
  for (let i = 0; i < Math.min(most, panel.rows.length); i++) body.append(row_of(panel, shown, longest, i));
  const heads = shown.map(i => el("th", {class: is_number(panel.columns[i]) ? "number" : null}, el("span", {}, panel.columns[i].heading)));
  return el("div", {class: "scroll short"}, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body));
}

kinds.table = function (panel, host, paper) {
  if (paper) { host.append(said(panel), plain_table(panel, 60)); return; }
  let by = null, descending = true, filter = "", more = false, rows = [], shown = [];
  const longest = longest_of(panel), body = el("tbody"), heads = el("tr");
  const scroll = el("div", {class: "scroll", tabindex: 0}, el("table", {}, el("thead", {}, heads), body));
  const tally = el("span", {class: "soft", "aria-live": "polite"});

  function spacer(n) {
    const td = el("td", {class: "spacer", colspan: shown.length});
    td.style.height = n * ROW + "px";
    return el("tr", {}, td);
  }
  function draw() {
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - BEYOND);
    const end = Math.min(rows.length, first + Math.ceil((scroll.clientHeight || 600) / ROW) + 2 * BEYOND);
    body.replaceChildren(spacer(first), ...rows.slice(first, end).map(i => row_of(panel, shown, longest, i)), spacer(rows.length - end));
  }
  function head(i) {
    const column = panel.columns[i];
    const press = () => { descending = by === i ? !descending : is_number(column); by = i; refresh(); };
    return el("th", {class: is_number(column) ? "number" : null, scope: "col", "data-column": column.name,
                     "aria-sort": by === i ? (descending ? "descending" : "ascending") : "none"},
              el("button", {onclick: press, title: "sort by " + column.heading}, column.heading));
  }
  function refresh() {
    const fits = matcher(panel, filter);
    shown = panel.columns.map((column, i) => i).filter(i => more || !panel.columns[i].more);
    rows = sorted(panel, panel.rows.map((row, i) => i).filter(fits), by, descending);
    const focused = heads.contains(document.activeElement) ? by : null;
    heads.replaceChildren(...shown.map(head));
    if (focused !== null) heads.children[shown.indexOf(focused)].firstChild.focus();
    tally.textContent = rows.length === panel.rows.length ? count(rows.length) + " rows" : count(rows.length) + " of " + count(panel.rows.length) + " rows";
    scroll.scrollTop = 0;
    draw();
  }
  let waiting = false;
  scroll.addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(() => { waiting = false; draw(); });
    waiting = true;
  });
  const input = el("input", {type: "search", placeholder: "filter, for example a name", "aria-label": "filter rows",
                             oninput: event => { filter = event.target.value; refresh(); }});
  const tools = el("div", {class: "bar-of-tools"}, input, tally);
  if (panel.columns.some(column => column.more))
    tools.append(el("label", {}, el("input", {type: "checkbox", onchange: event => { more = event.target.checked; refresh(); }}), " bounds and addresses"));
  host.append(said(panel), tools, scroll);
  refresh();
  requestAnimationFrame(draw);
};
