"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const SHOWN = 50;
const make = (tag, text, name) => {
  const found = document.createElement(tag);
  if (text !== undefined) found.textContent = text;
  if (name) found.className = name;
  return found;
};
const every = (of) => [...new Set(data.questions.flatMap(of))].sort();
const said = (q, column) => q.said[column] || { status: "missing", right: false };
const columns = data.columns;
const differ = (q) => new Set(columns.map((c) => said(q, c).right)).size > 1;
const answers = (q) => new Set(columns.map((c) => said(q, c).choice || said(q, c).status)).size > 1;

const wanted = {};
let most = SHOWN;
const filters = document.getElementById("filters");
const choose = (name, title, values) => {
  if (values.length < 1) return;
  const label = make("label", title);
  const select = make("select");
  for (const value of ["", ...values]) {
    const option = make("option", value || "all");
    option.value = value;
    select.append(option);
  }
  select.addEventListener("change", () => { wanted[name] = select.value; most = SHOWN; show(); });
  label.append(select);
  filters.append(label);
};
const search = make("label", "text");
const box = make("input");
box.type = "search";
box.addEventListener("input", () => { wanted.text = box.value.toLowerCase(); most = SHOWN; show(); });
search.append(box);
filters.append(search);
choose("column", "setting", columns);
choose("right", "answer", ["right", "wrong"]);
choose("status", "status", every((q) => columns.map((c) => said(q, c).status)));
choose("why", "why wrong", every((q) => columns.map((c) => (said(q, c).why || "").split(":")[0]).filter(Boolean)));
choose("tag", "tag", every((q) => q.tags));
choose("regime", "duration", every((q) => [q.regime]));
if (columns.length > 1) {
  choose("differ", "disagreement", ["one is right, one wrong", "answers differ"]);
}

const fits = (q) => {
  const looked = wanted.column ? [wanted.column] : columns;
  const one = (test) => looked.some((c) => test(said(q, c)));
  return (!wanted.text || (q.id + " " + q.text + " " + q.options.join(" ")).toLowerCase().includes(wanted.text))
    && (!wanted.right || one((s) => s.right === (wanted.right === "right")))
    && (!wanted.status || one((s) => s.status === wanted.status))
    && (!wanted.why || one((s) => (s.why || "").startsWith(wanted.why)))
    && (!wanted.tag || q.tags.includes(wanted.tag))
    && (!wanted.regime || q.regime === wanted.regime)
    && (!wanted.differ || (wanted.differ === "answers differ" ? answers(q) : differ(q)));
};

const card = (q) => {
  const found = make("article");
  found.append(make("h4", q.text));
  found.append(make("div", [q.id, q.video, q.regime, ...q.tags].filter(Boolean).join(" · "), "note"));
  const options = make("ol");
  for (const [label, text] of q.options) {
    options.append(make("li", `${label}. ${text}`, label === q.key ? "key" : ""));
  }
  found.append(options);
  if (q.answerable === false) found.append(make("div", "cannot be answered from the recording"));
  else if (q.key && !q.options.length) found.append(make("div", `key: ${q.key}`));
  for (const place of q.evidence) found.append(make("div", `evidence: ${place}`, "note"));
  for (const picture of q.pictures) {
    const image = make("img");
    image.src = picture;
    image.alt = "a frame of the evidence";
    image.loading = "lazy";
    found.append(image);
  }
  for (const column of columns) {
    const s = said(q, column);
    const details = make("details");
    const text = s.choice ? `${s.choice}. ${s.text || ""}` : s.text || `(${s.status})`;
    details.append(make("summary", `${s.right ? "✓" : "✗"} ${column}: ${text}`, s.right ? "right" : "wrong"));
    if (s.why) details.append(make("div", s.why));
    if (s.reason) details.append(make("div", s.reason));
    for (const place of s.evidence || []) details.append(make("div", place, "note"));
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector("pre") && (s.trace || []).length) {
        details.append(make("pre", JSON.stringify(s.trace, null, 1)));
      }
    });
    found.append(details);
  }
  return found;
};

const show = () => {
  const held = data.questions.filter(fits);
  const list = document.getElementById("list");
  list.replaceChildren(...held.slice(0, most).map(card));
  document.getElementById("count").textContent = `${held.length} of ${data.questions.length} questions`;
  if (held.length > most) {
    const more = make("button", `show ${Math.min(SHOWN, held.length - most)} more`);
    more.addEventListener("click", () => { most += SHOWN; show(); });
    list.append(more);
  }
};
show();
