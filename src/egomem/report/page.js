"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const { columns, questions } = data;
const SHOWN = 50;
const STATUS = 0, RIGHT = 1, CHOICE = 2, WHY = 3;

const make = (tag, text, name) => {
  const found = document.createElement(tag);
  if (text !== undefined) found.textContent = text;
  if (name) found.className = name;
  // A text that runs from right to left keeps to its own element.
  found.dir = "auto";
  return found;
};

// What is asked for stands in the address, so that a view of the questions can be sent to others:
// #questions?setting=...&against=...&answer=wrong&status=refused&why=...&tag=...&duration=...
// &disagreement=...&text=...&open=ID
const NAMES = ["text", "setting", "against", "disagreement", "answer", "status", "why", "tag", "duration"];
let wanted = {};
let most = SHOWN;

const readAddress = () => {
  wanted = {};
  if (!location.hash.startsWith("#questions?")) return false;
  for (const [name, value] of new URLSearchParams(location.hash.slice("#questions?".length))) {
    if (value && (name === "open" || NAMES.includes(name))) wanted[name] = value;
  }
  return true;
};
const writeAddress = () => {
  const asked = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString();
  const hash = asked ? `#questions?${asked}` : "#questions";
  if (hash === location.hash) return;
  try {
    history.replaceState(null, "", hash);
  } catch (error) {
    // Some browsers allow a hundred changes in half a minute; the view is right without.
    console.warn(error);
  }
};

const cells = (q) => q.said.filter(Boolean);
const DISAGREE = {
  "some right, some wrong": (held) => new Set(held.map((s) => s[RIGHT])).size > 1,
  "answers differ": (held) => new Set(held.map((s) => s[CHOICE] || s[STATUS])).size > 1,
  "all right": (held) => held.every((s) => s[RIGHT] === true),
  "all wrong": (held) => held.every((s) => s[RIGHT] === false),
};
const BETWEEN = {
  "setting right, against wrong": (a, b) => a[RIGHT] === true && b[RIGHT] === false,
  "setting wrong, against right": (a, b) => a[RIGHT] === false && b[RIGHT] === true,
};

const fits = (q) => {
  const w = wanted;
  if (w.text && !`${q.id} ${q.text} ${q.options.flat().join(" ")}`.toLowerCase().includes(w.text.toLowerCase())) return false;
  if (w.tag && !q.tags.includes(w.tag)) return false;
  if (w.duration && q.regime !== w.duration) return false;
  const own = w.setting ? [q.said[columns.indexOf(w.setting)]] : q.said;
  // One and the same answer has to fit all that is asked of an answer.
  const asked = w.answer || w.status || w.why;
  const one = (s) => s
    && (!w.answer || s[RIGHT] === (w.answer === "right"))
    && (!w.status || s[STATUS] === w.status)
    && (!w.why || s[WHY] === w.why);
  if (asked && !own.some(one)) return false;
  if (w.disagreement) {
    const other = w.against ? [q.said[columns.indexOf(w.against)]] : q.said;
    const between = BETWEEN[w.disagreement], among = DISAGREE[w.disagreement];
    if (between) return own.some((a) => a && other.some((b) => b && between(a, b)));
    const compared = (w.setting && w.against ? [...own, ...other] : q.said).filter(Boolean);
    return Boolean(among) && compared.length > 1 && among(compared);
  }
  return true;
};

const controls = {};
const filters = document.getElementById("filters");
const field = (name, title, control) => {
  const label = make("label", title);
  control.setAttribute("aria-label", title);
  control.addEventListener("input", () => {
    wanted[name] = control.value;
    delete wanted.open;
    most = SHOWN;
    writeAddress();
    show();
  });
  label.append(control);
  controls[name] = control;
  filters.append(label);
};
// Each value stands with the number of questions that have it.
const choose = (name, title, counts) => {
  if (!counts.size) return;
  const select = make("select");
  select.append(new Option("all", ""));
  for (const [value, n] of counts) select.append(new Option(n === null ? value : `${value} (${n})`, value));
  field(name, title, select);
};
const counted = (of) => {
  const counts = new Map();
  for (const q of questions) for (const value of new Set(of(q))) if (value) counts.set(value, (counts.get(value) || 0) + 1);
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
};
const plain = (values) => new Map(values.map((value) => [value, null]));

const box = make("input");
box.type = "search";
field("text", "text or id", box);
choose("setting", "setting", plain(columns));
if (columns.length > 1) {
  choose("against", "against", plain(columns));
  choose("disagreement", "disagreement", plain([...Object.keys(DISAGREE), ...Object.keys(BETWEEN)]));
}
choose("answer", "answer", counted((q) => cells(q).map((s) => ({ true: "right", false: "wrong" })[s[RIGHT]])));
choose("status", "status", counted((q) => cells(q).map((s) => s[STATUS])));
choose("why", "why wrong", counted((q) => cells(q).map((s) => s[WHY])));
choose("tag", "tag", counted((q) => q.tags));
choose("duration", "duration", counted((q) => [q.regime]));

