import { expect, test, vi } from "vitest";
import { begun, frame, GREETING, NO_MODEL, open, reported, texts } from "../../../tests/unit/openChat";
import { chat, FakeShell, says, token } from "../../../tests/unit/shell";
import type { Chat } from "../api/generated";
import { api } from "./api";
import { ChatState } from "./chat.svelte";

test("sent text leaves composer and the reply streams", async () => {
	const sent = says("u", "user", "Hello");
	const { state } = await open(chat([GREETING]), { send_message: () => ({ sent, reply: begun("a") }) });
	state.type("Hello");
	await state.send();
	expect(state.draft).toBe("");
	expect(state.messages.map(({ id }) => id)).toEqual(["g", "u", "a"]);
	state.receive(token("a/0", 0, "Sit "));
	state.receive(token("a/0", 1, "down."));
	frame();
	expect(state.reply?.text).toBe("Sit down.");
	state.receive({ event: "ended", chat: "chat", message: says("a", "character", "Sit down."), anchor: null, reason: { kind: "stop" } });
	expect(state.busy).toBe(false);
	expect(texts(state)).toEqual(["Good evening.", "Hello", "Sit down."]);
	expect(reported.heard).toEqual(["Mira: Sit down."]);
});

test("reply event before the call returns keeps order", async () => {
	const ids = () => state.state.messages.map(({ id }) => id);
	const state = await open(chat([GREETING]), {
		send_message: () => {
			state.state.receive({ event: "started", chat: "chat", sent: says("u", "user", "Hello"), message: begun("a") });
			expect(ids()).toEqual(["g", "u", "a"]);
			return { sent: says("u", "user", "Hello"), reply: begun("a") };
		},
	});
	state.state.type("Hello");
	await state.state.send();
	expect(ids()).toEqual(["g", "u", "a"]);
});

test("message from another window shows with its reply", async () => {
	const { state } = await open(chat([GREETING]), {});
	state.receive({ event: "started", chat: "chat", sent: says("u", "user", "Hello"), message: begun("a") });
	expect(state.messages.map(({ id }) => id)).toEqual(["g", "u", "a"]);
});

test("rejected send keeps the text and shows the error", async () => {
	const { state } = await open(chat([GREETING]), {
		send_message: () => {
			throw NO_MODEL;
		},
	});
	state.type("Hello");
	await state.send();
	expect(state.draft).toBe("Hello");
	expect(state.failure).toEqual(NO_MODEL);
	expect(state.busy).toBe(false);
});

test("text stored before a failed reply is cleared", async () => {
	const stored = chat([GREETING]);
	const { state } = await open(stored, {
		send_message: () => {
			stored.page.messages = [GREETING, says("u", "user", "Hello")];
			return { sent: null, reply: null };
		},
	});
	state.type("Hello ");
	await state.send();
	expect([state.draft, state.busy]).toEqual(["", true]);
	state.receive({ event: "ended", chat: "chat", message: null, anchor: null, reason: { kind: "failed", error: NO_MODEL } });
	await vi.waitFor(() => expect(state.unanswered).toBe(true));
	expect(state.failure).toEqual(NO_MODEL);
});

test("reload joins the running reply", async () => {
	const { state } = await open(chat([GREETING], { generating: { message: "a", swipe: "a/0", text: "Sit ", thoughts: "", seq: 1 } }));
	expect(state.busy).toBe(true);
	expect(state.messages.map(({ id }) => id)).toEqual(["g", "a"]);
	state.receive(token("a/0", 0, "Sit "));
	state.receive(token("a/0", 1, "down."));
	frame();
	expect(state.reply?.text).toBe("Sit down.");
});

test("tokens that arrive while the chat loads are kept", async () => {
	let answer: (chat: Chat) => void = () => {};
	const shell = new FakeShell({ open_chat: () => new Promise<Chat>((resolve) => (answer = resolve)) });
	const state = new ChatState("chat", api(shell), { deleted: () => {}, undoable: () => {}, detached: () => {}, failed: () => {}, replied: () => {}, announce: () => {}, search: () => {}, exportChat: () => {}, openChat: () => {}, promptChanged: () => {} });
	const loading = state.load();
	await Promise.resolve();
	state.receive(token("a/0", 1, "down."));
	answer(chat([GREETING, begun("a")], { generating: { message: "a", swipe: "a/0", text: "Sit ", thoughts: "", seq: 1 } }));
	await loading;
	frame();
	expect(state.reply?.text).toBe("Sit down.");
});

