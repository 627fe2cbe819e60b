import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { build, preview } from "vite";
import { launch } from "./browser.mjs";

const ui = fileURLToPath(new URL("../..", import.meta.url));

/** All scenes of the scripted engine. tests/mock/scenes.ts sets them up. */
export const SCENES = [
	...["chat", "first", "crowd", "empty", "nomodel", "long", "tall", "interrupted", "streaming", "prefill", "loading", "queued", "retrying", "stalled"],
	...["failed", "unanswered", "rich", "group", "editing", "window", "command", "unknown", "overflow", "pictures", "documents", "toolrounds", "toolquestion", "toolsettings"],
	...["sprites", "spritesbehind", "spritesabove", "spritesgroup", "backdrop", "gallery"],
	...["xray", "xraynext", "xraymany", "xrayraw", "xraystages", "xraydiff", "xraytry", "xraypage", "xrayover"],
	...["memory", "memoryedit", "memorynone", "memorywords", "memorytry", "memoryturn", "memorytime", "memorymerge"],
	...["tuning", "owntexts", "deleting", "toast", "lost", "broken", "drop"],
	...["templates", "template", "templatebad", "variables", "modes", "samplers", "samplersorder", "samplersbuiltin", "tokens", "formats", "scripts", "cardscripts"],
	...["books", "booksnone", "book", "bookchosen", "bookcopy", "entry", "entrynew", "bookabout", "booktry"],
	...["people", "peoplelist", "chosen", "bulktags", "filtered", "imported", "folder", "folderended"],
	...["editor", "editorscene", "editornote", "editorcard", "editorfiles", "editormemory", "lore", "new", "models", "modelsettings", "modeladapters", "modelmoves", "modelmove", "modeltasks", "downloads", "hubsearch", "hubfiles", "hubsettings", "endpoint", "endpointedit", "picker", "pickersearch", "imports", "localapi", "localapibusy", "localapikey", "localapimade", "settings", "writing", "personas", "health"],
	...["toolservers", "toolserversnone", "toolserveredit", "toolserverspaste"],
	...["backups", "backupsnone", "backupsfailed", "backupsrestore", "datawarnings", "trash", "trashnone", "trashdelete"],
	...["help", "helperror", "helpsearch", "helplist"],
];

/** Builds the UI with the scripted engine and serves it. Each process has a build of its own, so that several can run at once. */
export async function serveScripted() {
	const outDir = await mkdtemp(join(tmpdir(), "inglenook-mock-"));
	const config = { configFile: `${ui}/vite.mock.config.ts`, logLevel: "error", build: { outDir } };
	await build(config);
	const server = await preview({ ...config, preview: { port: 0, strictPort: false, host: "127.0.0.1" } });
	return { address: server.resolvedUrls.local[0], stop: () => server.close().then(() => rm(outDir, { recursive: true })) };
}

export async function open(page, address, scene, theme = "dark", language = "en") {
	await page.goto(`${address}?scene=${scene}&theme=${theme}&language=${language}`);
	await page.waitForSelector("html[data-ready]");
}

/** Opens one page of the scripted engine for all tests of a file, and collects its script errors. */
export async function scriptedPage(options) {
	const scripted = await serveScripted();
	const context = await launch({ locale: "en-US", reducedMotion: "reduce", ...options });
	after(async () => {
		await context.close();
		await scripted.stop();
	});
	const page = await context.newPage();
	page.setDefaultTimeout(10_000);
	const errors = [];
	page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
	return { page, errors, id: (name) => page.getByTestId(name), show: (scene, theme, language) => open(page, scripted.address, scene, theme, language) };
}
