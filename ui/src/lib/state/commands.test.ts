import { expect, test } from "vitest";
import { completions, typed } from "./commands";

test("a command is told from words", () => {
	expect(typed("/mode study")).toEqual({ kind: "mode", name: "study" });
	expect(typed("  /mode   deep work ")).toEqual({ kind: "mode", name: "deep work" });
	expect(typed("/mode")).toEqual({ kind: "mode", name: "" });
	expect(typed("/impersonate ")).toEqual({ kind: "impersonate" });
	expect(typed("/impersonate an owl")).toEqual({ kind: "words", text: "/impersonate an owl" });
	expect(typed("//mode study")).toEqual({ kind: "words", text: "/mode study" });
	expect(typed("/me waves")).toEqual({ kind: "words", text: "/me waves" });
	expect(typed("//comment")).toEqual({ kind: "words", text: "//comment" });
	expect(typed("and/or /mode study")).toEqual({ kind: "words", text: "and/or /mode study" });
});

test("what is begun can be completed", () => {
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
