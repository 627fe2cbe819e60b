import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { stubFrames } from "../../../tests/unit/frames";
import { chat, FakeShell, says, token } from "../../../tests/unit/shell";
import type { Chat, Event, Memory } from "../api/generated";
import { App } from "./app.svelte";
import { browserValues } from "./pageValues";

beforeEach(() => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	stubFrames();
	localStorage.clear();
});

afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

const SUMMARY = { id: "chat", title: "Mira", character: "mira", characterName: "Mira", picture: null, otherMember: null, lastLine: "", messageCount: 1, created: "", updated: "", place: { folder: null, pinned: false, archived: false } };

async function started(answers: Record<string, (args: never) => unknown> = {}) {
	const shell = new FakeShell({
		startup: () => ({ version: "1", settings: { theme: "dark", language: "en" }, chat: "chat", notices: ["A reply was cut."], dataDir: "/data" }),
		open_chat: ({ id }: { id: string }) => chat([says("g", "character", "Good evening.")], { id }),
		list_chats: () => [SUMMARY],
		list_folders: () => [],
		list_characters: () => [],
		list_models: () => [],
		list_endpoints: () => [],
		list_modes: () => [],
		import_progress: () => null,
		list_downloads: () => [],
		list_model_moves: () => [],
		hints_at_larger_model: () => false,
	layered_settings: () => ({ settings: [], contradictions: [], model: null, character: null }),
	list_personas: () => [],
		get_settings: () => ({ theme: "dark", language: "en" }),
		...answers,
	});
	const app = new App(shell, browserValues);
	app.start();
	await vi.waitFor(() => expect(app.models.loaded || app.startFailure).toBeTruthy());
	return { app, shell };
}

test("start opens the last open chat", async () => {
	const { app } = await started();
	expect(app.chat?.info?.characterName).toBe("Mira");
	expect(document.documentElement.dataset.theme).toBe("dark");
	expect(app.toasts.items.map((toast) => toast.text)).toEqual(["A reply was cut."]);
});

test.each([
	[false, null],
	[true, "chat"],
])("a private chat that is shown: %s leaves the open chat %s", async (shown, open) => {
	const chats = [SUMMARY];
	const { app } = await started({ private_characters: () => ({ available: true, shown }), list_chats: () => [...chats] });
	chats.pop();
	app.receive({ event: "changed", what: "privateCharacters", id: null });
	await vi.waitFor(() => expect(app.chat?.id ?? null).toBe(open));
	expect(app.privateCharacters.shown).toBe(shown);
});

test("failed start can be retried", async () => {
	const startup = vi.fn(() => {
		throw { kind: "storage", message: "disk I/O error", hint: "" };
	});
	const { app, shell } = await started({ startup });
	expect(app.startFailure?.kind).toBe("storage");
	shell.answers.startup = () => ({ version: "1", settings: {}, chat: null, notices: [], dataDir: "" });
	await app.load();
	expect(app.startFailure).toBeNull();
});

test("reply in another chat appears only in the list", async () => {
	const { app, shell } = await started();
	shell.listener({ event: "started", chat: "other", sent: null, message: says("x", "character", "") });
	shell.listener({ ...token("x/0", 0, "Mine"), chat: "other" } as Event);
	expect(app.writing.has("other")).toBe(true);
	expect(app.chat?.messages.map(({ id }) => id)).toEqual(["g"]);
	shell.listener({ event: "ended", chat: "other", message: says("x", "character", "Mine"), anchor: null, reason: { kind: "stop" } });
	expect(app.writing.has("other")).toBe(false);
});

test("memory toasts show in their chat and can be undone", async () => {
	const { app, shell } = await started({ delete_memory: () => null, restore_memory: () => null });
	const memory: Memory = {
		id: "m",
		type: "fact",
		text: "You said: \"I own a boat\"",
		importance: 8,
		scope: "pair",
		character: "mira",
		persona: null,
		chat: null,
		world: null,
		pinned: false,
		origin: "rule",
		confidence: 10,
		sources: ["g"],
		echoes: [],
		archived: null,
		created: "",
		updated: "",
		score: null,
	};
	shell.listener({ event: "remembered", chat: "other", memory });
	shell.listener({ event: "remembered", chat: "chat", memory });
	shell.listener({ event: "forgot", chat: "chat", memory });
	const told = app.toasts.items.slice(-2);
	expect(app.toasts.items).toHaveLength(3);
	expect(told.map((toast) => toast.text)).toEqual(["Remembered: You said: \"I own a boat\"", "Forgotten: You said: \"I own a boat\""]);
	for (const toast of told) toast.action?.run();
	expect([shell.count("delete_memory"), shell.count("restore_memory")]).toEqual([1, 1]);

	shell.listener({ event: "remembered", chat: "chat", memory: { ...memory, origin: "model" } });
	shell.listener({ event: "remembered", chat: "chat", memory: { ...memory, origin: "model" } });
	const [first, second] = app.toasts.items.slice(-2);
	expect([first?.detail, second?.detail], "the first time that a model has learned is explained").toEqual([expect.stringContaining("Memory"), undefined]);
});

test("missed events reload everything on screen", async () => {
	const { app, shell } = await started();
	const before = shell.count("open_chat");
	shell.listener({ event: "missed" });
	await vi.waitFor(() => expect(shell.count("open_chat")).toBe(before + 1));
	expect(app.chat?.info?.id).toBe("chat");
});

