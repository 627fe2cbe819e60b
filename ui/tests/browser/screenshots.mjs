// Takes pictures of every scene, theme and size into test-results/screenshots. Arguments select scenes, `light`, `dark` or widths.
// The argument `german` takes them in German.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { launch } from "./browser.mjs";
import { open, SCENES, serveScripted } from "./scripted.mjs";

const SIZES = { 1440: 900, 1024: 768, 390: 844 };
const wanted = process.argv.slice(2);
const language = wanted.includes("german") ? "de" : "en";
const chosen = (all) => {
	const named = all.filter((one) => wanted.includes(one));
	return named.length > 0 ? named : all;
};

const folder = fileURLToPath(new URL("../../test-results/screenshots", import.meta.url));
await mkdir(folder, { recursive: true });
const scripted = await serveScripted();
const context = await launch({ locale: language === "de" ? "de-DE" : "en-US", reducedMotion: "reduce" });
let count = 0;
let failed = 0;
try {
	for (const width of chosen(Object.keys(SIZES))) {
		const page = await context.newPage();
		page.on("pageerror", (error) => {
			failed += 1;
			console.error(`${page.url()}: ${error.message}`);
		});
		await page.setViewportSize({ width: Number(width), height: SIZES[width] });
		for (const theme of chosen(["dark", "light"])) {
			for (const scene of chosen(SCENES)) {
				await open(page, scripted.address, scene, theme, language);
				await page.waitForLoadState("networkidle");
				await page.screenshot({ path: `${folder}/${scene}-${theme}-${width}${language === "de" ? "-german" : ""}.png`, animations: "disabled" });
				count += 1;
			}
		}
		await page.close();
	}
} finally {
	await context.close();
	await scripted.stop();
}
console.log(`${count} pictures in test-results/screenshots`);
process.exit(failed > 0 ? 1 : 0);
