import type { ApiError, Message } from "../../src/lib/api/generated";
import type { App } from "../../src/lib/state/app.svelte";
import type { TextField } from "../../src/lib/state/fields";
import type { Tab } from "../../src/lib/state/xray/xray.svelte";
import { extras } from "../../src/lib/text/extras.svelte";
import { documents, pictures, scenery, tools } from "./chatScenes";
import { PASSPHRASE } from "./access";
import { message, REPLY, swipe } from "./data";
import { RICH } from "./rich";
import type { MockEngine } from "./engine";
import { press, until } from "./page";

export const SCENES = [
	"chat", "crowd", "horde", "first", "empty", "nomodel", "long", "tall", "interrupted", "cutoff", "streaming", "prefill", "loading", "queued", "retrying", "stalled",
	"failed", "unanswered", "rich", "group", "editing", "window", "command", "unknown", "overflow", "pictures", "documents", "toolrounds", "toolquestion", "toolsettings",
	"sprites", "spritesbehind", "spritesabove", "spritesgroup", "backdrop", "gallery",
	"xray", "xraynext", "xraymany", "xrayraw", "xraystages", "xraydiff", "xraytry", "xraypage", "xrayover", "memory", "memoryedit", "memorynone", "memorywords", "memorytry", "memoryturn", "memorytime", "memorymerge", "editormemory", "tuning", "owntexts", "deleting", "toast", "lost", "broken", "drop",
	"templates", "template", "templatebad", "variables", "modes", "samplers", "samplersorder", "samplersbuiltin", "tokens", "formats", "scripts",
	"books", "booksnone", "book", "bookchosen", "bookcopy", "entry", "entrynew", "bookabout", "booktry",
	"people", "peoplelist", "chosen", "bulktags", "filtered", "imported", "folder", "folderended", "editor", "editorscene", "editornote", "editorcard", "editorfiles", "lore", "cardscripts", "new", "models", "modelsettings", "modeladapters", "modelmoves", "modelmove", "modeltasks", "downloads", "hubsearch", "hubfiles", "hubsettings", "endpoint", "endpointedit", "picker", "pickersearch", "settings", "writing", "personas", "imports", "localapi", "localapibusy", "localapikey", "localapimade", "health", "toolservers", "toolserversnone", "toolserveredit", "toolserverspaste",
	"backups", "backupsnone", "backupsfailed", "backupsrestore", "datawarnings", "trash", "trashnone", "trashdelete",
	"privacy", "privacydelete", "encryptabout", "encryptcode", "encryptreport", "encrypted", "encryptedchange",
	"updates", "updatesdownload", "updatesready", "updatespackage", "updatesfailed",
	"help", "helperror", "helpsearch", "helplist",
] as const;

export type Scene = (typeof SCENES)[number];

const DIED: ApiError = { kind: "provider", class: "workerDied", message: "llama.cpp ended with signal 11 after 23 tokens.", hint: "The model is being loaded again. If it happens twice, choose a smaller context size." };

