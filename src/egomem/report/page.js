"use strict";
// The question browser: filters over the index of questions, and details that are decompressed when
// a question is opened. The data come from question_browser.py; texts are only set as textContent.
const data = JSON.parse(document.getElementById("data").textContent);
const { columns, questions } = data;
const PAGE_SIZE = 50;
// The fields of an answer in the index.
const STATUS = 0, RIGHT = 1, CHOICE = 2, WHY = 3;

const make = (tag, text, className) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  // A text that runs from right to left must not turn the elements around it.
  element.dir = "auto";
  return element;
};

// The filter is kept in the address, so that a view of the questions can be sent to others:
// #questions?setting=...&against=...&answer=wrong&status=refused&why=...&tag=...&duration=...
// &disagreement=...&text=...&open=ID
const FILTERS = ["text", "setting", "against", "disagreement", "answer", "status", "why", "tag", "duration"];
let filter = {};
let limit = PAGE_SIZE;

const readAddress = () => {
  filter = {};
  if (!location.hash.startsWith("#questions?")) return false;
  for (const [name, value] of new URLSearchParams(location.hash.slice("#questions?".length))) {
    if (value && (name === "open" || FILTERS.includes(name))) filter[name] = value;
  }
  return true;
};
const writeAddress = () => {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();
  const hash = query ? `#questions?${query}` : "#questions";
  if (hash === location.hash) return;
  try {
    history.replaceState(null, "", hash);
  } catch (error) {
    // Some browsers allow a hundred changes in half a minute; the view is right without.
    console.warn(error);
  }
};

const answersOf = (question) => question.answers.filter(Boolean);
// Disagreements of all the answers to a question.
const AMONG = {
  "some right, some wrong": (answers) => new Set(answers.map((a) => a[RIGHT])).size > 1,
  "answers differ": (answers) => new Set(answers.map((a) => a[CHOICE] || a[STATUS])).size > 1,
  "all right": (answers) => answers.every((a) => a[RIGHT] === true),
  "all wrong": (answers) => answers.every((a) => a[RIGHT] === false),
};
// Disagreements of one setting with another.
const BETWEEN = {
  "setting right, against wrong": (a, b) => a[RIGHT] === true && b[RIGHT] === false,
  "setting wrong, against right": (a, b) => a[RIGHT] === false && b[RIGHT] === true,
};

const matches = (question) => {
  const f = filter;
  const texts = `${question.id} ${question.text} ${question.options.flat().join(" ")}`;
  if (f.text && !texts.toLowerCase().includes(f.text.toLowerCase())) return false;
  if (f.tag && !question.tags.includes(f.tag)) return false;
  if (f.duration && question.regime !== f.duration) return false;
  const answers = question.answers;
  const ofSetting = f.setting ? [answers[columns.indexOf(f.setting)]] : answers;
  // One answer has to match all filters on answers: a question with one right and one refused
  // answer has no answer that is right and refused.
  const matchesAnswer = (a) => a
    && (!f.answer || a[RIGHT] === (f.answer === "right"))
    && (!f.status || a[STATUS] === f.status)
    && (!f.why || a[WHY] === f.why);
  if ((f.answer || f.status || f.why) && !ofSetting.some(matchesAnswer)) return false;
  if (f.disagreement) {
    const ofOther = f.against ? [answers[columns.indexOf(f.against)]] : answers;
    const between = BETWEEN[f.disagreement], among = AMONG[f.disagreement];
    if (between) return ofSetting.some((a) => a && ofOther.some((b) => b && between(a, b)));
    const compared = (f.setting && f.against ? [...ofSetting, ...ofOther] : answers).filter(Boolean);
    return Boolean(among) && compared.length > 1 && among(compared);
  }
  return true;
};

const controls = {};
const filters = document.getElementById("filters");
const addControl = (name, title, control) => {
  const label = make("label", title);
  control.setAttribute("aria-label", title);
  control.addEventListener("input", () => {
    filter[name] = control.value;
    delete filter.open;
    limit = PAGE_SIZE;
    writeAddress();
    show();
  });
  label.append(control);
  controls[name] = control;
  filters.append(label);
};
// Each value with its number of questions; null prints no number.
const addSelect = (name, title, counts) => {
  if (!counts.size) return;
  const select = make("select");
  select.append(new Option("all", ""));
  for (const [value, n] of counts) select.append(new Option(n === null ? value : `${value} (${n})`, value));
  addControl(name, title, select);
};
const countValues = (valuesOf) => {
  const counts = new Map();
  for (const question of questions) {
    for (const value of new Set(valuesOf(question))) if (value) counts.set(value, (counts.get(value) || 0) + 1);
  }
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
};
const withoutCounts = (values) => new Map(values.map((value) => [value, null]));

const search = make("input");
search.type = "search";
addControl("text", "text or id", search);
addSelect("setting", "setting", withoutCounts(columns));
if (columns.length > 1) {
  addSelect("against", "against", withoutCounts(columns));
  addSelect("disagreement", "disagreement", withoutCounts([...Object.keys(AMONG), ...Object.keys(BETWEEN)]));
}
const VERDICTS = { true: "right", false: "wrong" };
addSelect("answer", "answer", countValues((q) => answersOf(q).map((a) => VERDICTS[a[RIGHT]])));
addSelect("status", "status", countValues((q) => answersOf(q).map((a) => a[STATUS])));
addSelect("why", "why wrong", countValues((q) => answersOf(q).map((a) => a[WHY])));
addSelect("tag", "tag", countValues((q) => q.tags));
addSelect("duration", "duration", countValues((q) => [q.regime]));

