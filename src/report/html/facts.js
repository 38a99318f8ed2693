/* Lists of labels and texts. */
kinds.facts = function (panel, host) {
  for (const list of panel.lists) {
    const made = el("dl", {class: "facts"});
    for (const [label, text] of list) made.append(el("dt", {}, label), el("dd", {}, text));
    host.append(made);
  }
};

/* The first panel: totals, what is worth a look, the heads of the first tables. */
kinds.overview = function (panel, host) {
  const tiles = el("div", {class: "tiles"});
  for (const [number, label] of panel.totals) tiles.append(el("div", {class: "tile"}, el("b", {}, number), el("span", {}, label)));
  if (panel.totals.length > 0) host.append(tiles);
  if (panel.findings.length > 0) {
    const list = el("ul", {class: "findings"});
    for (const [sentence, place] of panel.findings) list.append(el("li", {}, el("span", {}, sentence), el("span", {class: "place mono", title: brief(place)}, place)));
    host.append(el("h3", {}, "worth a look"), list);
  }
  for (const table of panel.tables) host.append(el("h3", {}, table.group + ": " + table.title), plain_table(table, 8));
};