/** Brings the app into the state of the scene. */
export async function play(scene: Scene, engine: MockEngine, app: App): Promise<void> {
	if (scene === "broken") engine.broken = { kind: "storage", message: "The database is not readable: disk I/O error.", hint: "Check the disk, then try again. A backup from this morning is beside it." };
	await until(() => (app.startup !== null && app.models.loaded) || app.startFailure !== null);
	const chat = engine.chats[0];
	if (chat) {
		const id = chat.id;
		if (["streaming", "prefill", "loading", "queued", "retrying", "stalled", "failed", "overflow", "unanswered"].includes(scene)) {
			chat.messages.push({ id: "u3", role: "user", name: "Wanderer", selected: 0, pinned: false, canRegenerate: false, pictures: [], created: new Date().toISOString(), swipes: [{ id: "u3s", text: "I look.", state: "finished", created: "", model: null, display: null, figures: null, toolCalls: [], emotion: null }] });
			await app.chat?.load();
			if (scene !== "unanswered") engine.begin(chat);
		}
		if (scene === "streaming") for (const piece of REPLY.slice(0, 330).match(/\S+\s*/g) ?? []) engine.token(chat, piece);
		if (scene === "prefill") engine.emit({ event: "prefill", chat: id, done: 260, total: 412, reused: 200 });
		if (scene === "loading") engine.emit({ event: "loading", chat: id, fraction: 0.4 });
		if (scene === "queued") engine.emit({ event: "queued", chat: id });
		if (scene === "retrying") engine.emit({ event: "retrying", chat: id, attempt: 2, afterMs: 4000, why: "The endpoint is busy (429)" });
		if (scene === "stalled") engine.emit({ event: "stalled", chat: id, seconds: 14 });
		if (scene === "overflow") engine.end(chat, { kind: "failed", error: TOO_MUCH });
		if (scene === "failed") engine.end(chat, { kind: "failed", error: DIED });
		if (scene === "interrupted" || scene === "cutoff") {
			engine.begin(chat);
			engine.token(chat, "*She opens the door, and the rain ");
			engine.end(chat, scene === "cutoff" ? { kind: "failed", error: DIED } : { kind: "cancelled" });
		}
	}
	if (scene === "group" && chat) {
		chat.members = ["c2", "c3"];
		chat.title = "The mill at night";
		const words = (of: string, text: string) => [{ id: `${of}s`, text, state: "finished" as const, created: "", model: null, display: null, figures: null, toolCalls: [], emotion: null }];
		const over = { pictures: [], selected: 0, pinned: false, canRegenerate: true, created: new Date().toISOString() };
		chat.messages.push(
			{ id: "g2", role: "character", name: "Captain Osei", speaker: "c2", swipes: words("g2", "“I know the mill. Its wheel turned the wrong way all winter.”"), ...over },
			{ id: "g3", role: "event", name: "Narrator", speaker: "", swipes: words("g3", "(The narrator goes on.)"), ...over },
			{ id: "g5", role: "event", name: "", swipes: words("g5", "(Captain Osei goes away. Juniper joins.)"), events: [{ kind: "goesAway", name: "Captain Osei" }, { kind: "joins", name: "Juniper" }], ...over },
			{ id: "g4", role: "narrator", name: "Narrator", speaker: "", swipes: words("g4", "Outside, a lamp goes out."), ...over },
		);
		await app.chat?.load();
		await app.loadLists();
		app.settingsOpen = true;
	}
	if ((scene.startsWith("sprites") || scene === "backdrop" || scene === "gallery") && chat) await scenery(scene, engine, chat, app);
	if (scene === "pictures" && chat) await pictures(chat, app);
	if (scene.startsWith("tool") && chat) await tools(scene, engine, chat, app);
	if (scene === "documents" && chat) await documents(engine, chat, app);
	if (scene === "rich" && chat) {
		chat.messages.push(...RICH.map((text, index) => message(`r${index}`, index % 3 === 2 ? "user" : "character", [swipe(`r${index}s`, text)])));
		await app.chat?.load();
		await extras.loadMath();
	}
	if (scene === "editing") app.chat?.editLastOwn();
	if (scene === "window") await app.chat?.pin(app.chat.messages[0] as Message, true);
	if (scene === "command") app.chat?.type("/mode ");
	if (scene === "unknown") {
		app.chat?.type("/mode pirate");
		await app.chat?.send();
	}
	if (scene.startsWith("xray")) await xray(scene, engine, app);
	if (scene.startsWith("memory")) await memory(scene, app);
	if (scene === "tuning") app.settingsOpen = true;
	if (scene === "owntexts" && chat) {
		chat.texts = { scenario: "A storm has put out every lamp but one, and {{user}} comes in from the rain.", messageExamples: "" };
		app.showSetting("text-scenario");
	}
	if (scene === "deleting") await app.deletion.ask("chat0", "Mira");
	if (scene === "toast") {
		await app.import();
		await until(() => app.toasts.items.length === 1);
		await app.deletion.ask("chat2", "The archive at night");
	}
	if (scene === "lost") engine.connection("lost");
	if (scene === "drop") engine.drops?.over(true);
	if (scene === "people" || scene === "models") app.go(scene);
	if (scene === "downloads" || scene.startsWith("hub")) await hub(scene, engine, app);
	if (["empty", "crowd", "horde"].includes(scene)) app.go("people");
	if (["peoplelist", "chosen", "bulktags", "filtered"].includes(scene)) await library(scene, app);
	if (scene === "imported") {
		await app.import();
		await press("[data-testid=toast-action]");
	}
	if (scene === "folder" || scene === "folderended") {
		app.go("people");
		await app.folder.start();
		engine.folder.reach(1042, "characters");
		if (scene === "folderended") engine.folder.end();
	}
	if (scene.startsWith("editor") || scene === "cardscripts") app.edit("c1", EDITED[scene as string] ?? null);
	if (scene.startsWith("editor")) await until(() => Boolean(app.editor?.counts.by));
	if (scene === "editorscene") {
		await press("[data-testid=field-firstMessage-toggle]");
		await until(() => document.querySelector("[data-testid=field-firstMessage-preview]") !== null);
	}
	if (scene === "editorfiles") {
		await press("[data-testid=editor-files]");
		await until(() => document.querySelector("[data-testid=expression]") !== null);
		const tiles = document.querySelectorAll("[data-testid=expression]");
		// In a narrow window they are below the fold, and pictures load once they are visible.
		tiles.item(tiles.length - 1)?.scrollIntoView({ block: "nearest" });
		await until(() => document.querySelectorAll("[data-testid=expression] img").length === 2);
	}
	if (scene === "editormemory") {
		await press("[data-testid=editor-memory]");
		await until(() => document.querySelectorAll("[data-memory]").length === 6);
	}
	if (scene === "lore") app.edit("c1", null, "e4");
	if (scene === "lore") await until(() => document.querySelector("[data-entry=e4]") !== null);
	if (scene === "cardscripts") await press("[data-testid=editor-scripts]");
	if (["templates", "template", "templatebad", "variables"].includes(scene)) await template(scene, app);
	if (scene === "modes") app.openPrompts({ tab: "modes", name: "creative" });
	if (scene === "samplers") {
		app.openPrompts({ tab: "samplers" });
		await until(() => app.samplers.all.length > 0 && app.samplers.settings.length > 0);
		app.samplers.open("big-o");
		app.samplers.set("mirostat", 2);
	}
	if (scene === "samplersorder" || scene === "samplersbuiltin") {
		app.openPrompts({ tab: "samplers" });
		await until(() => app.samplers.all.length > 0 && app.samplers.settings.length > 0);
		app.samplers.open(scene === "samplersbuiltin" ? "gemma-3" : "min-p");
		if (scene === "samplersorder") {
			app.samplers.set("sampler_order", "penalties, dry, temperature, top_n_sigma, top_k, typical_p, top_p, min_p, xtc");
			app.samplers.set("banned_strings", "barely above a whisper\nshivers down");
			app.samplers.set("logit_bias", "blue = -5\n[1234] = -100");
			await until(() => document.querySelector("[data-testid=order-grip]") !== null);
			document.querySelector("[data-testid=sampler-row-sampler_order]")?.scrollIntoView();
		}
	}
	if (scene === "tokens") {
		const { chat } = app;
		await until(() => chat?.last !== undefined && chat.marks.all.tokenSwipes.length > 0);
		if (chat) chat.marks.tokens = chat.last ?? null;
	}
	if (scene === "formats") {
		app.openPrompts({ tab: "formats" });
		await until(() => app.formats.all.length > 0);
		app.formats.open("letters");
	}
	if (scene === "scripts") {
		app.openPrompts({ tab: "scripts" });
		await press("[data-testid=script]");
	}
	if (scene.startsWith("book") || scene.startsWith("entry")) await books(scene, app);
	if (scene === "new") app.edit(null);
	if (scene === "modelsettings" || scene === "modeladapters") await modelSettings(scene, app);
	if (scene === "modelmoves" || scene === "modelmove") await modelMoves(scene, engine, app);
	if (scene === "modeltasks") await modelTasks(app);
	if (scene === "endpoint") await endpoint(app);
	if (scene === "endpointedit") await editEndpoint(app);
	if (scene === "picker" || scene === "pickersearch") await pickModel(scene);
	if (["settings", "writing", "personas", "imports", "health"].includes(scene)) await settings(scene, app);
	if (scene.startsWith("localapi")) await localApi(scene, app);
	if (scene.startsWith("toolserver")) await toolServers(scene, app);
	if (scene.startsWith("backups") || scene.startsWith("trash")) await safety(scene, app);
	if (scene.startsWith("privacy")) await privacy(scene, app);
	if (scene.startsWith("encrypt")) await encryption(scene, engine, app);
	if (scene.startsWith("updates")) await updates(scene, engine, app);
	if (scene.startsWith("help")) await help(scene, app);
	document.documentElement.dataset.ready = "yes";
}