// Details lie packed in blocks; one is unpacked when a question in it is opened.
const blocks = new Map();
const details = async (k) => {
  const number = Math.floor(k / data.block);
  if (!blocks.has(number)) {
    const bytes = Uint8Array.from(atob(data.blocks[number]), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    blocks.set(number, new Response(stream).json());
  }
  return (await blocks.get(number))[k % data.block];
};

const SIGNS = { true: ["✓", "right"], false: ["✗", "wrong"], null: ["·", "neither"] };
const sign = (s) => SIGNS[s ? s[RIGHT] : null];

const step = (s) => {
  const found = make("div", undefined, "step");
  found.append(make("b", s.title), make("span", s.facts ? `  ${s.facts.join(" · ")}` : ""));
  for (const line of s.lines || []) found.append(make("div", line, "meta"));
  if (s.raw) found.append(make("pre", s.raw));
  return found;
};

const answer = (q, k, held) => {
  const s = q.said[k];
  if (!s) return [];
  const said = held.said[k] || {};
  const found = make("details", undefined, "answer");
  const summary = make("summary");
  const label = s[CHOICE] ? `${s[CHOICE]}. ` : "";
  const text = (said.text || "").startsWith(label) ? said.text : label + (said.text || "");
  const status = s[STATUS] === "parsed" ? "" : ` (${s[STATUS]})`;
  summary.append(make("span", `${sign(s)[0]} ${columns[k]}: `, sign(s)[1]), make("bdi", (text || "") + status));
  found.append(summary);
  const body = make("div");
  if (said.why) body.append(make("div", said.why, "wrong"));
  if (said.reason) body.append(make("div", said.reason));
  for (const place of said.evidence || []) body.append(make("div", `rests on ${place}`, "meta"));
  for (const one of said.steps || []) body.append(step(one));
  body.append(make("div", said.from || "no answer", "meta"));
  found.append(body);
  return [found];
};

const fill = async (body, q, k) => {
  const facts = [q.id, q.video, q.regime, ...q.tags].filter(Boolean).join(" · ");
  body.append(make("div", facts, "meta"));
  const options = make("ol");
  for (const [label, text] of q.options) {
    const mark = label === q.key ? " (key)" : "";
    options.append(make("li", `${label}. ${text}${mark}`, mark ? "key" : ""));
  }
  body.append(options);
  if (!q.answerable) body.append(make("div", "cannot be answered from the recording", "key"));
  else if (q.key && !q.options.length) body.append(make("div", `key: ${q.key}`, "key"));
  let held;
  try {
    held = await details(k);
  } catch (error) {
    body.append(make("p", `The details cannot be unpacked (${error}); a browser of 2023 or later can.`, "wrong"));
    return;
  }
  for (const place of held.evidence) body.append(make("div", `evidence: ${place}`, "meta"));
  const pictures = make("div", undefined, "pictures");
  for (const [label, jpeg] of held.pictures) {
    const image = make("img");
    image.src = `data:image/jpeg;base64,${jpeg}`;
    image.alt = `frame of ${label}`;
    const figure = make("figure");
    figure.append(image, make("figcaption", label));
    pictures.append(figure);
  }
  body.append(pictures);
  for (const [who, lines] of Object.entries(held.captions)) {
    const captions = make("details");
    captions.append(make("summary", `captions over the evidence: ${who}`));
    for (const line of lines) captions.append(make("div", line, "meta"));
    body.append(captions);
  }
  for (const c of columns.keys()) body.append(...answer(q, c, held));
};

const card = (k) => {
  const q = questions[k];
  const found = make("details", undefined, "question");
  const summary = make("summary");
  const marks = make("span", undefined, "marks");
  for (const [c, s] of q.said.entries()) {
    const one = make("span", sign(s)[0], sign(s)[1]);
    one.title = `${columns[c]}: ${s ? s[CHOICE] || s[STATUS] : "not asked"}`;
    marks.append(one);
  }
  summary.append(marks, make("span", q.text, "text"));
  const body = make("div", undefined, "body");
  found.append(summary, body);
  found.addEventListener("toggle", () => {
    if (found.open && !body.firstChild) fill(body, q, k);
    if (found.open) wanted.open = q.id;
    else if (wanted.open === q.id) delete wanted.open;
    writeAddress();
  });
  if (wanted.open === q.id) found.open = true;
  return found;
};

const show = () => {
  const held = [...questions.keys()].filter((k) => fits(questions[k]));
  const list = document.getElementById("list");
  const at = held.findIndex((k) => questions[k].id === wanted.open);
  most = Math.max(most, at + 1);
  list.replaceChildren(...held.slice(0, most).map(card));
  const count = document.getElementById("count");
  count.textContent = `${held.length} of ${questions.length} questions`;
  if (Object.values(wanted).some(Boolean)) {
    const clear = make("button", "clear");
    clear.addEventListener("click", () => { wanted = {}; most = SHOWN; writeAddress(); set(); show(); });
    count.append(clear);
  }
  if (held.length > most) {
    const more = make("button", `show ${Math.min(SHOWN, held.length - most)} more`);
    more.addEventListener("click", () => { most += SHOWN; show(); });
    list.append(more);
  }
};
const set = () => {
  for (const [name, control] of Object.entries(controls)) control.value = wanted[name] || "";
};
const follow = () => {
  const asked = readAddress();
  set();
  show();
  if (asked) document.getElementById("questions").scrollIntoView();
};
addEventListener("hashchange", () => { if (location.hash.startsWith("#questions?")) follow(); });
if (data.pictures_left_out) {
  filters.after(make("p", `${data.pictures_left_out} pictures of evidence had no room in this page.`, "meta"));
}
follow();
