import { expect, test } from "vitest";
import { completions, typed } from "./commands";

test("tells commands from text", () => {
	expect(typed("/mode study")).toEqual({ kind: "mode", name: "study" });
	expect(typed("  /mode   deep work ")).toEqual({ kind: "mode", name: "deep work" });
	expect(typed("/mode")).toEqual({ kind: "mode", name: "" });
	expect(typed("/impersonate ")).toEqual({ kind: "impersonate" });
	expect(typed("/impersonate an owl")).toEqual({ kind: "words", text: "/impersonate an owl" });
	expect(typed("//mode study")).toEqual({ kind: "words", text: "/mode study" });
	expect(typed("/me waves")).toEqual({ kind: "words", text: "/me waves" });
	expect(typed("//comment on this")).toEqual({ kind: "words", text: "/comment on this" });
	expect(typed("and/or /mode study")).toEqual({ kind: "words", text: "and/or /mode study" });
});

test("unknown command is not sent as text", () => {
	for (const draft of ["/sys The lights go out.", "/foo", "  /Mode study", "/hilfe bitte"]) expect(typed(draft).kind).toBe("unknown");
	for (const draft of ["/", "/usr/bin is full", "/ 3", "//", "/:", "1/2 cup", "/me", "a /foo"]) expect(typed(draft)).toEqual({ kind: "words", text: draft });
});

test("completes a partly typed command", () => {
	const modes = ["default", "study", "chill"];
	expect(completions("/", modes)).toEqual(["/mode ", "/impersonate"]);
	expect(completions("/mo", modes)).toEqual(["/mode "]);
	expect(completions("/im", modes)).toEqual(["/impersonate"]);
	expect(completions("/impersonate", modes)).toEqual([]);
	expect(completions("/mode ", modes)).toEqual(["/mode default", "/mode study", "/mode chill"]);
	expect(completions("/mode S", modes)).toEqual(["/mode study"]);
	expect(completions("/mode study", modes)).toEqual([]);
	expect(completions("/me", modes)).toEqual([]);
	expect(completions("//mo", modes)).toEqual([]);
	expect(completions("hello", modes)).toEqual([]);
});
