/* The page: a list of panels on the left, the chosen one on the right. */
const data = JSON.parse(document.getElementById("data").textContent);
const panels = [{kind: "overview", group: "", title: "overview", totals: data.totals, findings: data.findings,
                 tables: data.panels.filter(panel => panel.kind === "table").slice(0, data.heads || 3)}].concat(data.panels);
panels.forEach((panel, i) => { if (panel.kind === "source") names.set(panel.title, i); });

const list = el("nav", {"aria-label": "panels"}), host = el("section", {id: "panel"}), paper = el("div", {id: "print"});
const theme = el("button", {title: "light or dark (t)", onclick: change_theme}, "theme"), keys = el("button", {title: "keys (?)", onclick: help}, "keys");
const buttons = [];
let chosen = -1;

function show(i) {
  if (i < 0 || i >= panels.length) return;
  chosen = i;
  buttons.forEach((button, k) => { if (k === i) button.setAttribute("aria-current", "page"); else button.removeAttribute("aria-current"); });
  buttons[i].scrollIntoView({block: "nearest"});
  host.replaceChildren(el("h2", {}, panels[i].title + (panels[i].group ? "" : " of " + data.title)), el("p", {class: "soft mono"}, brief(panels[i].group)));
  if (panels[i].group === "") host.replaceChildren();
  kinds[panels[i].kind](panels[i], host, false);
  window.scrollTo(0, 0);
}

function change_theme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
}

function help() {
  const lines = [["[ ]", "previous and next panel"], ["/", "filter or find"], ["t", "light or dark"], ["Tab", "to headings; Enter sorts"],
                 ["arrows", "move in graphs and maps"], ["Enter, Esc", "zoom in and out"], ["?", "this list"]];
  const box = el("dialog", {"aria-label": "keys", onclose: () => box.remove()}, el("h2", {}, "Keys"));
  for (const [key, text] of lines) box.append(el("p", {}, el("kbd", {}, key), " " + text));
  box.append(el("p", {}, el("button", {onclick: () => box.close()}, "close")));
  document.body.append(box);
  box.showModal();
}

function on_key(event) {
  const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing) { if (event.key === "Escape") event.target.blur(); return; }
  const act = {"[": () => show(chosen - 1), "]": () => show(chosen + 1), t: change_theme, "?": help,
               "/": () => { const input = host.querySelector("input[type=search]"); if (input) input.focus(); }}[event.key];
  if (!act) return;
  act();
  event.preventDefault();
}

/* On paper stands everything, tables with their first rows. */
function print_all() {
  paper.replaceChildren(...panels.map(panel => {
    const section = el("section", {}, el("h2", {}, panel.title), el("p", {class: "soft mono"}, panel.group));
    kinds[panel.kind](panel, section, true);
    return section;
  }));
}

function begin() {
  document.title = data.title + " - Riffle";
  list.append(el("div", {class: "name"}, brief(data.title)));
  let group = "";
  panels.forEach((panel, i) => {
    if (panel.group !== group) list.append(el("div", {class: "group", title: brief(panel.group)}, brief(panel.group)));
    group = panel.group;
    buttons.push(el("button", {onclick: () => show(i), title: brief(panel.title)}, brief(panel.title)));
    list.append(buttons[i]);
  });
  const head = el("header", {class: "page"}, el("h1", {}, brief(data.title)), el("div", {class: "tools"}, keys, theme));
  document.body.append(list, el("main", {}, head, el("p", {class: "command mono", title: brief(data.command)}, brief(data.command)), host, paper));
  document.addEventListener("keydown", on_key);
  addEventListener("beforeprint", print_all);
  addEventListener("afterprint", () => paper.replaceChildren());
  show(0);
}

begin();