/** Shows the settings of privacy, and the question before stored prompts are deleted. */
async function privacy(scene: Scene, app: App): Promise<void> {
	app.go("settings");
	await press("[data-testid=settings-privacy]");
	await until(() => (document.querySelector("[data-testid=taken-write_log]")?.textContent ?? "") !== "");
	if (scene === "privacydelete") await press("[data-testid=choice-off]");
}

/** Shows the encryption: its dialog step by step, and an encrypted folder with a file that is not. */
async function encryption(scene: Scene, engine: MockEngine, app: App): Promise<void> {
	if (scene === "encrypted") engine.protection = { ...engine.protection, plainLeftovers: ["/home/sam/.local/share/inglenook/backups/assets/3f/3f9b12"] };
	app.go("settings");
	await press("[data-testid=settings-privacy]");
	if (scene === "encryptedchange") return press("[data-testid=change-passphrase-open]");
	if (scene === "encrypted") return until(() => document.querySelector("[data-testid=plain-leftovers]") !== null);
	await press("[data-testid=encrypt-open]");
	await until(() => document.querySelector("[data-testid=conversion-about]") !== null);
	const { conversion } = app.encryption;
	if (!conversion || scene === "encryptabout") return;
	conversion.passphrase = conversion.repeated = PASSPHRASE;
	conversion.step = "passphrase";
	await conversion.prepare();
	if (scene === "encryptreport") {
		conversion.typed = conversion.code;
		engine.report = { ...engine.report, failed: [{ file: "thumbnails/3f/3f9b12", reason: "permission denied" }], secondPlaceMissing: true };
		await conversion.convert();
	}
	await until(() => document.querySelector("[data-testid=recovery-code], [data-testid=protection-report]") !== null);
}

