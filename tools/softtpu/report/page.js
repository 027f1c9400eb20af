"use strict";
// Draws the report from the JSON of the page. Every chart is an SVG whose units are pixels of the window: text is as large on a
// telephone as on a screen, and what is thin there is not thinner. Another width draws them anew.
(function () {
const data = JSON.parse(document.getElementById("data").textContent);
const RIGHT = 20, WIDEST = 1200, NARROWEST = 280;
let WIDTH = WIDEST, LEFT = 90;
const PALETTE = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#edc948", "#9c755f", "#ff9da7", "#8cd17d", "#86bcb6",
                 "#d37295", "#a0cbe8"];
// Less than this is not seen.
const THINNEST = 4;
const BUSY = {BDC: "#4e79a7", GDMA: "#f28e2b", SDMA: "#e15759", HAU: "#59a14f"};
const WAIT_COLOURS = {"commands to be issued": "#c3cad4", "BDC": "#a9c1dc", "GDMA": "#f7cfa3", "SDMA": "#f3bcbd", "HAU": "#b5d8b0",
                      "the end of a parallel section": "#d9c6dd", "a message": "#e6dca6"};
const SPENT_WORDS = {"launch": "fixed launch cost", "issue": "issuing commands", "command start-up": "start of each command"};
const SPENT_COLOURS = {"launch": "#9aa5b5", "issue": "#c3cad4", "command start-up": "#edc948", "BDC": BUSY.BDC, "DDR": BUSY.GDMA,
                       "GDMA on chip": "#b07aa1", "HAU": BUSY.HAU, "section ends": "#9c755f"};

const byId = id => document.getElementById(id);
const chartOf = id => byId(id).querySelector(".chart");
const clear = node => { while (node.firstChild) node.removeChild(node.firstChild); return node; };

function element(name, attributes, text) {
  const node = document.createElement(name);
  for (const key in attributes || {}) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  return node;
}
function shape(parent, name, attributes, text, title) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined && text !== null) node.textContent = text;
  if (title) {
    const tip = document.createElementNS("http://www.w3.org/2000/svg", "title");
    tip.textContent = title;
    node.appendChild(tip);
  }
  parent.appendChild(node);
  return node;
}
function drawing(parent, height, label) {
  return shape(clear(parent), "svg", {viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label});
}

const number = (value, digits) => value.toLocaleString("en", {maximumFractionDigits: digits === undefined ? 1 : digits});
const us = value => value >= 1e6 ? number(value / 1e6, 3) + " s" : value >= 1000 ? number(value / 1000, 2) + " ms" : number(value, 2) + " us";
function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (value >= 1024 && unit < 3) { value /= 1024; ++unit; }
  return number(value, unit ? 1 : 0) + " " + units[unit];
}
const percent = share => number(100 * share, 1) + " %";
const sum = object => Object.values(object).reduce((a, b) => a + b, 0);
const callColour = index => PALETTE[index % PALETTE.length];
const ddrBytes = record => (record.bytes["DDR read"] || 0) + (record.bytes["DDR write"] || 0);

// Round numbers between low and high, about `count` of them.
function ticks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map(x => x * power).find(x => x >= rough) || rough;
  const list = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) list.push(at);
  return list;
}

// Text that is cut to the room it has; nothing when not even a few letters fit.
function fitText(parent, x, y, room, text) {
  const letters = Math.floor((room - 6) / 6.4);
  if (letters < 3) return;
  shape(parent, "text", {x: x + 3, y: y, class: "inside"}, text.length > letters ? text.slice(0, letters - 1) + "…" : text);
}

function measure() {
  const section = byId("summary"), style = getComputedStyle(section);
  const room = section.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  WIDTH = Math.round(Math.min(Math.max(room, NARROWEST), WIDEST));
  LEFT = WIDTH < 700 ? 66 : 90;
}

function timeAxis(svg, scale, from, to, top, bottom) {
  for (const at of ticks(from, to, Math.min(8, Math.max(2, Math.floor((WIDTH - LEFT) / 90))))) {
    const x = scale(at);
    shape(svg, "line", {x1: x, x2: x, y1: top, y2: bottom, class: "grid"});
    shape(svg, "text", {x: Math.min(x, WIDTH - RIGHT - 20), y: bottom + 16, "text-anchor": "middle", class: "soft"}, number(at, 3));
  }
  shape(svg, "text", {x: LEFT - 8, y: bottom + 16, "text-anchor": "end", class: "soft"}, "us");
}

