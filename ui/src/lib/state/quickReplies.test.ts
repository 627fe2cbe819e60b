import { expect, test } from "vitest";
import { GREETING, open, reported } from "../../../tests/unit/openChat";
import { chat, says } from "../../../tests/unit/shell";
import type { QuickReply, QuickReplySet } from "../api/generated";

const reply = (over: Partial<QuickReply> = {}): QuickReply => ({ index: 0, label: "Look", hint: "", unsupported: null, ...over });
const set: QuickReplySet = { id: "tavern", name: "Tavern", replies: [reply()] };

const ran = (...outcomes: unknown[]) => ({ run_quick_reply: () => ({ outcomes, usedText: false }) });

test("unsupported script is explained and does not run", async () => {
	const { state, shell } = await open(chat([GREETING]), ran());
	await state.runQuickReply(set, reply({ unsupported: { line: 2, text: "/setvar key=x 1" } }));
	expect(shell.count("run_quick_reply")).toBe(0);
	expect(state.commands.answer).toMatchObject({ text: "/setvar key=x 1", title: expect.stringContaining("2") });
});

test("quick reply gets the draft, which stays", async () => {
	const { state, shell } = await open(chat([GREETING]), ran({ kind: "set", setting: "note", value: "Rain." }));
	state.type("Half a sentence");
	expect(await state.runQuickReply(set, reply())).toBe(false);
	expect(shell.asked.find(({ operation }) => operation === "run_quick_reply")?.args).toEqual({ chat: "chat", set: "tavern", index: 0, typed: "Half a sentence" });
	expect(state.draft).toBe("Half a sentence");
	expect(reported.heard.at(-1)).toContain("Rain.");
});

test("used text leaves the composer", async () => {
	const { state } = await open(chat([GREETING]), { run_quick_reply: () => ({ outcomes: [{ kind: "added", message: says("e", "event", "Rain.") }], usedText: true }) });
	state.type("Rain.");
	expect(await state.runQuickReply(set, reply())).toBe(true);
	expect(state.draft).toBe("");
});

test("quick reply can fill the composer", async () => {
	const { state } = await open(chat([GREETING]), ran({ kind: "insert", text: "Tell me about " }));
	expect(await state.runQuickReply(set, reply())).toBe(true);
	expect(state.draft).toBe("Tell me about ");
});

test("branch command opens the new chat", async () => {
	const { state } = await open(chat([GREETING]), { run_command: () => ({ kind: "opened", chat: "other", title: "Copy" }) });
	state.type("/branch");
	await state.send();
	expect(reported.heard).toContain("open other");
});

test("opening runs automatic replies only with sets", async () => {
	const none = await open(chat([GREETING]), { quick_replies: () => [], run_opening_quick_replies: () => null });
	await none.state.quickReplies.opened();
	expect(none.shell.count("run_opening_quick_replies")).toBe(0);
	const { state, shell } = await open(chat([GREETING]), { quick_replies: () => [set], run_opening_quick_replies: () => null });
	await state.quickReplies.opened();
	expect([state.quickReplies.shown, shell.count("run_opening_quick_replies")]).toEqual([[set], 1]);
});

test("result of an automatic reply is shown", async () => {
	const { state } = await open(chat([GREETING]), {});
	state.receive({ event: "quickReplyRan", chat: "chat", label: "Rain", outcomes: [{ kind: "shown", setting: "note", value: "Rain.", choices: [] }] });
	await Promise.resolve();
	expect(reported.heard[0]).toContain("Rain");
	expect(state.commands.answer).toMatchObject({ text: "Rain." });
});
