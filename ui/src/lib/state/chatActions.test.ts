import { expect, test, vi } from "vitest";
import { begun, GREETING, open, reported, texts } from "../../../tests/unit/openChat";
import { chat, says } from "../../../tests/unit/shell";
import type { Message } from "../api/generated";

test("swipe past the last reply writes a new one", async () => {
	const reply = says("a", "character", "One.", "Two.");
	const { state, shell } = await open(chat([GREETING, says("u", "user", "Hi"), reply]), { regenerate: () => ({ sent: null, reply: begun("a") }) });
	await state.swipe(reply, 1);
	expect(shell.count("regenerate")).toBe(1);

	const fresh = await open(chat([GREETING]));
	await fresh.state.swipe(GREETING, 1);
	expect(fresh.shell.count("regenerate")).toBe(0);
});

test("chat without greeting can start by a reply", async () => {
	const empty = await open(chat([]), { regenerate: () => ({ sent: null, reply: begun("a") }) });
	expect(empty.state.isEmpty).toBe(true);
	await empty.state.regenerate();
	expect(empty.state.isEmpty).toBe(false);

	const opening = says("a", "character", "The lamp is lit.");
	for (const swipe of opening.swipes) swipe.model = "small";
	const { state } = await open(chat([opening]));
	expect([state.isEmpty, state.canRegenerate(opening)]).toEqual([false, true]);
	expect(state.canRegenerate(GREETING)).toBe(false);
});

test("called speaker answers or stays unanswered", async () => {
	const called = { ...says("e", "event", "(The narrator goes on.)"), name: "Narrator", speaker: "" };
	const reply = { ...says("n", "narrator", ""), name: "Narrator", speaker: "" };
	const { state, shell } = await open(chat([GREETING]), { let_speak: () => ({ sent: called, reply }) });
	await state.letSpeak(null);
	expect(shell.asked.at(-1)).toEqual({ operation: "let_speak", args: { chat: "chat", speaker: null } });
	expect(state.messages.map(({ id }) => id)).toEqual(["g", "e", "n"]);
	const stored = { ...says("n", "narrator", "Rain."), name: "Narrator", speaker: "" };
	state.receive({ event: "ended", chat: "chat", message: stored, anchor: null, reason: { kind: "stop" } });
	expect(state.canRegenerate(stored)).toBe(true);

	const failed = await open(chat([GREETING, called]));
	expect(failed.state.unanswered).toBe(true);
});

test("participants are set as a whole", async () => {
	const members = [{ id: "ada", name: "Ada", picture: null }];
	const { state, shell } = await open(chat([GREETING], { members }), { set_members: () => null });
	await state.setMembers(["ada", "bo"]);
	expect(shell.asked.find(({ operation }) => operation === "set_members")?.args).toEqual({ chat: "chat", characters: ["ada", "bo"] });
	expect([shell.count("open_chat"), reported.promptChanges]).toEqual([2, 1]);
});

test("swipe selects an existing text", async () => {
	const greeting = { ...says("g", "character", "One.", "Two."), selected: 0 };
	const { state } = await open(chat([greeting]), { select_swipe: ({ index }: { index: number }) => ({ ...greeting, selected: index }) });
	await state.swipe(greeting, 1);
	expect(texts(state)).toEqual(["Two."]);
});

test("undo restores a deleted message", async () => {
	const stored = chat([GREETING, says("u", "user", "Hello")]);
	const { state, shell } = await open(stored, { delete_message: () => null, restore_message: () => null });
	await state.remove(stored.page.messages[1] as Message);
	expect(state.messages).toHaveLength(1);
	await reported.undo?.();
	expect(shell.asked).toContainEqual({ operation: "restore_message", args: { message: "u" } });
	expect(state.messages).toHaveLength(2);
});

test("failed edit keeps the typed text", async () => {
	const { state } = await open(chat([GREETING, says("u", "user", "Hello")]), {
		edit_message_from: () => {
			throw { kind: "storage", message: "disk full", hint: "" };
		},
	});
	expect(state.editLastOwn()).toBe(true);
	state.edits.type("Hello there");
	expect(await state.edits.save()).toBe(false);
	expect(state.editing?.text).toBe("Hello there");
	expect(reported.failures.map(({ kind }) => kind)).toEqual(["storage"]);
});

