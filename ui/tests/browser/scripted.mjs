import { fileURLToPath } from "node:url";
import { build, preview } from "vite";

const ui = fileURLToPath(new URL("../..", import.meta.url));

/** Every scene of the scripted engine; tests/mock/scenes.ts says what each is about. */
export const SCENES = [
	...["chat", "first", "crowd", "empty", "nomodel", "long", "interrupted", "streaming", "prefill", "loading", "queued", "retrying", "stalled"],
	...["failed", "unanswered", "editing", "window", "command", "unknown", "overflow"],
	...["xray", "xraynext", "xraymany", "xrayraw", "xraydiff", "xraytry", "xraypage", "xrayover"],
	...["memory", "memoryedit", "memorynone"],
	...["tuning", "toast", "lost", "broken", "drop"],
	...["templates", "template", "templatebad", "variables", "modes", "scripts", "cardscripts"],
	...["people", "editor", "lore", "new", "models", "endpoint", "settings", "writing", "personas", "health"],
];

/** Builds the UI on the scripted engine and serves it. */
export async function serveScripted() {
	const config = { configFile: `${ui}/vite.mock.config.ts`, logLevel: "error" };
	await build(config);
	const server = await preview({ ...config, preview: { port: 0, strictPort: false, host: "127.0.0.1" } });
	return { address: server.resolvedUrls.local[0], stop: () => server.close() };
}

export async function open(page, address, scene, theme = "dark") {
	await page.goto(`${address}?scene=${scene}&theme=${theme}`);
	await page.waitForSelector("html[data-ready]");
}
