import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { composing, keepComposing } from "./composing";

const key = (init: KeyboardEventInit & { keyCode?: number }) => new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init });

test("detects input method keys by flag or key code", () => {
	expect(composing(key({ key: "Enter", isComposing: true }))).toBe(true);
	expect(composing(key({ key: "Enter", keyCode: 229 }))).toBe(true);
	expect(composing(key({ key: "Enter", keyCode: 13 }))).toBe(false);
});

test("page listeners do not receive composing keys", () => {
	keepComposing(window);
	const heard = vi.fn();
	document.addEventListener("keydown", heard, { capture: true });
	for (const name of ["Enter", "Escape", "Tab", ",", "ArrowUp"]) {
		const event = key({ key: name, keyCode: 229 });
		document.body.dispatchEvent(event);
		expect(event.defaultPrevented).toBe(false);
	}
	expect(heard).not.toHaveBeenCalled();
	document.body.dispatchEvent(key({ key: "Enter", keyCode: 13 }));
	expect(heard).toHaveBeenCalledOnce();
});

test("only one file checks for composing keys", () => {
	const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => /\.(svelte|ts)$/.test(name) && !/composing(\.test)?\.ts$/.test(name));
	expect(files.filter((name) => /isComposing|keyCode/.test(readFileSync(join("src", name), "utf8")))).toEqual([]);
});
