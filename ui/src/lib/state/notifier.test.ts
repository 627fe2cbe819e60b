import { expect, test } from "vitest";
import type { Event, Message } from "../api/generated";
import { FakeShell } from "../../../tests/unit/shell";
import { App } from "./app.svelte";
import { notifyOfReply } from "./notifier";
import { browserValues } from "./pageValues";

const message = { id: "m", role: "character", name: "Mira", selected: 0, swipes: [{ id: "s", text: "*She nods.* Come in." }] } as unknown as Message;
const ended = (reason: Extract<Event, { event: "ended" }>["reason"]): Extract<Event, { event: "ended" }> => ({ event: "ended", chat: "c", message, anchor: null, reason });

function told(notifications: "off" | "discreet" | "full", { inFront = false, kind = "stop" as "stop" | "cancelled" } = {}) {
	const shell = new FakeShell({});
	const app = new App(shell, browserValues);
	app.settings.value = { notifications };
	notifyOfReply(app, ended({ kind }), inFront);
	return shell.notified;
}

test("discreet notification has no name and no text", () => {
	expect(told("discreet")).toEqual([{ title: "A reply is ready", text: "" }]);
});

test("full notification has name and text", () => {
	expect(told("full")).toEqual([{ title: "Mira", text: "She nods. Come in." }]);
});

test("nothing is shown in front, after a stop, or when off", () => {
	expect(told("full", { inFront: true })).toEqual([]);
	expect(told("full", { kind: "cancelled" })).toEqual([]);
	expect(told("off")).toEqual([]);
});
