/* Numbers as people read them; the same rules as in src/report/cell.c. */
const grouped = new Intl.NumberFormat("en-US");

function count(n) {
  return grouped.format(n);
}

function short(n) {
  if (Math.abs(n) < 1e6) return count(Math.round(n));
  let unit = 0, value = n / 1e6;
  while (Math.abs(value) >= 999.95 && unit < 3) { value /= 1000; unit++; }
  return value.toFixed(Math.abs(value) < 9.995 ? 2 : 1) + " " + "MGTP"[unit];
}

function percent(share) {
  const tenths = Math.round(1000 * share);
  return (share < 1 ? Math.min(tenths, 999) : tenths) / 10;
}

function share(cell) {
  if (typeof cell === "number") return percent(cell).toFixed(1) + "%";
  const [at, low, high] = cell;
  if (Math.round(1000 * low) >= Math.round(1000 * high)) return percent(at).toFixed(1) + "%";
  return (Math.floor(1000 * low) / 10).toFixed(1) + "-" + (Math.ceil(1000 * high) / 10).toFixed(1) + "%";
}

function share_of(cell) {
  return typeof cell === "number" ? cell : cell[0];
}

/* A bar as long as the share, with whiskers from its least to its most. */
function bar(cell, longest) {
  const scale = x => Math.max(0, Math.min(100, 100 * x / (longest || 1)));
  const fill = el("div", {class: "fill"}), track = el("div", {class: "track"}, fill), exact = typeof cell === "number";
  fill.style.width = scale(share_of(cell)) + "%";
  if (!exact) {
    const whisker = el("div", {class: "whisker"});
    whisker.style.left = scale(cell[1]) + "%";
    whisker.style.width = Math.max(0, scale(cell[2]) - scale(cell[1])) + "%";
    track.append(whisker);
  }
  return el("div", {class: exact ? "bar exact" : "bar"}, track, el("div", {class: "label"}, share(cell)));
}
