import { expect, test } from "vitest";
import { tooLong } from "./errors";
import type { ApiError } from "./generated";

test("detects too long prompts of engine and endpoint", () => {
	const ours: ApiError = { kind: "contextOverflow", message: "", hint: "", block: null, missing: 2, needed: 12, available: 10 };
	const theirs: ApiError = { kind: "provider", message: "", hint: "", class: "contextOverflow" };
	expect([ours, theirs].map(tooLong)).toEqual([ours, theirs]);
	expect(tooLong({ kind: "provider", message: "", hint: "", class: "timeout" })).toBeNull();
	expect(tooLong(null)).toBeNull();
});
