// Looks for faults of accessibility in a page, at two widths, light and dark: axe-core in Chromium.
// node accessibility.mjs PAGE CHROMIUM; exit code 1 where a fault is serious or critical.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

const require = createRequire(process.cwd() + "/");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf-8");
const [page, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
let serious = 0;
for (const width of [1280, 390]) {
  for (const colorScheme of ["light", "dark"]) {
    // The page's own policy allows no script; the checker is none of the page's.
    const context = await browser.newContext({
      viewport: { width, height: 900 }, colorScheme, bypassCSP: true,
    });
    const tab = await context.newPage();
    await tab.goto(pathToFileURL(page).href);
    await tab.evaluate(axe);
    const found = await tab.evaluate(() => globalThis.axe.run(document));
    const bad = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
    serious += bad.length;
    console.log(`${width} px ${colorScheme}: ${found.passes.length} rules pass, `
      + `${found.violations.length} do not, ${bad.length} of them serious`);
    for (const one of found.violations) {
      console.log(`  ${one.impact} ${one.id}: ${one.help} (${one.nodes.length}) ${one.nodes[0].html.slice(0, 120)}`);
    }
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
    console.log(`  content is ${wide} px wide`);
    if (wide > width) serious += 1;
    await context.close();
  }
}
await browser.close();
process.exit(serious ? 1 : 0);