/** Shows the updates: a newer version and the one before, a download, a package, and a failed check. */
async function updates(scene: Scene, engine: MockEngine, app: App): Promise<void> {
	app.go("settings");
	await press("[data-testid=settings-updates]");
	if (scene === "updatesfailed") return until(() => document.querySelector("[data-testid=error]") !== null);
	await press("[data-testid=check-updates]:not(:disabled)");
	await until(() => document.querySelector("[data-testid=update-offer]") !== null);
	if (scene !== "updatesdownload" && scene !== "updatesready") return;
	await press("[data-testid=download-update]");
	await until(() => app.updates.status?.phase === "downloading");
	engine.updates.reach(scene === "updatesready" ? 1 : 0.37);
}

/** Shows the local API: with keys, with a busy port, with the form of a key, and with a new key. */
async function localApi(scene: Scene, app: App): Promise<void> {
	app.go("settings");
	await press("[data-testid=settings-localApi]");
	await until(() => document.querySelector("[data-testid=api-key]") !== null);
	if (scene === "localapikey") {
		await press("[data-testid=new-key]");
		await press("[data-testid=choice-some]");
	}
	if (scene === "localapimade") await makeKey();
}

async function makeKey(): Promise<void> {
	await press("[data-testid=new-key]");
	await until(() => document.querySelector("[data-testid=key-name]") !== null);
	const name = document.querySelector<HTMLInputElement>("[data-testid=key-name]");
	if (name) name.value = "Reading lamp";
	name?.dispatchEvent(new Event("input", { bubbles: true }));
	await press("[data-testid=save-key]:not(:disabled)");
	await until(() => document.querySelector("[data-testid=key-secret]") !== null);
}

/** Shows the help: a page, a heading for an error, search results, and the list that a narrow window shows. */
async function help(scene: Scene, app: App): Promise<void> {
	app.help.open(scene === "helperror" ? "troubleshooting#unauthorized" : "endpoints");
	if (scene === "helpsearch") app.help.query = "key";
	if (scene === "helplist") app.help.list();
	await until(() => app.help.pages.length > 0);
}

/** Shows the library as a list, with a selection, with its tags, and filtered. */
async function library(scene: Scene, app: App): Promise<void> {
	app.go("people");
	await until(() => app.library.loaded);
	app.library.set({ view: scene === "peoplelist" ? "list" : "grid" });
	if (scene === "filtered") {
		app.library.toggleTag("cozy");
		app.library.toggleTag("fantasy");
		app.library.set({ match: "any" });
	}
	if (scene === "chosen" || scene === "bulktags") app.library.list.selection.choose(["c1", "c4", "c6"]);
	if (scene === "bulktags") await press("[data-testid=bulk-tags]");
}

