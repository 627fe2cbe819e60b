import { expect, test } from "vitest";
import type { Api } from "./api";
import { draftSaver } from "./draftSaver";

const hears = { failed: () => {}, others: () => {} };

/** An engine that answers a save only when it is told to. */
function slowEngine() {
	const answers: (() => void)[] = [];
	const saves: { text: string; known: string }[] = [];
	const api = {
		keepDraft: (_chat: string, text: string, known: string) =>
			new Promise((resolve) => {
				saves.push({ text, known });
				answers.push(() => resolve([]));
			}),
	} as unknown as Api;
	return { api, saves, answer: () => answers.shift()?.() };
}

test("chat that is opened again during a save continues its draft", async () => {
	const { api, saves, answer } = slowEngine();
	const first = draftSaver(api, "a", hears);
	first.later("Hello");
	const saved = first.now();
	await Promise.resolve();
	const again = draftSaver(api, "a", hears);
	expect(again).toBe(first);
	let settled = false;
	const waiting = again.settled().then(() => (settled = true));
	await Promise.resolve();
	expect(settled).toBe(false);
	answer();
	await Promise.all([saved, waiting]);
	again.later("Hello there");
	const next = again.now();
	await Promise.resolve();
	answer();
	await next;
	expect(saves.at(-1)).toEqual({ text: "Hello there", known: "Hello" });
});

test("saver without work is forgotten", async () => {
	const { api, answer } = slowEngine();
	const first = draftSaver(api, "a", hears);
	first.later("Hello");
	const saved = first.now();
	await Promise.resolve();
	answer();
	await saved;
	expect(draftSaver(api, "a", hears)).not.toBe(first);
});
