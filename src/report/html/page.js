/* Elements. Names come from the profiled program and may hold anything: they only ever become text. */
const kinds = {}; /* how a panel is drawn, by its kind: a function of the panel and an empty element */
const names = new Map(); /* of functions that have their source here: the number of that panel */

function el(tag, more, ...children) {
  const made = document.createElement(tag);
  for (const key of Object.keys(more || {})) {
    if (key === "class") made.className = more[key];
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), more[key]);
    else if (more[key] !== null && more[key] !== false) made.setAttribute(key, more[key]);
  }
  for (const child of children)
    made.append(child instanceof Node ? child : String(child));
  return made;
}

/* A tooltip must not fill the screen. */
function brief(text) {
  return text.length > 600 ? text.slice(0, 600) + " ..." : text;
}