// ---- Summary ----
function drawSummary(record) {
  const tiles = clear(byId("tiles"));
  const total = record.total_us;
  const gbps = total > 0 ? ddrBytes(record) / total / 1e3 : 0;
  const rows = [[us(total), "estimated time of a launch"], [record.bound, "what bounds it"],
                [number(gbps) + " GB/s", "global memory, " + percent(gbps / record.chip.read_gbps) + " of the peak"],
                [number(total > 0 ? record.operations / total / 1e3 : 0) + " GOP/s", percent(total > 0 ? record.ideal_us / total : 0) + " of the peak of its types"],
                [number(record.commands_total, 0), "commands"]];
  for (const [value, text] of rows) {
    const tile = element("div", {class: "tile"});
    tile.append(element("b", {}, value), element("span", {}, text));
    tiles.append(tile);
  }
  const moved = Object.entries(record.bytes).map(([path, value]) => path + " " + bytes(value)).join(", ");
  const rests = Object.entries(record.rests_on_us || {}).map(([what, value]) => percent(value / total) + " " + what).join(", ");
  const error = record.error ? "; " + record.error.text : "";
  byId("spent").textContent = (moved ? "Moved: " + moved + "." : "Nothing was moved.") + (rests ? " The time rests on: " + rests + error + "." : "");
  const advice = record.advice || [];  // records of earlier versions have none
  const list = clear(byId("advice").querySelector("ul"));
  for (const one of advice) list.append(element("li", {}, one.text));
  byId("advice").hidden = advice.length === 0;
}

// ---- Timeline ----
const view = {from: 0, to: 1};
function drawTimeline(record) {
  const parent = chartOf("timeline");
  const lanes = record.engines.map((engine, index) => ({name: engine.name, index})).filter(lane => record.engines[lane.index].busy_us > 0);
  const laneHeight = 34, chartHeight = 60, top = 10;
  const bandTop = top + lanes.length * laneHeight + 22;
  const memoryTop = bandTop + chartHeight + 24;
  const bottom = memoryTop + chartHeight;
  const svg = drawing(parent, bottom + 26, "timeline of the engines");
  const scale = at => LEFT + (at - view.from) / (view.to - view.from) * (WIDTH - LEFT - RIGHT);
  const clip = "timelineArea";
  const area = shape(shape(svg, "clipPath", {id: clip}), "rect", {x: LEFT, y: 0, width: WIDTH - LEFT - RIGHT, height: bottom});
  timeAxis(svg, scale, view.from, view.to, top, bottom);
  const inside = shape(svg, "g", {"clip-path": `url(#${clip})`});
  lanes.forEach((lane, row) => {
    const y = top + row * laneHeight;
    shape(svg, "text", {x: LEFT - 8, y: y + 20, "text-anchor": "end"}, lane.name);
    shape(svg, "line", {x1: LEFT, x2: WIDTH - RIGHT, y1: y + laneHeight - 2, y2: y + laneHeight - 2, class: "grid"});
  });
  for (const [queue, call, issued, start, end, waited, reason, moved] of record.commands) {
    if (end < view.from || start > view.to) continue;
    const row = lanes.findIndex(lane => lane.index === queue);
    const x = scale(start), width = Math.max(scale(end) - x, 1), y = top + row * laneHeight + 4;
    const what = record.calls[call];
    const tip = [what.function, what.where, us(start) + " to " + us(end) + " (" + us(end - start) + ")",
                 moved ? bytes(moved) + " of global memory" : "", waited > 0 ? "waited " + us(waited) + " for " + reason : ""].filter(Boolean).join("\n");
    shape(inside, "rect", {x, y, width, height: 22, fill: callColour(call)}, null, tip);
    const seen = Math.max(x, LEFT);
    fitText(inside, seen, y + 15, Math.min(x + width, WIDTH - RIGHT) - seen, what.function.replace(/^(tpu|okk)_(bdc_|gdma_|hau_)?/, ""));
  }
  drawSteps(svg, inside, bandTop, chartHeight, "DDR", "GB/s", scale, bandwidthSteps(record), record.chip.read_gbps);
  drawSteps(svg, inside, memoryTop, chartHeight, "local", "memory", scale, memorySteps(record),
            record.chip.npus * record.chip.local_bytes, bytes);
  if (record.commands.length < record.commands_total) {
    shape(svg, "text", {x: WIDTH - RIGHT, y: 10, "text-anchor": "end", class: "soft"}, `the first ${record.commands.length} of ${number(record.commands_total, 0)} commands`);
  }
  zoomWith(svg, record, area);
}

