import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { build, preview } from "vite";
import { launch, WAIT_MS } from "./browser.mjs";

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
	...["privacy", "privacydelete", "encryptabout", "encryptcode", "encryptreport", "encrypted", "encryptedchange"],
	...["updates", "updatesdownload", "updatesready", "updatespackage", "updatesfailed"],
	...["help", "helperror", "helpsearch", "helplist"],
];

const config = { configFile: `${ui}/vite.mock.config.ts`, logLevel: "error" };

/** Builds the UI with the scripted engine into a folder. */
export const buildScripted = (outDir) => build({ ...config, build: { outDir } });

/** Serves the build of the whole run, or one of its own if a file is run alone. */
export async function serveScripted() {
	const shared = process.env.INGLENOOK_SCRIPTED_UI;
	const outDir = shared ?? (await mkdtemp(join(tmpdir(), "inglenook-mock-")));
	if (!shared) await buildScripted(outDir);
	const server = await preview({ ...config, build: { outDir }, preview: { port: 0, strictPort: false, host: "127.0.0.1" } });
	const stop = async () => {
		await server.close();
		if (!shared) await rm(outDir, { recursive: true });
	};
	return { address: server.resolvedUrls.local[0], stop };
}

export async function open(page, address, scene, theme = "dark", language = "en", access = "open") {
	await page.goto(`${address}?scene=${scene}&theme=${theme}&language=${language}&access=${access}`);
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
	page.setDefaultTimeout(WAIT_MS);
	const errors = [];
	page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
	return { page, errors, id: (name) => page.getByTestId(name), show: (scene, theme, language, access) => open(page, scripted.address, scene, theme, language, access) };
}
