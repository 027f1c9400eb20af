// Added to a page by the test: looks at the drawn page and leaves what is wrong with it in an element of its own.
window.addEventListener("load", () => {
  const wrong = [];
  const name = node => `${node.tagName}${node.id ? "#" + node.id : ""}${node.className && node.className.baseVal === undefined ? "." + node.className : ""}`;
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > room) wrong.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${room}`);
  for (const section of document.querySelectorAll("section")) {
    if (section.hidden) continue;
    if (section.textContent.trim().length < 10 || section.getBoundingClientRect().height < 30) wrong.push(`${name(section)} is empty`);
  }
  if (document.querySelector("select") && !document.querySelector("option")) wrong.push("a selector offers nothing");
  for (const node of document.querySelectorAll("body *")) {
    const box = node.getBoundingClientRect();
    if (box.width === 0 || node.closest("svg") || node.tagName === "SCRIPT") continue;
    if (box.right > room + 1 || box.left < -1) wrong.push(`${name(node)} reaches outside of the window: ${box.left} to ${box.right}`);
    if (node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0 && getComputedStyle(node).display !== "inline") {
      wrong.push(`${name(node)} cuts off what it holds (${node.scrollWidth} in ${node.clientWidth})`);
    }
  }
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")];
    if (svg.querySelectorAll("rect, circle, path").length === 0) wrong.push(`the drawing "${svg.getAttribute("aria-label")}" is empty`);
    for (const text of texts) {
      const box = text.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
        wrong.push(`text "${text.textContent}" is clipped in the drawing "${svg.getAttribute("aria-label")}"`);
      }
    }
    const plain = texts.filter(text => !text.classList.contains("inside")).map(text => [text.textContent, text.getBoundingClientRect()]);
    plain.forEach(([a, p], i) => plain.slice(i + 1).forEach(([b, q]) => {
      if (p.left + 1 < q.right && q.left + 1 < p.right && p.top + 3 < q.bottom && q.top + 3 < p.bottom) {
        wrong.push(`texts "${a}" and "${b}" overlap in the drawing "${svg.getAttribute("aria-label")}"`);
      }
    }));
  }
  // What lies in memory is seen, however small it is.
  for (const block of document.querySelectorAll("#memory rect.block")) {
    const box = block.getBoundingClientRect();
    if (box.height < 3 || box.width < 1) wrong.push(`a block is ${box.width} by ${box.height} pixels large`);
  }
  // Words on what is behind them (the page's own colours; those of calls are chosen for dark letters).
  const light = text => {
    const parts = text.match(/[\d.]+/g).slice(0, 3).map(part => part / 255).map(part => part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const behind = light(getComputedStyle(document.querySelector("section")).backgroundColor);
  for (const node of document.querySelectorAll("h2, p, td, th, .tile span, svg text:not(.inside)")) {
    const style = getComputedStyle(node), ink = light(node.closest("svg") ? style.fill : style.color);
    const contrast = (Math.max(ink, behind) + 0.05) / (Math.min(ink, behind) + 0.05);
    if (contrast < 4.5) wrong.push(`${name(node)} "${node.textContent.slice(0, 20)}" has a contrast of ${contrast.toFixed(1)}`);
  }
  const count = selector => document.querySelectorAll(selector).length;
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify({
    wrong, launches: count("#launch option"), commands: count("#timeline g rect"), engines: count("#engines rect"),
    points: count("#roofline circle"), blocks: count("#memory .chart rect"), owners: count("#memory .owners rect"),
    overlaps: count("#memory .chart rect.overlap"), failures: count("#failures .finding"), selectors: count("select"),
    dark: getComputedStyle(document.documentElement).getPropertyValue("--ink").trim() !== "#1c2430", calls: count("#calls tr") - 1, findings: count("#findings .finding"),
    layers: [...document.querySelectorAll("#layers li")].filter(item => / bound by .*; (the next limit would be|nothing else would limit it)/.test(item.textContent)).length,
  });
  document.body.append(result);
});