function bandwidthSteps(record) {
  const steps = [];
  for (const [, , , start, end, , , moved] of record.commands) {
    if (moved && end > start) steps.push([start, moved / (end - start) / 1e3], [end, 0]);
  }
  return steps;
}
function memorySteps(record) {
  const changes = [];
  for (const block of record.blocks) {
    const size = (block.end - block.begin) * block.npus;
    changes.push([block.from_us, size], [block.to_us, -size]);
  }
  changes.sort((a, b) => a[0] - b[0]);
  let used = 0;
  return changes.map(([at, change]) => [at, used += change]);
}
function drawSteps(svg, inside, top, height, name, unit, scale, steps, most, text) {
  const peak = Math.max(...steps.map(step => step[1]), 0);
  const high = peak > 0 ? peak * 1.08 : 1;
  const y = value => top + height - value / high * height;
  let path = `M ${LEFT} ${y(0)}`;
  let last = 0;
  for (const [at, value] of steps) {
    path += ` L ${scale(at)} ${y(last)} L ${scale(at)} ${y(value)}`;
    last = value;
  }
  path += ` L ${WIDTH - RIGHT} ${y(last)} L ${WIDTH - RIGHT} ${y(0)} Z`;
  shape(inside, "path", {d: path, class: "steps"});
  shape(svg, "text", {x: LEFT - 8, y: top + 24, "text-anchor": "end"}, name);
  shape(svg, "text", {x: LEFT - 8, y: top + 40, "text-anchor": "end", class: "soft"}, unit);
  const told = (text ? text(peak) : number(peak)) + " at most, " + percent(peak / most) + (text ? " of all" : " of the peak");
  shape(svg, "text", {x: WIDTH - RIGHT - 4, y: top - 3, "text-anchor": "end", class: "soft"}, told);
}
function zoomWith(svg, record, area) {
  const place = event => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * WIDTH;
    return view.from + Math.min(Math.max((x - LEFT) / (WIDTH - LEFT - RIGHT), 0), 1) * (view.to - view.from);
  };
  let begin = null;
  svg.onmousedown = event => { begin = place(event); event.preventDefault(); };
  svg.onmouseup = event => {
    const end = place(event);
    if (begin !== null && Math.abs(end - begin) > (view.to - view.from) / 200) {
      [view.from, view.to] = [Math.min(begin, end), Math.max(begin, end)];
      drawTimeline(record);
    }
    begin = null;
  };
  svg.ondblclick = () => { view.from = 0; view.to = record.total_us || 1; drawTimeline(record); };
}

// ---- Engines ----
function stackedBar(svg, y, name, parts, total) {
  shape(svg, "text", {x: LEFT - 8, y: y + 17, "text-anchor": "end"}, name);
  shape(svg, "rect", {x: LEFT, y, width: WIDTH - LEFT - RIGHT, height: 24, class: "track"});
  let x = LEFT;
  for (const [text, value, colour] of parts) {
    const width = value / total * (WIDTH - LEFT - RIGHT);
    shape(svg, "rect", {x, y, width, height: 24, fill: colour}, null, text + ": " + us(value) + ", " + percent(value / total));
    fitText(svg, x, y + 16, width, text + " " + percent(value / total));
    x += width;
  }
}
function drawEngines(record) {
  const total = record.total_us || 1;
  const engines = record.engines.filter(engine => engine.busy_us > 0);
  const svg = drawing(chartOf("engines"), 40 * (engines.length + 1), "utilisation of the engines");
  const spent = Object.entries(record.spent_us).sort((a, b) => b[1] - a[1]);
  stackedBar(svg, 4, "launch", spent.map(([name, value]) => [SPENT_WORDS[name] || name, value, SPENT_COLOURS[name] || "#888"]), total);
  engines.forEach((engine, row) => {
    const waits = Object.entries(engine.waited_us).sort((a, b) => b[1] - a[1]);
    stackedBar(svg, 44 + 40 * row, engine.name,
               [["busy", engine.busy_us, BUSY[engine.name]], ...waits.map(([text, value]) => ["waits for " + text, value, WAIT_COLOURS[text] || "#ddd"])], total);
  });
}

