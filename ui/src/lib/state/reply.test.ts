import { afterEach, expect, test, vi } from "vitest";
import { heldFrames } from "../../../tests/unit/frames";
import { Reply } from "./reply.svelte";

afterEach(() => vi.unstubAllGlobals());

test("pieces are shown together, once a frame", () => {
	const frame = heldFrames();
	const reply = new Reply("m", "s");
	reply.receive(0, "The ");
	reply.receive(1, "lamp");
	expect(reply.text).toBe("");
	frame();
	expect(reply.text).toBe("The lamp");
});

test("a piece that is known already changes nothing", () => {
	const frame = heldFrames();
	const reply = new Reply("m", "s", { text: "The lamp" }, 2);
	expect(reply.receive(1, "lamp")).toBe(true);
	expect(reply.receive(2, " hums")).toBe(true);
	frame();
	expect(reply.text).toBe("The lamp hums");
});

test("a missing piece is noticed", () => {
	const reply = new Reply("m", "s", { text: "The lamp" }, 2);
	expect(reply.receive(3, "late")).toBe(false);
});

test("nothing appears after it was discarded", () => {
	const frame = heldFrames();
	const reply = new Reply("m", "s");
	reply.receive(0, "The lamp");
	reply.discard();
	frame();
	expect(reply.text).toBe("");
});

test("thoughts grow apart from the words and share their numbers", () => {
	const reply = new Reply("m", "s");
	expect([reply.receive(0, "Cold out.", "thoughts"), reply.receive(1, "Come in.")]).toEqual([true, true]);
	reply.flush();
	expect([reply.thoughts, reply.text]).toEqual(["Cold out.", "Come in."]);
});

test("words that were thoughts move there, and the words before them stay", () => {
	const reply = new Reply("m", "s", { text: "Come in." });
	reply.receive(0, " She is cold.");
	expect(reply.closeThoughts(1, " She is cold.")).toBe(true);
	expect([reply.text, reply.thoughts]).toEqual(["Come in.", " She is cold."]);
	expect(reply.closeThoughts(3, "late")).toBe(false);
});
