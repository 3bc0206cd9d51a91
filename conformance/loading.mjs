// How long a page takes to load in Chromium, three times: node loading.mjs PAGE CHROMIUM.
// Exit code 1 where the page is 4 MB or larger, or takes two seconds or longer every time.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { statSync } from "node:fs";

const require = createRequire(process.cwd() + "/");
const { chromium } = require("playwright-core");
const [page, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const times = [];
for (let round = 0; round < 3; round += 1) {
  const tab = await browser.newPage();
  await tab.goto(pathToFileURL(page).href, { waitUntil: "load" });
  times.push(await tab.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd));
  await tab.close();
}
await browser.close();
const size = statSync(page).size;
console.log(`${size} bytes, loaded in ${times.map(Math.round).join(", ")} ms`);
process.exit(size < 4_000_000 && Math.min(...times) < 2000 ? 0 : 1);
