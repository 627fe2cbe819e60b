import { expect, test } from "vitest";
import { hasOuterBlanks, passphraseFault } from "./passphrase";

test("one character is a passphrase, blanks alone are none", () => {
	expect([passphraseFault("a"), passphraseFault(""), passphraseFault(" \u3000 ")]).toEqual([null, "empty", "empty"]);
});

test("length counts characters without outer blanks", () => {
	expect(passphraseFault(` ${"😀".repeat(1_024)} `)).toBeNull();
	expect(passphraseFault("u\u0308".repeat(1_024))).toBeNull();
	expect(passphraseFault("x".repeat(1_025))).toBe("long");
});

test("outer blanks are noticed, inner ones are not", () => {
	expect([hasOuterBlanks("a b"), hasOuterBlanks("a "), hasOuterBlanks(" a"), hasOuterBlanks("  ")]).toEqual([false, true, true, false]);
});
