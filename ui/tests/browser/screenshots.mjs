// Pictures of every scene, theme and size, in test-results/screenshots. Arguments narrow it: scenes, `light`, `dark`, widths.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, preview } from "vite";
import { launch } from "./browser.mjs";

const ui = fileURLToPath(new URL("../..", import.meta.url));
const config = { configFile: `${ui}/vite.mock.config.ts`, logLevel: "error" };
const SIZES = [[1440, 900], [1024, 768], [390, 844]];

const scenes = ["chat", "first", "empty", "nomodel", "long", "interrupted", "streaming", "prefill", "loading", "queued", "retrying", "stalled", "failed", "unanswered", "editing", "xray", "toast", "lost", "broken", "drop", "people", "editor", "new", "models", "endpoint", "settings", "writing", "personas", "health"];

const wanted = process.argv.slice(2);
const chosen = (all) => {
	const named = all.filter((one) => wanted.includes(String(one)));
	return named.length > 0 ? named : all;
};

await build(config);
const server = await preview({ ...config, preview: { port: 0, host: "127.0.0.1" } });
const address = server.resolvedUrls.local[0];
const folder = `${ui}/test-results/screenshots`;
await mkdir(folder, { recursive: true });
const context = await launch();
let count = 0;
try {
	const widths = chosen(SIZES.map(([width]) => width));
	for (const [width, height] of SIZES.filter(([width]) => widths.includes(width))) {
		const page = await context.newPage();
		page.on("pageerror", (error) => console.error(`${page.url()}: ${error.message}`));
		await page.setViewportSize({ width, height });
		for (const theme of chosen(["dark", "light"])) {
			for (const scene of chosen(scenes)) {
				await page.goto(`${address}?scene=${scene}&theme=${theme}`);
				await page.waitForSelector("html[data-ready]");
				await page.waitForTimeout(250);
				await page.screenshot({ path: `${folder}/${scene}-${theme}-${width}.png` });
				count += 1;
			}
		}
		await page.close();
	}
} finally {
	await context.close();
	await server.close();
}
console.log(`${count} pictures in test-results/screenshots`);
process.exit(0);
