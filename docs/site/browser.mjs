// Looks at the built site in a browser: accessibility (axe-core), horizontal overflow, search, requests to other servers.
//
//     node browser.mjs FOLDER [FOLDER OF SCREENSHOTS]
//
// `make -C tests site` runs it. The exit status is 1 if there is a problem.

import { createReadStream, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import puppeteer from "puppeteer-core";

const [folder, screenshots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json" };
const pages = [
  "index.html",
  "guide/tutorial.html",
  "guide/choosing.html",
  "guide/messages.html",
  "guide/recipients.html",
  "guide/speed.html",
  "reference/program.html",
  "reference/rust.html",
  "reference/python/index.html",
  "reference/python/sealane.html",
  "reference/python/sealane.keys.html",
  "project/security.html",
  "project/changelog.html",
];
const widths = [360, 768, 1440];
const problems = [];

const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
  const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
  if (!existsSync(file) || statSync(file).isDirectory()) {
    problems.push(`${path}: there is no such file`);
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" });
  createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
if (screenshots) mkdirSync(screenshots, { recursive: true });

async function open(path, width, scheme) {
  // Each view has a context of its own, because the theme stores the colours of the first one.
  const page = await (await browser.createBrowserContext()).newPage();
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) problems.push(`${path}: requests ${request.url()}`);
  });
  page.on("pageerror", (error) => problems.push(`${path}: ${error.message}`));
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  await page.setViewport({ width, height: 900 });
  await page.goto(`${origin}/${path}`, { waitUntil: "networkidle0" });
  return page;
}

let looked = 0;
for (const path of pages) {
  for (const width of widths) {
    const scheme = width === 768 ? "dark" : "light";
    const page = await open(path, width, scheme);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (wide > 0) problems.push(`${path}: ${wide} pixels too wide at ${width}`);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    for (const { id, impact, help, nodes } of violations) {
      if (impact === "serious" || impact === "critical") {
        problems.push(`${path} at ${width}, ${scheme}: ${impact}: ${id}: ${help}: ${nodes.length} times, for example ${nodes[0].html.slice(0, 160)} ${nodes[0].failureSummary.split("\n")[1] ?? ""}`);
      }
    }
    if (screenshots) await page.screenshot({ path: join(screenshots, `${path.replaceAll("/", "-")}-${width}.png`) });
    looked += 1;
    await page.browserContext().close();
  }
}

// The search finds a method by its name, and a page by a word.
for (const [words, expected] of [["seal_into", "reference/python"], ["snapshot", "security"]]) {
  const page = await open("index.html", 1440, "light");
  await page.click(".md-search__input");
  await page.type(".md-search__input", words);
  try {
    await page.waitForFunction((part) => [...document.querySelectorAll(".md-search-result__link")].some((link) => link.href.includes(part)), { timeout: 10000 }, expected);
  } catch {
    problems.push(`search: no result in ${expected} for ${words}`);
  }
  if (screenshots) await page.screenshot({ path: join(screenshots, `search-${words}.png`) });
  await page.browserContext().close();
}

await browser.close();
server.close();
console.log(problems.join("\n") || `${looked} views: no serious finding, no overflow, no other server, search works`);
process.exit(problems.length ? 1 : 0);