// ---- Roofline ----
function drawRoofline(selected) {
  const points = data.launches.filter(record => record.operations > 0 && ddrBytes(record) > 0 && record.total_us > 0)
    .map(record => ({record, x: record.operations / ddrBytes(record), y: record.operations / record.total_us / 1e3}));
  const parent = chartOf("roofline");
  if (!points.length) return clear(parent).append(element("p", {class: "empty"}, "No launch both computes and uses global memory."));
  const height = 380, top = 14, bottom = height - 40;
  const svg = drawing(parent, height, "roofline");
  const chip = selected.chip, peaks = Object.entries(chip.peak_gops);
  const best = Math.max(...peaks.map(peak => peak[1]));
  const xs = points.map(point => point.x).concat([best / chip.read_gbps, peaks[0][1] / chip.read_gbps]);
  const ys = points.map(point => point.y).concat([best]);
  const low = value => Math.pow(10, Math.floor(Math.log10(value))), up = value => Math.pow(10, Math.ceil(Math.log10(value * 1.2)));
  const [x0, x1, y0, y1] = [low(Math.min(...xs)), up(3 * Math.max(...xs)), low(Math.min(...ys)), up(Math.max(...ys))];
  const px = value => LEFT + Math.log(value / x0) / Math.log(x1 / x0) * (WIDTH - LEFT - RIGHT);
  const py = value => bottom - Math.log(value / y0) / Math.log(y1 / y0) * (bottom - top);
  // As many decades have a number as find room.
  const every = Math.ceil(Math.log10(x1 / x0) * 56 / (WIDTH - LEFT - RIGHT));
  for (let at = x0, decade = 0; at <= x1 * 1.01; at *= 10, ++decade) {
    shape(svg, "line", {x1: px(at), x2: px(at), y1: top, y2: bottom, class: "grid"});
    if (decade % every) continue;
    shape(svg, "text", {x: Math.min(px(at), WIDTH - RIGHT - 20), y: bottom + 16, "text-anchor": "middle", class: "soft"}, number(at, 3));
  }
  for (let at = y0; at <= y1 * 1.01; at *= 10) {
    shape(svg, "line", {x1: LEFT, x2: WIDTH - RIGHT, y1: py(at), y2: py(at), class: "grid"});
    shape(svg, "text", {x: LEFT - 8, y: py(at) + 4, "text-anchor": "end", class: "soft"}, number(at, 3));
  }
  shape(svg, "text", {x: (LEFT + WIDTH) / 2, y: height - 6, "text-anchor": "middle", class: "soft"}, "operations per byte of global memory");
  shape(svg, "text", {x: LEFT + 6, y: top + 12, class: "soft"}, "GOP/s");
  for (const [type, peak] of peaks) {
    const knee = peak / chip.read_gbps;
    const start = Math.max(x0, y0 / chip.read_gbps);
    shape(svg, "path", {d: `M ${px(start)} ${py(start * chip.read_gbps)} L ${px(knee)} ${py(peak)} L ${px(x1)} ${py(peak)}`, class: "roof"});
    shape(svg, "text", {x: WIDTH - RIGHT - 6, y: py(peak) - 5, "text-anchor": "end"}, `${type} ${number(peak, 0)} GOP/s`);
  }
  const slope = Math.sqrt(Math.max(x0, y0 / chip.read_gbps) * best / chip.read_gbps);
  shape(svg, "text", {x: px(slope) - 8, y: py(slope * chip.read_gbps) - 6, "text-anchor": "end"}, `${number(chip.read_gbps)} GB/s`);
  for (const {record, x, y} of points) {
    const here = record === selected;
    shape(svg, "circle", {cx: px(x), cy: py(y), r: here ? 7 : 4, class: here ? "point here" : "point", "fill-opacity": 0.8}, null,
          `${record.kernel}\n${number(x, 2)} operations per byte, ${number(y)} GOP/s`);
    if (!here) continue;
    const right = px(x) < (LEFT + WIDTH) / 2;
    const letters = Math.min(40, Math.floor(((right ? WIDTH - RIGHT - px(x) : px(x) - LEFT) - 14) / 7.5));
    shape(svg, "text", {x: px(x) + (right ? 11 : -11), y: Math.max(py(y) + 4, top + 10), "text-anchor": right ? "start" : "end"}, record.kernel.slice(0, letters));
  }
}