test("stale load does not hide a sent message", async () => {
	const stored = chat([GREETING]);
	const sent = says("u", "user", "Hello");
	const { state, shell } = await open(stored, {
		send_message: () => {
			stored.page = { messages: [GREETING, sent], more: false };
			stored.generating = { message: "a", swipe: "a/0", text: "", thoughts: "", seq: 0 };
			return { sent, reply: begun("a") };
		},
	});
	let answer: (chat: Chat) => void = () => {};
	shell.answers.open_chat = () => {
		shell.answers.open_chat = () => stored;
		return new Promise<Chat>((resolve) => (answer = resolve));
	};
	const loading = state.load();
	await Promise.resolve();
	state.type("Hello");
	const sending = state.send();
	answer(chat([GREETING]));
	expect(state.busy).toBe(true);
	await Promise.all([loading, sending]);
	expect(state.busy).toBe(true);
	expect(state.messages.map(({ id }) => id)).toEqual(["g", "u", "a"]);
});

test("simultaneous loads cause only one more request", async () => {
	const { state, shell } = await open(chat([GREETING]));
	await Promise.all([state.load(), state.load(), state.load()]);
	expect(shell.count("open_chat")).toBe(3);
	expect(texts(state)).toEqual(["Good evening."]);
});

test("text typed while a message is sent stays", async () => {
	const { state } = await open(chat([GREETING]), {
		send_message: () => {
			state.type("Hello, and");
			return { sent: says("u", "user", "Hello"), reply: begun("a") };
		},
	});
	state.type("Hello");
	await state.send();
	expect(state.draft).toBe(", and");
});

test("token gap reloads the whole text", async () => {
	const stored = chat([GREETING, begun("a")], { generating: { message: "a", swipe: "a/0", text: "Sit ", thoughts: "", seq: 1 } });
	const { state, shell } = await open(stored);
	stored.generating = { message: "a", swipe: "a/0", text: "Sit down by", thoughts: "", seq: 4 };
	state.receive(token("a/0", 3, "by"));
	await vi.waitFor(() => expect(state.reply?.text).toBe("Sit down by"));
	expect(shell.count("open_chat")).toBe(2);
});

test("reply shows up after its events were lost", async () => {
	const stored = chat([GREETING]);
	const { state, shell } = await open(stored, { regenerate: () => ({ sent: null, reply: begun("a") }) });
	await state.regenerate();
	stored.generating = { message: "a", swipe: "a/0", text: "Sit ", thoughts: "", seq: 1 };
	await vi.advanceTimersByTimeAsync(10_000);
	expect(state.reply?.text).toBe("Sit ");
	expect(state.activity).toEqual({ kind: "writing" });
	stored.generating = null;
	stored.page = { messages: [GREETING, says("a", "character", "Sit down.")], more: false };
	await vi.advanceTimersByTimeAsync(10_000);
	expect(state.busy).toBe(false);
	expect(texts(state)).toEqual(["Good evening.", "Sit down."]);
	await vi.advanceTimersByTimeAsync(60_000);
	expect(shell.count("open_chat")).toBe(3);
});

test("silence reload keeps the displayed activity", async () => {
	const { state } = await open(chat([GREETING], { generating: { message: "a", swipe: "a/0", text: "", thoughts: "", seq: 0 } }));
	state.receive({ event: "retrying", chat: "chat", attempt: 1, afterMs: 30_000, why: "the endpoint is busy" });
	await vi.advanceTimersByTimeAsync(10_000);
	expect(state.activity).toMatchObject({ kind: "retrying" });
});

test("failed reply shows its error in the chat", async () => {
	const { state } = await open(chat([GREETING, says("u", "user", "Hello")]), { regenerate: () => ({ sent: null, reply: begun("a") }) });
	await state.regenerate();
	state.receive({ event: "ended", chat: "chat", message: null, anchor: null, reason: { kind: "failed", error: NO_MODEL } });
	await vi.waitFor(() => expect(state.messages.map(({ id }) => id)).toEqual(["g", "u"]));
	expect(state.failure).toEqual(NO_MODEL);
	expect(state.unanswered).toBe(true);
});

test("prompt processing and queueing are shown", async () => {
	const { state } = await open(chat([GREETING]), { regenerate: () => ({ sent: null, reply: begun("a") }) });
	await state.regenerate();
	expect(state.activity).toEqual({ kind: "starting" });
	state.receive({ event: "queued", chat: "chat" });
	expect(state.activity?.kind).toBe("queued");
	state.receive({ event: "prefill", chat: "chat", done: 10, total: 40, reused: 30 });
	expect(state.activity).toEqual({ kind: "prefill", done: 10, total: 40, reused: 30 });
	state.receive(token("a/0", 0, "Sit"));
	expect(state.activity?.kind).toBe("writing");
});