test("draft is saved while the user types and on close", async () => {
	const { state, shell } = await open(chat([GREETING], { draft: "He" }));
	expect(state.draft).toBe("He");
	state.type("Hel");
	await vi.advanceTimersByTimeAsync(199);
	state.type("Hello");
	expect(shell.count("keep_draft")).toBe(0);
	await vi.advanceTimersByTimeAsync(1);
	expect(shell.asked.at(-1)).toEqual({ operation: "keep_draft", args: { chat: "chat", text: "Hello", known: "He" } });
	state.type("Hello you");
	await state.close();
	expect(shell.asked.at(-1)?.args).toEqual({ chat: "chat", text: "Hello you", known: "Hello" });
	await vi.advanceTimersByTimeAsync(1000);
	expect(shell.count("keep_draft")).toBe(2);
});

test("older messages are prepended and survive a reload", async () => {
	const stored = chat([says("m3", "user", "3"), says("m4", "character", "4")], { page: { messages: [says("m3", "user", "3"), says("m4", "character", "4")], more: true } });
	const { state, shell } = await open(stored, { messages_before: () => ({ messages: [says("m1", "user", "1"), says("m2", "character", "2")], more: false }) });
	await Promise.all([state.loadOlder(), state.loadOlder()]);
	expect(shell.count("messages_before")).toBe(1);
	expect(state.prepending).toBe(true);
	await state.load();
	expect(texts(state)).toEqual(["1", "2", "3", "4"]);
	expect(state.more).toBe(false);
});

test("chat that fails to open can be retried", async () => {
	const { state, shell } = await open(chat([]), {
		open_chat: () => {
			throw { kind: "notFound", message: "This chat is gone." };
		},
	});
	expect(state.openFailure?.kind).toBe("notFound");
	shell.answers.open_chat = () => chat([GREETING]);
	await state.load();
	expect(state.openFailure).toBeNull();
	expect(texts(state)).toEqual(["Good evening."]);
});

test("reasoning is collapsed unless a setting opens it", async () => {
	const settings = [{ key: "show_thoughts", value: true }];
	const { state, shell } = await open(chat([GREETING]), { layered_settings: () => ({ settings }) });
	expect(state.thoughtsOpen).toBe(false);
	await state.loadDisplaySettings();
	expect(state.thoughtsOpen).toBe(true);
	delete shell.answers.layered_settings;
	await state.loadDisplaySettings();
	expect(state.thoughtsOpen).toBe(false);
});

const MODES = {
	list_modes: () => ["default", "study"].map((name) => ({ name, text: "", builtIn: true, changed: false })),
	layered_settings: () => ({ settings: [{ key: "mode", value: "auto" }], contradictions: [], model: null, character: null }),
};

const refusal = { code: "unknownName", command: "mode", value: "pirate", near: ["default"], message: "" };

test("/mode sets the mode without asking a model", async () => {
	const { state, shell } = await open(chat([GREETING]), { ...MODES, run_command: () => ({ kind: "set", setting: "mode", value: "study" }) });
	state.type("/mode Study");
	await state.send();
	expect(shell.asked.find(({ operation }) => operation === "run_command")?.args).toEqual({ chat: "chat", text: "/mode Study", pictures: [] });
	expect([state.draft, state.messages.length, shell.count("send_message")]).toEqual(["", 1, 0]);
	expect([reported.heard, reported.promptChanges]).toEqual([["Mode: study"], 1]);
});

test("refused command keeps its text until the next input", async () => {
	const { state } = await open(chat([GREETING]), { run_command: () => ({ kind: "refused", refusal }) });
	state.type("/mode pirate");
	await state.send();
	expect(state.commandFailure).toMatch(/“pirate”.*default/);
	expect(state.draft).toBe("/mode pirate");
	state.type("/mode p");
	expect(state.commandFailure).toBe("");
});

test("answer of a command stays until the next input", async () => {
	const { state } = await open(chat([GREETING]), { run_command: () => ({ kind: "shown", setting: "note", value: "Rain.", choices: [] }) });
	state.type("/note");
	await state.send();
	expect(state.commands.answer).toMatchObject({ kind: "text", text: "Rain." });
	state.type("H");
	expect(state.commands.answer).toBeNull();
});