// ---- Local memory ----
// A plot of bytes over time: the banks that the launch uses, or all of them.
function drawMemory(record) {
  const parent = chartOf("memory"), chip = record.chip;
  const used = record.blocks.length > 0;
  for (const row of document.querySelectorAll("#memory .row")) row.style.display = used ? "" : "none";
  clear(document.querySelector("#memory .owners"));
  if (!used) return clear(parent).append(element("p", {class: "empty"}, "The launch writes no local memory."));
  const height = 360, top = 8, bottom = height - 30;
  const svg = drawing(parent, height, "local memory over time");
  const end = record.total_us || 1;
  const x = at => LEFT + at / end * (WIDTH - LEFT - RIGHT), y = offset => top + offset / shownBytes(record) * (bottom - top);
  byId("allBanks").onchange = () => drawMemory(record);
  timeAxis(svg, x, 0, end, top, bottom);
  bankLines(svg, chip, y, top, bottom);
  for (const block of inDrawingOrder(record.blocks)) {
    drawBlock(svg, block, record.calls[block.call], x(block.from_us), y(block.begin), x(block.to_us), y(block.end), block.operand);
  }
  if (record.blocks.length < record.blocks_total) {
    shape(svg, "text", {x: WIDTH - RIGHT - 4, y: bottom - 6, "text-anchor": "end", class: "soft"}, `the first ${record.blocks.length} of ${number(record.blocks_total, 0)} blocks`);
  }
  const slider = byId("moment");
  slider.oninput = () => drawOwners(record, slider.value / 1000 * end);
  const middle = record.blocks.reduce((a, b) => (b.end - b.begin) * b.npus > (a.end - a.begin) * a.npus ? b : a);
  slider.value = Math.round((middle.from_us + middle.to_us) / 2 / end * 1000);
  slider.oninput();
}
// The large ones first, so that they hide no small one; those that share bytes last.
const inDrawingOrder = blocks => [...blocks].sort((a, b) => (a.overlaps ? 1 : 0) - (b.overlaps ? 1 : 0) || (b.end - b.begin) - (a.end - a.begin));
function drawBlock(svg, block, call, x, y, right, bottom, label) {
  const width = Math.max(right - x, THINNEST / 2), height = Math.max(bottom - y, THINNEST);
  const kind = "block" + (block.overlaps ? " overlap" : "") + (bottom - y < 2 * THINNEST ? " small" : "");
  shape(svg, "rect", {x, y, width, height, fill: callColour(block.call), class: kind}, null, blockText(block, call));
  if (height >= 13) fitText(svg, x, y + Math.min(height, 26) / 2 + 4, width, label);
}
const blockText = (block, call) => `${block.operand}\nwritten by ${call.function}${call.where ? " at " + call.where : ""}\n` +
  `bytes ${block.begin} to ${block.end - 1} of NPU ${block.first_npu} to ${block.first_npu + block.npus - 1}\n` +
  `alive ${us(block.from_us)} to ${us(block.to_us)}${block.overlaps ? "\nshares bytes with another block that is alive" : ""}`;
