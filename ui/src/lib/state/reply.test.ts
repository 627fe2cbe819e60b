import { afterEach, expect, test, vi } from "vitest";
import { stubFrames } from "../../../tests/unit/frames";
import { Reply } from "./reply.svelte";

afterEach(() => vi.unstubAllGlobals());

test("pieces are rendered once per frame", () => {
	const frame = stubFrames();
	const reply = new Reply("m", "s");
	reply.receive(0, "The ");
	reply.receive(1, "lamp");
	expect(reply.text).toBe("");
	frame();
	expect(reply.text).toBe("The lamp");
});

test("duplicate piece is ignored", () => {
	const frame = stubFrames();
	const reply = new Reply("m", "s", { text: "The lamp" }, 2);
	expect(reply.receive(1, "lamp")).toBe(true);
	expect(reply.receive(2, " hums")).toBe(true);
	frame();
	expect(reply.text).toBe("The lamp hums");
});

test("missing piece is detected", () => {
	const reply = new Reply("m", "s", { text: "The lamp" }, 2);
	expect(reply.receive(3, "late")).toBe(false);
});

test("discard stops rendering", () => {
	const frame = stubFrames();
	const reply = new Reply("m", "s");
	reply.receive(0, "The lamp");
	reply.discard();
	frame();
	expect(reply.text).toBe("");
});

test("reasoning is separate but shares the numbering", () => {
	const reply = new Reply("m", "s");
	expect([reply.receive(0, "Cold out.", "thoughts"), reply.receive(1, "Come in.")]).toEqual([true, true]);
	reply.flush();
	expect([reply.thoughts, reply.text]).toEqual(["Cold out.", "Come in."]);
});

test("closing reasoning moves only its own text", () => {
	const reply = new Reply("m", "s", { text: "Come in." });
	reply.receive(0, " She is cold.");
	expect(reply.closeThoughts(1, " She is cold.")).toBe(true);
	expect([reply.text, reply.thoughts]).toEqual(["Come in.", " She is cold."]);
	expect(reply.closeThoughts(3, "late")).toBe(false);
});
