/* A function in its source, each line with its share of every profile. */
kinds.source = function (panel, host, paper) {
  const n = panel.columns.length, longest = panel.columns.map((column, i) => {
    let most = 0;
    for (const line of panel.lines) most = Math.max(most, line[i + 1] === "" ? 0 : typeof line[i + 1] === "number" ? line[i + 1] : line[i + 1][2]);
    return most;
  });
  const heads = panel.columns.map(text => el("th", {class: "number"}, el("span", {}, text)));
  if (panel.top) heads.push(el("th", {}, el("span", {}, panel.top)));
  heads.push(el("th", {class: "number"}, el("span", {}, "line")), el("th", {}, el("span", {}, "source")));
  let hottest = null, most = 0;
  const body = el("tbody");
  for (const line of panel.lines) {
    const cells = [];
    for (let i = 0; i < n; i++) cells.push(el("td", {class: "number"}, line[i + 1] === "" ? "" : bar(line[i + 1], longest[i])));
    if (panel.top) cells.push(el("td", {title: brief(line[n + 1])}, line[n + 1]));
    cells.push(el("td", {class: "number at soft"}, line[0]), el("td", {class: "text"}, line[n + 2]));
    const heat = line[1] === "" || n === 0 ? 0 : share_of(line[1]);
    const row = el("tr", {class: heat > 0.05 ? "warm" : null}, ...cells);
    if (heat > most) { most = heat; hottest = row; }
    body.append(row);
  }
  host.append(el("p", {class: "said"}, panel.file, el("br"), panel.shares.join(", ")));
  host.append(el("div", {class: "scroll source", tabindex: 0}, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body)));
  if (hottest && !paper) requestAnimationFrame(() => hottest.scrollIntoView({block: "center"}));
};