test("draft is saved when another chat opens", async () => {
	const { app, shell } = await started();
	app.chat?.type("Half a tho");
	await app.openChat("other");
	expect(shell.asked.find((call) => call.operation === "keep_draft")?.args).toEqual({ chat: "chat", text: "Half a tho", known: "" });
});

test("undo restores a deleted chat and opens it", async () => {
	const { app, shell } = await started({ learned_in: () => 0, delete_chats: () => null, restore_from_trash: () => null });
	await app.deletion.ask("chat", "Mira");
	expect(app.chat).toBeNull();
	app.toasts.items.at(-1)?.action?.run();
	await vi.waitFor(() => expect(app.chat?.info?.id).toBe("chat"));
	expect(shell.count("restore_from_trash")).toBe(1);
});

test("import reports new, known and rejected files", async () => {
	const { app, shell } = await started();
	shell.listener({
		event: "imported",
		report: {
			imported: [{ kind: "character", id: "c", name: "Juniper", file: "juniper.png", warnings: [] }],
			skipped: [{ id: "1", file: "mira.png", reason: "the same card" }],
			refused: [{ file: "photo.png", kind: "noCard", reason: "no card inside" }],
		},
	});
	await vi.advanceTimersByTimeAsync(250);
	const shown = app.toasts.items.slice(-1).map(({ kind, text, detail }) => [kind, text, detail]);
	expect(shown).toEqual([["bad", "1 item imported · 1 file was already imported · 1 file was not imported", "photo.png: no card inside"]]);
	expect(app.importsVersion).toBe(1);
});

test("files imported in a row share one toast", async () => {
	const { app, shell } = await started();
	for (const name of ["a.png", "b.png", "c.png"]) {
		shell.listener({ event: "imported", report: { imported: [], skipped: [], refused: [{ file: name, kind: "noCard", reason: "no card inside" }] } });
	}
	await vi.advanceTimersByTimeAsync(250);
	expect(app.toasts.items.filter(({ kind }) => kind === "bad")).toMatchObject([
		{ text: "3 files were not imported", detail: "a.png: no card inside\nb.png: no card inside\nc.png: no card inside" },
	]);
});

test("open chat shows the character's new name", async () => {
	const { app, shell } = await started();
	shell.answers.open_chat = () => chat([], { characterName: "Mira Lind" });
	shell.listener({ event: "changed", what: "characters", id: "mira" });
	await vi.waitFor(() => expect(app.chat?.info?.characterName).toBe("Mira Lind"));
});

test("talk opens the newest chat or creates the first", async () => {
	const { app, shell } = await started({ new_chat: () => chat([], { id: "fresh" }) });
	await app.talkTo("mira");
	expect(shell.count("new_chat")).toBe(0);
	await app.talkTo("juniper");
	expect(app.chat?.id).toBe("fresh");
});

test("group outlives a character, and the toast says so", async () => {
	const deleted: string[] = [];
	const group = { ...SUMMARY, id: "group", title: "The harbour" };
	const { app, shell } = await started({
		list_chats: () => (deleted.length === 0 ? [SUMMARY, group] : [{ ...group, character: "osei" }]),
		delete_characters: ({ characters }: { characters: string[] }) => void deleted.push(...characters),
	});
	app.go("people");
	await app.characters.delete(["mira"], "Mira");
	expect([app.chat, app.screen]).toEqual([null, "people"]);
	expect(app.toasts.items.at(-1)).toMatchObject({ text: "Mira was deleted", detail: "Groups stay, with their other characters." });
	shell.answers.list_chats = () => [];
	await app.characters.delete(["osei"], "Osei");
	expect(app.toasts.items.at(-1)?.detail).toBeUndefined();
});

test("open group is read again without a deleted member, behind the library", async () => {
	const osei = { id: "osei", name: "Osei", picture: null, muted: false, away: false };
	const { app, shell } = await started({
		open_chat: ({ id }: { id: string }) => chat([says("g", "character", "Good evening.")], { id, members: [osei] } as Partial<Chat>),
		delete_characters: () => null,
	});
	app.go("people");
	const read = shell.count("open_chat");
	await app.characters.delete(["osei"], "Osei");
	expect([app.screen, shell.count("open_chat")]).toEqual(["people", read + 1]);
});

test("rejected setting is reverted and reported", async () => {
	const { app } = await started({
		update_settings: () => {
			throw { kind: "storage", message: "The disk is full.", hint: "Free some space." };
		},
	});
	await app.settings.set({ theme: "light" });
	expect([app.settings.value.theme, app.look.theme]).toEqual(["dark", "dark"]);
	expect(app.toasts.items.at(-1)).toMatchObject({ kind: "bad", detail: "The disk is full. Free some space." });
});

test("last of two quick changes is sent last", async () => {
	const sent: unknown[] = [];
	const { app } = await started({ update_settings: ({ change }: { change: { theme: string } }) => sent.push(change.theme) });
	await Promise.all([app.settings.set({ theme: "light" }), app.settings.set({ theme: "dark" })]);
	expect(sent).toEqual(["light", "dark"]);
	expect(app.look.theme).toBe("dark");
});