// Whole banks from the first one on, up to the last that is used.
function shownBytes(record) {
  const chip = record.chip, bank = chip.local_bytes / chip.banks;
  if (byId("allBanks").checked) return chip.local_bytes;
  return Math.ceil(Math.max(...record.blocks.map(block => block.end)) / bank) * bank;
}
function bankLines(svg, chip, y, top, bottom) {
  const bank = chip.local_bytes / chip.banks, every = Math.ceil(chip.banks / 16);
  for (let i = 0; i <= chip.banks && y(i * bank) < bottom + 1; ++i) {
    shape(svg, "line", {x1: LEFT, x2: WIDTH - RIGHT, y1: y(i * bank), y2: y(i * bank), class: "bank"});
    if (y((i + 1) * bank) < bottom + 1 && i % every === 0) {
      shape(svg, "text", {x: LEFT - 8, y: y((i + 0.5) * bank) + 4, "text-anchor": "end", class: "soft"}, "bank " + i);
    }
  }
}
// Banks x NPUs at one moment: who owns which bytes.
function drawOwners(record, at) {
  byId("momentText").textContent = us(at);
  const chip = record.chip, height = 330, top = 8, bottom = height - 30;
  const svg = drawing(document.querySelector("#memory .owners"), height, "owners of local memory");
  const x = npu => LEFT + npu / chip.npus * (WIDTH - LEFT - RIGHT), y = offset => top + offset / shownBytes(record) * (bottom - top);
  bankLines(svg, chip, y, top, bottom);
  const every = Math.max(1, Math.round(chip.npus / 16), Math.ceil(chip.npus * 24 / (WIDTH - LEFT - RIGHT)));
  for (let npu = 0; npu < chip.npus; npu += every) {
    shape(svg, "text", {x: (x(npu) + x(npu + 1)) / 2, y: bottom + 16, "text-anchor": "middle", class: "soft"}, npu);
  }
  shape(svg, "text", {x: LEFT - 8, y: bottom + 16, "text-anchor": "end", class: "soft"}, "NPU");
  for (const block of inDrawingOrder(record.blocks)) {
    if (at < block.from_us || at > block.to_us) continue;
    const call = record.calls[block.call];
    drawBlock(svg, block, call, x(block.first_npu), y(block.begin), x(block.first_npu + block.npus), y(block.end),
              block.operand + (call.where ? ", " + call.where : ""));
  }
}

// ---- Calls, findings ----
function drawCalls(record) {
  const table = element("table"), head = element("tr"), total = record.total_us || 1;
  const columns = ["", "function", "called at", "engine", "commands", "time", "of the launch", "waited before", "bytes", "operations"];
  columns.forEach((text, i) => head.append(element("th", i >= 4 ? {class: "number"} : {}, text)));
  table.append(head);
  record.calls.map((call, index) => ({call, index})).sort((a, b) => b.call.us - a.call.us).slice(0, 200).forEach(({call, index}) => {
    const row = element("tr");
    const add = (content, column) => {
      const cell = element("td", column >= 4 ? {class: "number"} : {});
      if (columns[column]) cell.setAttribute("data-name", columns[column]);
      cell.append(content);
      row.append(cell);
    };
    add(element("span", {class: "mark", style: `background:${callColour(index)}`}), 0);
    [call.function, call.where || "not known", call.engine, number(call.commands, 0), us(call.us), percent(call.us / total),
     us(call.waited_us), bytes(sum(call.bytes)), call.operations ? call.operations.toExponential(2) : "0"].forEach((text, i) => add(text, i + 1));
    table.append(row);
  });
  clear(document.querySelector("#calls .table")).append(table);
}
// ---- Layers of a network: what bounds each, and what would next ----
// "TIU 12 sAR.add of conv1 [tpu_bdc_add]": the layer, or the kind of instruction where the file names no layers.
function layerOf(name) {
  const layer = name.match(/^(?:TIU|DMA|SDMA) \d+ (.*?)(?: of (.*?))?(?: \[\w+\])?$/);
  return layer ? layer[2] || layer[1] : name;
}
function layersOf(record) {
  const layers = new Map();
  for (const call of record.calls) {
    if (call.us <= 0) continue;
    const name = layerOf(call.function);
    if (!layers.has(name)) layers.set(name, {name, products: 0, other: 0, ddr: 0});
    const product = /\[tpu_\w*(?:conv|mm|fc)\w*\]$/.test(call.function);
    layers.get(name)[call.engine !== "BDC" ? "ddr" : product ? "products" : "other"] += call.us;
  }
  const us = layer => Math.max(layer.products + layer.other, layer.ddr);
  return [...layers.values()].map(layer => ({...layer, us: us(layer)})).sort((a, b) => b.us - a.us);
}
function sentenceOf(layer, total) {
  const limits = [["products", layer.products], ["other work of BDC", layer.other], ["moving data", layer.ddr]].sort((a, b) => b[1] - a[1]);
  const next = limits[1][1] > 0 ? `the next limit would be ${limits[1][0]} (${us(limits[1][1])})` : "nothing else would limit it";
  return `${layer.name}: ${us(layer.us)}, ${percent(total > 0 ? layer.us / total : 0)} of the launch, bound by ${limits[0][0]} (${us(limits[0][1])}); ${next}.`;
}
function drawLayers(record) {
  const isNetwork = record.kernel.startsWith("network ");
  byId("layers").hidden = !isNetwork;
  if (!isNetwork) return;
  const list = clear(byId("layers").querySelector("ul"));
  for (const layer of layersOf(record).slice(0, 50)) list.append(element("li", {}, sentenceOf(layer, record.total_us)));
}

