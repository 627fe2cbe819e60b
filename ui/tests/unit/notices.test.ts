import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const here = (path: string) => join(import.meta.dirname, "../..", path);
const read = (path: string) => readFileSync(here(path), "utf8");

test("every bundled font has its licence", () => {
	const fonts = [...read("src/app.css").matchAll(/@import "(@fontsource[^/]*\/[^/]+)/g)].map(([, name]) => name ?? "");
	const packages = [...new Set(fonts)];
	expect(packages.length).toBeGreaterThan(0);

	const shipped = readdirSync(here("public/licences"));
	const texts = shipped.map((file) => read(`public/licences/${file}`));
	for (const name of packages) expect(texts, name).toContain(read(`node_modules/${name}/LICENSE`));
	expect(texts).toHaveLength(packages.length);
});
