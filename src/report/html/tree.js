/* What is nested, as bars inside each other: a flame graph grows up, an icicle graph hangs down. A bar is as wide as its
 * count. Bars too small to see are left out until a click widens what they are in. */
const STEP = 20, NARROWEST = 1.5, LABEL = 24, RANGE_LABEL = 90; /* of an address, the first letters tell nothing */

/* [parent, count, self, lower, upper, name, more] as objects, below one root. */
function grow(panel) {
  if (panel.root) return panel.root;
  const root = {name: "all", more: "", count: panel.events, self: 0, children: [], depth: 0, parent: null};
  const nodes = panel.nodes.map(([parent, count, self, lower, upper, name, more]) => ({parent, count, self, lower, upper, name, more, children: []}));
  for (const node of nodes) {
    node.parent = node.parent === "" ? root : nodes[node.parent];
    node.parent.children.push(node);
    node.depth = node.parent.depth + 1;
  }
  root.count = Math.max(root.count, root.children.reduce((sum, node) => sum + node.count, 0));
  panel.root = root;
  return root;
}

function hue(text) {
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return "c" + hash % 6;
}

function warm(element, part) {
  element.style.backgroundColor = "color-mix(in oklab, var(--hot) " + (8 + 62 * Math.min(1, part)).toFixed(1) + "%, var(--cold))";
}

/* The bars in sight when `zoomed` fills the width: from the root down to it, then all below. */
function lay_out(zoomed, width) {
  const bars = [], above = [];
  for (let node = zoomed.parent; node; node = node.parent) above.unshift(node);
  for (const node of above) bars.push({node, left: 0, width, above: true});
  let level = [{node: zoomed, left: 0, width}];
  while (level.length > 0) {
    const next = [];
    for (const at of level) {
      bars.push(at);
      let left = at.left;
      for (const child of at.node.children) {
        const wide = at.node.count > 0 ? at.width * Math.min(1, child.count / at.node.count) : 0;
        if (wide >= NARROWEST) next.push({node: child, left, width: wide});
        left += wide;
      }
    }
    level = next;
  }
  return bars;
}

function describe(panel, node, info) {
  const all = panel.root.count || 1, parts = [];
  parts.push(short(node.count) + " " + panel.unit + ", " + share(node.count / all));
  if (node.upper > node.lower) parts.push("between " + count(node.lower) + " and " + count(node.upper));
  if (node.self > 0) parts.push("itself " + share(node.self / all));
  info.replaceChildren(el("b", {}, brief(node.name)), node.more ? "  " + brief(node.more) : "", el("br"), parts.join("; "));
}

kinds.tree = function (panel, host, paper) {
  const root = grow(panel), graph = el("div", {class: "graph", role: "tree", "aria-label": panel.title}), info = el("div", {class: "info", "aria-live": "polite"});
  let zoomed = root, upward = panel.style === "flame", wanted = "", current = root, bars = [];
  const ranges = panel.style === "icicle", hottest = panel.nodes.reduce((most, node) => Math.max(most, node[2]), 1);

  function is_found(node) { return wanted !== "" && (node.name + " " + node.more).toLowerCase().includes(wanted); }
  function frame(at, deepest) {
    const node = at.node, label = node.name + (ranges && node.more ? "  " + node.more : "");
    const made = el("div", {class: "frame" + (at.above ? " above" : "") + (ranges ? "" : " " + hue(node.more)), role: "treeitem",
                            tabindex: node === current ? 0 : -1, "aria-level": node.depth + 1}, at.width > (ranges ? RANGE_LABEL : LABEL) ? brief(label) : "");
    made.style.left = at.left + "px";
    made.style.width = at.width + "px";
    made.style.top = (upward ? deepest - node.depth : node.depth) * STEP + "px";
    if (ranges) warm(made, Math.sqrt(node.self / hottest));
    if (wanted !== "") made.classList.add(is_found(node) ? "found" : "dim");
    made.addEventListener("mouseenter", () => describe(panel, node, info));
    made.addEventListener("focus", () => { current = node; describe(panel, node, info); });
    made.addEventListener("click", () => zoom(node));
    at.made = made;
    return made;
  }
  function draw() {
    bars = lay_out(zoomed, graph.clientWidth || 1000);
    const deepest = bars.reduce((most, at) => Math.max(most, at.node.depth), 0);
    graph.style.height = (deepest + 1) * STEP + "px";
    if (!bars.some(at => at.node === current)) current = zoomed;
    graph.replaceChildren(...bars.map(at => frame(at, deepest)));
  }
  function zoom(node) {
    zoomed = node;
    current = node;
    draw();
    describe(panel, node, info);
    const at = bars.find(bar => bar.node === node);
    if (at && graph.isConnected) at.made.focus({preventScroll: true});
  }
  function beside(step) {
    const level = bars.filter(at => at.node.depth === current.depth && !at.above).sort((x, y) => x.left - y.left);
    const at = level[level.findIndex(bar => bar.node === current) + step];
    return at ? at.node : null;
  }
  function inner() { const at = bars.find(bar => bar.node.parent === current && !bar.above); return at ? at.node : null; }
  graph.addEventListener("keydown", event => {
    const inward = upward ? "ArrowUp" : "ArrowDown", out = upward ? "ArrowDown" : "ArrowUp";
    const to = {[inward]: inner, [out]: () => current.parent, ArrowLeft: () => beside(-1), ArrowRight: () => beside(1)}[event.key];
    if (event.key === "Enter") zoom(current);
    else if (event.key === "Escape" || event.key === "Backspace") zoom(zoomed.parent || root);
    else if (to) {
      const node = to(), at = node && bars.find(bar => bar.node === node);
      if (at) at.made.focus({preventScroll: true});
    } else return;
    event.preventDefault();
  });
  function found() {
    let sum = 0;
    (function walk(node) { if (is_found(node)) sum += node.count; else node.children.forEach(walk); }(root));
    return wanted === "" ? "" : share(sum / (root.count || 1)) + " in what is found";
  }
  const tally = el("span", {class: "soft", "aria-live": "polite"});
  const flip = el("button", {onclick: () => { upward = !upward; flip.textContent = upward ? "as icicles" : "as flames"; draw(); }}, upward ? "as icicles" : "as flames");
  const search = el("input", {type: "search", placeholder: "find, for example a name", "aria-label": "find in the graph",
                              oninput: event => { wanted = event.target.value.toLowerCase(); tally.textContent = found(); draw(); }});
  if (panel.note) host.append(el("p", {class: "said sampled"}, panel.note));
  if (!paper) host.append(el("div", {class: "bar-of-tools"}, search, flip, el("button", {onclick: () => zoom(root)}, "all of it"), tally,
    el("span", {class: "soft"}, "A click zooms in, Escape out, arrows move.")));
  host.append(graph, info);
  describe(panel, root, info);
  draw();
  if (!paper) new ResizeObserver(draw).observe(graph);
};