/** The field that opens a tab of the editor. */
const EDITED: Record<string, TextField> = { editorscene: "scenario", editornote: "postHistoryInstructions", editorcard: "creator" };

async function memory(scene: Scene, app: App): Promise<void> {
	app.showMemories(scene === "memory" ? "m4" : null);
	await until(() => app.memories.loaded);
	const [first] = app.memories.items;
	if (scene === "memoryedit" && first) app.memories.edit(first);
	if (scene === "memorytry") {
		app.memories.tried.words = "What did my sister sail?";
		await press("[data-testid=choice-try]");
		await press("[data-testid=recall-try]");
	}
	if (scene === "memorytime") await press("[data-testid=choice-timeline]");
	if (scene === "memorymerge") for (const one of app.memories.items.slice(0, 2)) app.memories.mergeFrom(one);
	if (scene === "memoryturn") await press("[data-testid=choice-turn]");
	if (scene === "memorytry" || scene === "memoryturn") await until(() => document.querySelector("[data-testid=recalled]") !== null);
}

async function template(scene: Scene, app: App): Promise<void> {
	if (scene === "templates") return app.openPrompts({ tab: "templates" });
	app.openPrompts({ tab: "templates", id: "base-roleplay", section: "rules" });
	await until(() => Boolean(app.templateEditors.editor?.rendered));
	const { editor } = app.templateEditors;
	if (scene === "templatebad") editor?.type(editor.json.replace("${character.name}, talking", "${character.mood}, talking"));
	if (scene === "templatebad") await until(() => editor?.problems.length === 1);
	if (scene === "variables") await press("[data-testid=choice-variables]");
}

async function books(scene: Scene, app: App): Promise<void> {
	app.go("books");
	await until(() => app.books.loaded);
	if (scene === "books" || scene === "booksnone") return;
	await app.books.open("b1", scene === "entry" ? "1" : null);
	const { book } = app.books;
	if (scene === "entry") await press("[data-testid=entry-form] details:last-of-type summary");
	if (scene === "entry") book?.change({ title: "The mill in winter" });
	if (scene === "entrynew") book?.create();
	if (scene === "bookabout") app.books.tab = "about";
	if (scene === "booktry") {
		app.books.tab = "try";
		app.books.test.text = "The miller hears the bell.";
		await until(() => app.books.test.result !== null);
	}
	if (scene === "bookchosen" || scene === "bookcopy") for (const id of ["1", "3"]) book?.chosen.add(id);
	if (scene === "bookcopy") await press("[data-testid=bulk-copy]");
}

async function hub(scene: Scene, engine: MockEngine, app: App): Promise<void> {
	app.go("models");
	await until(() => document.querySelector("[data-testid=suggestion]") !== null);
	if (scene === "downloads") {
		await press("[data-testid=suggestion-download]");
		await until(() => app.modelLibrary.downloads.length === 1);
		engine.hub.reach(0.37);
		return;
	}
	if (scene === "hubsettings") return press("[data-testid=hub-settings]");
	app.modelLibrary.search.query = "qwen";
	await app.modelLibrary.search.find();
	if (scene === "hubsearch") {
		document.querySelector("[data-testid=hub-model]")?.scrollIntoView();
		return;
	}
	app.modelLibrary.show("meta/Llama-3.2-3B-Instruct-GGUF");
	await until(() => document.querySelector("[data-testid=fit-figures]") !== null);
}

/** A model on its way to another folder and one that could not be moved, or the dialog before that. */
async function modelMoves(scene: Scene, engine: MockEngine, app: App): Promise<void> {
	app.go("models");
	await until(() => document.querySelector("[data-testid=model]") !== null);
	if (scene === "modelmove") {
		const button = document.querySelector<HTMLElement>("[data-testid=model] [aria-haspopup=menu]");
		button?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
		await until(() => document.querySelector("[data-testid=move-model]") !== null);
		await press("[data-testid=move-model]");
		return until(() => document.querySelector("[data-testid=move-confirm]") !== null);
	}
	for (const id of ["m1", "m2"]) await app.modelMoves.start(id, "/media/models");
	engine.hub.moveTo("m1", 0.62);
	engine.hub.moveTo("m2", 0, "failed", "The disk is full. The model stays where it is.", "Free some space, or choose another folder, then try again.");
}