test("commands open the search and the export", async () => {
	const outcomes: Record<string, unknown> = { "/search lamp": { kind: "search", text: "lamp" }, "/export": { kind: "export", format: "markdown" } };
	const { state } = await open(chat([GREETING]), { run_command: ({ text }: { text: string }) => outcomes[text] });
	for (const draft of Object.keys(outcomes)) {
		state.type(draft);
		await state.send();
	}
	expect(reported.heard).toEqual(["search lamp", "export markdown"]);
});

test("completions of an older draft are dropped", async () => {
	const row = (text: string) => ({ text, name: "mode", usage: "", help: "" });
	const { state } = await open(chat([GREETING]), { complete_command: ({ text }: { text: string }) => [row(`${text}!`)] });
	const first = state.commands.complete("/m");
	await Promise.all([first, state.commands.complete("/mo")]);
	expect(state.commands.completions.map(({ text }) => text)).toEqual(["/mo!"]);
	await state.commands.complete("hello");
	expect(state.commands.completions).toEqual([]);
});

test("impersonated draft is streamed and not sent", async () => {
	const { state, shell } = await open(chat([GREETING]), { impersonate: () => null, stop: () => null });
	state.type("/impersonate");
	await state.send();
	expect([state.draft, state.drafting, state.busy]).toEqual(["", true, true]);
	expect(shell.asked.filter(({ operation }) => operation === "keep_draft").at(-1)?.args.text).toBe("");
	state.receive({ event: "drafting", chat: "chat" });
	state.receive({ event: "draft", chat: "chat", seq: 0, text: "Thank " });
	state.receive({ event: "draft", chat: "chat", seq: 1, text: "you. " });
	expect(state.draft).toBe("Thank you. ");
	const figures = { prompt: 645, reused: 612, evaluated: 33, generated: 3, prefillMs: 40, firstTextMs: 60, decodeMs: 90, thoughtMs: null };
	state.receive({ event: "drafted", chat: "chat", text: "Thank you.", figures, reason: { kind: "stop" } });
	expect([state.draft, state.drafting, state.busy, state.draftFigures?.reused]).toEqual(["Thank you.", false, false, 612]);
	expect(shell.count("send_message")).toBe(0);
	state.type("Thank you, Mira.");
	expect(state.draftFigures).toBeNull();
});

test("thoughts of an empty reply become its text", async () => {
	const reply = begun("a");
	for (const swipe of reply.swipes) swipe.display = { text: "", thoughts: " She waits. ", hasThoughts: true, hasMetrics: false, hasKeyframe: false, endsEpisode: false };
	const { state, shell } = await open(chat([GREETING, reply]), { edit_message: ({ text }: { text: string }) => says("a", "character", text) });
	await state.useThoughts(reply);
	expect(shell.asked).toContainEqual({ operation: "edit_message", args: { message: "a", text: "She waits." } });
	expect(texts(state).at(-1)).toBe("She waits.");
});

test("background follows an edited scene", async () => {
	const scene = says("n", "narrator", "They reach the inn.");
	const background = { picture: "c2", name: "sea.png", darkest: 0, lightest: 1, sceneWords: "sea" };
	let edited = false;
	const { state } = await open(chat([scene]), {
		edit_message_from: ({ text }: { text: string }) => ((edited = true), says("n", "narrator", text)),
		chat_background: () => (edited ? { background, sceneWord: "sea" } : null),
	});
	expect(state.scenery.background).toBeNull();
	state.edits.open(scene);
	state.edits.type("They sail the sea.");
	await state.edits.save();
	await vi.waitFor(() => expect(state.scenery.shown).toEqual({ background, sceneWord: "sea" }));
});

test("impersonate keeps existing text", async () => {
	const { state, shell } = await open(chat([GREETING]));
	state.type("I was going to");
	await state.impersonate();
	expect([state.draft, shell.count("impersonate")]).toEqual(["I was going to", 0]);
});

test("engine decides whether a text with a slash is a message", async () => {
	const started = { sent: says("u", "user", "/mode study"), reply: begun("a") };
	const { state, shell } = await open(chat([GREETING]), { run_command: () => ({ kind: "started", started }) });
	state.type("//mode study");
	await state.send();
	expect(shell.asked.find(({ operation }) => operation === "run_command")?.args.text).toBe("//mode study");
	expect(state.draft).toBe("");
});