function drawFindings() {
  const list = clear(document.querySelector("#findings .list"));
  const found = data.findings ? data.findings.findings || [] : [];
  if (!data.findings || !data.findings.checks && !found.length) list.append(element("p", {class: "empty"}, "The checks were not run."));
  else if (!found.length) list.append(element("p", {class: "empty"}, `No findings (checks: ${data.findings.checks}).`));
  for (const finding of found) {
    const box = element("div", {class: "finding " + (finding.severity || "")});
    box.append(element("h3", {}, `${finding.rule}${finding.kernel ? " in kernel " + finding.kernel : ""}${finding.count > 1 ? ", " + finding.count + " times" : ""}`),
               element("p", {}, finding.what));
    for (const party of finding.parties || []) box.append(element("p", {class: "empty"}, party.text + (party.site ? ", at " + party.site : "")));
    if (finding.why) box.append(element("p", {}, "Why: " + finding.why));
    if (finding.fix) box.append(element("p", {}, "Fix: " + finding.fix));
    list.append(box);
  }
}
// Launches that failed have no times: this is all that there is of them. The program's own end belongs to it.
function drawFailures() {
  const list = clear(document.querySelector("#failures .list"));
  for (const failure of data.findings && data.findings.failures || []) {
    const box = element("div", {class: "finding"});
    box.append(element("h3", {}, `${failure.kind}${failure.kernel ? " in kernel " + failure.kernel : ""}`), element("p", {class: "text"}, failure.text));
    list.append(box);
  }
  const status = data.findings ? data.findings.program_status : 0;
  if (status) list.append(element("p", {}, status > 128 ? `The program was ended by signal ${status - 128}.` : `The program ended with status ${status}.`));
  if (!list.firstChild) byId("failures").remove();
}

function draw(record) {
  measure();
  drawSummary(record);
  drawTimeline(record);
  drawEngines(record);
  drawRoofline(record);
  drawMemory(record);
  drawCalls(record);
  drawLayers(record);
  const founded = record.chip.parameters;
  const chip = record.chip.revision ? `${record.chip.name}-${record.chip.revision}` : record.chip.name;
  byId("founded").textContent = `Times are estimates. Results and parameters of ${chip}: ${founded.measured} measured, ` +
    `${founded.vendor} estimates of the vendor, ${founded.guess} guesses.`;
}
function choose(record) {
  view.from = 0;
  view.to = record.total_us || 1;
  draw(record);
}

byId("program").textContent = data.program;
drawFailures();
drawFindings();
const choice = byId("launch");
data.launches.forEach((record, index) => {
  const times = record.times > 1 ? `, ${record.times} times` : "";
  choice.append(element("option", {value: index}, `${record.kernel} on core ${record.core}: ${us(record.total_us)}${times}`));
});
choice.onchange = () => choose(data.launches[choice.value]);
if (data.launches.length) {
  choose(data.launches[0]);
  window.addEventListener("resize", () => {
    const before = WIDTH;
    measure();
    if (WIDTH !== before) draw(data.launches[choice.value]);
  });
} else {
  for (const id of ["timeline", "engines", "roofline", "memory", "calls", "layers", "summary"]) byId(id).remove();
  const why = byId("failures") ? "No launch came to a good end, so there are no estimated times." : "The program launched no kernel.";
  document.querySelector("header").append(element("p", {}, why));
}
})();