/** The models for tasks, while another embedding model reads everything again. */
async function modelTasks(app: App): Promise<void> {
	await app.api.shell.pickEmbeddingModel();
	app.go("models");
	await until(() => document.querySelector("[data-testid=embedding-left]") !== null);
	document.querySelector("[data-testid=embedding-model]")?.scrollIntoView({ block: "center" });
}

/** The settings of a model that does not fit the graphics card. */
async function modelSettings(scene: Scene, app: App): Promise<void> {
	await app.api.loadModel("m2");
	if (scene === "modeladapters") for (let count = 0; count < 2; count++) await app.api.shell.pickAdapter("m2");
	app.go("models");
	await press("[data-testid=model]:nth-child(2) [data-testid=model-settings-button]");
	await until(() => document.querySelector("[data-testid=setting-row-gpu_layers]") !== null && document.querySelector("[data-testid=load-note]") !== null);
	if (scene === "modeladapters") document.querySelector("[data-testid=adapter]")?.scrollIntoView({ block: "center" });
}

async function endpoint(app: App): Promise<void> {
	app.go("models");
	await press("[data-testid=add-endpoint]");
	await press("[data-testid=service-llamacpp]");
	await press("[data-testid=endpoint-test]");
	await until(() => document.querySelector("[data-testid=error]") !== null);
}

async function editEndpoint(app: App): Promise<void> {
	app.go("models");
	await press("[data-testid=endpoint]:nth-child(2) [aria-haspopup=menu]");
	await press("[data-testid=edit-endpoint]");
	await until(() => document.querySelector("[data-testid=endpoint-form]") !== null);
}

async function pickModel(scene: Scene): Promise<void> {
	await press("[data-testid=model-chip]");
	await until(() => document.querySelector("[data-testid=model-picker]") !== null);
	if (scene !== "pickersearch") return;
	const input = document.querySelector<HTMLInputElement>("[data-testid=model-picker] input");
	if (!input) return;
	input.value = "llama";
	input.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

async function settings(scene: Scene, app: App): Promise<void> {
	app.go("settings");
	if (scene !== "settings") await press(`[data-testid=settings-${scene}]`);
}

/** The tool servers, one of them tested and open. */
async function toolServers(scene: Scene, app: App): Promise<void> {
	app.go("settings");
	await press("[data-testid=settings-toolServers]");
	if (scene === "toolserversnone") return;
	await press("[data-testid=test-tool-server]");
	await press("[data-testid=server-tools] summary");
	await until(() => document.querySelector("[data-testid=server-resources]") !== null);
	if (scene === "toolserveredit") await press("[data-testid=tool-server]:nth-child(3) [data-testid=edit-tool-server]");
	if (scene === "toolserverspaste") await press("[data-testid=paste-tool-servers]");
}

async function safety(scene: Scene, app: App): Promise<void> {
	await settings(scene.startsWith("trash") ? "trash" : "backups", app);
	if (scene === "backupsrestore") await press("[data-testid=backup] .button");
	if (scene === "trashdelete") await press("[data-testid=trash-item] .icon-button");
}

const TOO_MUCH: ApiError = { kind: "contextOverflow", message: "The prompt and the reply need 2610 tokens; the model takes 2048.", hint: "Shorten the description (card of Mira), which takes 1402 of them, or choose a larger context size.", block: { kind: "description", source: "card of Mira", origin: { of: "card", character: "c1", field: "description" }, tokens: 1402 }, missing: 562, needed: 2610, available: 2048 };

async function xray(scene: Scene, engine: MockEngine, app: App): Promise<void> {
	const chat = app.chat?.id ?? "";
	const tab = { xrayraw: "raw", xraystages: "stages", xraydiff: "diff", xraytry: "whatIf" }[scene as string] as Tab | undefined;
	if (tab) app.xray.choose(tab);
	if (scene === "xrayover") engine.prompts.failure = TOO_MUCH;
	if (scene === "xraypage") app.xray.widen(chat);
	if (scene === "xraynext" || scene === "xrayover") {
		app.chat?.type("And the mill? Who lit it last?");
		await app.xray.next(chat, app.chat?.draft ?? "");
	} else await app.xray.reply(chat, "a2s1");
	if (scene === "xray") await press("[data-row]");
	if (tab) app.xray.choose(tab);
	if (scene === "xraytry") {
		await until(() => app.xray.trial?.now !== null);
		app.xray.trial?.toggle("keyframe:b6");
		app.xray.trial?.set({ limit: 1000 });
		await until(() => app.xray.trial?.tried !== null);
	}
}