const blocks = new Map();
const detailsOf = async (k) => {
  const number = Math.floor(k / data.block);
  if (!blocks.has(number)) {
    const bytes = Uint8Array.from(atob(data.blocks[number]), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    blocks.set(number, new Response(stream).json());
  }
  return (await blocks.get(number))[k % data.block];
};

const MARKS = { true: ["✓", "right"], false: ["✗", "wrong"], null: ["·", "neither"] };
const markOf = (answer) => MARKS[answer ? answer[RIGHT] : null];

const makeStep = (step) => {
  const element = make("div", undefined, "step");
  element.append(make("b", step.title), make("span", step.facts ? `  ${step.facts.join(" · ")}` : ""));
  for (const line of step.lines || []) element.append(make("div", line, "meta"));
  if (step.raw) element.append(make("pre", step.raw));
  return element;
};

const makeAnswer = (column, answer, details) => {
  const element = make("details", undefined, "answer");
  const summary = make("summary");
  const label = answer[CHOICE] ? `${answer[CHOICE]}. ` : "";
  const text = (details.text || "").startsWith(label) ? details.text : label + (details.text || "");
  const status = answer[STATUS] === "parsed" ? "" : ` (${answer[STATUS]})`;
  const [mark, className] = markOf(answer);
  summary.append(make("span", `${mark} ${column}: `, className), make("bdi", (text || "") + status));
  element.append(summary);
  const body = make("div");
  if (details.why) body.append(make("div", details.why, "wrong"));
  if (details.reason) body.append(make("div", details.reason));
  for (const place of details.evidence || []) body.append(make("div", `rests on ${place}`, "meta"));
  for (const step of details.steps || []) body.append(makeStep(step));
  body.append(make("div", details.from || "no answer", "meta"));
  element.append(body);
  return element;
};

const fillBody = async (body, question, k) => {
  const facts = [question.id, question.video, question.regime, ...question.tags].filter(Boolean).join(" · ");
  body.append(make("div", facts, "meta"));
  const options = make("ol");
  for (const [label, text] of question.options) {
    const key = label === question.key ? " (key)" : "";
    options.append(make("li", `${label}. ${text}${key}`, key ? "key" : ""));
  }
  body.append(options);
  if (!question.answerable) body.append(make("div", "cannot be answered from the recording", "key"));
  else if (question.key && !question.options.length) body.append(make("div", `key: ${question.key}`, "key"));
  let details;
  try {
    details = await detailsOf(k);
  } catch (error) {
    const text = `The details cannot be unpacked (${error}); open the page in a browser of 2023 or later.`;
    body.append(make("p", text, "wrong"));
    return;
  }
  for (const place of details.evidence) body.append(make("div", `evidence: ${place}`, "meta"));
  const pictures = make("div", undefined, "pictures");
  for (const [label, jpeg] of details.pictures) {
    const image = make("img");
    image.src = `data:image/jpeg;base64,${jpeg}`;
    image.alt = `frame of ${label}`;
    const figure = make("figure");
    figure.append(image, make("figcaption", label));
    pictures.append(figure);
  }
  body.append(pictures);
  for (const [track, lines] of Object.entries(details.captions)) {
    const captions = make("details");
    captions.append(make("summary", `captions over the evidence: ${track}`));
    for (const line of lines) captions.append(make("div", line, "meta"));
    body.append(captions);
  }
  for (const [c, answer] of question.answers.entries()) {
    if (answer) body.append(makeAnswer(columns[c], answer, details.answers[c] || {}));
  }
};

const makeQuestion = (k) => {
  const question = questions[k];
  const element = make("details", undefined, "question");
  const summary = make("summary");
  const marks = make("span", undefined, "marks");
  for (const [c, answer] of question.answers.entries()) {
    const mark = make("span", ...markOf(answer));
    mark.title = `${columns[c]}: ${answer ? answer[CHOICE] || answer[STATUS] : "not asked"}`;
    marks.append(mark);
  }
  summary.append(marks, make("span", question.text, "text"));
  const body = make("div", undefined, "body");
  element.append(summary, body);
  element.addEventListener("toggle", () => {
    if (element.open && !body.firstChild) fillBody(body, question, k);
    if (element.open) filter.open = question.id;
    else if (filter.open === question.id) delete filter.open;
    writeAddress();
  });
  if (filter.open === question.id) element.open = true;
  return element;
};

const show = () => {
  const matching = [...questions.keys()].filter((k) => matches(questions[k]));
  const list = document.getElementById("list");
  // The question that the address opens is shown, wherever in the list it is.
  limit = Math.max(limit, matching.findIndex((k) => questions[k].id === filter.open) + 1);
  list.replaceChildren(...matching.slice(0, limit).map(makeQuestion));
  const count = document.getElementById("count");
  count.textContent = `${matching.length} of ${questions.length} questions`;
  if (Object.values(filter).some(Boolean)) {
    const clear = make("button", "clear");
    clear.addEventListener("click", () => {
      filter = {};
      limit = PAGE_SIZE;
      writeAddress();
      setControls();
      show();
    });
    count.append(clear);
  }
  if (matching.length > limit) {
    const more = make("button", `show ${Math.min(PAGE_SIZE, matching.length - limit)} more`);
    more.addEventListener("click", () => { limit += PAGE_SIZE; show(); });
    list.append(more);
  }
};
const setControls = () => {
  for (const [name, control] of Object.entries(controls)) control.value = filter[name] || "";
};
const showAddress = () => {
  const isFilter = readAddress();
  setControls();
  show();
  if (isFilter) document.getElementById("questions").scrollIntoView();
};
addEventListener("hashchange", () => { if (location.hash.startsWith("#questions?")) showAddress(); });
if (data.pictures_left_out) {
  const text = `${data.pictures_left_out} pictures of the evidence are left out: they would make this page too large.`;
  filters.after(make("p", text, "meta"));
}
showAddress();
