// Added to pages of the site by the test: tells the page round its frame what reaches outside of the frame.
window.addEventListener("load", () => {
  const wrong = [];
  const room = document.documentElement.clientWidth;
  const scrolls = node => {
    for (let at = node; at && at !== document.body; at = at.parentElement) {
      if (["auto", "scroll"].includes(getComputedStyle(at).overflowX) && at.getBoundingClientRect().right <= room + 1) return true;
    }
    return false;
  };
  const content = document.querySelector("[role=main]");
  if (!content || content.textContent.trim().length < 20) wrong.push("the page is empty");
  if (content.closest("section").getBoundingClientRect().width > room + 1) wrong.push("the page is wider than the window");
  const wide = document.documentElement.scrollWidth;
  if (wide > room) wrong.push(`the page scrolls sideways: ${wide} pixels`);
  for (const node of content.querySelectorAll("*")) {
    const box = node.getBoundingClientRect();
    if (box.width === 0 || scrolls(node)) continue;
    if (box.right > room + 1 || box.left < -1) wrong.push(`${node.tagName} "${node.textContent.slice(0, 30)}" reaches outside of the window: ${box.left} to ${box.right}`);
  }
  for (const image of content.querySelectorAll("img")) {
    if (!image.complete || image.naturalWidth === 0) wrong.push(`figure ${image.src} is missing`);
    const width = image.getBoundingClientRect().width;
    if (image.src.endsWith(".svg") && width < Math.min(600, 0.9 * image.naturalWidth)) wrong.push(`figure ${image.src} is ${width} wide, too small to read`);
  }
  parent.postMessage(JSON.stringify({ wrong, room, headings: document.querySelectorAll("h1, h2, h3").length }), "*");
});