test("context start moves after the turn has ended", async () => {
	const stored = chat([GREETING, says("u", "user", "Hi"), begun("a")]);
	const { state } = await open(stored, { regenerate: () => ({ sent: null, reply: begun("a") }) });
	expect(state.contextStart).toBe(0);
	await state.regenerate();
	state.receive({ event: "ended", chat: "chat", message: says("a", "character", "Hello."), anchor: "u", reason: { kind: "stop" } });
	expect(state.contextStart).toBe(1);
});

test("name in an imported chat becomes a persona", async () => {
	const made = { id: "p9", name: "Sam", description: "", instructions: "", picture: null };
	const { state } = await open({ ...chat([GREETING]), nameKept: "Sam" }, { persona_from_chat: () => made });
	expect(state.info?.nameKept).toBe("Sam");
	await state.personaFromChat();
	expect([state.info?.persona.name, state.info?.nameKept]).toEqual(["Sam", null]);
});

test("pinned message changes the next prompt", async () => {
	const { state } = await open(chat([GREETING]), { pin_message: ({ pinned }: { pinned: boolean }) => ({ ...GREETING, pinned }) });
	await state.pin(GREETING, true);
	expect(state.messages[0]?.pinned).toBe(true);
	expect(reported.promptChanges).toBe(1);
});

test("old message is loaded before it is revealed", async () => {
	const all = Array.from({ length: 500 }, (_, index) => says(`m${index}`, "user", String(index)));
	const { state, shell } = await open(chat([], { page: { messages: all.slice(-50), more: true } }), {
		messages_before: ({ before, limit }: { before: string; limit: number }) => {
			const at = all.findIndex(({ id }) => id === before);
			return { messages: all.slice(Math.max(0, at - limit), at), more: at > limit };
		},
	});
	await state.reveal("m100");
	expect(state.target).toEqual({ id: "m100" });
	expect(state.messages.some(({ id }) => id === "m100")).toBe(true);
	expect(shell.count("messages_before")).toBe(2);
	expect(new Set(state.messages.map(({ id }) => id)).size).toBe(state.messages.length);
});

test("far jump and scrolling up at once load no message twice", async () => {
	const all = Array.from({ length: 500 }, (_, index) => says(`m${index}`, "user", String(index)));
	const { state } = await open(chat([], { page: { messages: all.slice(-50), more: true } }), {
		messages_before: ({ before, limit }: { before: string; limit: number }) => {
			const at = all.findIndex(({ id }) => id === before);
			return { messages: all.slice(Math.max(0, at - limit), at), more: at > limit };
		},
	});
	await Promise.all([state.loadOlder(), state.reveal("m10")]);
	expect(state.messages.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
	expect(state.more).toBe(false);
});

test("new scene deletes no messages", async () => {
	const { state } = await open(chat([GREETING]), { new_scene: () => null });
	await state.newScene();
	expect(texts(state)).toEqual(["Good evening."]);
	expect(reported.heard).toEqual(["A new scene starts here."]);
});

test("unknown command is reported and not sent", async () => {
	const { state, shell } = await open(chat([GREETING]), { run_command: () => ({ kind: "refused", refusal: { code: "unknownCommand", command: "tpyo", value: "tpyo", near: [], message: "" } }) });
	state.type("/tpyo The lights go out.");
	await state.send();
	expect([state.draft, shell.count("send_message")]).toEqual(["/tpyo The lights go out.", 0]);
	expect(state.commandFailure).toContain("/tpyo");
});

test("typed text stays while the engine is offline", async () => {
	const away = { kind: "internal", message: "Inglenook does not answer." };
	let isAway = false;
	const answer = (value: unknown) => () => {
		if (isAway) throw away;
		return value;
	};
	const { state, shell } = await open(chat([GREETING]), { open_chat: answer(chat([GREETING])), keep_draft: answer([]), send_message: answer(null) });
	isAway = true;
	state.type("Wait for me");
	await vi.advanceTimersByTimeAsync(300);
	await state.send();
	expect([state.draft, state.openFailure, state.failure]).toEqual(["Wait for me", null, away]);
	state.type("Wait for me, please");
	await vi.advanceTimersByTimeAsync(300);
	expect(reported.failures).toEqual([away]);
	isAway = false;
	await state.load();
	expect(state.draft).toBe("Wait for me, please");
	expect(shell.asked.findLast(({ operation }) => operation === "keep_draft")?.args).toEqual({ chat: "chat", text: "Wait for me, please", known: "" });
});
