#!/usr/bin/env python3
"""The site and the man pages of the reference: every function is there, the search knows it, nothing comes from the network, and pages fit windows of 1280 and of 390
pixels (looked at in a headless browser).

    site_test.py FOLDER SOFTTPU [--all]      --all looks at every page, not at some of each kind"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/reference"))
import model  # noqa: E402

SKIPPED = 77
PAGES = ["index.html", "tutorial/01-chip.html", "tutorial/07-convolution.html", "samples/fp16_matmul/index.html", "glossary.html",
         "reference/matrix/fp_mm.html", "reference/window/fp_conv.html", "reference/index.html", "numerics/bm1684x-elementwise.html", "layouts.html",
         "runtimes.html", "networks.html", "overlap.html", "attacks.html", "chips.html", "worked-kernels.html", "numerics/bm1684x-1.30.html", "tutorial/10-faster.html"]


def check_content(site, reference):
    search = (site / "search/search_index.json").read_text()
    for name in reference.functions:
        assert f'"{name}"' in search, f"the search does not know {name}"
    for page in site.rglob("*.html"):
        text = page.read_text()
        outside = re.findall(r'<(?:script|img|iframe)[^>]*src="(https?:[^"]*)"|<link[^>]*rel="stylesheet"[^>]*href="(https?:[^"]*)"', text)
        assert not outside, f"{page} needs the network: {outside}"


def check_man(folder, reference):
    for name in reference.functions:
        text = (folder / f"man3/{name}.3").read_text()
        assert text.startswith(".TH") and ".SH SYNOPSIS" in text and ".SH EXAMPLE" in text, name
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", *(folder / f"man3/{name}.3" for name in list(reference.functions)[:40])],
                              capture_output=True, text=True, check=True)
        assert not done.stderr.strip(), done.stderr
    assert ".SH softtpu run" in (folder / "man1/softtpu.1").read_text()


# A window cannot be narrower than 500 pixels, a frame can; so every page is looked at in a frame of each width, all in one window.
AROUND = """<!doctype html><body style="margin:0"><script>
const seen = {};
addEventListener("message", event => {
  for (const frame of document.querySelectorAll("iframe")) if (frame.contentWindow === event.source) seen[frame.id] = JSON.parse(event.data);
  document.getElementById("result").textContent = JSON.stringify(seen);
});
</script><pre id="result"></pre>%s</body>"""


def look_at(browser, site, pages, widths):
    script = (pathlib.Path(__file__).parent / "look.js").read_text()
    copies, frames = [], []
    for page in pages:
        copy = (site / page).with_name(f"looked_at_{pathlib.Path(page).name}")
        copy.write_text((site / page).read_text().replace("</body>", f"<script>{script}</script></body>"))
        copies.append(copy)
        frames += [f'<iframe id="{page} {width}" src="{copy.relative_to(site)}" style="border:0" width="{width}" height="2000"></iframe>' for width in widths]
    outer = site / "around.html"
    outer.write_text(AROUND % "".join(frames))
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,2000", "--virtual-time-budget=20000",
                           "--dump-dom", outer.as_uri()], capture_output=True, text=True, timeout=240, check=False)
    for path in [outer, *copies]:
        path.unlink()
    found = re.search(r'<pre id="result">(.+?)</pre>', done.stdout, re.S)
    assert found, f"the browser drew nothing\n{done.stderr[-500:]}"
    results = json.loads(html.unescape(found[1]))
    for page in pages:
        for width in widths:
            result = results.get(f"{page} {width}")
            assert result, f"{page}: nothing was drawn at {width} pixels"
            assert result["room"] == width, f"{page}: the window is {result['room']} wide, not {width}"
            assert not result["wrong"], f"{page} at {width} pixels:\n  " + "\n  ".join(result["wrong"][:10])


def every_page(site):
    return sorted(str(page.relative_to(site)) for page in site.rglob("*.html") if page.name not in ("404.html", "search.html"))


def main():
    folder, softtpu = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    reference = model.Reference()
    subprocess.run([sys.executable, ROOT / "scripts/reference/man.py", folder / "man", "--softtpu", softtpu], check=True)
    check_man(folder / "man", reference)
    built = subprocess.run([sys.executable, ROOT / "scripts/reference/site.py", folder], capture_output=True, text=True, check=False)
    if built.returncode == SKIPPED:
        print("SKIPPED: no mkdocs (package mkdocs), so the site is not built; the man pages are as they should be")
        return SKIPPED
    assert built.returncode == 0 and "WARNING" not in built.stdout, built.stdout + built.stderr
    check_content(folder / "site", reference)
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("SKIPPED: no Chromium (package chromium), so the site was not looked at")
        return SKIPPED
    pages = every_page(folder / "site") if "--all" in sys.argv else PAGES
    for at in range(0, len(pages), 24):
        look_at(browser, folder / "site", pages[at:at + 24], (1280, 390))
    print(f"{len(reference.functions)} functions; {len(pages)} pages looked at, 1280 and 390 pixels wide")
    return 0


if __name__ == "__main__":
    sys.exit(main())
